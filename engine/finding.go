package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Findings of our own, beside those of the numbered list of the doctor.
const (
	idDamagedManifest = "M1"  // the newest version of `__manifest` cannot be read
	idMoved           = "M2"  // the graph stands elsewhere than it was written
	idFold            = "M3"  // rows of `__manifest` break a rule or are lost
	idHint            = "M4"  // the version hint says something odd
	idLeftovers       = "M5"  // names in _versions/ that are no versions
	idGap             = "M6"  // a version is missing between others
	idBranchRefs      = "M7"  // refs that cannot be read
	idFlags           = "M8"  // the newest version demands a feature that is not known
	idRootCut         = "M9"  // too much lies under the root
	idUnread          = "M10" // the store did not give a part
)

var severities = []Severity{SeverityOK, SeverityInfo, SeverityWarn, SeverityError}

// worstFirst orders findings: severity, then id as people count (G2 before
// G10), then title.
func worstFirst(list []Finding) []Finding {
	rank := func(f Finding) int { return -slices.Index(severities, f.Severity) }
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID[:1], b.ID[:1]), cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID), strings.Compare(a.Title, b.Title))
	})
	return list
}

// finding makes a finding; evidence is pairs of key and fact.
func finding(id string, s Severity, trust string, evidence []Evidence, title string, args ...any) Finding {
	if evidence == nil {
		evidence = []Evidence{}
	}
	return Finding{ID: id, Severity: s, Title: fmt.Sprintf(title, args...), Trust: trust, Evidence: evidence}
}

// next adds the next safe step.
func (f Finding) next(danger, verb string, args ...string) Finding {
	if args == nil {
		args = []string{}
	}
	f.Action = &Action{Verb: verb, Args: args, Danger: danger}
	return f
}

// keys makes evidence of objects that share a fact, at most eight of them.
func keys(fact string, names ...string) []Evidence {
	const most = 8
	out := make([]Evidence, 0, min(len(names), most)+1)
	for _, n := range names[:min(len(names), most)] {
		out = append(out, Evidence{n, fact})
	}
	if n := len(names) - most; n > 0 {
		out = append(out, Evidence{names[most], fmt.Sprintf("and %d more", n)})
	}
	return out
}

// count spells a number of things: 1 branch, 2 branches.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
