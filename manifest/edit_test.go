package manifest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/manifest"
)

// refused publishes, and requires that it is refused without a write.
func refused(t *testing.T, s *memstore.Store, o manifest.PublishOptions) error {
	t.Helper()
	m := blob.NewMeter(nil)
	_, err := manifest.Publish(blob.WithMeter(context.Background(), m), s, o)
	if n := m.Totals().Ops; err == nil || n[blob.OpPut]+n[blob.OpDelete] > 0 {
		t.Errorf("%v after %v", err, n)
	}
	return err
}

// moved is the next version of a table, changed by f.
func moved(e manifest.Entry, f func(*manifest.Update)) manifest.Update {
	u := manifest.Update{Identity: e.Identity, Alias: e.Alias, Version: e.Version + 1, Owner: e.Owner, Rows: 1, Meta: e.Meta}
	f(&u)
	return u
}

// newcomer is the identity of a table that no graph has.
var newcomer = manifest.Identity{Table: 900, Incarnation: 901}

// registered registers newcomer under a name.
func registered(alias string) manifest.Registration {
	loc, _ := manifest.Location(alias, newcomer)
	return manifest.Registration{Identity: newcomer, Alias: alias, Location: loc}
}

// invalidEdits are changes that fit neither the live tables a and b nor gone,
// which has ended.
func invalidEdits(a, b, gone manifest.Entry) map[string][]manifest.Edit {
	one := manifest.Update{Identity: newcomer, Alias: "node:New", Version: 1}
	return map[string][]manifest.Edit{
		"older version":         {moved(a, func(u *manifest.Update) { u.Version = a.Version - 1 })},
		"version 0":             {moved(a, func(u *manifest.Update) { u.Version = 0 })},
		"same, other rows":      {moved(a, func(u *manifest.Update) { u.Version, u.Rows = a.Version, a.Rows+1 })},
		"same, other meta":      {moved(a, func(u *manifest.Update) { u.Version, u.Rows, u.Meta = a.Version, a.Rows, meta(5) })},
		"hand-off, other rows":  {moved(a, func(u *manifest.Update) { u.Version, u.Rows, u.Owner = a.Version, a.Rows+1, "x" })},
		"twice":                 {moved(a, func(*manifest.Update) {}), moved(a, func(u *manifest.Update) { u.Version++ })},
		"unknown table":         {one},
		"no UTF-8":              {moved(a, func(u *manifest.Update) { u.Owner = "\xff" })},
		"ended table":           {moved(gone, func(u *manifest.Update) { u.Version = gone.Version + 9 })},
		"tombstone again":       {manifest.Tombstone{Identity: gone.Identity, Alias: gone.Alias, Version: gone.Version + 1}},
		"tombstone below":       {manifest.Tombstone{Identity: a.Identity, Alias: a.Alias, Version: a.Version - 1}},
		"other name than given": {manifest.Rename{Identity: a.Identity, From: a.Alias, To: a.Alias + "2"}, moved(a, func(*manifest.Update) {})},
		"ended and published":   {manifest.Tombstone{Identity: a.Identity, Alias: a.Alias, Version: a.Version + 5}, moved(a, func(*manifest.Update) {})},
		"registered only":       {registered("node:New")},
		"name taken":            {registered(a.Alias), manifest.Update{Identity: newcomer, Alias: a.Alias, Version: 1}},
		"no kind":               {manifest.Registration{Identity: newcomer, Alias: "New", Location: "nodes/x"}, one},
		"other folder":          {manifest.Registration{Identity: newcomer, Alias: "node:New", Location: "nodes/x"}, one},
		"zero identity":         {manifest.Registration{Alias: "node:New", Location: "nodes/0000000000000000-0000000000000000"}},
		"registered twice":      {registered("node:New"), registered("node:New"), one},
		"registered as another": {manifest.Registration{Identity: a.Identity, Alias: "node:New", Location: a.Location}},
		"renamed to one there":  {manifest.Rename{Identity: a.Identity, From: a.Alias, To: b.Alias}},
		"renamed, other kind":   {manifest.Rename{Identity: a.Identity, From: a.Alias, To: "x:" + a.Name()}},
		"renamed, node to edge": {manifest.Rename{Identity: b.Identity, From: b.Alias, To: map[string]string{"node": "edge:Q", "edge": "node:Q"}[b.Kind()]}},
		"renamed, unknown":      {manifest.Rename{Identity: newcomer, From: "node:New", To: "node:Newer"}},
		"renamed, ended":        {manifest.Rename{Identity: gone.Identity, From: gone.Alias, To: gone.Alias + "2"}},
	}
}

