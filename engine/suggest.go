package engine

import (
	"cmp"
	"slices"
	"strings"
)

// maxSuggestions bounds what an error offers instead of a name.
const maxSuggestions = 5

// Suggest picks the names that look like what was asked for: those that
// contain it or are a few typing errors away, nearest first; all names when
// they are few and none is near.
func Suggest(asked string, names []string) []string {
	type near struct {
		name string
		d    int
	}
	var found []near
	low := strings.ToLower(asked)
	for _, n := range names {
		other := strings.ToLower(n)
		d := distance(low, other)
		if _, typ, ok := strings.Cut(other, ":"); ok && !strings.Contains(low, ":") { // node:Port is near to Prot
			d = min(d, distance(low, typ))
		}
		switch {
		case low != "" && strings.Contains(other, low):
			d = min(d, 1)
		case d > 1+len(low)/3:
			continue
		}
		found = append(found, near{n, d})
	}
	slices.SortStableFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.d, b.d), strings.Compare(a.name, b.name))
	})
	out := make([]string, 0, maxSuggestions)
	for _, f := range found[:min(len(found), maxSuggestions)] {
		out = append(out, f.name)
	}
	if len(out) == 0 && len(names) <= maxSuggestions {
		return slices.Sorted(slices.Values(names))
	}
	return out
}

// maxDistance bounds the length of names that are compared letter by letter.
const maxDistance = 64

// distance is the number of letters to insert, remove or replace.
func distance(a, b string) int {
	if len(a) > maxDistance || len(b) > maxDistance {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diag, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diag+cost)
		}
	}
	return row[len(b)]
}
