package audit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/recovery/audit"
	"github.com/omnideck/omnideck/txn/sidecar"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func row(op string, kind audit.Kind) audit.Row {
	actor := "ann"
	r := audit.Row{
		Commit: "commit of " + op, Kind: kind, Actor: &actor, Operation: op, Writer: sidecar.BranchMerge,
		Outcomes: []sidecar.Outcome{{Alias: "node:Ünï <&>", From: 7, To: 5}, {Alias: "edge:B", From: 1<<63 + 1, To: 0}},
		At:       time.Date(2026, 11, 30, 1, 2, 3, 456789000, time.UTC),
	}
	if kind == audit.RolledForward {
		r.Actor, r.Outcomes = nil, []sidecar.Outcome{}
	}
	return r
}

// read reads the book and checks it: one row a version above the first, no row
// twice.
func read(store blob.Store) ([]audit.Row, error) {
	rows, err := audit.Read(context.Background(), store, audit.Options{})
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, r := range rows {
		key := r.Operation + " " + string(r.Kind)
		if seen[key] {
			return nil, fmt.Errorf("%s is booked twice", key)
		}
		seen[key] = true
	}
	s, err := lance.Open(context.Background(), store, audit.Folder, lance.OpenOptions{})
	if errors.Is(err, blob.ErrNotExist) && len(rows) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if n, _ := s.CountRows(); s.Version() != n+1 || n != uint64(len(rows)) {
		return nil, fmt.Errorf("version %d has %d rows, %d were read", s.Version(), n, len(rows))
	}
	rep, err := lance.Verify(context.Background(), s, lance.VerifyOptions{Deep: true})
	if err == nil && len(rep.Problems) > 0 {
		err = fmt.Errorf("%+v", rep.Problems)
	}
	return rows, err
}

