package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/lance"
)

// A record is set aside for what its plan said that it means: when it means another
// thing by now, though not a byte of it changed, nothing is moved.
func TestSetAsideOfWhatMeansAnotherThing(t *testing.T) {
	s := stuck.One(t, "load-merge", 8)
	store := s.Store(t, stuck.Root)
	g, err := engine.Open(t.Context(), stuck.Root, engine.Options{Store: store, Write: true, NoCache: true, Clock: func() time.Time { return time.Now().Add(time.Minute) }})
	if err != nil {
		t.Fatal(err)
	}
	pins := s.Record(t).Pins
	over := func(at int) { // a version that nobody explains
		t.Helper()
		snap, err := lance.Open(t.Context(), store, strings.TrimPrefix(pins[at].Path, stuck.Root+"/"), lance.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		st, err := snap.StageDelete(t.Context(), []uint64{0}, "", lance.StageOptions{UUID: "somebody else"})
		if err == nil {
			_, _, err = st.Commit(t.Context(), lance.CommitOptions{Exact: true})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	over(0)
	p, err := g.PlanSetAside(t.Context(), s.Pending[0], "it is in the way")
	if err != nil || p.Refused != "" || strings.Contains(p.Means, pins[2].Alias) {
		t.Fatalf("%+v, %v", p, err)
	}
	over(2)
	if _, err := g.SetAside(t.Context(), p); !errors.As(err, new(*engine.SetAsideRefusedError)) {
		t.Errorf("%v", err)
	}
	if _, err := store.Get(t.Context(), s.Pending[0], blob.All); err != nil {
		t.Error(err)
	}
	again, err := g.PlanSetAside(t.Context(), s.Pending[0], "it is in the way")
	if err != nil || !strings.Contains(again.Means, pins[2].Alias) {
		t.Fatalf("%+v, %v", again, err)
	}
	if r, err := g.SetAside(t.Context(), again); err != nil || len(r.Objects) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
