package txn_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/cache"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/golden"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
)

// shared is a graph beside the checkout, in memory.
func shared(t testing.TB, name string) *memstore.Store {
	t.Helper()
	archive, err := fixtures.Shared("graphs", name+".tar.gz")
	if err != nil {
		t.Skipf("SKIPPED: the shared graph %s is not here: %v", name, err)
	}
	files, err := fixtures.Unpack(archive)
	if err != nil {
		t.Fatal(err)
	}
	s, err := fixtures.Store(memstore.Options{}, files)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// far is a copy of which every request takes 20 ms of a test's own time, behind
// the cache of a session.
func far(s *memstore.Store) blob.Store {
	return cache.New(s.CloneWith(memstore.Options{Latency: func(blob.Op, string) time.Duration { return 20 * time.Millisecond }}), cache.Options{})
}

// metered changes one row.
func metered(t *testing.T, s blob.Store, o txn.Options, port, to string) (r *txn.Receipt, calls []blob.Call, total blob.Totals) {
	t.Helper()
	m := blob.NewMeter(cost.Classify, blob.Keep(10000))
	r, err := txn.Run(blob.WithMeter(context.Background(), m), s, o, plan(txn.Strict, set(ports, port, "name", to)))
	if err != nil {
		t.Fatal(err)
	}
	return r, m.Calls(), m.Totals()
}

// names are the parts of keys that are drawn.
var names = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`/[01]{24}[0-9a-f]{26}\.`), "/{data}."},
	{regexp.MustCompile(`(/[0-9]+-[0-9]+-)[0-9]+\.(arrow|bin)`), "$1{id}.$2"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "{uuid}"},
	{regexp.MustCompile(`__recovery/[0-9A-Z]{26}`), "__recovery/{id}"},
}

func traceOf(calls []blob.Call) []byte {
	var lines []string
	for _, c := range calls {
		line := fmt.Sprintf("%2d %s %s", c.Hop, c.Op, c.Key)
		for _, n := range names {
			line = n.is.ReplaceAllString(line, n.as)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, "\n") + "\n")
}

// What a one-row update asks for, call by call, on the embedded graph.
func TestTraceOfAnUpdate(t *testing.T) {
	s := demo(t)
	port := ids(t, s, ports)[0]
	synctest.Test(t, func(t *testing.T) {
		s := far(s)
		r, calls, _ := metered(t, s, writing(1), port, "Cold")
		golden.Equal(t, "trace/txn-update-cold.golden", traceOf(calls))
		o := writing(2)
		o.Warm = r.Warm
		_, calls, _ = metered(t, s, o, port, "Warm")
		golden.Equal(t, "trace/txn-update-warm.golden", traceOf(calls))
	})
}

// The budgets of issue 5, and that a warm write costs the same however long the
// history is.
func TestRequestsOfAnUpdate(t *testing.T) {
	s := shared(t, "maintained")
	port := ids(t, s, ports)[0]
	synctest.Test(t, func(t *testing.T) {
		s := far(s)
		r, _, total := metered(t, s, writing(1), port, "Cold")
		t.Logf("cold: %d requests, %d hops", total.Requests, total.Hops)
		if total.Requests > 32 || total.Hops > 16 {
			t.Errorf("cold: %d requests in %d hops, at most 32 in 16", total.Requests, total.Hops)
		}
		var points []cost.Point
		for n := range 101 {
			o := writing(uint64(10 + n))
			o.Warm = r.Warm
			if n != 10 && n != 100 {
				r = run(t, s, o, txn.Strict, set(ports, port, "name", fmt.Sprint("Name ", n)))
				continue
			}
			var calls []blob.Call
			r, calls, total = metered(t, s, o, port, "Warm")
			if total.Requests > 25 || total.Hops > 16 {
				t.Errorf("warm at depth %d: %d requests in %d hops, at most 25 in 16:\n%s", n, total.Requests, total.Hops, traceOf(calls))
			}
			t.Logf("warm: %d requests, %d hops", total.Requests, total.Hops)
			points = append(points, cost.Point{Depth: n, Cost: total.Requests})
		}
		cost.RequireFlat(t, "a warm update", 0, points...)
	})
}

// Every commit of an unmaintained history is a file to be read, cold; not so
// warm.
func TestRequestsOfAnUpdateUnmaintained(t *testing.T) {
	s := shared(t, "deep")
	port := ids(t, s, ports)[0]
	fragments := look(t, s).view.Fragments
	synctest.Test(t, func(t *testing.T) {
		s := far(s)
		r, _, total := metered(t, s, writing(1), port, "Cold")
		if total.Requests > int64(fragments)+40 {
			t.Errorf("cold: %d requests with %d fragments, at most 40 more", total.Requests, fragments)
		}
		o := writing(2)
		o.Warm = r.Warm
		if _, _, total = metered(t, s, o, port, "Warm"); total.Requests > 25 {
			t.Errorf("warm: %d requests, at most 25", total.Requests)
		}
	})
}

// rowsRead is how many files of rows of `__manifest` were read.
func rowsRead(calls []blob.Call) (n int) {
	for _, c := range calls {
		if c.Op == blob.OpGet && strings.HasPrefix(c.Key, manifest.Folder+"/data/") {
			n++
		}
	}
	return n
}

// A write that begins with an older state of its branch reads of `__manifest` what
// came since, whether it has that state from a write of its own or from elsewhere;
// one that moves meanwhile is read anew in the same way. Nothing is cached here.
func TestWhatIsKnownIsNotReadAgain(t *testing.T) {
	s := demo(t)
	port := ids(t, s, ports)[0]
	first := run(t, s, writing(1), txn.Strict, set(ports, port, "name", "One"))
	other := func(n uint64) {
		run(t, s, writing(n), txn.Strict, set(ports, port, "name", fmt.Sprint("Other ", n)))
	}
	known := &manifest.Known{}
	known.Saw(first.Warm.View)
	for name, begin := range map[string]func(*txn.Options){
		"warm":  func(o *txn.Options) { o.Warm = &txn.Warm{Store: s, View: first.Warm.View} },
		"known": func(o *txn.Options) { o.Known = known },
	} {
		before := s.Clone()
		other(2)
		other(3)
		o := writing(4)
		begin(&o)
		if _, calls, _ := metered(t, s, o, port, "Two"); rowsRead(calls) != 2 {
			t.Errorf("%s: %d files of rows were read, expected the two that came since:\n%s", name, rowsRead(calls), traceOf(calls))
		}
		o = writing(5)
		begin(&o)
		moved := false
		o.Events = func(e txn.Event) {
			if e.Step == txn.StepCaptured && !moved {
				moved = true
				other(6)
			}
		}
		m := blob.NewMeter(cost.Classify, blob.Keep(10_000))
		r, err := txn.Run(blob.WithMeter(t.Context(), m), s, o, plan(txn.Additive, set(ports, port, "name", "Three")))
		if err != nil || r.Attempts != 2 || rowsRead(m.Calls()) != 3+1+1 {
			t.Errorf("%s, moved meanwhile: %v, %+v, %d files of rows were read, expected the three that came since, and the one that came meanwhile, to tell what moved and to begin anew:\n%s", name, err, r, rowsRead(m.Calls()), traceOf(m.Calls()))
		}
		s = before
	}
}
