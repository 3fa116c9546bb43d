package engine_test

import (
	"context"
	"maps"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// onTheWire runs f, and fails unless the proxy in front of the store saw exactly
// what the totals say.
func onTheWire(t *testing.T, l *lab.Lab, f func() blob.Totals) blob.Totals {
	t.Helper()
	if err := l.Reset(); err != nil {
		t.Fatal(err)
	}
	said := f()
	log, err := l.Log()
	if err != nil {
		t.Fatal(err)
	}
	seen, read, wrote := map[blob.Op]int64{}, int64(0), int64(0)
	for _, r := range log {
		op := blob.Op(r.Op)
		seen[op]++
		wrote += r.ReqBytes
		if r.Status < 300 {
			read += r.ResBytes
		}
	}
	if !maps.Equal(seen, said.Ops) || int64(len(log)) != said.Requests || read != said.BytesRead || wrote != said.BytesWritten {
		t.Errorf("%d requests %v, %d bytes read, %d written; the proxy saw %d %v, %d and %d",
			said.Requests, said.Ops, said.BytesRead, said.BytesWritten, len(log), seen, read, wrote)
	}
	return said
}

// Every write asks a real endpoint for what it asks a store in memory for, cold and
// warm, and the proxy in front of it counts the same requests and bytes.
func TestWritesOnS3(t *testing.T) {
	l := lab.Test(t, lab.Options{Meter: true})
	for _, graph := range []string{"maintained", "midlife"} {
		for _, w := range writes {
			name := w.name + "-" + graph
			g := openAt(t, onS3At(t, l, graph, name), engine.Options{Write: true})
			cold := onTheWire(t, l, func() blob.Totals { c, _ := asked(t, w.do, g, 1); return c })
			warm := onTheWire(t, l, func() blob.Totals { c, _ := asked(t, w.do, g, 2); return c })
			if most := map[string]int64{"maintained": w.maintained, "midlife": w.midlife}[graph]; cold.Requests != most || warm.Requests != w.requests {
				t.Errorf("%s: %d requests cold and %d warm, in memory %d and %d", name, cold.Requests, warm.Requests, most, w.requests)
			}
			t.Logf("%-22s cold %2d requests, %6d bytes read, %7d written; warm %2d, %6d, %7d", name,
				cold.Requests, cold.BytesRead, cold.BytesWritten, warm.Requests, warm.BytesRead, warm.BytesWritten)
		}
	}
	g := openAt(t, l.URI("new"), engine.Options{Write: true})
	if made := onTheWire(t, l, func() blob.Totals { c, _ := asked(t, makeHarbor(t), g, 0); return c }); made.Requests != 17+3*9 {
		t.Errorf("init: %d requests", made.Requests)
	}
}

// A one-row update at a round trip of 20 ms: what really waits for what. A busy
// machine can only add to it, so that the least of several counts.
func TestHopsOfAnUpdateOnS3(t *testing.T) {
	if pace.Race {
		t.Skip("SKIPPED under the race detector: hops overlap in time, and it stretches time")
	}
	l := lab.Test(t, lab.Options{Meter: true, RTT: 20 * time.Millisecond})
	for graph, most := range map[string]int64{"maintained": 32, "midlife": 45, "deep": math.MaxInt64} {
		uri := onS3At(t, l, graph, graph)
		cold, warm := math.MaxInt, math.MaxInt // hops
		for n := 1; n == 1 || n < 24 && (cold > 16 && graph != "deep" || warm > 16); n++ {
			f, err := openAt(t, uri, engine.Options{}).Fragments(context.Background(), "", engine.At{})
			if err != nil {
				t.Fatal(err)
			}
			fragments := int64(len(f.Fragments))
			g := openAt(t, uri, engine.Options{Write: true})
			c := onTheWire(t, l, func() blob.Totals { c, _ := asked(t, writes[0].do, g, 2*n); return c })
			w := onTheWire(t, l, func() blob.Totals { c, _ := asked(t, writes[0].do, g, 2*n+1); return c })
			t.Logf("%s, F = %d: cold %d requests in %d hops, warm %d in %d", graph, fragments, c.Requests, c.Hops, w.Requests, w.Hops)
			if n == 1 && c.Requests > most || c.Requests > fragments+40 || w.Requests > 25 {
				t.Errorf("%s: %d requests cold, at most %d and F + 40; %d warm, at most 25", graph, c.Requests, most, w.Requests)
			}
			cold, warm = min(cold, c.Hops), min(warm, w.Hops)
		}
		if cold > 16 && graph != "deep" || warm > 16 { // 64 requests are in flight at once: 300 fragments are five rounds
			t.Errorf("%s: %d hops cold, %d warm, at most 16", graph, cold, warm)
		}
	}
}

// A process that opens a graph once and writes twenty times says of each operation
// what it cost, and all of it together is what the proxy saw.
func TestTwentyWritesAddUp(t *testing.T) {
	l := lab.Test(t, lab.Options{Meter: true})
	uri := onS3At(t, l, "midlife", "twenty")
	ledger := cost.OpenLedger(filepath.Join(t.TempDir(), "ledger"))
	process := blob.NewMeter(cost.Classify)
	onTheWire(t, l, func() blob.Totals {
		g := openAt(t, uri, engine.Options{Write: true, Ledger: ledger, Meter: process})
		var sum blob.Totals
		sum.Ops = map[blob.Op]int64{}
		for n := range 20 {
			w := writes[[]int{0, 1, 2, 4}[n%4]]
			one, _ := asked(t, w.do, g, n+1)
			sum.Requests += one.Requests
			sum.BytesRead += one.BytesRead
			sum.BytesWritten += one.BytesWritten
			for op, k := range one.Ops {
				sum.Ops[op] += k
			}
		}
		lines, err := ledger.Read(0, nil)
		if err != nil || len(lines) != 20 {
			t.Fatalf("%d lines in the ledger, %v", len(lines), err)
		}
		var listed blob.Totals
		for _, e := range lines {
			listed.Requests += e.Requests
			listed.BytesRead += e.BytesRead
			listed.BytesWritten += e.BytesWritten
		}
		whole := process.Totals()
		for who, x := range map[string]blob.Totals{"the ledger": listed, "the process": whole} {
			if x.Requests != sum.Requests || x.BytesRead != sum.BytesRead || x.BytesWritten != sum.BytesWritten {
				t.Errorf("%s says %d requests, %d bytes read, %d written; the operations together %d, %d, %d",
					who, x.Requests, x.BytesRead, x.BytesWritten, sum.Requests, sum.BytesRead, sum.BytesWritten)
			}
		}
		return sum
	})
}

// On a real endpoint, too, a warm update costs the same however deep an
// unmaintained history is, and a fresh process one request more for each commit.
// OMNIDECK_FULL=1 goes down to 1000 commits.
func TestDepthOnS3(t *testing.T) {
	depths := []int{10, 30}
	if os.Getenv("OMNIDECK_FULL") != "" {
		depths = []int{10, 100, 1000}
	}
	l := lab.Test(t, lab.Options{Meter: true})
	g := openAt(t, l.URI("depth"), engine.Options{Write: true})
	asked(t, makeHarbor(t), g, 0)
	asked(t, appendPorts(12), g, 0)
	do := statement(`update Port set { name: "N%d" } where code = "L0-1"`)
	var warm, cold []cost.Point
	commits := 2
	for _, depth := range depths {
		for ; commits < depth-1; commits++ {
			asked(t, do, g, commits)
		}
		w := onTheWire(t, l, func() blob.Totals { c, _ := asked(t, do, g, commits); return c })
		fresh := openAt(t, l.URI("depth"), engine.Options{Write: true})
		c := onTheWire(t, l, func() blob.Totals { c, _ := asked(t, do, fresh, commits+1); return c })
		asked(t, do, g, commits+2) // what the fresh process wrote is read
		commits += 3
		t.Logf("depth %d: warm %d requests, %d bytes read, %d written; cold %d, %d, %d", depth, w.Requests, w.BytesRead, w.BytesWritten, c.Requests, c.BytesRead, c.BytesWritten)
		warm, cold = append(warm, cost.Point{Depth: depth, Cost: w.Requests}), append(cold, cost.Point{Depth: depth, Cost: c.Requests - int64(depth)})
		if w.Requests > 25 || c.Requests > int64(depth)+40 {
			t.Errorf("depth %d: %d requests warm, %d cold", depth, w.Requests, c.Requests)
		}
	}
	cost.RequireFlat(t, "a warm update", 0, warm...)
	cost.RequireFlat(t, "a fresh process beyond fragments", 2, cold...)
}
