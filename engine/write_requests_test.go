package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/golden"
	"github.com/omnideck/omnideck/txn"
)

// costly is a write of which the requests are counted. n tells its runs apart.
type costly struct {
	name string
	do   func(ctx context.Context, g *engine.Graph, n int) error
	// At most, warm, however long the history is.
	requests int64
	hops     int
	// Cold, on maintained; and on midlife, with F = 15 fragments of `__manifest`.
	maintained, midlife int64
	coldHops            int
}

// writes are those of docs/REQUESTS.md, on the harbor schema.
var writes = []costly{
	{"update", statement(`update Port set { name: "N%d" } where code = "NLRTM"`), 23, 10, 30, 45, 14},
	{"insert-node", statement(`insert Port { code: "N%d", name: "N", country: "NL" }`), 23, 10, 30, 45, 14},
	{"insert-edge", statement(`insert CallsAt { from: "9000204", to: "NLRTM", arrived: datetime("2026-01-%02dT04:00:00Z") }`), 23, 10, 34, 55, 14},
	{"delete-node", deleteVessel, 35, 11, 50, 69, 17},
	{"load-1", appendPorts(1), 23, 10, 30, 45, 14},
	{"load-8192", appendPorts(8192), 23, 10, 30, 45, 14},
}

func statement(text string) func(context.Context, *engine.Graph, int) error {
	return func(ctx context.Context, g *engine.Graph, n int) error {
		_, _, err := g.Mutate(ctx, engine.MutateOptions{Source: "query q() { " + fmt.Sprintf(text, n) + " }"})
		return err
	}
}

// deleteVessel removes a vessel with its owner, its port of registry and calls; it
// was not inspected, which would forbid it.
func deleteVessel(ctx context.Context, g *engine.Graph, n int) error {
	imo := []int{9000017, 9000068, 9000085, 9000119, 9000136}[n-1]
	return statement(`delete Vessel where imo = %d`)(ctx, g, imo)
}

func appendPorts(rows int) func(context.Context, *engine.Graph, int) error {
	return func(ctx context.Context, g *engine.Graph, n int) error {
		lines := make([]string, rows)
		for i := range lines {
			lines[i] = fmt.Sprintf(`{"type":"Port","data":{"code":"L%d-%d","name":"N","country":"NL"}}`, n, i)
		}
		_, err := g.Load(ctx, engine.LoadOptions{Mode: engine.LoadAppend, Input: input(lines)})
		return err
	}
}

// farAway runs f with a store of which every request takes a round trip of time
// that passes only in the test, so that hops are exact.
func farAway(t *testing.T, files map[string][]byte, f func(t *testing.T, s *memstore.Store)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, memory(t, memstore.Options{Name: "g", Latency: func(blob.Op, string) time.Duration { return roundTrip }, MaxPage: 100}, files))
	})
}

// asked is what a write asks of the store.
func asked(t testing.TB, do func(context.Context, *engine.Graph, int) error, g *engine.Graph, n int) (blob.Totals, []blob.Call) {
	t.Helper()
	m := blob.NewMeter(cost.Classify, blob.Keep(1<<16))
	if err := do(blob.WithMeter(context.Background(), m), g, n); err != nil {
		t.Fatal(err)
	}
	return m.Totals(), m.Calls()
}

// What each write asks for, request by request: by a fresh process, and by the
// same one once more, at two depths of history; and that a warm one asks for the
// same after ten more commits. Names that are drawn are left out.
func TestTracesOfWrites(t *testing.T) {
	for _, graph := range []string{"maintained", "midlife"} {
		files := graphFiles(t, graph)
		for _, w := range writes {
			t.Run(w.name+"-"+graph, func(t *testing.T) {
				farAway(t, files, func(t *testing.T, s *memstore.Store) { w.traced(t, graph, writable(t, s)) })
			})
		}
	}
}

func (w *costly) traced(t *testing.T, graph string, g *engine.Graph) {
	cold, calls := asked(t, w.do, g, 1)
	once(t, calls)
	text := append([]byte("cold: "), callsText(cold, calls)...)
	if most := map[string]int64{"maintained": w.maintained, "midlife": w.midlife}[graph]; cold.Requests > most || cold.Hops > w.coldHops {
		t.Errorf("cold: %d requests in %d hops, at most %d in %d", cold.Requests, cold.Hops, most, w.coldHops)
	}
	warm, calls := asked(t, w.do, g, 2)
	once(t, calls)
	golden.Equal(t, "trace/write-"+w.name+"-"+graph+".golden", fmt.Appendf(text, "\nwarm: %s", callsText(warm, calls)))
	if warm.Requests > w.requests || warm.Hops > w.hops {
		t.Errorf("warm: %d requests in %d hops, at most %d in %d", warm.Requests, warm.Hops, w.requests, w.hops)
	}
	for n := range 10 {
		asked(t, statement(`update Company set { name: "C%d" } where slug = "quay-partners"`), g, n)
	}
	later, laterCalls := asked(t, w.do, g, 3)
	if a, b := unnumbered(warm, calls), unnumbered(later, laterCalls); !bytes.Equal(a, b) {
		t.Errorf("ten commits later it asks for\n%s\nand before for\n%s", b, a)
	}
}

// numbered are versions and fragments in names.
var numbered = regexp.MustCompile(`[0-9]{20}|[0-9]+-[0-9]+-…|[0-9]+-….txn`)

// unnumbered spells requests without what grows with a history.
func unnumbered(totals blob.Totals, calls []blob.Call) []byte {
	return numbered.ReplaceAll(callsText(totals, calls), []byte("…"))
}

// often is what is asked for more than once: the guards at capture, under the gates
// and after arming, and the record, which is written twice (package txn).
var often = map[string]int{
	"list __recovery/": 3, "list __manifest/_versions/": 3,
	"get __schema_state.json": 2, "head __manifest/_refs/branches/__schema_apply_lock__.json": 2,
	"put __recovery/….json": 2,
}

// once: nothing else is asked for twice, these are, and everything has a class.
func once(t *testing.T, calls []blob.Call) {
	t.Helper()
	seen := map[string]int{}
	for _, c := range calls {
		key := c.Key
		if c.Class == cost.Recovery {
			key = drawn.ReplaceAllString(key, "…")
		}
		what := string(c.Op) + " " + key
		if seen[what]++; seen[what] > max(1, often[what]) {
			t.Errorf("%s is asked for more than %d times", what, max(1, often[what]))
		}
		if c.Class == cost.Other {
			t.Errorf("%s is of no class", what)
		}
	}
	for what, n := range often {
		if seen[what] != n {
			t.Errorf("%s is asked for %d times, expected %d: a guard is gone", what, seen[what], n)
		}
	}
}

// A graph is made with few waits, whatever its number of types; and the first
// write through the handle that made it is warm.
func TestRequestsOfInit(t *testing.T) {
	farAway(t, nil, func(t *testing.T, s *memstore.Store) {
		g := writable(t, s)
		totals, calls := asked(t, makeHarbor(t), g, 0)
		golden.Equal(t, "trace/init.golden", callsText(totals, calls))
		if totals.Requests > 17+3*9 || totals.Hops > 10 {
			t.Errorf("%d requests in %d hops, at most 17 and 3 for each of 9 tables, in 10", totals.Requests, totals.Hops)
		}
		if first, _ := asked(t, appendPorts(1), g, 1); first.Requests > 23 || first.Hops > 10 {
			t.Errorf("the first write: %d requests in %d hops, at most 23 in 10", first.Requests, first.Hops)
		}
	})
}

func makeHarbor(t testing.TB) func(context.Context, *engine.Graph, int) error {
	source := shared(t, "graphs", "harbor", "harbor.pg")
	return func(ctx context.Context, g *engine.Graph, _ int) error {
		_, err := g.Init(ctx, engine.InitOptions{Source: source})
		return err
	}
}

// What a handle has read it does not read again in order to write: the first write
// after looking at a table asks for one object more than a warm one, the table's
// manifest, of which `__manifest` tells the number alone.
func TestFirstWriteAfterReading(t *testing.T) {
	for _, graph := range []string{"maintained", "midlife"} {
		farAway(t, graphFiles(t, graph), func(t *testing.T, s *memstore.Store) {
			g := writable(t, s)
			if _, err := g.Rows(context.Background(), "node:Port", engine.At{}, engine.RowsOptions{}); err != nil {
				t.Fatal(err)
			}
			first, calls := asked(t, writes[0].do, g, 1)
			if first.Requests > 24 || first.Hops > 11 {
				t.Errorf("%s: %d requests in %d hops, at most 24 in 11:\n%s", graph, first.Requests, first.Hops, callsText(first, calls))
			}
			page, err := g.Rows(context.Background(), "node:Port", engine.At{}, engine.RowsOptions{})
			if err != nil || !strings.Contains(fmt.Sprint(page.Rows), "N1") {
				t.Errorf("the row that was written is not read: %v, %v", page, err)
			}
		})
	}
}

