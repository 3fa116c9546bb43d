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
