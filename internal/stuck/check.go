package stuck

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// Graph opens a graph for looking.
func Graph(t testing.TB, store blob.Store) *engine.Graph {
	t.Helper()
	return open(t, store, engine.Options{})
}

// Writable opens a graph for writing.
func Writable(t testing.TB, store blob.Store) *engine.Graph {
	t.Helper()
	return open(t, store, engine.Options{Write: true})
}

func open(t testing.TB, store blob.Store, o engine.Options) *engine.Graph {
	t.Helper()
	o.Store, o.NoCache = store, true
	g, err := engine.Open(context.Background(), store.Properties().URL, o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// RowsOf are the rows of every branch, as `export` prints them.
func RowsOf(t testing.TB, g *engine.Graph) map[string]Rows {
	t.Helper()
	names, err := g.BranchNames(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Rows{}
	for _, name := range names {
		var buf bytes.Buffer
		if _, err := g.Export(context.Background(), &buf, engine.At{Branch: name}, nil); err != nil {
			t.Fatalf("export of %s: %v", name, err)
		}
		out[name] = HashLines(buf.String())
	}
	return out
}

// HashLines is how the reference's rows were written down: sorted, joined by a
// newline, hashed.
func HashLines(text string) Rows {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return Rows{len(lines), hex.EncodeToString(sum[:])}
}

// Keys are the objects of a store below a prefix.
func Keys(t testing.TB, store blob.Store, prefix string) (out []string) {
	t.Helper()
	for e, err := range store.List(context.Background(), blob.ListOptions{Prefix: prefix, Recursive: true}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Key)
	}
	return out
}

// Recovered checks that a graph is what the reference's recovery makes of the
// state: rows of every branch, published versions, records, audit rows, schema
// files; and what the reference was not asked: every table's newest version is
// the published one, no dataset is left that nobody registered, and verify is
// clean.
func (s *State) Recovered(t testing.TB, store blob.Store) {
	t.Helper()
	g := Graph(t, store)
	rows := RowsOf(t, g)
	if !maps.Equal(rows, s.After) {
		t.Errorf("%s: rows\n%v, recorded are\n%v", s, rows, s.After)
	}
	s.checkPins(t, store)
	if left := records(Keys(t, store, sidecar.Folder)); !slices.Equal(left, s.PendingAfter) {
		t.Errorf("%s: records %v are left, recorded are %v", s, left, s.PendingAfter)
	}
	for _, branch := range slices.Sorted(maps.Keys(rows)) {
		AtRest(t, store, branch)
	}
	s.checkAudit(t, store)
	s.checkSchema(t, store)
	Clean(t, s.String(), g)
}

func records(keys []string) (out []string) {
	for _, k := range keys {
		if strings.HasSuffix(k, sidecar.Suffix) {
			out = append(out, k)
		}
	}
	return out
}

// checkPins compares the published versions of main with those recorded.
func (s *State) checkPins(t testing.TB, store blob.Store) {
	t.Helper()
	view := View(t, store, "")
	if view.Version != s.Snapshot.Version {
		t.Errorf("%s: version %d of __manifest, recorded is %d", s, view.Version, s.Snapshot.Version)
	}
	type published struct{ version, rows uint64 }
	got, want := map[string]published{}, map[string]published{}
	for _, e := range view.Tables {
		got[e.Location] = published{e.Version, e.Rows}
	}
	for _, d := range s.Snapshot.Datasets {
		want[d.Path] = published{d.Version, d.Count}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: published are\n%v, recorded are\n%v", s, got, want)
	}
	var folders []string // of datasets that lie there
	for _, kind := range []string{"nodes/", "edges/"} {
		for _, k := range Keys(t, store, kind) {
			if dir, _, ok := strings.Cut(strings.TrimPrefix(k, kind), "/"); ok && !slices.Contains(folders, kind+dir) {
				folders = append(folders, kind+dir)
			}
		}
	}
	for _, f := range folders {
		if _, ok := want[f]; !ok {
			t.Errorf("%s: objects of %s are left, which nobody registered", s, f)
		}
	}
}

// View reads a branch of `__manifest`.
func View(t testing.TB, store blob.Store, branch string) *manifest.View {
	t.Helper()
	if branch == manifest.Main {
		branch = ""
	}
	view, err := manifest.Open(context.Background(), store, manifest.Options{Branch: branch, ReadDeletions: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(view.Problems) > 0 {
		t.Fatal(view.Problems)
	}
	return view
}

// AtRest checks that the newest version of every table that a branch owns is the
// published one.
func AtRest(t testing.TB, store blob.Store, branch string) {
	t.Helper()
	view := View(t, store, branch)
	for _, e := range view.Tables {
		if e.Owner != view.Branch {
			continue
		}
		if head := Newest(t, store, e.Location, e.Owner); head != e.Version {
			t.Errorf("%s on %s is published at version %d, its newest is %d", e.Alias, branch, e.Version, head)
		}
	}
}

// checkAudit compares the rows of the audit table with what must stand there.
func (s *State) checkAudit(t testing.TB, store blob.Store) {
	t.Helper()
	got, want := Audits(t, store), s.Audit(t)
	if want == nil {
		if len(got) > 0 {
			t.Errorf("%s: audit rows %v, where there is nothing to tell", s, got)
		}
		return
	}
	if len(got) != 1 {
		t.Errorf("%s: %d audit rows %v, expected is %v", s, len(got), got, want)
		return
	}
	a, view := got[0], View(t, store, "")
	if want.Commit == "" {
		c, ok := view.Commit(a.Commit)
		if !ok || c.ID != view.Heads[manifest.Main] && s.Op == "optimize" || c.Actor == nil || *c.Actor != "omnigraph:recovery" {
			t.Errorf("%s: the audit row names commit %s, which is %+v", s, a.Commit, c)
		}
		want.Commit = a.Commit
	}
	if _, ok := view.Commit(a.Commit); !ok {
		t.Errorf("%s: the audit row names commit %s, which is not there", s, a.Commit)
	}
	if a.At.Year() < 2026 {
		t.Errorf("%s: the audit row is of %s", s, a.At)
	}
	a.Outcomes, want.Outcomes = SortOutcomes(a.Outcomes), SortOutcomes(want.Outcomes)
	if a.String() != want.String() {
		t.Errorf("%s: audit row\n%v, expected is\n%v", s, a, want)
	}
}

// checkSchema: no staged file is left, and the live ones are the target or what
// they were.
func (s *State) checkSchema(t testing.TB, store blob.Store) {
	t.Helper()
	if left := staged(Keys(t, store, "")); len(left) > 0 {
		t.Errorf("%s: %v are left", s, left)
	}
	rec := s.Record(t)
	target := rec != nil && rec.Kind == sidecar.SchemaApply && s.Outcome == "as completed"
	for _, key := range schema.Keys {
		o, err := store.Get(context.Background(), key, blob.All)
		if err != nil {
			t.Fatal(err)
		}
		want, is := s.Files[key], "what it was"
		if staged, ok := s.Files[key+schema.Staging]; ok && target {
			want, is = staged, "what was staged"
		}
		if !bytes.Equal(o.Data, want) {
			t.Errorf("%s: %s is not %s", s, key, is)
		}
		if mark, err := schema.ParseMarker(o.Data); target && key == schema.StateKey && (err != nil || mark.IRHash != rec.TargetIRHash) {
			t.Errorf("%s: %s is of %v, the target is %s", s, key, mark, rec.TargetIRHash)
		}
	}
	if _, err := store.Head(context.Background(), lockKey); (err == nil) != s.Locked() {
		t.Errorf("%s: the lock was there: %v; now %v", s, s.Locked(), err)
	}
}

const lockKey = "__manifest/_refs/branches/__schema_apply_lock__.json"

// Clean checks that verify, which reads rows too, tells nothing but facts.
func Clean(t testing.TB, what string, g *engine.Graph) {
	t.Helper()
	v, err := g.Verify(context.Background(), engine.VerifyOptions{Deep: true})
	if err != nil {
		t.Errorf("%s: verify: %v", what, err)
		return
	}
	for _, p := range v.Problems {
		if p.Severity != engine.SeverityInfo {
			t.Errorf("%s: verify tells %+v", what, p)
		}
	}
	if !v.Clean {
		t.Errorf("%s: verify is not clean", what)
	}
}

// Objects are the names and bytes of a store, to say whether anything changed.
func Objects(t testing.TB, store blob.Store) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, k := range Keys(t, store, "") {
		o, err := store.Get(context.Background(), k, blob.All)
		if err != nil {
			t.Fatal(err)
		}
		out[k] = o.Data
	}
	return out
}

// Differ names what differs between two sets of objects; "" = nothing.
func Differ(a, b map[string][]byte) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if other, ok := b[k]; !ok {
			out = append(out, "gone: "+k)
		} else if !bytes.Equal(a[k], other) {
			out = append(out, "changed: "+k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[k]; !ok {
			out = append(out, "new: "+k)
		}
	}
	if len(out) > 8 {
		out = append(out[:8], fmt.Sprintf("and %d more", len(out)-8))
	}
	return strings.Join(out, ", ")
}

// SortedKeys are the names of objects.
func SortedKeys(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }
