package refs

import (
	"fmt"
	"slices"
	"strings"
)

// Finding is one thing worth saying about the refs of a dataset.
type Finding struct {
	ID       string // ref-damaged, ref-junk, ref-identifier, ref-parent, tag-branch, ref-case
	Severity string // error, warn, info
	Key      string
	Text     string // one sentence
}

// Check judges all refs of a dataset by their contents. No request.
func Check(l *Listing, branches []Result[Branch], tags []Result[Tag]) []Finding {
	var out []Finding
	add := func(id, severity, key, text string, args ...any) {
		out = append(out, Finding{id, severity, key, fmt.Sprintf(text, args...)})
	}
	live := map[string]*Branch{}
	for _, r := range branches {
		live[r.Name] = r.Value
		if r.Err != nil {
			add("ref-damaged", "error", r.Key, "branch %q: %v", r.Name, r.Err)
		}
	}
	for _, r := range branches {
		b := r.Value
		if b == nil {
			continue
		}
		if b.Identifier == nil {
			add("ref-identifier", "warn", r.Key, "branch %q has no identifier: Lance's cleanup of its parent does not know it and would delete files that it needs", r.Name)
		}
		parent, ok := live[b.Parent]
		switch {
		case b.Parent == "":
		case !ok:
			add("ref-parent", "warn", r.Key, "branch %q was forked from %q, which does not exist any more", r.Name, b.Parent)
		case parent != nil && b.Identifier != nil && !forkedAt(b, parent):
			add("ref-parent", "warn", r.Key, "branch %q was forked from another branch called %q than the one of today", r.Name, b.Parent)
		}
	}
	for _, r := range tags {
		switch {
		case r.Err != nil:
			add("ref-damaged", "error", r.Key, "tag %q: %v", r.Name, r.Err)
		case r.Value.Branch != "":
			if _, ok := live[r.Value.Branch]; !ok {
				add("tag-branch", "warn", r.Key, "tag %q points to branch %q, which does not exist", r.Name, r.Value.Branch)
			}
		}
	}
	for _, names := range Clashes(l.Branches) {
		add("ref-case", "warn", "", "branches %s differ in case only: on disks that ignore case they are one folder", strings.Join(names, ", "))
	}
	for _, j := range l.Junk {
		add("ref-junk", "info", j.Key, "%s is no ref: %s", j.Key, j.Why)
	}
	return out
}

// forkedAt reports whether a branch descends from this parent and at the
// version that its ref says.
func forkedAt(b, parent *Branch) bool {
	v, ok := ForkedFrom(b.Identifier, parent.Identifier)
	return ok && v == b.ParentVersion
}

// Clashes are the groups of names that differ in case only.
func Clashes(refs []Ref) [][]string {
	groups := map[string][]string{}
	for _, r := range refs {
		low := strings.ToLower(r.Name)
		groups[low] = append(groups[low], r.Name)
	}
	var out [][]string
	for _, g := range groups {
		if len(g) > 1 {
			slices.Sort(g)
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return out
}
