package cost

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/omnideck/omnideck/blob"
)

// traceCalls is how many calls a scope of WithTrace remembers. The room for
// them is taken as they come.
const traceCalls = 512

// Call is one finished request, in words that a front end may know.
type Call struct {
	Op      string    `json:"op"`    // get, head, list, put, delete, copy
	Key     string    `json:"key"`   // or the prefix of a listing
	Class   string    `json:"class"` // path class
	Start   time.Time `json:"start"`
	End     time.Time `json:"end"`
	Read    int64     `json:"bytes_read"`
	Written int64     `json:"bytes_written"`
	Hop     int       `json:"hop"`     // 1 + the deepest hop of the calls that had finished when this one began
	Attempt int       `json:"attempt"` // 1, 2 … of a driver's own retries
	// Err is why it failed, "" when it was answered. "Does not exist" is an
	// answer of the store, and stands here all the same.
	Err string `json:"error,omitempty"`
	// Failed says that Err is a store in trouble, and neither such an answer nor
	// a caller who gave up.
	Failed bool `json:"failed,omitempty"`
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

// Trace is what was counted so far, in detail. All requests stand in Classes;
// Calls are there only for a scope of WithTrace, the newest 512.
func (s *Scope) Trace() Trace {
	calls, totals := s.meter.Calls(), s.meter.Totals()
	slices.SortFunc(calls, func(a, b blob.Call) int { // of those that began at one moment nobody was first
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(string(a.Op), string(b.Op)), strings.Compare(a.Key, b.Key), cmp.Compare(a.Seq, b.Seq))
	})
	t := Trace{
		Calls: make([]Call, len(calls)), Classes: classCounts(totals.Classes),
		Dropped: max(0, totals.Requests-int64(len(calls))),
	}
	for i, c := range calls {
		t.Calls[i] = Call{
			Op: string(c.Op), Key: c.Key, Class: c.Class, Start: c.Start, End: c.End, Read: c.Read, Written: c.Written,
			Hop: c.Hop, Attempt: c.Attempt,
		}
		if c.Err != nil {
			t.Calls[i].Err, t.Calls[i].Failed = c.Err.Error(), !blob.IsAnswer(c.Err)
		}
	}
	return t
}

// Classes lists the path classes in the order in which they are shown.
var Classes = []string{
	ManifestOpen, ManifestRefs, ManifestScan, ManifestTxn, DataOpen, DataRefs, DataScan, DataIndex, DataTxn,
	Recovery, Schema, Audit, Control, Other,
}

// classCounts sorts the counts of a meter by class, in the order of Classes.
func classCounts(counts map[blob.ClassOp]int64) []ClassCount {
	of := map[string]*Ops{}
	for c, n := range counts {
		o := of[c.Class]
		if o == nil {
			o = &Ops{}
			of[c.Class] = o
		}
		o.add(c.Op, n)
	}
	var out []ClassCount
	for _, class := range Classes {
		if o := of[class]; o != nil {
			out = append(out, ClassCount{class, *o})
		}
	}
	return out
}

func (o *Ops) add(op blob.Op, n int64) {
	switch op {
	case blob.OpGet:
		o.Get += n
	case blob.OpHead:
		o.Head += n
	case blob.OpList:
		o.List += n
	case blob.OpPut:
		o.Put += n
	case blob.OpDelete:
		o.Delete += n
	case blob.OpCopy:
		o.Copy += n
	}
}

// Total is the number of all requests.
func (o Ops) Total() int64 { return o.Get + o.Head + o.List + o.Put + o.Delete + o.Copy }
