package tui

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// Two programs may look at one graph and keep its state in one file. What the
// other has written since is not thrown away: see merged.

// merged is our state with what another program has written into the file since
// we last read or wrote it (base): drafts and numbered screens that only the
// other has changed, and the commands that only it has. Where both have changed
// one thing, ours is kept. A file that cannot be read as a state is written over.
func merged(base, theirs, ours []byte) []byte {
	if len(theirs) == 0 || len(theirs) > stateMax || bytes.Equal(theirs, base) {
		return ours
	}
	var b, t, o keptState
	if json.Unmarshal(theirs, &t) != nil || json.Unmarshal(ours, &o) != nil {
		return ours
	}
	if len(base) > 0 && json.Unmarshal(base, &b) != nil {
		b = keptState{}
	}
	o.Drafts = mergedMap(b.Drafts, t.Drafts, o.Drafts, func(x, y string) bool { return x == y })
	o.Screens = mergedMap(b.Screens, t.Screens, o.Screens, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
	o.Commands = mergedCommands(b.Commands, t.Commands, o.Commands)
	out, err := json.Marshal(o)
	if err != nil || len(out) > stateMax {
		return ours
	}
	return out
}

func mergedMap[K cmp.Ordered, V any](base, theirs, ours map[K]V, same func(x, y V) bool) map[K]V {
	alike := func(k K, in map[K]V) bool { // as in base
		x, ok := in[k]
		y, was := base[k]
		return ok == was && same(x, y)
	}
	out := map[K]V{}
	for k, v := range ours {
		if _, still := theirs[k]; still || !alike(k, ours) {
			out[k] = v
		}
	}
	for _, k := range slices.Sorted(maps.Keys(theirs)) { // which are kept of too many is not left to chance
		if alike(k, ours) && !alike(k, theirs) && len(out) < keptCommands {
			out[k] = theirs[k]
		}
	}
	return out
}

// mergedCommands puts what only the other typed before what we did.
func mergedCommands(base, theirs, ours []string) []string {
	known := map[string]bool{}
	for _, c := range append(base[:len(base):len(base)], ours...) {
		known[c] = true
	}
	var out []string
	for _, c := range theirs {
		if !known[c] {
			out = append(out, c)
		}
	}
	out = append(out, ours...)
	return out[max(0, len(out)-keptCommands):]
}
