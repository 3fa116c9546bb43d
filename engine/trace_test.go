package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/golden"
)

// roundTrip is the time that every request takes in a traced store. In a bubble
// of testing/synctest it costs none, and makes hops exact.
const roundTrip = 10 * time.Millisecond

// traced runs one question of a fresh process against files and returns what it
// asked of the store.
func traced(t *testing.T, files map[string][]byte, ask func(context.Context, *engine.Graph) error) (totals blob.Totals, calls []blob.Call) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := memory(t, memstore.Options{Name: "g", Latency: func(blob.Op, string) time.Duration { return roundTrip }, MaxPage: 100}, files)
		g := openStore(t, s)
		m := blob.NewMeter(cost.Classify, blob.Keep(1<<16))
		start := time.Now()
		if err := ask(blob.WithMeter(t.Context(), m), g); err != nil {
			t.Errorf("asked: %v", err)
		}
		totals, calls = m.Totals(), m.Calls()
		if hops := int(time.Since(start) / roundTrip); hops != totals.Hops {
			t.Errorf("the meter counts %d hops, the clock %d", totals.Hops, hops)
		}
		if totals.InFlight != 0 || totals.Failed != 0 {
			t.Errorf("left behind: %+v", totals)
		}
	})
	return totals, calls
}

var longName = regexp.MustCompile(`/([01]{8})[0-9a-f]{42}\.`)

// traceText spells a trace: totals, then requests by hop.
func traceText(totals blob.Totals, calls []blob.Call) []byte {
	var lines []string
	for _, c := range calls {
		key := longName.ReplaceAllString(c.Key, "/$1….")
		l := fmt.Sprintf("%2d  %-4s  %-13s %s", c.Hop, c.Op, c.Class, key)
		switch {
		case c.Op == blob.OpList:
			l += fmt.Sprintf("  (%d keys)", c.Keys)
		case c.Range != blob.All && c.Op == blob.OpGet:
			l += fmt.Sprintf("  [%d +%d]", c.Range.Off, c.Range.Len)
		}
		if c.Err != nil {
			l += "  (not there)"
		}
		lines = append(lines, l)
	}
	slices.Sort(lines)
	head := fmt.Sprintf("requests %d  hops %d  bytes %d", totals.Requests, totals.Hops, totals.BytesRead)
	for _, op := range slices.SortedFunc(maps.Keys(totals.Ops), func(a, b blob.Op) int { return cmp.Compare(a, b) }) {
		head += fmt.Sprintf("  %s %d", op, totals.Ops[op])
	}
	return []byte(head + "\n" + strings.Join(lines, "\n") + "\n")
}

// What each question asks of the store, request by request, on midlife.
func TestTraces(t *testing.T) {
	files := graphFiles(t, "midlife")
	for _, name := range slices.Sorted(maps.Keys(methods(nil))) {
		t.Run(name, func(t *testing.T) {
			totals, calls := traced(t, files, func(ctx context.Context, g *engine.Graph) error {
				err := methods(g)[name](ctx)
				if name == "blob stat" { // asked of an entity that is not there
					return nil
				}
				return err
			})
			golden.Equal(t, "trace/"+strings.ReplaceAll(name, " ", "-")+".golden", traceText(totals, calls))
			reads := totals.Ops[blob.OpGet] + totals.Ops[blob.OpHead] + totals.Ops[blob.OpList]
			if reads != totals.Requests {
				t.Errorf("looking asked for more than reads: %v", totals.Ops)
			}
			if n := totals.Classes[classOp(cost.Other, blob.OpGet)]; n != 0 {
				t.Errorf("%d objects of no known class were read", n)
			}
		})
	}
}

func classOp(class string, op blob.Op) blob.ClassOp { return blob.ClassOp{Class: class, Op: op} }
