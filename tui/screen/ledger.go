package screen

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/workspace"
)

// ledgerLines is how many lines of the ledger are looked at.
const ledgerLines = 2000

// Ledger is what this machine remembers of the operations on one graph, of
// this run and of earlier ones. It is not changed after it was made.
type Ledger struct {
	Entries []cost.Entry // oldest first
	groups  []runs
	of      map[opKey]int // place in groups
}

// opKey names what is compared with itself: an operation of the engine, or a
// verb, and the table that it was about.
type opKey struct{ operation, table string }

// runs are the entries of one operation. Costs are those of runs that ended
// well: a run that failed half-way cost half, which says nothing.
type runs struct {
	opKey
	at     []int   // in Entries, oldest first
	costs  []int64 // requests of those that ended well, oldest first
	failed int
	median int64 // of costs without the last one; -1 when there are none
	lo, hi int64
}

// NewLedger groups entries, which are oldest first.
func NewLedger(entries []cost.Entry) *Ledger {
	l := &Ledger{Entries: entries, of: map[opKey]int{}}
	for i, e := range entries {
		k := opKey{e.Operation, e.Table}
		g, ok := l.of[k]
		if !ok {
			g = len(l.groups)
			l.of[k] = g
			l.groups = append(l.groups, runs{opKey: k})
		}
		r := &l.groups[g]
		r.at = append(r.at, i)
		if e.Outcome == "ok" {
			r.costs = append(r.costs, e.Requests)
		} else {
			r.failed++
		}
	}
	for i := range l.groups {
		l.groups[i].sum()
	}
	slices.SortStableFunc(l.groups, func(a, b runs) int { return cmp.Compare(b.at[len(b.at)-1], a.at[len(a.at)-1]) })
	for i, g := range l.groups {
		l.of[g.opKey] = i
	}
	return l
}

func (r *runs) sum() {
	r.median = -1
	if len(r.costs) == 0 {
		return
	}
	r.lo, r.hi = slices.Min(r.costs), slices.Max(r.costs)
	if before := slices.Clone(r.costs[:len(r.costs)-1]); len(before) > 0 {
		slices.Sort(before)
		r.median = before[len(before)/2]
	}
}

// slopeRuns is over how many runs a slope is looked for, slopeLeast how many
// say anything.
const (
	slopeRuns  = 12
	slopeLeast = 4
)

// slope is by how many requests the newest runs grow from one to the next, 0
// when they do not: the least-squares line must rise, by a tenth of the first
// run and three requests over the whole window, and the last run must stand
// above the first.
func (r *runs) slope() float64 {
	c := r.costs[max(0, len(r.costs)-slopeRuns):]
	n := float64(len(c))
	if len(c) < slopeLeast || c[len(c)-1] <= c[0] {
		return 0
	}
	var sx, sy, sxy, sxx float64
	for i, v := range c {
		x, y := float64(i), float64(v)
		sx, sy, sxy, sxx = sx+x, sy+y, sxy+x*y, sxx+x*x
	}
	slope := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	if rise := slope * (n - 1); rise < 3 || rise < float64(c[0])/10 {
		return 0
	}
	return slope
}

// inLedger says under which name the engine writes a question of the screens
// into the ledger, for the questions that cost the same whenever they are
// asked of the same graph. Others are not compared: what a page of rows or a
// window of a chain costs depends on where it lies, and the ledger does not
// say that.
var inLedger = map[string]string{
	"info": "info", "branch names": "branch names", "branches": "branches", "snapshot": "snapshot",
	"commits": "log all", "schema": "schema", "fragments": "fragments",
}

// aboutTable are the questions whose ledger line names a table.
var aboutTable = map[string]bool{"fragments": true}

// before is what the newest run of a question before a moment cost.
func (l *Ledger) before(name, table string, at time.Time) (cost.Entry, bool) {
	k := opKey{operation: inLedger[name]}
	if aboutTable[name] {
		k.table = table
	}
	g, ok := l.of[k]
	if !ok || k.operation == "" {
		return cost.Entry{}, false
	}
	for _, i := range slices.Backward(l.groups[g].at) {
		if e := l.Entries[i]; e.Outcome == "ok" && e.At.Before(at) {
			return e, true
		}
	}
	return cost.Entry{}, false
}

// Was is what the same operation cost the last time.
type Was struct {
	Requests int64
	At       time.Time
}

// Before finds what the same questions about the same graph cost the time
// before: in this run of the program, else by the ledger, where each of them
// must stand.
func (e *Env) Before(r *Record) (Was, bool) {
	if r == nil {
		return Was{}, false
	}
	if r.was.At.IsZero() {
		r.was = e.findBefore(r)
	}
	return r.was, !r.was.At.IsZero()
}

func (e *Env) findBefore(r *Record) Was {
	if e.Ops != nil {
		for _, o := range slices.Backward(e.Ops.all) {
			if o.Seq < r.Seq && o.URI == r.URI && o.At == r.At && o.Table == r.Table && !o.Running() && o.Err == nil && slices.Equal(o.Names, r.Names) {
				return Was{o.Reading().Requests(), o.Began}
			}
		}
	}
	l, ok := e.Data.Ledger.Get()
	if !ok || r.URI != e.URI || e.Masked { // the ledger is that of one machine
		return Was{}
	}
	var w Was
	for _, name := range r.Names {
		line, ok := l.before(name, r.Table, r.Began)
		if !ok {
			return Was{}
		}
		w.Requests += line.Requests
		if w.At.IsZero() || line.At.Before(w.At) {
			w.At = line.At
		}
	}
	return w
}

// MissingLedger asks for the ledger when nobody has yet.
func (s *Session) MissingLedger(e *Env) []Request {
	if !s.Ledger.wanted(e) {
		return nil
	}
	return []Request{s.AskLedger(e)}
}

// Note keeps of an answer to a screen what is shown elsewhere too: the chain
// of `__manifest`, for the gauges.
func (s *Session) Note(data any) {
	if v, ok := data.(*engine.Versions); ok && v != nil && v.Table == manifestTable {
		s.Chain = v
	}
	s.notePending(data)
}

// AskLedger asks for the ledger of the graph. It asks no store, so it is no
// operation of the meter.
func (s *Session) AskLedger(e *Env) Request {
	r := s.Ledger.ask(e, func(ctx context.Context, ws workspace.Workspace) (*Ledger, error) {
		entries, err := ws.Operations(ctx, ledgerLines)
		if err != nil {
			return nil, err
		}
		return NewLedger(entries), nil
	})
	r.Aside = true
	return r
}
