package commit_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/lance/commit"
)

// TestFarBehind: an exact commit on a version long left learns it from one key.
func TestFarBehind(t *testing.T) {
	s, m := newTable(t)
	for v := range 20 {
		mustCommit(t, s, newest(t, s), appendTxn(uint64(v)+2, fmt.Sprint("d", v), 1), exactly())
	}
	for _, junk := range []string{"", ".tmp_7.manifest_x"} {
		if junk != "" {
			if _, err := s.Put(t.Context(), "t/_versions/"+junk, nil); err != nil {
				t.Fatal(err)
			}
		}
		meter := blob.NewMeter(nil, blob.Keep(100))
		_, err := commit.Commit(blob.WithMeter(t.Context(), meter), s, "t", "", m, appendTxn(2, "late", 1), exactly())
		var conflict *commit.ConflictError
		if !errors.As(err, &conflict) || conflict.Version != 3 || conflict.Theirs.GetUuid() != "d0" {
			t.Errorf("%v", err)
		}
		lists := 0
		for _, c := range meter.Calls() {
			if c.Op == blob.OpList {
				lists++
			}
		}
		if want := 1 + len(junk)/10; lists != want { // a name that is no version costs another
			t.Errorf("%d listings, want %d", lists, want)
		}
	}
}

// TestRequests: what a commit asks of the store, and how long it waits for it,
// whatever the length of the history.
func TestRequests(t *testing.T) {
	for _, depth := range []int{1, 40} {
		synctest.Test(t, func(t *testing.T) {
			s, m := newTable(t)
			for v := range depth {
				m = mustCommit(t, s, m, appendTxn(m.Version, fmt.Sprint("d", v), 1), exactly()).Manifest
			}
			latency := func(blob.Op, string) time.Duration { return 20 * time.Millisecond }
			slow := s.CloneWith(memstore.Options{Latency: latency})
			for name, c := range map[string]struct {
				o    commit.Options
				want []string
				hops int
			}{
				"exact":  {exactly(), []string{"list", "put", "put"}, 2},
				"create": {exactly(), []string{"list", "put", "put"}, 2},
				"rebase": {opts(), []string{"get", "list", "put", "put"}, 4},
				"blind":  {commit.Options{Exact: true, Blind: true, Now: opts().Now}, []string{"put", "put"}, 2},
				"stored": {commit.Options{Exact: true, Blind: true, Stored: true, Now: opts().Now}, []string{"put"}, 1},
			} {
				s := slow.Clone()
				if name == "rebase" {
					mustCommit(t, s, m, appendTxn(m.Version, "rival", 1), exactly())
				}
				meter := blob.NewMeter(nil, blob.Keep(100))
				begin := time.Now()
				base, tx := m, appendTxn(m.Version, name, 1)
				if name == "create" {
					s, base, tx = memstore.New(memstore.Options{Latency: latency}), nil, createTxn(name)
				}
				c2, err := commit.Commit(blob.WithMeter(t.Context(), meter), s, "t", "", base, tx, c.o)
				if err != nil || c2.Found {
					t.Fatalf("%s: %+v, %v", name, c2, err)
				}
				var got []string
				for _, call := range meter.Calls() {
					got = append(got, string(call.Op))
				}
				slices.Sort(got)
				if took := time.Since(begin); !slices.Equal(got, c.want) || took != time.Duration(c.hops)*20*time.Millisecond {
					t.Errorf("%s at depth %d: %v in %v, want %v in %d hops", name, depth, got, took, c.want, c.hops)
				}
			}
		})
	}
}

// TestBlind: that nothing is listed makes nobody write over a version, and what
// lost takes its transaction file with it.
func TestBlind(t *testing.T) {
	s, m := newTable(t)
	first := mustCommit(t, s, m, appendTxn(m.Version, "first", 1), exactly())
	before := keys(t, s, "t/")
	o := commit.Options{Exact: true, Blind: true, Now: opts().Now}
	_, err := commit.Commit(t.Context(), s, "t", "", m, appendTxn(m.Version, "second", 1), o)
	var lost *commit.ConflictError
	if !errors.As(err, &lost) || lost.Version != first.Version || !lost.Retryable || !slices.Equal(keys(t, s, "t/"), before) {
		t.Errorf("%v; %v", err, keys(t, s, "t/"))
	}
	again, err := commit.Commit(t.Context(), s, "t", "", m, appendTxn(m.Version, "first", 1), o)
	if err != nil || !again.Found || again.Version != first.Version {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	var invalid *commit.InvalidError
	if _, err := commit.Commit(t.Context(), s, "t", "", m, appendTxn(m.Version, "third", 1), commit.Options{Stored: true, Now: opts().Now}); !errors.As(err, &invalid) {
		t.Errorf("a stored transaction that may be rebased: %v", err)
	}
}
