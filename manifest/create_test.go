package manifest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/manifest"
)

// beginning is a new graph of two tables.
func (w *writer) beginning() manifest.CreateOptions {
	var o manifest.CreateOptions
	for i, alias := range []string{"node:Person", "edge:Knows"} {
		id := manifest.Identity{Table: uint64(i + 1), Incarnation: uint64(i + 6)}
		o.Tables = append(o.Tables, manifest.Update{Identity: id, Alias: alias, Version: 1, Meta: meta(i)})
	}
	o.Commit, o.Now, o.Rand = *w.intent(), w.now, w.seed
	return o
}

func TestCreate(t *testing.T) {
	s := memstore.New(memstore.Options{Name: "g"})
	w := newWriter(t, s, "", 1)
	o := w.beginning()
	p, err := manifest.Create(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	v := open(t, s, manifest.Options{ReadDeletions: true})
	if diff := manifest.Diff(p.View, v); diff != "" || len(v.Problems) > 0 || v.Version != 1 || !v.Stamp.OK() {
		t.Fatalf("%+v: %s", v.Problems, diff)
	}
	if c := v.Commits.At(0); v.Commits.Len() != 1 || c.ID != o.Commit.ID || c.Parent != "" || c.Branch != "" || v.Heads[manifest.Main] != c.ID || len(v.Tables) != 2 {
		t.Errorf("%+v, heads %v, tables %v", c, v.Heads, v.Tables)
	}
	for range 5 {
		p = w.publish(w.options(p.View, w.random(p.View)...))
		if diff := manifest.Diff(p.View, open(t, s, manifest.Options{ReadDeletions: true})); diff != "" {
			t.Fatal(diff)
		}
	}
	again, err := manifest.Create(t.Context(), s, o)
	if err != nil || again.Wrote || again.Version != 1 {
		t.Errorf("the same genesis again: %+v, %v", again, err)
	}
	for what, edit := range map[string]func(*manifest.CreateOptions){
		"commit": func(o *manifest.CreateOptions) { o.Commit.ID = w.ulid() },
		"time":   func(o *manifest.CreateOptions) { o.Commit.CreatedAt++ },
		"tables": func(o *manifest.CreateOptions) { o.Tables = o.Tables[:1] },
		"meta": func(o *manifest.CreateOptions) {
			o.Tables = []manifest.Update{o.Tables[0], o.Tables[1]}
			o.Tables[1].Meta.ManifestPath = "x"
		},
	} {
		o := o
		edit(&o)
		var taken *manifest.AlreadyInitializedError
		if _, err := manifest.Create(t.Context(), s, o); !errors.As(err, &taken) {
			t.Errorf("another %s: %v", what, err)
		}
	}
}

// A graph whose creation met a fault is there or not, and creating it again
// makes it, or finds it.
func TestCreateSweep(t *testing.T) {
	o := newWriter(t, nil, "", 1).beginning()
	for name, rule := range map[string]fault.Rule{"halt": {Do: fault.Halt}, "fail": {Do: fault.Fail}, "answer lost": {Match: fault.Writes, Do: fault.LoseAnswer}} {
		made := 0
		n, err := fault.Sweep(100, func(at int) (bool, error) {
			s := memstore.New(memstore.Options{Name: "g"})
			rule := rule
			rule.At = at
			faulty := fault.New(s, rule)
			_, err := manifest.Create(context.Background(), faulty, o)
			_, openErr := manifest.Open(context.Background(), s, manifest.Options{})
			there := openErr == nil
			switch {
			case there:
				made++
			case !errors.Is(openErr, blob.ErrNotExist):
				return false, openErr
			case err == nil:
				return false, fmt.Errorf("created, and not there: %w", openErr)
			}
			if there && err != nil {
				return false, fmt.Errorf("there, and told otherwise: %w", err)
			}
			p, err := manifest.Create(context.Background(), s, o)
			if err != nil || p.Wrote == there || len(p.View.Problems) > 0 || p.View.Version != 1 || len(p.View.Tables) != 2 {
				return false, fmt.Errorf("again: %+v: %w", p, err)
			}
			return faulty.Fired() > 0, nil
		})
		if err != nil || n == 0 || made == 0 {
			t.Errorf("%s at %d of %d: %v", name, n, made, err)
		}
		t.Logf("%s: %d places, made %d times", name, n, made)
	}
}

// Two that create a graph at once: one makes it, the other is told.
func TestCreateRace(t *testing.T) {
	s := memstore.New(memstore.Options{Name: "g"})
	first, second := newWriter(t, s, "", 1).beginning(), newWriter(t, s, "", 2).beginning()
	second.Commit.ID = "01KB7Q0V1S3F8D1Y3J8E999999"
	rival := fault.Rule{Match: isManifest, Do: fault.Rival(func(ctx context.Context, inner blob.Store) error {
		_, err := manifest.Create(ctx, inner, second)
		return err
	})}
	var taken *manifest.AlreadyInitializedError
	if _, err := manifest.Create(t.Context(), fault.New(s, rival), first); !errors.As(err, &taken) {
		t.Errorf("%v", err)
	}
	if v := open(t, s, manifest.Options{}); v.Commits.Len() != 1 || v.Commits.ID(0) != second.Commit.ID {
		t.Errorf("%v", v.Heads)
	}
}
