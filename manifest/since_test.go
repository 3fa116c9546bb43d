package manifest_test

import (
	"context"
	"fmt"
	"path"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/manifest"
)

// since opens a branch since an older view and counts the data files read.
func since(t *testing.T, s blob.Store, branch string, old *manifest.View) (*manifest.View, int) {
	t.Helper()
	m := blob.NewMeter(nil, blob.Keep(100_000))
	v, err := manifest.Open(blob.WithMeter(t.Context(), m), s, manifest.Options{Branch: branch, Since: old})
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, c := range m.Calls() {
		if path.Ext(c.Key) == ".lance" {
			files++
		}
	}
	return v, files
}

// What is read since an older view is what is read without one, however much was
// published in between, and the fragments that the view has are not read.
func TestSinceIsFreshOpen(t *testing.T) {
	for _, c := range []struct{ graph, branch string }{{fixtures.Demo, ""}, {fixtures.Demo, "archive"}, {fixtures.Demo, "fix/ports"}, {"diverged", ""}, {"maintained", ""}} {
		t.Run(c.graph+"/"+c.branch, func(t *testing.T) {
			w := newWriter(t, store(t, graph(t, c.graph)), c.branch, 11)
			old := []*manifest.View{open(t, w.store, manifest.Options{Branch: c.branch})}
			least, could := 0, 0 // openings after which not more came than was there
			for i := range pace.Of(60, 20) {
				last := old[len(old)-1]
				o := w.options(last, w.random(last)...)
				if i%7 == 6 {
					o.Commit = nil
				}
				v := w.publish(o).View
				fresh := open(t, w.store, manifest.Options{Branch: c.branch, ReadDeletions: true})
				from := old[w.rnd.IntN(len(old))]
				got, files := since(t, w.store, c.branch, from)
				if diff := manifest.Diff(got, fresh); diff != "" {
					t.Fatalf("step %d, from version %d to %d: %s", i, from.Version, v.Version, diff)
				}
				if fresh.Fragments <= 2*from.Fragments {
					could++
					if files < fresh.Fragments {
						least++
					}
				}
				old = append(old, v)
			}
			if t.Logf("%d of %d openings read only what is new", least, could); could == 0 || least != could {
				t.Errorf("%d of %d openings read only what is new", least, could)
			}
		})
	}
}

// Between any two versions of any graph what is read since the older is the newer.
func TestSinceInGraphs(t *testing.T) {
	told := 0
	for _, name := range graphs {
		s := store(t, graph(t, name))
		l, err := branches.Names(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range l.Names {
			now := open(t, s, manifest.Options{Branch: b})
			for back := uint64(1); back < now.Version; back += 1 + back/uint64(pace.Of(3, 1)) {
				old, err := manifest.Open(t.Context(), s, manifest.Options{Branch: b, Version: now.Version - back})
				if err != nil {
					continue // cleaned up, or of the branch it came from
				}
				got, files := since(t, s, b, old)
				if diff := manifest.Diff(got, now); diff != "" {
					t.Fatalf("%s, branch %s since version %d of %d: %s", name, b, old.Version, now.Version, diff)
				}
				if files < now.Fragments {
					told++
				}
			}
		}
	}
	if t.Logf("%d openings read less than everything", told); told < pace.Of(20, 10) {
		t.Errorf("only %d openings read less than everything", told)
	}
}

// A view of a branch that was deleted and made again tells nothing.
func TestSinceAnotherBranch(t *testing.T) {
	s := store(t, graph(t, fixtures.Demo))
	old := open(t, s, manifest.Options{Branch: "archive"})
	w := newWriter(t, s, "archive", 3)
	now := w.publish(w.options(old, w.next(old.Tables[0]))).View
	again := *old
	ref := *old.Ref
	ref.Identifier = append(ref.Identifier[:0:0], ref.Identifier...)
	ref.Identifier[len(ref.Identifier)-1].ID = "another"
	again.Ref = &ref
	if got, files := since(t, s, "archive", now); manifest.Diff(got, now) != "" || files > 0 {
		t.Errorf("nothing came since, and %d files were read: %s", files, manifest.Diff(got, now))
	}
	for _, v := range []*manifest.View{&again, open(t, s, manifest.Options{})} {
		got, files := since(t, s, "archive", v)
		if diff := manifest.Diff(got, now); diff != "" || files != now.Fragments {
			t.Errorf("since a view that is none: %d files read of %d: %s", files, now.Fragments, diff)
		}
	}
}

// A lost attempt costs two requests to see that it is lost, and three for what won
// (listing, manifest, its fragment), at any depth.
func TestBudgetLostPublish(t *testing.T) {
	for _, name := range []string{fixtures.Demo, "deep"} {
		t.Run(name, func(t *testing.T) {
			s := store(t, graph(t, name))
			w := newWriter(t, s, "", 5)
			v := open(t, s, manifest.Options{})
			w.publish(w.options(v, w.next(v.Tables[1])))
			o := w.options(v, w.next(v.Tables[0]))
			calls, total := traced(t, s, func(ctx context.Context, s *memstore.Store) error {
				from := *v
				from.Snapshot = v.Snapshot.In(s)
				o.From = &from
				p, err := manifest.Publish(ctx, s, o)
				if err == nil && p.Attempts != 2 {
					err = fmt.Errorf("%d attempts", p.Attempts)
				}
				return err
			})
			if total.Requests != 4+2+3+4 || total.Hops != 2+2+3+2 {
				t.Errorf("%d requests in %d hops, want 13 in 9:\n%s", total.Requests, total.Hops, masked(calls))
			}
		})
	}
}
