package branches

import (
	"maps"
	"slices"

	"github.com/omnideck/omnideck/manifest"
)

// Relation is what one branch has to do with the others' data.
type Relation struct {
	Owned    int      // live tables of its state whose data it owns
	Borrowed []string // owners other than itself and main, sorted: it needs them
	NeededBy []string // branches with a live table whose data it owns, sorted; main needs no entry to be needed
}

// Needs computes the relations of branches from their states, by name (main is
// "main"). Owners that are no branch among the states appear too: data of a
// branch that is gone or was not read.
func Needs(states map[string]*manifest.State) map[string]Relation {
	out := map[string]Relation{}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		r := out[name]
		owners := map[string]bool{}
		for _, e := range states[name].Tables {
			owner := e.Owner
			if owner == "" {
				owner = manifest.Main
			}
			if owner == name {
				r.Owned++
				continue
			}
			owners[owner] = true
		}
		for _, owner := range slices.Sorted(maps.Keys(owners)) {
			if owner != manifest.Main {
				r.Borrowed = append(r.Borrowed, owner)
			}
			other := out[owner]
			other.NeededBy = append(other.NeededBy, name)
			out[owner] = other
		}
		r.NeededBy = out[name].NeededBy
		out[name] = r
	}
	return out
}
