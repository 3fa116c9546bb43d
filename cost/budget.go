package cost

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/blob"
)

// keep is how many requests Measure can show when a budget is missed.
const keep = 4096

// Measured is what one operation asked of the store.
type Measured struct {
	blob.Totals
	Calls []blob.Call // the last 4096, in order of ending
}

// Measure runs f and counts what it asks of any store under the context that
// it is given.
func Measure(ctx context.Context, classify func(key string) string, f func(ctx context.Context) error) (Measured, error) {
	m := blob.NewMeter(classify, blob.Keep(keep))
	err := f(blob.WithMeter(ctx, m))
	return Measured{m.Totals(), m.Calls()}, err
}

// Log is the requests, one a line, for the message of a missed budget.
func (m Measured) Log() string {
	calls := slices.Clone(m.Calls)
	slices.SortFunc(calls, func(a, b blob.Call) int { return int(a.Seq - b.Seq) })
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%4d hop %2d %-6s %-13s %s", c.Seq, c.Hop, c.Op, c.Class, c.Key)
		if c.Attempt > 1 {
			fmt.Fprintf(&b, " (attempt %d)", c.Attempt)
		}
		if c.Err != nil {
			fmt.Fprintf(&b, " — %v", c.Err)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Budget bounds an operation. A negative bound is no bound.
type Budget struct {
	Requests int64
	Hops     int
	Other    bool // requests of class "other" are allowed
}

// Check returns what of a budget was missed, with the requests, or nil.
func (b Budget) Check(m Measured) error {
	var missed []string
	if b.Requests >= 0 && m.Requests > b.Requests {
		missed = append(missed, fmt.Sprintf("%d requests, at most %d were allowed", m.Requests, b.Requests))
	}
	if b.Hops >= 0 && m.Hops > b.Hops {
		missed = append(missed, fmt.Sprintf("%d hops, at most %d were allowed", m.Hops, b.Hops))
	}
	var others []string
	for c, n := range m.Classes {
		if c.Class == Other && !b.Other {
			others = append(others, fmt.Sprintf("%d × %s of class other", n, c.Op))
		}
	}
	slices.Sort(others)
	missed = append(missed, others...)
	if missed == nil {
		return nil
	}
	return fmt.Errorf("%s\n%s", strings.Join(missed, "; "), m.Log())
}

// Point is the cost of an operation at a depth of history.
type Point struct {
	Depth int
	Cost  int64
}

// Flat reports costs that differ by more than slack between any two depths. At
// least two depths are needed to say anything.
func Flat(slack int64, points ...Point) error {
	if len(points) < 2 {
		return fmt.Errorf("%d depths say nothing about growth", len(points))
	}
	lo := slices.MinFunc(points, byCost)
	hi := slices.MaxFunc(points, byCost)
	if hi.Cost-lo.Cost > slack {
		return fmt.Errorf("not flat: %d at depth %d, %d at depth %d, a difference of %d is allowed",
			lo.Cost, lo.Depth, hi.Cost, hi.Depth, slack)
	}
	return nil
}

func byCost(a, b Point) int { return int(a.Cost - b.Cost) }

// TB is what RequireFlat needs of a test.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// RequireFlat fails a test when the cost of what grows with history.
func RequireFlat(t TB, what string, slack int64, points ...Point) {
	t.Helper()
	if err := Flat(slack, points...); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
