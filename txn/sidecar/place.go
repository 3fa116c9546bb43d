package sidecar

import "strings"

// Place says whether a record belongs to the graph in which it lies.
type Place uint8

// The places.
const (
	// Here: every path is the canonical one under this root.
	Here Place = iota
	// Moved: the paths differ from the canonical ones only in the root, all in
	// the same, and the tables are this graph's: the graph was moved or copied
	// after the operation began.
	Moved
	// Foreign: a path or an identity is not this graph's.
	Foreign
)

func (p Place) String() string { return [...]string{"here", "moved", "foreign"}[p%3] }

// Place compares the paths of the pins with the root of the graph, spelled as
// the store spells it. known says which identities the graph has; tables that
// the operation itself registers need not be known. recorded is the root that
// the paths name, "" when they name several or none.
func (rec *Record) Place(root string, known func(Identity) bool) (place Place, recorded string) {
	root = strings.TrimRight(root, "/")
	if len(rec.Pins) == 0 {
		return Here, ""
	}
	own := map[Identity]bool{}
	if rec.Plan != nil {
		own = identities(rec.Plan.Delta.Registrations, func(r Registration) Identity { return r.Identity })
	}
	foreign := false
	for i, p := range rec.Pins {
		at, ok := strings.CutSuffix(strings.TrimRight(p.Path, "/"), "/"+folder(p.Alias, p.Identity))
		if !ok || folder(p.Alias, p.Identity) == "" || i > 0 && at != recorded {
			return Foreign, ""
		}
		recorded = at
		foreign = foreign || !known(p.Identity) && !own[p.Identity]
	}
	switch {
	case foreign:
		return Foreign, recorded
	case recorded != root:
		return Moved, recorded
	}
	return Here, recorded
}
