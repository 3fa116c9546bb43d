package screen

import (
	"slices"
	"strings"
	"time"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Record is one operation of this session: the questions that were asked
// together, and what they cost. The root makes and ends it.
type Record struct {
	Seq          uint64 // 1, 2, 3 … in order of beginning
	Visit        uint64 // of the screen that asked
	URI          string // of the graph
	From         string // title of that screen
	At           engine.At
	Names        []string // of its questions, in their order
	Table        string   // that they are about; "" = the whole graph
	Began, Ended time.Time
	Open         int // questions that were not answered yet
	Err          error
	Writes       bool            // it was to change the graph
	Receipt      *engine.Receipt // of a write that was done
	Told         []string        // of a recovery: what became of each record
	CLI          string          // of a write: the line that does the same
	Expected     int64           // requests that the plan of a write foresaw; 0 = none did
	Meter        workspace.Meter // nil when it is no longer among the newest
	final        workspace.Reading
	was          Was // what it cost before; found when it is first asked for
}

// Name is what was asked, in words.
func (r *Record) Name() string { return strings.Join(r.Names, ", ") }

// Running says that an answer is still waited for.
func (r *Record) Running() bool { return r.Ended.IsZero() }

// Reading is what the operation cost, so far.
func (r *Record) Reading() workspace.Reading {
	if r.Running() && r.Meter != nil {
		return r.Meter.Sample()
	}
	return r.final
}

// Trace is its cost in detail; false when that is no longer kept.
func (r *Record) Trace() (cost.Trace, bool) {
	if r.Meter == nil {
		return cost.Trace{}, false
	}
	return r.Meter.Trace(), true
}

// Answer notes that one of the questions of an operation was answered, or
// failed.
func (rs *Records) Answer(r *Record, err error, now time.Time) {
	if err != nil && r.Err == nil {
		r.Err = err
	}
	if r.Open--; r.Open == 0 && r.Running() {
		rs.changes++
		r.Ended = now
		if r.Meter != nil {
			r.final = r.Meter.Sample()
		}
	}
}

// Bounds of what is remembered of a session.
const (
	recordsKept = 200
	tracesKept  = 20
)

// Records are the newest operations of this session. A nil *Records holds
// none.
type Records struct {
	seq     uint64
	changes uint64    // counts what began and what ended
	all     []*Record // oldest first
}

// Begin adds an operation of n questions.
func (rs *Records) Begin(r Record, n int) *Record {
	rs.seq++
	rs.changes++
	r.Seq, r.Open = rs.seq, n
	if len(rs.all) == recordsKept {
		rs.all = slices.Delete(rs.all, 0, 1)
	}
	rs.all = append(rs.all, &r)
	for _, old := range rs.all[:max(0, len(rs.all)-tracesKept)] {
		if !old.Running() {
			old.Meter = nil
		}
	}
	return &r
}

// Costs are the requests of the newest n operations, the last one last.
func (rs *Records) Costs(n int) []int64 {
	var out []int64
	for i := min(n, rs.Len()) - 1; i >= 0; i-- {
		out = append(out, rs.Newest(i).Reading().Requests())
	}
	return out
}

// Of are the operations that a visit asked for, newest first.
func (rs *Records) Of(visit uint64) []*Record {
	var out []*Record
	for i := range rs.Len() {
		if r := rs.Newest(i); r.Visit == visit {
			out = append(out, r)
		}
	}
	return out
}

// Len is how many are remembered.
func (rs *Records) Len() int {
	if rs == nil {
		return 0
	}
	return len(rs.all)
}

// Newest is the n-th newest operation, 0 the last one; nil when there is none.
func (rs *Records) Newest(n int) *Record {
	if n < 0 || n >= rs.Len() {
		return nil
	}
	return rs.all[len(rs.all)-1-n]
}
