package manifest

import "sync"

// Known are the last views that somebody has had of each branch, for Options.Since:
// one of each, as long as the Known lives. It never says what is there now. A nil one knows nothing and keeps
// nothing; it is safe for concurrent use.
type Known struct {
	mu sync.Mutex
	by map[string]*View
}

// Of is the view of a branch ("" or "main" = main), or nil.
func (k *Known) Of(branch string) *View {
	if k == nil {
		return nil
	}
	if branch == Main {
		branch = ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.by[branch]
}

// Saw keeps a view in the place of the one of its branch.
func (k *Known) Saw(v *View) {
	if k == nil || v == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.by == nil {
		k.by = map[string]*View{}
	}
	k.by[v.Branch] = v
}
