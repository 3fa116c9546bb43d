package engine_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/stuck"
)

// A glance at a record and the plan of its recovery say alike whether anybody may
// act on it: one under another name may be, a cut one may not, and is not waited
// for.
func TestGlanceAndPlanAgree(t *testing.T) {
	s := stuck.One(t, "load-merge", 8)
	key := s.Pending[0]
	for name, c := range map[string]struct {
		key     string
		edit    func([]byte) []byte
		refused bool
	}{
		"as it was":    {key, func(b []byte) []byte { return b }, false},
		"another name": {"__recovery/another.json", func(b []byte) []byte { return b }, false},
		"cut":          {key, func(b []byte) []byte { return b[:len(b)-2] }, true},
	} {
		files := maps.Clone(s.Files)
		delete(files, key)
		files[c.key] = c.edit(slices.Clone(s.Files[key]))
		g := stuck.Graph(t, stuck.StoreOf(t, stuck.Root, files))
		seen, err := g.PendingRecords(t.Context())
		if err != nil || len(seen) != 1 || seen[0].Key != c.key || seen[0].Refused != c.refused || !seen[0].WaitUntil.IsZero() {
			t.Errorf("%s: a glance tells %+v, %v", name, seen, err)
		}
		p, err := g.PlanRecovery(t.Context())
		if err != nil || len(p.Records) != 1 || (p.Records[0].Stops(p.LookedAt, engine.RecoverOptions{}) == engine.RecoveryRefused) != c.refused {
			t.Errorf("%s: the plan tells %+v, %v", name, p, err)
		}
	}
}
