package blob

import (
	"context"
	"errors"
	"maps"
)

func (m *Meter) end(c Call, h inFlightHop) {
	c.Seq, c.Hop, c.Class = h.seq, h.hop, m.classify(c.Key)
	m.mu.Lock()
	m.count(c)
	m.mu.Unlock()
}

func (m *Meter) count(c Call) {
	m.done = max(m.done, c.Hop)
	t := &m.totals
	t.InFlight--
	t.Requests++
	t.Hops = m.done
	t.BytesRead += c.Read
	t.BytesWritten += c.Written
	t.Ops[c.Op]++
	t.Classes[ClassOp{c.Class, c.Op}]++
	if c.Attempt > 1 {
		t.Retries++
	}
	if c.Err != nil && !IsAnswer(c.Err) {
		t.Failed++
	}
	if m.keep <= 0 {
		return
	}
	if len(m.calls) < m.keep {
		m.calls = append(m.calls, c)
		return
	}
	m.calls[m.next] = c
	m.next = (m.next + 1) % m.keep
}

// Totals returns a copy of the sums so far. Calls still in flight are counted
// in InFlight only.
func (m *Meter) Totals() Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.totals
	t.Ops = maps.Clone(t.Ops)
	t.Classes = maps.Clone(t.Classes)
	return t
}

// Calls returns the remembered calls (see Keep) in order of ending.
func (m *Meter) Calls() []Call {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Call, 0, len(m.calls))
	return append(append(out, m.calls[m.next:]...), m.calls[:m.next]...)
}

// IsAnswer tells the errors that are answers, or that the caller wanted, from
// those of a store in trouble.
func IsAnswer(err error) bool {
	return errors.Is(err, ErrNotExist) || errors.Is(err, ErrExists) || errors.Is(err, context.Canceled)
}
