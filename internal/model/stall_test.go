package model_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/omnideck/omnideck/internal/model"
	"github.com/omnideck/omnideck/internal/pace"
)

// writers are the operations that stall.
var writers = map[string]model.Op{
	"a row":      {Do: model.Mutate, Statements: []model.Statement{update("p0", 50)}},
	"two tables": {Do: model.Mutate, Statements: []model.Statement{update("p0", 51), {Verb: "insert", Type: "Knows", From: "p0", To: "p2", Set: map[string]string{"tag": `"w"`}}}},
	"overwrite":  {Do: model.Overwrite, Rows: []model.Row{{Type: "Note", ID: "~a", Data: map[string]string{"text": `"a"`}}}},
}

func update(code string, age int) model.Statement {
	return model.Statement{Verb: "update", Type: "Person", Set: map[string]string{"age": fmt.Sprint(age)}, Where: "code", Is: fmt.Sprintf("%q", code)}
}

// rivals are what another client does after it recovered.
var rivals = map[string]*model.Op{
	"nothing":     nil,
	"the same":    {Do: model.Mutate, Statements: []model.Statement{update("p0", 60), {Verb: "update", Type: "Note", Set: map[string]string{"n": "7"}, Where: "text", Is: `"t0"`}}},
	"another row": {Do: model.Mutate, Statements: []model.Statement{update("p1", 61)}},
	"a new note":  {Do: model.Append, Rows: []model.Row{{Type: "Note", ID: "~b", Data: map[string]string{"text": `"b"`}}}},
}

const (
	stalls = time.Minute
	grace  = 31 * time.Second // and a little more
)

// numbered gives operations their numbers.
func numbered(ops ...model.Op) model.Walk {
	for i := range ops {
		ops[i].N = i + 1
	}
	return model.Walk{Ops: ops}
}

// stride is how many of the calls of a sweep are left out.
func stride(n int) int {
	if os.Getenv("OMNIDECK_FULL") != "" {
		return 1
	}
	return pace.Of(n, 4*n)
}

// A writer stalls for a minute at each of its calls, while another client
// recovers, the grace being over, and writes. It is never acknowledged wrongly,
// and the graph ends sound (decisions 26).
func TestStalledWriter(t *testing.T) {
	total := stalled(t, stalls, model.Op{Client: 1, Do: model.Wait, For: grace}, model.Op{Client: 1, Do: model.Recover})
	if total["acknowledged"] == 0 || total["unknown"]+total["changed"] == 0 {
		t.Errorf("%v", total)
	}
}

// The same, when who recovers does not wait for the grace, but takes a writer for
// dead that is only slow for a moment.
func TestRecoveredAtWork(t *testing.T) {
	stalled(t, 300*time.Millisecond, model.Op{Client: 1, Do: model.Recover, Now: true})
}

// stalled lets writers stall at each of their calls, until another client has made
// some operations and a write.
func stalled(t *testing.T, span time.Duration, meanwhile ...model.Op) map[string]int {
	t.Helper()
	total, runs := map[string]int{}, 0
	for name, writer := range writers {
		for what, rival := range rivals {
			for at := 0; ; at += stride(4) {
				w := writer
				w.Faults = []model.Fault{{Do: "pause", At: at, Until: len(meanwhile) + 1, For: span}}
				ops := append([]model.Op{w}, meanwhile...)
				if rival != nil {
					r := *rival
					r.Client = 1
					ops = append(ops, r)
				}
				h, err := run(t, numbered(ops...), model.Options{})
				if err != nil {
					t.Fatalf("%s, stalled at call %d, and %s: %v\n%v", name, at, what, err, h)
				}
				if h.Happened[0].Fired == 0 {
					break
				}
				h.Count(total)
				runs++
			}
		}
	}
	t.Logf("%d stalls: %v", runs, total)
	return total
}

// A writer stalls at a call, and so does who recovers it, while the writer comes
// back and goes on; a third client recovers meanwhile and writes.
func TestStalledRecoverer(t *testing.T) {
	total, runs, deep := map[string]int{}, 0, 0
	for name, writer := range writers {
		for at := 0; ; at += stride(4) {
			var met bool
			for in := 0; ; in += stride(7) {
				w := writer
				w.Faults = []model.Fault{{Do: "pause", At: at, Until: 2, For: grace}}
				third := *rivals["the same"]
				third.Client = 2
				h, err := run(t, numbered(w,
					model.Op{Client: 1, Do: model.Wait, For: grace},
					model.Op{Client: 1, Do: model.Recover, Faults: []model.Fault{{Do: "pause", At: in, Until: 4, For: stalls}}},
					model.Op{Client: 2, Do: model.Wait, For: grace},
					model.Op{Client: 2, Do: model.Recover},
					third,
				), model.Options{})
				if err != nil {
					t.Fatalf("%s, stalled at call %d, its recovery at call %d: %v\n%v", name, at, in, err, h)
				}
				met = h.Happened[0].Fired > 0
				if h.Happened[2].Fired == 0 || !met {
					break
				}
				h.Count(total)
				runs++
				deep = max(deep, in)
			}
			if !met {
				break
			}
		}
	}
	t.Logf("%d stalls of both, recovery at up to call %d: %v", runs, deep, total)
	if runs < 20 || deep < 20 {
		t.Errorf("%d stalls, the latest at call %d of a recovery", runs, deep)
	}
}
