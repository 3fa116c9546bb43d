package engine

import (
	"context"
	"reflect"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/manifest"
)

// A large state is folded once a session: who asks again reads no row of it, but
// does when another object stands under its name.
func TestLargeStatesAreFoldedOnce(t *testing.T) {
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	store, err := fixtures.Store(memstore.Options{}, files)
	if err != nil {
		t.Fatal(err)
	}
	l := newLargeStates()
	read := func(change func(*manifest.Head)) (*manifest.View, int64) {
		t.Helper()
		h, err := manifest.Peek(context.Background(), store, manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h.Rows = largeRows
		change(h)
		m := blob.NewMeter(cost.Classify)
		v, err := l.read(blob.WithMeter(context.Background(), m), h)
		if err != nil {
			t.Fatal(err)
		}
		return v, m.Totals().Requests
	}
	as := func(*manifest.Head) {}
	first, asked := read(as)
	if asked == 0 {
		t.Fatal("rows were read without a request")
	}
	again, n := read(as)
	if n != 0 || !reflect.DeepEqual(again.State, first.State) || again.Commits != again.State.Commits || again.Snapshot == first.Snapshot {
		t.Errorf("%d requests of a later operation, want none and the same state under a head of its own", n)
	}
	if _, n := read(func(h *manifest.Head) { h.Branch = "other" }); n != asked {
		t.Errorf("%d requests for another branch, want %d", n, asked)
	}
	if _, n := read(func(h *manifest.Head) { h.Rows = 3 }); n != asked {
		t.Errorf("%d requests for a small state, want %d: those are read as ever", n, asked)
	}
	// More than largeKept rows are not kept; the newest state always is.
	read(func(h *manifest.Head) { h.Rows, h.Branch = largeKept+1, "huge" })
	if len(l.kept) != 1 || l.kept[0].key.branch != "huge" {
		t.Errorf("%d states are kept beside one that is too large", len(l.kept)-1)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	l.turn <- struct{}{}
	h, err := manifest.Peek(context.Background(), store, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h.Rows = largeRows
	if _, err := l.read(gone, h); err != context.Canceled {
		t.Errorf("waiting for another's turn ends with %v", err)
	}
}
