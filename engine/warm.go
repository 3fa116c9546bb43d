package engine

import (
	"sync"

	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
)

// processIDs are ids that grow within the process.
var processIDs = txn.NewIDs(nil, nil)

// warm is what the last write on each branch left for the next one.
type warm struct {
	mu sync.Mutex
	by map[string]*txn.Warm
	// known are the views that writes and recoveries had, which stay when the rest is
	// dropped: what they hold of `__manifest` is not read again.
	known manifest.Known
}

func branchKey(branch string) string {
	if branch == manifest.Main {
		return ""
	}
	return branch
}

func (w *warm) of(branch string) *txn.Warm {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.by[branchKey(branch)]
}

// drop forgets all of it, when something else than a write of ours moved tables.
func (w *warm) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.by)
}

func (w *warm) keep(branch string, left *txn.Warm) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if left != nil {
		w.known.Saw(left.View)
	}
	if w.by == nil {
		w.by = map[string]*txn.Warm{}
	}
	w.by[branchKey(branch)] = left
}
