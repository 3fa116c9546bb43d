package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/schema"
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

// Staged schema files are waited for to their own end, also when the record that
// was waited for beside them goes before.
func TestStagedFilesAreWaitedForWhenTheRecordGoes(t *testing.T) {
	s, young := stuck.One(t, "schema-apply", 10), stuck.One(t, "update-node", 3)
	store := s.Store(t, stuck.Root)
	if err := store.Delete(t.Context(), s.Pending[0]); err != nil {
		t.Fatal(err)
	}
	a, err := store.Head(t.Context(), schema.SourceKey+schema.Staging)
	if err != nil {
		t.Fatal(err)
	}
	clock := a.ModTime.Add(10 * time.Second)
	id := ulid.MustNew(ulid.Timestamp(clock), bytes.NewReader(make([]byte, 16))).String()
	key := "__recovery/" + id + ".json"
	if _, err := store.Put(t.Context(), key, bytes.ReplaceAll(young.Files[young.Pending[0]], []byte(young.Record(t).OperationID), []byte(id))); err != nil {
		t.Fatal(err)
	}
	naps := 0
	g := napping(t, store, &clock, func(ctx context.Context, _ time.Duration) error {
		if naps++; naps == 3 {
			return store.Delete(ctx, key)
		}
		return nil
	})
	r, err := g.Recover(t.Context(), engine.RecoverOptions{})
	if err != nil || r.Refused() != nil || len(r.Settled) != 1 || !r.Settled[0].Waited || r.Staging == nil || !r.Staging.Done || naps != 21 {
		t.Errorf("%+v, %v after %d naps", r, err, naps)
	}
}

// A folder full of what looks like records is counted, and not read without end; what
// was not read is told as such.
func TestRecordsWithoutEnd(t *testing.T) {
	store := stuck.One(t, "update-node", 0).Store(t, stuck.Root)
	for i := range 300 {
		if _, err := store.Put(t.Context(), fmt.Sprintf("__recovery/%04d.json", i), []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	m := blob.NewMeter(nil)
	seen, err := stuck.Graph(t, store).PendingRecords(blob.WithMeter(t.Context(), m))
	if n := m.Totals().Requests; err != nil || len(seen) != 300 || n > 260 {
		t.Fatalf("%d records, %d requests, %v", len(seen), n, err)
	}
	for i, p := range seen {
		if unread := p.Problem == "not read: there are 300 sidecars"; unread != (i >= 256) || p.Refused == unread {
			t.Errorf("%+v", p)
		}
	}
	if v, err := stuck.Graph(t, store).Verify(t.Context(), engine.VerifyOptions{}); err != nil || v.Clean || len(v.Problems) < 300 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// A record that cannot be read may hold any version: what holds one is then not told
// as if there were no record.
func TestUnreadableRecordMayHoldAnyVersion(t *testing.T) {
	s := stuck.One(t, "load-merge", 8)
	key, files := s.Pending[0], maps.Clone(s.Files)
	whole, err := stuck.Graph(t, s.Store(t, stuck.Root)).Holds(t.Context(), "node:Port", 5)
	if err != nil || !slices.ContainsFunc(whole.HeldBy, func(h engine.Holder) bool { return h.Kind == "recovery" }) {
		t.Fatalf("%+v, %v", whole, err)
	}
	files[key] = files[key][:100]
	var part *engine.IncompleteError
	h, err := stuck.Graph(t, stuck.StoreOf(t, stuck.Root, files)).Holds(t.Context(), "node:Port", 5)
	if !errors.As(err, &part) || !strings.Contains(err.Error(), key) {
		t.Errorf("%+v, %v", h, err)
	}
}