func TestWriteAndRead(t *testing.T) {
	s := memstore.New(memstore.Options{Name: "g"})
	if rows, err := audit.Read(t.Context(), s, audit.Options{}); rows != nil || err != nil {
		t.Errorf("no book: %v, %v", rows, err)
	}
	var want []audit.Row
	for i, kind := range []audit.Kind{audit.RolledForward, audit.RolledBack, audit.OrphanedBranchDiscarded, audit.RolledBack} {
		r := row("op1", kind)
		if i == 3 {
			r.Operation = "op2"
		}
		r.At = r.At.Add(-time.Duration(i) * time.Hour)
		want = append(want, r)
		for range 2 {
			if err := audit.Write(t.Context(), s, r, audit.Options{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows, err := read(s)
	slices.Reverse(want)
	if d := cmp.Diff(want, rows); d != "" || err != nil {
		t.Error(err, d)
	}
	n := s.Clone()
	for _, bad := range []func(r *audit.Row){func(r *audit.Row) { r.Commit = "" }, func(r *audit.Row) { r.Operation = "" }, func(r *audit.Row) { r.Writer = "" }, func(r *audit.Row) { r.Kind = "Rolled" }} {
		r := row("bad", audit.RolledBack)
		bad(&r)
		if err := audit.Write(t.Context(), n, r, audit.Options{}); err == nil {
			t.Errorf("%+v was booked", r)
		}
	}
	if rows, err := read(n); len(rows) != 4 || err != nil {
		t.Error(rows, err)
	}
}

// TestSweep: halted anywhere, any answer lost, failing anywhere, another recovery
// or the same one anywhere between: there is one row of the operation once it is
// said, and after a second call in any case; rows of others stay.
func TestSweep(t *testing.T) {
	empty := memstore.New(memstore.Options{Name: "g"})
	grown := empty.Clone()
	for i := range 3 {
		if err := audit.Write(t.Context(), grown, row(fmt.Sprint("old", i), audit.RolledBack), audit.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	ours := row("ours", audit.RolledBack)
	rival := func(rows ...audit.Row) fault.Action {
		return fault.Rival(func(_ context.Context, inner blob.Store) error {
			var all error
			for _, r := range rows {
				all = errors.Join(all, audit.Write(context.Background(), inner, r, audit.Options{}))
			}
			return all
		})
	}
	for start, store := range map[int]*memstore.Store{0: empty, 3: grown} {
		for name, rule := range map[string]fault.Rule{
			"halt": {Do: fault.Halt}, "fail": {Do: fault.Fail}, "lost": {Match: fault.Writes, Do: fault.LoseAnswer},
			"the same": {Do: rival(ours)}, "another": {Do: rival(row("other", audit.RolledForward))}, "two others": {Do: rival(row("a", audit.RolledForward), row("ours", audit.RolledForward))},
		} {
			places, err := fault.Sweep(60, func(at int) (bool, error) {
				inner := store.Clone()
				rule.At = at
				f := fault.New(inner, rule)
				first := audit.Write(context.Background(), f, ours, audit.Options{})
				if first != nil && name != "halt" && name != "fail" {
					return false, first
				}
				rows, err := read(inner)
				if err != nil || first == nil && !slices.ContainsFunc(rows, func(r audit.Row) bool { return cmp.Equal(r, ours) }) {
					return false, fmt.Errorf("%d rows after %v: %w", len(rows), first, err)
				}
				if err := audit.Write(context.Background(), inner, ours, audit.Options{}); err != nil {
					return false, err
				}
				others := map[string]int{"another": 1, "two others": 2}[name]
				if f.Fired() == 0 {
					others = 0
				}
				if rows, err = read(inner); err != nil || len(rows) != start+1+others {
					return false, fmt.Errorf("%d rows after the second call: %w", len(rows), err)
				}
				return f.Fired() > 0, nil
			})
			least := map[bool]int{true: 6, false: 8}[start == 0]
			if name == "lost" {
				least = 3
			}
			if err != nil || places < least {
				t.Errorf("%d rows before, %s: %d places, %v", start, name, places, err)
			}
		}
	}
}

// TestFourAtOnce: four recoverers of one operation book it once; four of four
// operations book each.
func TestFourAtOnce(t *testing.T) {
	for _, same := range []bool{true, false} {
		for start := range 2 {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				calls := 0
				s := memstore.New(memstore.Options{Name: "g", Latency: func(blob.Op, string) time.Duration {
					mu.Lock()
					defer mu.Unlock()
					calls++
					return time.Duration(1+calls*7%5) * time.Millisecond
				}})
				if start > 0 {
					if err := audit.Write(t.Context(), s, row("old", audit.RolledBack), audit.Options{}); err != nil {
						t.Fatal(err)
					}
				}
				var wg sync.WaitGroup
				for i := range 4 {
					op := "one"
					if !same {
						op = fmt.Sprint("op", i)
					}
					wg.Go(func() {
						if err := audit.Write(t.Context(), s, row(op, audit.RolledBack), audit.Options{}); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				want := start + 1
				if !same {
					want = start + 4
				}
				if rows, err := read(s); err != nil || len(rows) != want {
					t.Errorf("the same operation %v, %d rows before: %d rows, want %d, %v", same, start, len(rows), want, err)
				}
			})
		}
	}
}

// TestOnS3: four at once in a real bucket.
func TestOnS3(t *testing.T) {
	s, err := opener.Open(context.Background(), lab.Test(t, lab.Options{}).URI("audit"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for _, r := range []audit.Row{row("one", audit.RolledBack), row(fmt.Sprint("op", i), audit.RolledForward)} {
				if err := audit.Write(context.Background(), s, r, audit.Options{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if rows, err := read(s); err != nil || len(rows) != 5 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// TestBounded: writers that always come first end it, with their conflict as the
// reason; so does the context while it waits.
func TestBounded(t *testing.T) {
	s := memstore.New(memstore.Options{Name: "g"})
	n := 0
	f := fault.New(s, fault.Rule{Every: true, Match: func(c fault.Call) bool { return c.IfAbsent }, Do: fault.Rival(func(_ context.Context, inner blob.Store) error {
		n++
		return audit.Write(context.Background(), inner, row(fmt.Sprint("r", n), audit.RolledBack), audit.Options{})
	})})
	waited := 0
	err := audit.Write(t.Context(), f, row("ours", audit.RolledBack), audit.Options{Tries: 5, Backoff: func(context.Context, int) error { waited++; return nil }})
	var lost *commit.ConflictError
	if !errors.As(err, &lost) || waited != 4 || !strings.Contains(err.Error(), "ours") {
		t.Errorf("%d waits, %v", waited, err)
	}
	err = audit.Write(t.Context(), f, row("ours", audit.RolledBack), audit.Options{Backoff: func(context.Context, int) error { return context.Canceled }})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if rows, err := read(s); err != nil || len(rows) != n {
		t.Errorf("%d rows of %d, %v", len(rows), n, err)
	}
}
