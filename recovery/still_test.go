package recovery_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// A slow writer moves a table right before his record goes, and then dies; of what
// recovery looks at afterwards one thing cannot be read. It says so, and the record
// is there for whoever comes next.
func TestLookBackThatCannotRead(t *testing.T) {
	x := newSmall(t)
	n, err := fault.Sweep(40, func(at int) (bool, error) {
		what := fmt.Sprint("call ", at, " after the removal fails")
		store, c := x.start.Clone(), x.clock()
		w := x.stop(store, c, 1, 2)
		c.pass(31 * time.Second)
		var ended told
		gone, acted := false, true
		s := fault.New(store, stages[5].rule(fault.Rival(func(context.Context, blob.Store) error { ended = w.goesOn(); return nil })), fault.Rule{
			At: at, Do: fault.Fail, Match: func(k fault.Call) bool {
				after := gone
				gone = gone || kindOf(k) == "delete record"
				acted = acted && !(after && kindOf(k) == "put record")
				return after && fault.Reads(k) && acted
			},
		})
		err := recoverOver(s, recoverer(c, false, 5))
		met := s.Fired() > 1
		if left := stuck.Keys(t, store, sidecar.Folder); met && (err == nil || len(left) != 1) {
			t.Errorf("%s: recovery says %v, records %v", what, err, left)
		}
		x.ends(what, store, c, ended, told{})
		return met, nil
	})
	if err != nil || n < 4 {
		t.Errorf("%d calls, %v", n, err)
	}
	t.Logf("%d calls", n)
}
