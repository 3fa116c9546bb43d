package manifest_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// killed are the operations whose client was killed at each of its requests.
var killed = []string{"branch-create", "insert-edge", "load-merge", "merge", "optimize", "schema-apply", "update-node"}

type cases struct {
	Cases []struct {
		K        int
		Refused  string
		Removed  []string
		Pending  []string
		Snapshot snapshot `json:"snapshot_after"`
	}
}

// Every state that a killed client left: it opens, with the rows last
// published; its sidecars and its contract are read for what they are.
func TestStuck(t *testing.T) {
	total := 0
	for _, op := range killed {
		t.Run(op, func(t *testing.T) {
			cs := decode[cases](t, shared(t, "stuck", op, "cases.json"))
			base := stuckBase(t, op)
			before := open(t, store(t, base), manifest.Options{})
			done := cs.Cases[len(cs.Cases)-1].Snapshot
			for _, c := range cs.Cases {
				files := overlay(t, base, shared(t, "stuck", op, fmt.Sprintf("%02d.tar.gz", c.K)), c.Removed)
				s := stuckState{t: t, name: fmt.Sprintf("%s %d (%s)", op, c.K, c.Refused), files: files, before: before, done: done}
				s.check(op, c.Pending)
				total++
			}
		})
	}
	if total != 176 && !t.Failed() && total != 0 {
		t.Errorf("%d states were checked, want 176", total)
	}
}

func stuckBase(t *testing.T, op string) map[string][]byte {
	t.Helper()
	if data, err := fixtures.Shared("graphs", "stuck", op, "base.tar.gz"); err == nil {
		return unpack(t, data)
	}
	return unpack(t, shared(t, "stuck", "base.tar.gz"))
}

func overlay(t *testing.T, base map[string][]byte, archive []byte, removed []string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for k, v := range base {
		files[k] = v
	}
	for k, v := range unpack(t, archive) {
		files[k] = v
	}
	for _, k := range removed {
		delete(files, k)
	}
	return files
}

type stuckState struct {
	t      *testing.T
	name   string
	files  map[string][]byte
	before *manifest.View
	done   snapshot
}

// published reports whether main has a newer version than before.
func (s *stuckState) published() bool {
	for key := range s.files {
		if name, ok := strings.CutPrefix(key, manifest.Folder+"/_versions/"); ok && name < s.before.Snapshot.Object().Key[len(manifest.Folder+"/_versions/"):] {
			return true
		}
	}
	return false
}

func (s *stuckState) check(op string, pending []string) {
	t := s.t
	st := store(t, s.files)
	v := open(t, st, manifest.Options{})
	if len(v.Problems) != 0 {
		t.Errorf("%s: problems %v", s.name, v.Problems)
	}
	want := snapshotOf(s.before)
	if s.published() {
		want = s.done
		want.Version = v.Version
	}
	if got := snapshotOf(v); !reflect.DeepEqual(got, want) {
		t.Errorf("%s: snapshot\n%+v\nwant\n%+v", s.name, got, want)
	}
	l, all, err := branches.List(context.Background(), st)
	if err != nil || len(l.Problems) != 0 {
		t.Fatalf("%s: branches: %v, problems %v", s.name, err, l.Problems)
	}
	lock := slices.ContainsFunc(all, func(b branches.Branch) bool { return b.Name == branches.LockName && b.Err == nil })
	if _, there := s.files["__manifest/_refs/branches/"+branches.LockName+".json"]; there != l.Locked || there != lock || slices.Contains(l.Names, branches.LockName) {
		t.Errorf("%s: lock seen: %v, %v; there: %v; names %v", s.name, l.Locked, lock, there, l.Names)
	}
	for _, b := range l.Names {
		if o := open(t, st, manifest.Options{Branch: b}); len(o.Problems) != 0 || len(o.Tables) == 0 {
			t.Errorf("%s: branch %s: problems %v", s.name, b, o.Problems)
		}
	}
	target := s.sidecars(v, pending)
	s.contract(op, v, target)
}

// sidecars parses what is pending and returns the IR hash that a published
// schema apply aims at.
func (s *stuckState) sidecars(v *manifest.View, pending []string) (target string) {
	t := s.t
	var found []string
	for key, data := range s.files {
		if !strings.HasPrefix(key, sidecar.Folder) || !strings.HasSuffix(key, sidecar.Suffix) {
			continue
		}
		found = append(found, key)
		rec, problems, err := sidecar.Parse(key, data)
		if err != nil || len(problems) != 0 {
			t.Errorf("%s: %s: error %v, problems %v", s.name, key, err, problems)
			continue
		}
		known := func(id sidecar.Identity) bool {
			return slices.ContainsFunc(v.Registrations, func(r manifest.Registration) bool { return r.Identity == manifest.Identity(id) })
		}
		if place, at := rec.Place("mem://g", known); place != sidecar.Moved || at != "s3://lab/harbor" {
			t.Errorf("%s: %s lies %v, recorded root %q", s.name, key, place, at)
		}
		if place, _ := rec.Place("s3://lab/harbor", known); place != sidecar.Here {
			t.Errorf("%s: %s at its own root lies %v", s.name, key, place)
		}
		if _, ok := v.State.Commit(rec.CommitID); ok {
			if !s.published() || rec.Phase != sidecar.EffectsConfirmed {
				t.Errorf("%s: commit %s is visible in phase %s", s.name, rec.CommitID, rec.Phase)
			}
			target = rec.TargetIRHash
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, pending) && len(found)+len(pending) > 0 {
		t.Errorf("%s: sidecars %v, want %v", s.name, found, pending)
	}
	return target
}

// contract: before a schema apply is published the old types hold, afterwards
// the new ones, from wherever its files are.
func (s *stuckState) contract(op string, v *manifest.View, target string) {
	files := map[string]schema.File{}
	staged := false
	for _, key := range slices.Concat(schema.Keys, schema.StagedKeys) {
		if data, ok := s.files[key]; ok {
			files[key] = schema.File{Data: data}
			staged = staged || slices.Contains(schema.StagedKeys, key)
		}
	}
	pub := schema.Published{Known: true, TargetIRHash: target}
	for _, e := range v.Tables {
		pub.Tables = append(pub.Tables, schema.Table{Alias: e.Alias, ID: e.Table, Incarnation: e.Incarnation})
	}
	c := schema.Load(files, pub)
	switch {
	case c.IR == nil || c.Unconfirmed != "":
		s.t.Errorf("%s: no proven types: %v, %q", s.name, c.Problems, c.Unconfirmed)
		return
	case staged != (len(c.Problems) > 0):
		s.t.Errorf("%s: staged files there: %v; problems %v", s.name, staged, c.Problems)
	case c.Staged && !s.published():
		s.t.Errorf("%s: the staged contract is shown before it was published", s.name)
	}
	_, berth := c.IR.Type(schema.KindNode, "Berth")
	if wide := op == "schema-apply" && s.published(); berth != wide {
		s.t.Errorf("%s: type Berth is shown: %v, want %v", s.name, berth, wide)
	}
}
