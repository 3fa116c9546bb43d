package cost

import (
	"context"
	"time"

	"github.com/omnideck/omnideck/blob"
)

// Scope counts what is asked of the store under one context. It is how a front
// end, which does not know the store, meters a screen or an operation.
type Scope struct{ meter *blob.Meter }

// WithScope returns a context whose requests are counted by a new scope, and by
// every scope that ctx already carries.
func WithScope(ctx context.Context) (context.Context, *Scope) {
	m := blob.NewMeter(Classify)
	return blob.WithMeter(ctx, m), &Scope{m}
}

// WithTrace is WithScope, with a scope that remembers its newest calls.
func WithTrace(ctx context.Context) (context.Context, *Scope) {
	m := blob.NewMeter(Classify, blob.Keep(traceCalls))
	return blob.WithMeter(ctx, m), &Scope{m}
}

// Reading is what was counted so far, requests in flight excepted.
func (s *Scope) Reading() Reading { return RPC(s.meter) }

// Sample is the reading, the number of requests in flight and of those that
// failed, all of one moment.
func (s *Scope) Sample() (r Reading, inFlight int, failed int64) {
	t := s.meter.Totals()
	return ReadingOf(t), t.InFlight, t.Failed
}

// Entry makes the ledger's line of the finished operation.
func (s *Scope) Entry(operation, uri, commit string, begin, end time.Time, err error) Entry {
	return NewEntry(operation, uri, commit, begin, end, s.meter.Totals(), err)
}

// Trace is what was counted so far, in detail.
func (s *Scope) Trace() Trace { return Trace{} }

// traceCalls is how many calls a scope remembers.
const traceCalls = 512

// Call is one finished request, in words that a front end may know.
type Call struct {
	Op, Key, Class string
	Start, End     time.Time
	Read, Written  int64
	Hop            int // 1 + the deepest hop of the calls that had finished when this one began
	Attempt        int
	Err            string // "" when it was answered
}

// ClassCount counts the requests of one path class by operation.
type ClassCount struct {
	Class string
	Ops   Ops
}

// Trace is a scope in detail.
type Trace struct {
	Calls   []Call // the newest, in order of beginning
	Dropped int64  // older calls that were not kept
	Classes []ClassCount
}
