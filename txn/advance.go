package txn

import (
	"fmt"
	"slices"

	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/manifest"
)

// Advance says what lies between two published states.
type Advance struct {
	Logical bool   // rows may differ; false: maintenance, the rows are the same
	Table   string // alias of the table that differs; "" = not one table's
	Version uint64 // first version of it after which the rows may differ; 0 = none in particular
	Why     string // "" when it is maintenance
}

func (a Advance) String() string {
	switch {
	case !a.Logical:
		return "maintenance"
	case a.Table == "":
		return "logical: " + a.Why
	}
	return fmt.Sprintf("logical: %s: %s", a.Table, a.Why)
}

// Advanced says what the versions (from, to] of one table did to its rows
// (engine-semantics §4.6, decisions 6): links are these versions in order.
// Versions below, or links that are missing, cut off or unknown, are logical.
//
// A version has the rows of from when its transaction is a Rewrite, a
// ReserveFragments, a CreateIndex, or the removal of cleanup keys, on a version
// that has them; or a Restore of one that has them, whatever lies between.
func Advanced(from, to uint64, links []Link) Advance {
	if to < from {
		return Advance{Logical: true, Version: to, Why: fmt.Sprintf("version %d is below version %d", to, from)}
	}
	if err := chain(from, to, links); err != nil {
		return Advance{Logical: true, Why: err.Error()}
	}
	same := make([]bool, 1, len(links)+1)
	same[0] = true // from itself
	lost := 0      // link after which the rows were last not those of from
	for i, l := range links {
		now := l.keeps() && same[i]
		if l.Kind == commit.Restore {
			now = l.RestoredTo >= from && l.RestoredTo < l.Version && same[l.RestoredTo-from]
		}
		if same[i] && !now {
			lost = i
		}
		same = append(same, now)
	}
	if same[len(links)] {
		return Advance{}
	}
	l := links[lost]
	why := fmt.Sprintf("version %d is a %s", l.Version, l.Kind)
	if l.Kind == commit.Restore {
		why += fmt.Sprintf(" of version %d, whose rows are not those of version %d", l.RestoredTo, from)
	}
	return Advance{Logical: true, Version: l.Version, Why: why}
}

// keeps: the transaction leaves the rows of the version before as they are.
func (l Link) keeps() bool {
	switch l.Kind {
	case commit.Rewrite, commit.ReserveFragments, commit.CreateIndex:
		return true
	case commit.UpdateConfig:
		return l.OnlyCleanup
	}
	return false
}

// State is what a branch shows at one version: its authority and its tables.
type State struct {
	Base   Base
	Tables []manifest.Entry
}

// Compare says whether the live state of a branch has the rows of the state that
// a caller saw: branch-wide (decisions 7), so that one table's logical change
// speaks for all. links are those of the versions between, for each table whose
// version differs. Commits that move no table change nothing.
func Compare(seen, live State, links map[Identity][]Link) Advance {
	base := seen.Base
	if base.IRHash == "" { // the schema was not looked at
		base.IRHash, base.IdentityDomain, base.IdentityVersion = live.Base.IRHash, live.Base.IdentityDomain, live.Base.IdentityVersion
	}
	if member := base.differs(live.Base, false); member != nil {
		return Advance{Logical: true, Why: fmt.Sprintf("%s was %s and is %s", member.Member, member.Expected, member.Actual)}
	}
	if len(seen.Tables) != len(live.Tables) {
		return Advance{Logical: true, Why: fmt.Sprintf("there were %d tables and are %d", len(seen.Tables), len(live.Tables))}
	}
	for _, b := range seen.Tables {
		i := slices.IndexFunc(live.Tables, func(l manifest.Entry) bool { return l.Identity == b.Identity })
		if i < 0 {
			return Advance{Logical: true, Table: b.Alias, Why: "the table is gone"}
		}
		l := live.Tables[i]
		if l.Alias != b.Alias || l.Location != b.Location || l.Owner != b.Owner {
			return Advance{Logical: true, Table: b.Alias, Why: fmt.Sprintf("it is %s at %s on branch %s now, was at %s on branch %s", l.Alias, l.Location, named(l.Owner), b.Location, named(b.Owner))}
		}
		if a := Advanced(b.Version, l.Version, links[Identity(b.Identity)]); a.Logical {
			a.Table = b.Alias
			return a
		}
	}
	return Advance{}
}

func named(branch string) string {
	if branch == "" {
		return manifest.Main
	}
	return branch
}
