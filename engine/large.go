package engine

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
)

// A `__manifest` of so many rows is large: folding it takes a second of work
// and a hundred bytes a row while it lasts.
const largeRows = 256 << 10

// largeKept is how many rows of large states a session keeps.
const largeKept = 3 << 19

// largeStates spares a session to fold a large `__manifest` again and again,
// and never folds two at once: operations that run side by side wait for one of
// them to fold it, and it is charged with the requests. What is remembered is of
// the same object: key, size and ETag.
type largeStates struct {
	mu   sync.Mutex
	kept []largeState
	turn chan struct{} // holds one while a large state is folded
}

type largeState struct {
	key  largeKey
	rows uint64
	view manifest.View // without its head, which belongs to the operation that reads
}

// largeKey says which state it is.
type largeKey struct {
	branch  string
	version uint64
	object  lance.Object
}

func newLargeStates() *largeStates { return &largeStates{turn: make(chan struct{}, 1)} }

// openManifest is manifest.Open for this operation.
func (o *operation) openManifest(ctx context.Context, mo manifest.Options) (*manifest.View, error) {
	h, err := manifest.Peek(ctx, o.store, mo)
	if err != nil {
		return nil, err
	}
	return o.large.read(ctx, h)
}

// read is Head.Read.
func (l *largeStates) read(ctx context.Context, h *manifest.Head) (*manifest.View, error) {
	if h.Rows < largeRows {
		return h.Read(ctx)
	}
	key := largeKey{h.Branch, h.Version, h.Snapshot.Object()}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-l.turn }()
	if s, ok := l.find(key); ok {
		v := s.view
		v.Head = *h
		return &v, nil
	}
	v, err := h.Read(ctx)
	debug.FreeOSMemory() // what folding took is as much again as what it left
	if err == nil {
		kept := *v
		kept.Head = manifest.Head{}
		l.keep(largeState{key: key, rows: h.Rows, view: kept})
	}
	return v, err
}

func (l *largeStates) find(key largeKey) (largeState, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.kept, func(s largeState) bool { return s.key == key })
	if i < 0 || key.object.ETag == "" {
		return largeState{}, false
	}
	return l.kept[i], true
}

// keep remembers a state in the place of the oldest ones.
func (l *largeStates) keep(s largeState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, s)
	for rows := uint64(0); ; rows = 0 {
		for _, k := range l.kept {
			rows += k.rows
		}
		if rows <= largeKept || len(l.kept) == 1 {
			return
		}
		l.kept = slices.Delete(l.kept, 0, 1)
	}
}