// Changes that do not fit what is there, or that would make a graph that the
// Rust engine refuses, write nothing.
func TestInvalidEdits(t *testing.T) {
	s := store(t, graph(t, "maintained"))
	w := newWriter(t, s, "", 1)
	first := open(t, s, manifest.Options{})
	gone := first.Tables[2]
	v := w.publish(w.options(first, manifest.Tombstone{Identity: gone.Identity, Alias: gone.Alias, Version: gone.Version + 1})).View
	a, b := v.Tables[0], v.Tables[1]
	for what, edits := range invalidEdits(a, b, gone) {
		var invalid *manifest.InvalidEditError
		if err := refused(t, s, w.options(v, edits...)); !errors.As(err, &invalid) || !strings.HasSuffix(err.Error(), "Nothing was written") {
			t.Errorf("%s: %v", what, err)
		}
	}
	var several []manifest.Edit // the least by number is named, of several that are wrong
	for n := uint64(909); n > 900; n-- {
		id := manifest.Identity{Table: n, Incarnation: 1}
		alias := fmt.Sprint("node:New", n)
		loc, _ := manifest.Location(alias, id)
		several = append(several, manifest.Registration{Identity: id, Alias: alias, Location: loc})
	}
	if err := refused(t, s, w.options(v, several...)); !strings.Contains(err.Error(), "node:New901") {
		t.Errorf("the first of several: %v", err)
	}
	var changed *manifest.ReadSetChangedError
	for _, e := range []manifest.Edit{
		manifest.Rename{Identity: a.Identity, From: b.Alias, To: "node:Q"}, moved(a, func(u *manifest.Update) { u.Alias = b.Alias }),
		manifest.Tombstone{Identity: a.Identity, Alias: b.Alias, Version: a.Version},
		moved(a, func(u *manifest.Update) { u.Advance, u.Owner = true, "elsewhere" }),
	} {
		if err := refused(t, s, w.options(v, e)); !errors.As(err, &changed) || changed.Member != "dataset_binding:"+a.Identity.String() {
			t.Errorf("%+v: %v", e, err)
		}
	}
	for _, u := range []manifest.Update{moved(gone, func(u *manifest.Update) { u.Version += 9 }), moved(a, func(u *manifest.Update) { u.Version = a.Version })} {
		u.Advance = true
		if p := w.publish(w.options(v, u)); p.Wrote || p.Version != v.Version {
			t.Errorf("%+v: %+v", u, p)
		}
	}
	o := w.options(v)
	o.Commit.ID = "not a ULID"
	_ = refused(t, s, o)
	o.Commit.ID = v.Commits.ID(3) // another commit's
	_ = refused(t, s, o)
}

// What a change was planned on is checked on every base: branch, head, names and
// versions.
func TestExpected(t *testing.T) {
	s := store(t, graph(t, "midlife"))
	w := newWriter(t, s, "", 1)
	first := open(t, s, manifest.Options{})
	gone := first.Tables[2]
	v := w.publish(w.options(first, manifest.Tombstone{Identity: gone.Identity, Alias: gone.Alias, Version: gone.Version + 1})).View
	a := v.Tables[0]
	none := manifest.Identity{Table: 900, Incarnation: 901}
	for what, c := range map[string]struct {
		e      manifest.Expected
		actual uint64
	}{
		"newer":   {manifest.Expected{Identity: a.Identity, Alias: a.Alias, Version: a.Version + 1}, a.Version},
		"older":   {manifest.Expected{Identity: a.Identity, Alias: a.Alias, Version: a.Version - 1}, a.Version},
		"absent":  {manifest.Expected{Identity: a.Identity, Alias: a.Alias}, a.Version},
		"unknown": {manifest.Expected{Identity: none, Alias: "node:New", Version: 3}, 0},
		"ended":   {manifest.Expected{Identity: gone.Identity, Alias: gone.Alias, Version: gone.Version}, gone.Version + 1},
	} {
		o := w.options(v, w.next(a))
		o.Expected = []manifest.Expected{c.e}
		var mismatch *manifest.VersionMismatchError
		if err := refused(t, s, o); !errors.As(err, &mismatch) || mismatch.Expected != c.e.Version || mismatch.Actual != c.actual {
			t.Errorf("%s: %v", what, err)
		}
	}
	o := w.options(v, w.next(a))
	o.Expected = []manifest.Expected{{Identity: a.Identity, Alias: "node:Q", Version: a.Version}}
	var changed *manifest.ReadSetChangedError
	if err := refused(t, s, o); !errors.As(err, &changed) || changed.Member != "dataset_binding:"+a.Identity.String() || changed.Expected != "node:Q" || changed.Actual != a.Alias {
		t.Errorf("%v", err)
	}
	for _, head := range []string{"", first.Heads[manifest.Main]} {
		o := w.options(v)
		o.Head = &manifest.ExactHead{Commit: head}
		if err := refused(t, s, o); !errors.As(err, &changed) || changed.Member != "graph_head:main" || changed.Expected != head || changed.Actual != v.Heads[manifest.Main] {
			t.Errorf("head %q: %v", head, err)
		}
	}
	holds := manifest.PublishOptions{From: v, Expected: []manifest.Expected{{Identity: none}, {Identity: a.Identity, Alias: a.Alias, Version: a.Version}}, Head: &manifest.ExactHead{Commit: v.Heads[manifest.Main]}}
	if p, err := manifest.Publish(context.Background(), s, holds); err != nil || p.Wrote || p.Version != v.Version {
		t.Errorf("conditions alone: %+v, %v", p, err)
	}
}

