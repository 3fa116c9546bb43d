package blob

import (
	"context"
	"sync"
	"time"
)

// Op is a kind of request, as a proxy in front of the store would name it.
type Op string

// The operations that are counted. A batched delete of n keys is one OpDelete.
const (
	OpGet    Op = "get"
	OpHead   Op = "head"
	OpList   Op = "list"
	OpPut    Op = "put"
	OpDelete Op = "delete"
	OpCopy   Op = "copy"
)

// Ops lists all operations in display order.
var Ops = []Op{OpGet, OpHead, OpList, OpPut, OpDelete, OpCopy}

// Call is one finished request.
type Call struct {
	Seq      int64     // 1, 2, 3 … in order of beginning, per meter
	Op       Op        //
	Key      string    // key, or prefix of a listing
	Class    string    // path class (see Meter)
	Start    time.Time //
	End      time.Time //
	Read     int64     // bytes of body received
	Written  int64     // bytes of body sent
	Hop      int       // 1 + the deepest hop among the calls that had finished when this one began
	Attempt  int       // 1, 2 … of a driver's own retries
	Err      error     // nil, or why it failed; "does not exist" counts as an answer, with Err set
	Keys     int       // of a listing: entries received
	Range    Range     // of a get
	IfAbsent bool      // of a put
}

// Totals are sums over the calls of a meter. Values, not live.
type Totals struct {
	Requests     int64
	Hops         int // longest chain of calls each of which began after the one before had ended
	BytesRead    int64
	BytesWritten int64
	Retries      int64 // calls with Attempt > 1
	Failed       int64 // calls with Err; "does not exist", "exists" and a cancelled caller excepted
	InFlight     int
	Ops          map[Op]int64
	Classes      map[ClassOp]int64
}

// ClassOp is a path class and an operation, the key of the finer counts.
type ClassOp struct {
	Class string
	Op    Op
}

// Meter counts the calls made under one context. Meters nest: a call is
// counted by every meter on the way up (operation in screen in process).
// The zero value is not usable; make one with NewMeter.
type Meter struct {
	classify func(key string) string
	keep     int

	mu     sync.Mutex
	seq    int64
	done   int // deepest hop among finished calls
	totals Totals
	calls  []Call // ring of the last keep calls, in order of ending
	next   int
}

// MeterOption configures NewMeter.
type MeterOption func(*Meter)

// Keep makes the meter remember the last n calls (0 by default).
func Keep(n int) MeterOption { return func(m *Meter) { m.keep = n } }

// NewMeter makes a meter. classify gives the path class of a key; nil puts
// everything into class "other".
func NewMeter(classify func(key string) string, opts ...MeterOption) *Meter {
	if classify == nil {
		classify = func(string) string { return "other" }
	}
	m := &Meter{classify: classify}
	m.totals.Ops = map[Op]int64{}
	m.totals.Classes = map[ClassOp]int64{}
	for _, o := range opts {
		o(m)
	}
	return m
}

type scopeKey struct{}

// scope is a linked list of meters from the innermost outwards.
type scope struct {
	meter *Meter
	outer *scope
}

// WithMeter returns a context whose calls are counted by m and by the meters
// that ctx already carries. A meter already on the way up is not added twice.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	outer, _ := ctx.Value(scopeKey{}).(*scope)
	for s := outer; s != nil; s = s.outer {
		if s.meter == m {
			return ctx
		}
	}
	return context.WithValue(ctx, scopeKey{}, &scope{m, outer})
}

// InFlightCall is a call that a driver has begun. Its zero value is a call
// that nobody counts.
type InFlightCall struct {
	scope *scope
	call  Call
	hops  []inFlightHop
}

type inFlightHop struct {
	seq int64
	hop int
}

// Begin is called by a driver immediately before a request leaves. The call
// must be ended with End exactly once. c carries Op, Key, Range, IfAbsent,
// Written and Attempt; the rest is filled in here and by End.
func Begin(ctx context.Context, c Call) *InFlightCall {
	s, _ := ctx.Value(scopeKey{}).(*scope)
	f := &InFlightCall{scope: s, call: c}
	if c.Attempt == 0 {
		f.call.Attempt = 1
	}
	f.call.Start = time.Now()
	for ; s != nil; s = s.outer {
		f.hops = append(f.hops, s.meter.begin())
	}
	return f
}

// Sent adds bytes of body that were not known of when the call began. It is
// called before End.
func (f *InFlightCall) Sent(n int64) { f.call.Written += n }

// End records the outcome: bytes of body received, entries of a listing, and
// the error if there was one.
func (f *InFlightCall) End(read int64, keys int, err error) {
	f.call.End = time.Now()
	f.call.Read, f.call.Keys, f.call.Err = read, keys, err
	i := 0
	for s := f.scope; s != nil; s = s.outer {
		s.meter.end(f.call, f.hops[i])
		i++
	}
}

func (m *Meter) begin() inFlightHop {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seq++
	m.totals.InFlight++
	return inFlightHop{m.seq, m.done + 1}
}
