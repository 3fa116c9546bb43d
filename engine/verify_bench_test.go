package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/omnideck/omnideck/engine"
)

// BenchmarkVerifyDeep verifies a million nodes of three groups of unique columns
// and a million edges of bounded cardinality. peak-MB is the heap above what the
// graph itself, which lies in memory, takes.
func BenchmarkVerifyDeep(b *testing.B) {
	const rows, portion = 1_000_000, 50_000
	g := plantGraph(b, plantedSchema, nil)
	for from := 0; from < rows; from += portion {
		nodes, edges := make([]planted, portion), make([]planted, portion)
		for i := range nodes {
			n := from + i
			id := fmt.Sprintf("person-%09d", n)
			nodes[i] = plantedP(id, "u", int32(n), "a", "a", "b", id, "e", "x", "r", int32(6), "c", "b")
			edges[i] = planted{id: fmt.Sprintf("edge-%09d", n), src: fmt.Sprintf("person-%09d", n/3*3), dst: id}
		}
		g.plant("node:P", 0, nodes...)
		g.plant("edge:F", 0, edges...)
	}
	for b.Loop() {
		runtime.GC()
		var before, m runtime.MemStats
		runtime.ReadMemStats(&before)
		stop, wait, peak := make(chan struct{}), sync.WaitGroup{}, uint64(0)
		wait.Go(func() {
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-stop:
					return
				case <-tick.C:
					runtime.ReadMemStats(&m)
					peak = max(peak, m.HeapAlloc)
				}
			}
		})
		v, err := openStore(b, g.store).Verify(context.Background(), engine.VerifyOptions{Deep: true})
		close(stop)
		wait.Wait()
		if err != nil || v.Checked.Keys != 2*rows || len(v.Problems) != 1 || v.Problems[0].ID != "cardinality-min" {
			b.Fatalf("%+v, %v", v, err) // the last source has one edge alone
		}
		b.ReportMetric(float64(peak-before.HeapAlloc)/1e6, "peak-MB")
	}
}