// On a graph that nobody maintains every commit adds a fragment to `__manifest`,
// and an insert one to its table: a fresh process reads each of them, a warm
// handle none, and one that another wrote beside those of the other. OMNIDECK_FULL=1 goes down to 1000 commits.
func TestRequestsAtDepth(t *testing.T) {
	depths := []int{10, 100}
	if os.Getenv("OMNIDECK_FULL") != "" {
		depths = append(depths, 1000)
	}
	for name, history := range map[string]struct {
		do    func(context.Context, *engine.Graph, int) error
		reads int64 // fragments that a fresh process reads for each commit
	}{
		"updates": {statement(`update Port set { name: "N%d" } where code = "L0-1"`), 1},
		"inserts": {statement(`insert Port { code: "N%d", name: "N", country: "NL" }`), 2},
	} {
		t.Run(name, func(t *testing.T) {
			farAway(t, nil, func(t *testing.T, s *memstore.Store) {
				h := deepening{t: t, s: s, g: writable(t, s), do: history.do}
				asked(t, makeHarbor(t), h.g, 0)
				asked(t, appendPorts(12), h.g, 0)
				h.commits = 2
				other := writable(t, s)
				var warm, beside, cold []cost.Point
				for _, depth := range depths {
					w, c := h.at(depth)
					t.Logf("depth %d: warm %d requests in %d hops, cold %d in %d", depth, w.Requests, w.Hops, c.Requests, c.Hops)
					if w.Requests > 25 || w.Hops > 16 {
						t.Errorf("warm at depth %d: %d requests in %d hops, at most 25 in 16", depth, w.Requests, w.Hops)
					}
					asked(t, history.do, other, 100_000+depth)
					asked(t, history.do, h.g, 200_000+depth)
					b, _ := asked(t, history.do, other, 300_000+depth)
					h.commits += 3
					t.Logf("depth %d: warm beside another %d requests in %d hops", depth, b.Requests, b.Hops)
					f := history.reads * int64(depth)
					if c.Requests > f+40 {
						t.Errorf("cold at depth %d: %d requests, at most 40 beyond %d fragments", depth, c.Requests, f)
					}
					warm, beside, cold = append(warm, cost.Point{Depth: depth, Cost: w.Requests}), append(beside, cost.Point{Depth: depth, Cost: b.Requests}), append(cold, cost.Point{Depth: depth, Cost: c.Requests - f})
				}
				cost.RequireFlat(t, "a warm write", 0, warm...)
				cost.RequireFlat(t, "a warm write after one of another handle", 0, beside...)
				cost.RequireFlat(t, "a fresh process beyond fragments", 2, cold...)
			})
		})
	}
}

// deepening is a graph that gets one commit after the other.
type deepening struct {
	t       testing.TB
	s       *memstore.Store
	g       *engine.Graph
	do      func(context.Context, *engine.Graph, int) error
	commits int
}

// at is what one more write costs at a depth: the handle that made all of them,
// and a fresh process on the same objects.
func (h *deepening) at(depth int) (warm, cold blob.Totals) {
	for ; h.commits < depth-1; h.commits++ {
		asked(h.t, h.do, h.g, h.commits)
	}
	same := h.s.CloneWith(memstore.Options{Name: "g", Latency: func(blob.Op, string) time.Duration { return roundTrip }, MaxPage: 100})
	warm, _ = asked(h.t, h.do, h.g, h.commits)
	h.commits++
	cold, _ = asked(h.t, h.do, writable(h.t, same), h.commits)
	return warm, cold
}

// Blobs that an update keeps, beside a row that sets its own, are read side by
// side, and are no rows of their own; together beyond the limit of one write they
// are refused before any is read.
func TestKeptBlobsAreReadSideBySide(t *testing.T) {
	keep := func(ctx context.Context, g *engine.Graph, _ int) error {
		_, _, err := g.Mutate(ctx, engine.MutateOptions{Params: []byte(`{"c":"base64:AQ=="}`), Source: `query q($c: Blob) {
			update Book set { cover: $c } where isbn = "b0"
			update Book set { pages: 7 } where title = "T" }`})
		return err
	}
	filledWith := func(g *engine.Graph, rows, size int) {
		asked(t, func(ctx context.Context, g *engine.Graph, _ int) error {
			_, err := g.Init(ctx, engine.InitOptions{Source: []byte(library)})
			return err
		}, g, 0)
		cover := strings.Repeat("A", size/3*4)
		for from := 0; from < rows; from += 6 {
			asked(t, func(ctx context.Context, g *engine.Graph, _ int) error {
				var lines []string
				for i := from; i < min(from+6, rows); i++ {
					lines = append(lines, fmt.Sprintf(`{"type":"Book","data":{"isbn":"b%d","title":"T","cover":"base64:%s"}}`, i, cover))
				}
				_, err := g.Load(ctx, engine.LoadOptions{Mode: engine.LoadAppend, Input: input(lines)})
				return err
			}, g, 0)
		}
	}
	farAway(t, nil, func(t *testing.T, s *memstore.Store) {
		filledWith(writable(t, s), 12, 3<<17)
		one, calls := asked(t, keep, writable(t, s), 1)
		if one.Hops > 18 {
			t.Errorf("%d hops, at most 18:\n%s", one.Hops, callsText(one, calls))
		}
	})
	farAway(t, nil, func(t *testing.T, s *memstore.Store) {
		filledWith(writable(t, s), 12, 3<<20)
		m := blob.NewMeter(cost.Classify)
		err := keep(blob.WithMeter(context.Background(), m), writable(t, s), 1)
		var limit *txn.ResourceLimitError
		if read := m.Totals().BytesRead; !errors.As(err, &limit) || read > 8<<20 {
			t.Errorf("%v after %d bytes, expected a limit before the blobs are read", err, read)
		}
	})
}
