package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/recovery"
)

// Tables F and R in the mode pause: a writer waits before each of its calls while
// another program opens the graph and would recover. Within the grace nothing is
// done to the writer's record, and the write goes through.
func TestTableFPaused(t *testing.T) {
	start, _, whole := tablesStart(t)
	young := 0
	n, err := fault.Sweep(200, pace.Stride(4, func(at int) (bool, error) {
		store := stuck.Clone(start)
		var w tablesWriter
		s := fault.New(store, fault.Rule{At: at, Do: before(func() {
			young += openedBeside(t, fmt.Sprint("before call ", at), store, recovery.Options{Clock: w.clock.now})
		}, perform)})
		w = newWriter(t, s)
		r, err := w.load(tablesLoad)
		if live := liveOf(t, "paused", r, err); live != done {
			return true, fmt.Errorf("the write ends with %s: %w", live, err)
		}
		if s.Fired() > 0 {
			if rows := stuck.RowsOf(t, stuck.Graph(t, store)); !maps.Equal(rows, whole) {
				return true, fmt.Errorf("rows %v", rows)
			}
		}
		return s.Fired() > 0, nil
	}))
	if err != nil || n < pace.Of(20, 5) || young < pace.Of(5, 1) {
		t.Errorf("%d calls, %d records met, %v", n, young, err)
	}
}

// openedBeside is another program that looks and would recover what is old; it
// says how many records it met. Any request of it to write is an error: what is
// there is young.
func openedBeside(t testing.TB, what string, store blob.Store, o recovery.Options) (met int) {
	t.Helper()
	p := stuckLook(t, store, o)
	rep, err := recovery.Execute(context.Background(), blob.ReadOnly(store), p, o)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return 0
	}
	for _, x := range rep.Settled {
		if e := (*recovery.YoungError)(nil); !x.Gone && !errors.As(x.Err, &e) {
			t.Errorf("%s: a young record is settled as %s, %v", what, x.Do, x.Err)
		}
	}
	return len(p.Items)
}
