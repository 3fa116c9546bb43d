package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
)

// otherGraph is the schema of a rival.
const otherGraph = `node Other { slug: String @key }`

// making sweeps the making of a graph.
type making struct{ *sweep }

func makes(schema string, seed uint64) func(*sweep) func(context.Context, blob.Store) error {
	return func(w *sweep) func(context.Context, blob.Store) error {
		return func(ctx context.Context, s blob.Store) error {
			g, err := w.handle(s, seed)
			if err == nil {
				_, err = g.Init(ctx, engine.InitOptions{Source: []byte(schema)})
			}
			return err
		}
	}
}

// TestSweepInit: whatever goes wrong while a graph is made, there is a whole graph
// or none. Where nothing was made and somebody was told, nothing is left, or the
// error says what is; and where the claim of one that died is removed, a graph can
// be made in that place.
func TestSweepInit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &making{&sweep{T: t, writer: &writer{name: "init"}}}
		sc := &fault.Scenario{
			Start: func() (blob.Store, error) { return inMemory(t), nil },
			Run:   makes(library, 1)(w.sweep), Means: means, Check: w.made,
			Rivals: map[string]func(context.Context, blob.Store) error{"another graph": makes(otherGraph, 2)(w.sweep)},
		}
		r, err := sc.Sweep(context.Background(), fault.Plan{})
		if err != nil {
			t.Error(err)
		}
		t.Log(r)
		for _, weather := range fault.Weathers(pass) {
			r, err := sc.Weather(context.Background(), weather, 1, 2, 3, 4, 5, 6, 7, 8)
			if err != nil {
				t.Error(err)
			}
			t.Log(r)
		}
	})
}

// made checks what an Init left.
func (w *making) made(ctx context.Context, s blob.Store, o *fault.Outcome) error {
	rival := strings.HasPrefix(o.Fault, "rival") && o.Met
	theirs := rival && o.RivalErr == nil
	if theirs && o.Ending == fault.Done {
		return errors.New("two were told that they made the graph")
	}
	v, err := manifest.Open(ctx, s, manifest.Options{ReadDeletions: true})
	switch {
	case errors.Is(err, blob.ErrNotExist):
		if o.Ending == fault.Done || theirs {
			return fmt.Errorf("it was told that there is a graph: %w", err)
		}
		return w.again(ctx, s, o)
	case err != nil:
		return err
	case o.Ending == fault.Refused && !rival:
		return errors.New("it was told that there is none, and a graph is there")
	}
	want := 4
	if theirs {
		want = 1
	}
	if len(v.Tables) != want || len(v.Problems) > 0 {
		return fmt.Errorf("the graph has %d tables, expected %d; %v", len(v.Tables), want, v.Problems)
	}
	return w.clean(s)
}

// again makes the graph where one was not made.
func (w *making) again(ctx context.Context, s blob.Store, o *fault.Outcome) error {
	var left []string
	for e, err := range s.List(ctx, blob.ListOptions{Recursive: true}) {
		if err != nil {
			return err
		}
		left = append(left, e.Key)
	}
	if o.Ending == fault.Refused && len(left) > 0 && !strings.Contains(o.Err.Error(), "taking away what was made") && o.RivalErr == nil {
		return fmt.Errorf("it was told that nothing was done, and left is %q", left)
	}
	if err := s.Delete(ctx, "__init_claim.json"); err != nil {
		return err
	}
	g, err := w.handle(s, 3)
	if err != nil {
		return err
	}
	for range 8 { // tables, `__manifest`, and well
		_, err := g.Init(ctx, engine.InitOptions{Source: []byte(library), Force: len(left) > 0})
		var table *txn.LeftTableError
		switch {
		case err == nil:
			return w.clean(s)
		case !errors.As(err, &table):
			return fmt.Errorf("once more, beside %q: %w", left, err)
		}
		for _, key := range left { // it was told which
			if strings.HasPrefix(key, table.Folder+"/") {
				if _, err := s.Head(ctx, key); err != nil {
					return fmt.Errorf("it was refused because of %s, and removed %s: %w", table.Folder, key, err)
				}
				if err := s.Delete(ctx, key); err != nil {
					return err
				}
			}
		}
	}
	return fmt.Errorf("beside %q no graph can be made", left)
}