// A branch that was deleted, or made again under its name, is not published to
// by who knew the old one.
func TestExpectedBranch(t *testing.T) {
	for _, warm := range []bool{true, false} {
		for what, act := range map[string]func(*memstore.Store) error{
			"deleted": func(s *memstore.Store) error {
				return s.Delete(context.Background(), "__manifest/_refs/branches/archive.json")
			},
			"made again": func(s *memstore.Store) error {
				key := "__manifest/_refs/branches/archive.json"
				o, err := s.Get(context.Background(), key, blob.All)
				if err != nil {
					return err
				}
				_, err = s.Put(context.Background(), key, regexp.MustCompile(`[0-9a-f]{32}`).ReplaceAll(o.Data, bytes.Repeat([]byte("b"), 32)))
				return err
			},
		} {
			s := store(t, graph(t, "midlife"))
			w := newWriter(t, s, "archive", 1)
			v := open(t, s, manifest.Options{Branch: "archive"})
			o := w.options(nil)
			if warm {
				o.From = v
			}
			o.Head = &manifest.ExactHead{Identifier: v.Ref.Identifier, Commit: v.Heads["archive"]}
			if err := act(s); err != nil {
				t.Fatal(err)
			}
			_, err := manifest.Publish(context.Background(), s, o)
			var changed *manifest.ReadSetChangedError
			if !errors.As(err, &changed) || changed.Member != "branch_identifier:archive" || changed.Expected != fmt.Sprint(v.Ref.Identifier) || (changed.Actual == "") != (what == "deleted") {
				t.Errorf("%s, warm %v: %v", what, warm, err)
			}
		}
	}
}

// Nothing is built on a graph that is damaged or of another generation.
func TestUnsound(t *testing.T) {
	s := store(t, graph(t, "deep"))
	v := open(t, s, manifest.Options{})
	for what, damaged := range map[string]*memstore.Store{
		"stamp 5": restamped(t, stamp('5')), "stamp 7": restamped(t, stamp('7')), "no data file": func() *memstore.Store {
			own := s.Clone()
			if err := own.Delete(t.Context(), dataFiles(v)[0]); err != nil {
				t.Fatal(err)
			}
			return own
		}(),
	} {
		w := newWriter(t, damaged, "", 1)
		var unsound *manifest.UnsoundError
		var newer *manifest.StampError
		if err := refused(t, damaged, w.options(nil)); !errors.As(err, &unsound) && !errors.As(err, &newer) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Without anything to publish nothing is asked.
func TestPublishNothing(t *testing.T) {
	s := store(t, graph(t, "maintained"))
	m := blob.NewMeter(nil)
	p, err := manifest.Publish(blob.WithMeter(context.Background(), m), s, manifest.PublishOptions{})
	if err != nil || p.Wrote || m.Totals().Requests != 0 {
		t.Errorf("%+v, %v, %d requests", p, err, m.Totals().Requests)
	}
}

func TestProbe(t *testing.T) {
	s := store(t, graph(t, "midlife"))
	for _, branch := range []string{"", "archive"} {
		v := open(t, s, manifest.Options{Branch: branch})
		probe := func(s *memstore.Store) (bool, uint64) {
			m := blob.NewMeter(nil)
			h, err := manifest.Peek(context.Background(), s, manifest.Options{Branch: branch, Version: v.Version})
			if err != nil {
				t.Fatal(err)
			}
			latest, newest, err := h.Probe(blob.WithMeter(context.Background(), m))
			if err != nil || m.Totals().Requests != 1 || m.Totals().Ops[blob.OpList] != 1 {
				t.Fatalf("%v, %v", err, m.Totals())
			}
			return latest, newest
		}
		if latest, newest := probe(s); !latest || newest != v.Version {
			t.Errorf("branch %q: %v %d", branch, latest, newest)
		}
		own := s.Clone()
		w := newWriter(t, own, branch, 1)
		p := w.publish(w.options(v))
		if latest, newest := probe(own); latest || newest != v.Version+1 {
			t.Errorf("branch %q, after a publish: %v %d", branch, latest, newest)
		}
		if latest, _, err := p.View.Probe(context.Background()); err != nil || !latest {
			t.Errorf("branch %q, what was published: %v %v", branch, latest, err)
		}
		if _, err := own.Put(t.Context(), p.Object.Key, []byte("another")); err != nil {
			t.Fatal(err)
		}
		if latest, newest, _ := p.View.Probe(context.Background()); latest || newest != p.Version {
			t.Errorf("branch %q, replaced under its name: %v %d", branch, latest, newest)
		}
	}
}
