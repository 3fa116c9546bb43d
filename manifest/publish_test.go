package manifest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/manifest"
)

// writer publishes at random on one branch, with ids and a clock of its own.
type writer struct {
	t      testing.TB
	rnd    *rand.Rand
	seed   *rand.ChaCha8
	store  *memstore.Store
	on     blob.Store // what it publishes to
	branch string
	n      int
	ids    uint64 // identities given out
}

func newWriter(t testing.TB, s *memstore.Store, branch string, seed uint64) *writer {
	return &writer{t: t, rnd: rand.New(rand.NewPCG(seed, 1)), seed: rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}), store: s, on: s, branch: branch, ids: 1000}
}

// ulid is a new commit id, greater than those before.
func (w *writer) ulid() string {
	w.n++
	return fmt.Sprintf("01KB7Q0V1S3F8D1Y3J8E%06d", w.n)
}

func (w *writer) now() time.Time { return time.UnixMicro(1764425000000000 + int64(w.n)*1000) }

func (w *writer) intent() *manifest.Intent {
	c := &manifest.Intent{ID: w.ulid(), CreatedAt: w.now().UnixMicro()}
	if w.n%3 == 0 {
		actor := "ann"
		c.Actor = &actor
	}
	return c
}

func (w *writer) options(from *manifest.View, edits ...manifest.Edit) manifest.PublishOptions {
	return manifest.PublishOptions{Branch: w.branch, From: from, Edits: edits, Commit: w.intent(), Now: w.now, Rand: w.seed}
}

func (w *writer) publish(o manifest.PublishOptions) *manifest.Published {
	w.t.Helper()
	p, err := manifest.Publish(context.Background(), w.on, o)
	if err != nil {
		w.t.Fatalf("%T: %v", err, err)
	}
	return p
}

func meta(n int) manifest.TableMeta {
	size, tag, scheme := uint64(n), fmt.Sprintf("%q", fmt.Sprint(n)), "V2"
	m := manifest.TableMeta{ManifestPath: fmt.Sprintf("p/<&>\u2028/%d", n), ManifestSize: &size, ETag: &tag, NamingScheme: &scheme}
	if n%4 == 0 {
		m.ETag, m.ManifestSize = nil, nil
	}
	return m
}

// next is the next version of a table.
func (w *writer) next(e manifest.Entry) manifest.Update {
	owner := w.branch
	return manifest.Update{Identity: e.Identity, Alias: e.Alias, Version: e.Version + 1 + uint64(w.rnd.IntN(2)), Owner: owner, Rows: uint64(w.rnd.IntN(100)), Meta: meta(w.rnd.IntN(1000))}
}

// register is a new table of a name.
func (w *writer) register(alias string) []manifest.Edit {
	w.ids += 2
	id := manifest.Identity{Table: w.ids, Incarnation: w.ids + 1}
	loc, _ := manifest.Location(alias, id)
	return []manifest.Edit{
		manifest.Registration{Identity: id, Alias: alias, Location: loc},
		manifest.Update{Identity: id, Alias: alias, Version: 1, Owner: w.branch, Rows: 0, Meta: meta(w.n)},
	}
}

// random are edits that fit a state.
func (w *writer) random(v *manifest.View) (edits []manifest.Edit) {
	if len(v.Tables) == 0 {
		return w.register("node:Again")
	}
	e := v.Tables[w.rnd.IntN(len(v.Tables))]
	switch w.rnd.IntN(9) {
	case 0:
		return nil
	case 1: // owner hand-off
		owner := map[string]string{"": "elsewhere"}[e.Owner]
		return []manifest.Edit{manifest.Update{Identity: e.Identity, Alias: e.Alias, Version: e.Version, Owner: owner, Rows: e.Rows, Meta: meta(w.rnd.IntN(1000))}}
	case 2: // the same again
		return []manifest.Edit{manifest.Update{Identity: e.Identity, Alias: e.Alias, Version: e.Version, Owner: e.Owner, Rows: e.Rows, Meta: e.Meta}}
	case 3:
		if len(v.State.Tombstones) > 0 && v.Tombstones[0].Identity == e.Identity {
			return nil
		}
		to := fmt.Sprintf("%s:T%d", e.Kind(), w.n)
		u := w.next(e)
		u.Alias = to
		return []manifest.Edit{u, manifest.Rename{Identity: e.Identity, From: e.Alias, To: to}}
	case 4:
		return []manifest.Edit{manifest.Tombstone{Identity: e.Identity, Alias: e.Alias, Version: e.Version + 1}}
	case 5: // dropped and added again under its name
		return append([]manifest.Edit{manifest.Tombstone{Identity: e.Identity, Alias: e.Alias, Version: e.Version + 1}}, w.register(e.Alias)...)
	case 6:
		return w.register(fmt.Sprintf("edge:T%d", w.n))
	}
	for _, e := range v.Tables {
		if w.rnd.IntN(2) == 0 {
			edits = append(edits, w.next(e))
		}
	}
	return edits
}

