package screen

import "github.com/omnideck/omnideck/engine"

// What a question may ask of a store when nothing of the graph is known yet,
// given F, the fragments of `__manifest` on the branch looked at. They are
// bounds: what is in a cache costs less. engine/budget_test.go holds the
// engine to them. Questions that are not here have no budget that can be
// stated from what the screens know: what rows, chains, commits of all
// branches and comparisons cost depends on what lies in them.
var budgets = map[string]func(info *engine.Info) int64{
	"branch names": func(*engine.Info) int64 { return 4 },
	"snapshot":     func(i *engine.Info) int64 { return 2 + int64(i.Manifest.Fragments) },
	"fragments":    func(i *engine.Info) int64 { return 3 + int64(i.Manifest.Fragments) },
	"info": func(i *engine.Info) int64 {
		n := 8 + int64(i.Manifest.Fragments)
		if i.Branches != 1 {
			n += 3
		}
		return n
	},
}

// Budget is how many requests an operation may take; false when that cannot
// be said of it, or not yet.
func (e *Env) Budget(r *Record) (int64, bool) {
	info, ok := e.Data.Info.Get()
	if r == nil || !ok || r.URI != e.URI || r.At != e.At || unread(info) || e.Data.Info.Problem() != nil {
		return 0, false
	}
	if snap, ok := e.Data.Snapshot.Get(); ok && snap.GraphManifestVersion != info.GraphManifestVersion {
		return 0, false // the graph went on since F was read
	}
	total := int64(0)
	for _, name := range r.Names {
		f := budgets[name]
		if f == nil {
			return 0, false
		}
		total += f(info)
	}
	return total, len(r.Names) > 0
}

// Over is by how many requests an operation is over its budget. Requests that
// a driver repeated are not its fault.
func (e *Env) Over(r *Record) int64 {
	budget, ok := e.Budget(r)
	if !ok {
		return 0
	}
	n := r.Reading()
	return max(0, n.Requests()-n.Retries-budget)
}
