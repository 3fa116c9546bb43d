package manifest_test

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/manifest"
)

// traced runs act against a copy of a store whose every request takes 20 ms of
// a test's own time, and returns what it asked for.
func traced(t *testing.T, s *memstore.Store, act func(ctx context.Context, s *memstore.Store) error) (calls []blob.Call, total blob.Totals) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		slow := s.CloneWith(memstore.Options{Latency: func(blob.Op, string) time.Duration { return 20 * time.Millisecond }})
		m := blob.NewMeter(cost.Classify, blob.Keep(1000))
		if err := act(blob.WithMeter(context.Background(), m), slow); err != nil {
			t.Fatal(err)
		}
		calls, total = m.Calls(), m.Totals()
	})
	return calls, total
}

// trace spells requests as lines "hop op key", sorted.
func trace(calls []blob.Call) string {
	var lines []string
	for _, c := range calls {
		r := ""
		if c.Range != blob.All && c.Op == blob.OpGet {
			r = fmt.Sprintf(" %d+%d", c.Range.Off, c.Range.Len)
		}
		lines = append(lines, fmt.Sprintf("%d %s %s%s", c.Hop, c.Op, c.Key, r))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// peek and look are the two ways to open.
func peek(branch string) func(context.Context, *memstore.Store) error {
	return func(ctx context.Context, s *memstore.Store) error {
		_, err := manifest.Peek(ctx, s, manifest.Options{Branch: branch})
		return err
	}
}

func look(o manifest.Options) func(context.Context, *memstore.Store) error {
	return func(ctx context.Context, s *memstore.Store) error {
		_, err := manifest.Open(ctx, s, o)
		return err
	}
}

func TestTracePeek(t *testing.T) {
	s := store(t, graph(t, fixtures.Demo))
	calls, _ := traced(t, s, peek(""))
	if got, want := trace(calls), "1 list __manifest/_versions/\n2 get __manifest/_versions/18446744073709551600.manifest"; got != want {
		t.Errorf("main:\n%s\nwant\n%s", got, want)
	}
	calls, _ = traced(t, s, peek("fix/ports"))
	want := "1 get __manifest/_refs/branches/fix%2Fports.json\n1 list __manifest/tree/fix/ports/_versions/\n2 get __manifest/tree/fix/ports/_versions/18446744073709551604.manifest"
	if got := trace(calls); got != want {
		t.Errorf("branch:\n%s\nwant\n%s", got, want)
	}
	for _, c := range calls {
		if c.Op == blob.OpList && c.Keys > 1 {
			t.Errorf("%d keys were listed, want one", c.Keys)
		}
	}
}

// Reading rows is the manifest and each data file whole, nothing else.
func TestTraceOpen(t *testing.T) {
	s := store(t, graph(t, fixtures.Demo))
	for _, branch := range []string{"", "archive", "review/new-calls"} {
		v := open(t, s, manifest.Options{Branch: branch})
		calls, total := traced(t, s, look(manifest.Options{Branch: branch, Version: v.Version}))
		refs := min(1, len(branch))
		if int(total.Requests) != 1+refs+v.Fragments || total.Hops != 2 {
			t.Errorf("branch %q: %d requests in %d hops, want %d in 2:\n%s", branch, total.Requests, total.Hops, 1+refs+v.Fragments, trace(calls))
		}
		for _, c := range calls {
			if c.Range != blob.All || c.Op != blob.OpGet || strings.Contains(c.Key, "/_deletions/") {
				t.Errorf("branch %q: unexpected request %s", branch, trace([]blob.Call{c}))
			}
			if c.Hop == 2 && path.Ext(c.Key) != ".lance" {
				t.Errorf("branch %q: second hop asks for %s", branch, c.Key)
			}
		}
	}
}

// The budget of reading a graph's state: no more than 2 + F requests (3 + F on
// a branch), in waves of 64.
func TestBudgetOpen(t *testing.T) {
	for _, name := range graphs {
		t.Run(name, func(t *testing.T) {
			s := store(t, graph(t, name))
			l, err := branches.Names(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range l.Names {
				f := open(t, s, manifest.Options{Branch: b}).Fragments
				_, total := traced(t, s, look(manifest.Options{Branch: b}))
				want := int64(2 + f)
				if b != manifest.Main {
					want++
				}
				if waves := 2 + (f+63)/64; total.Requests != want || total.Hops != waves {
					t.Errorf("branch %s, F = %d: %d requests in %d hops, want %d in %d", b, f, total.Requests, total.Hops, want, waves)
				}
			}
		})
	}
}

// Listing branches does not depend on history.
func TestBudgetBranches(t *testing.T) {
	for name, refs := range map[string]int64{"midlife": 3, "diverged": 1, "deep": 0} {
		s := store(t, graph(t, name))
		calls, total := traced(t, s, func(ctx context.Context, s *memstore.Store) error {
			_, err := branches.Names(ctx, s)
			return err
		})
		if got := trace(calls); got != "1 list __manifest/_refs/" {
			t.Errorf("%s, names:\n%s", name, got)
		}
		_, total = traced(t, s, func(ctx context.Context, s *memstore.Store) error {
			_, _, err := branches.List(ctx, s)
			return err
		})
		if total.Requests != 1+refs || total.Hops != 1+int(min(refs, 1)) {
			t.Errorf("%s, refs: %d requests in %d hops", name, total.Requests, total.Hops)
		}
	}
}