// After every publish the state in memory is what a reading of the new version
// gives (I16), and the state before is what it was.
func TestAfterPublishIsFreshOpen(t *testing.T) {
	for _, c := range []struct{ graph, branch string }{{fixtures.Demo, ""}, {fixtures.Demo, "archive"}, {fixtures.Demo, "fix/ports"}, {"diverged", ""}} {
		t.Run(c.graph+"/"+c.branch, func(t *testing.T) {
			w := newWriter(t, store(t, graph(t, c.graph)), c.branch, 7)
			v := open(t, w.store, manifest.Options{Branch: c.branch})
			for i := range 40 {
				o := w.options(v, w.random(v)...)
				if i%7 == 6 {
					o.Commit = nil
				}
				if i%5 == 4 {
					o.From = nil
				}
				before := w.store.Clone()
				p := w.publish(o)
				if i%10 == 9 {
					if diff := manifest.Diff(v, open(t, before, manifest.Options{Branch: c.branch})); diff != "" {
						t.Fatalf("step %d changed the state that it began with: %s", i, diff)
					}
				}
				fresh := open(t, w.store, manifest.Options{Branch: c.branch, ReadDeletions: true})
				if diff := manifest.Diff(p.View, fresh); diff != "" || len(fresh.Problems) > 0 {
					t.Fatalf("step %d, %+v: %s", i, o.Edits, diff)
				}
				if o.Commit == nil && len(o.Edits) == 0 {
					continue
				}
				if p.Version != v.Version+1 || fresh.Version != p.Version || !p.Wrote {
					t.Fatalf("step %d: %+v on version %d", i, p, v.Version)
				}
				v = p.View
			}
		})
	}
}

// A fragment of which no row is left goes: its rows, and what they told of the
// past, are in no reading of the new version.
func TestEmptiedFragment(t *testing.T) {
	w := newWriter(t, store(t, graph(t, "maintained")), "", 1)
	v := open(t, w.store, manifest.Options{})
	o := w.options(v, w.next(v.Tables[0]))
	o.Commit = nil
	p := w.publish(o)
	e, _ := p.View.ByIdentity(v.Tables[0].Identity)
	last := p.View.Snapshot.Fragments()[p.View.Fragments-1]
	p = w.publish(w.options(p.View, manifest.Update{Identity: e.Identity, Alias: e.Alias, Version: e.Version, Owner: "elsewhere", Rows: e.Rows, Meta: e.Meta}))
	tx, err := p.View.Snapshot.Transaction(t.Context())
	if err != nil || len(tx.Proto.GetUpdate().RemovedFragmentIds) != 1 || tx.Proto.GetUpdate().RemovedFragmentIds[0] != last.ID {
		t.Fatalf("fragment %d holds the row alone: %+v, %v", last.ID, tx, err)
	}
	if diff := manifest.Diff(p.View, open(t, w.store, manifest.Options{ReadDeletions: true})); diff != "" {
		t.Error(diff)
	}
	p = w.publish(w.options(p.View, w.next(e)))
	if diff := manifest.Diff(p.View, open(t, w.store, manifest.Options{ReadDeletions: true})); diff != "" {
		t.Error(diff)
	}
}
