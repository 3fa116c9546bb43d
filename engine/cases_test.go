package engine_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

func openFiles(t testing.TB, files map[string][]byte) *engine.Graph {
	t.Helper()
	return openStore(t, memory(t, memstore.Options{Name: "g"}, files))
}

// damagedHead is a graph whose version 15 of __manifest cannot be read.
type damagedHead struct {
	*engine.Graph
	key   string // of the damaged object
	size  int    // bytes
	older *engine.Snapshot
	rows  uint64 // of older, version 14
}

// refuses: what asks for the newest version is told what is damaged, and what is
// readable.
func (g damagedHead) refuses(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	_, err := g.Snapshot(ctx, engine.At{})
	var damaged *engine.DamagedError
	if !errors.As(err, &damaged) || damaged.Object != g.key || damaged.Size != int64(g.size) || damaged.Readable != 14 || damaged.Rows == nil || *damaged.Rows != g.rows {
		t.Fatalf("snapshot: %v (%+v)", err, damaged)
	}
	for what, ask := range map[string]func() error{
		"commits": func() error { _, err := g.Commits(ctx, "", 0); return err },
		"rows":    func() error { _, err := g.Rows(ctx, "Port", engine.At{}, engine.RowsOptions{}); return err },
		"export":  func() error { _, err := g.Export(ctx, discard{}, engine.At{}, nil); return err },
	} {
		if err := ask(); !errors.As(err, &damaged) {
			t.Errorf("%s of the damaged head: %v", what, err)
		}
	}
}

// tells: the finding says what is damaged, and no number is made up.
func (g damagedHead) tells(t *testing.T) {
	t.Helper()
	info, err := g.Info(t.Context(), engine.At{})
	if err != nil {
		t.Fatal(err)
	}
	f := findingOf(t, info, "M1")
	says(t, "finding", f.Title, "15", "14", fmt.Sprint(g.rows), "by number")
	says(t, "evidence", f.Evidence[0].Key+f.Evidence[0].Fact, g.key, fmt.Sprintf("%d bytes", g.size))
	if f.Severity != engine.SeverityError || info.Findings[0].ID != "M1" || info.Rows != 0 || info.GraphManifestVersion != 0 {
		t.Errorf("info passes the damaged head off as something: %+v", info)
	}
}

// readsOlder: version 14 is read by its number.
func (g damagedHead) readsOlder(t *testing.T) {
	t.Helper()
	got, err := g.Snapshot(t.Context(), engine.At{Version: 14})
	if err != nil || !reflect.DeepEqual(got.Datasets, g.older.Datasets) {
		t.Errorf("version 14 by number: %v", err)
	}
	at, err := g.Info(t.Context(), engine.At{Version: 14})
	if err != nil || at.Rows != g.rows || at.GraphManifestVersion != 14 {
		t.Errorf("info at 14: %+v, %v", at, err)
	}
	findingOf(t, at, "M1")
}

// Case 8 a, b, e at graph level: the newest version of `__manifest` is empty or
// cut. It is never passed over in silence.
func TestDamagedNewestManifest(t *testing.T) {
	ctx := context.Background()
	files := graphFiles(t, "midlife")
	key := newestManifest(t, files, "__manifest")
	before := openFiles(t, files)
	older, err := before.Snapshot(ctx, engine.At{Version: 14})
	if err != nil {
		t.Fatal(err)
	}
	var rows uint64
	for _, d := range older.Datasets {
		rows += d.EntityCount
	}
	for name, data := range map[string][]byte{"empty": {}, "cut": files[key][:len(files[key])/2]} {
		t.Run(name, func(t *testing.T) {
			g := damagedHead{openFiles(t, with(files, map[string][]byte{key: data})), key, len(data), older, rows}
			g.refuses(t)
			g.tells(t)
			g.readsOlder(t)
			if names, err := g.BranchNames(ctx); err != nil || len(names) != 4 {
				t.Errorf("branches %v, %v", names, err)
			}
			vs, err := g.Versions(ctx, "__manifest", "", engine.VersionsOptions{Details: true})
			if err != nil || vs.Versions[0].Problem == "" || vs.Versions[1].Problem != "" || vs.Head != 15 {
				t.Errorf("versions: %+v, %v", vs, err)
			}
			wantProblem(t, g.Graph, "manifest-unreadable", key)
			verifyOthers(t, g.Graph, "archive")
		})
	}
}

// wantProblem asks verify for a problem of an id that names something.
func wantProblem(t testing.TB, g *engine.Graph, id, names string) engine.Problem {
	t.Helper()
	v, err := g.Verify(context.Background(), engine.VerifyOptions{Deep: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range v.Problems {
		if p.ID == id && strings.Contains(p.Key+p.Found, names) {
			return p
		}
	}
	t.Errorf("verify has no problem %s about %s: %+v", id, names, v.Problems)
	return engine.Problem{}
}

// verifyOthers checks that a branch is not touched by damage elsewhere.
func verifyOthers(t testing.TB, g *engine.Graph, branch string) {
	t.Helper()
	v, err := g.Verify(context.Background(), engine.VerifyOptions{Deep: true, Branch: branch})
	if err != nil || !v.Clean {
		t.Errorf("branch %s: %+v, %v", branch, v, err)
	}
}

// portData are the data files of the Port table that main publishes.
func portData(t testing.TB, files map[string][]byte) (fragment engine.Fragment, key string) {
	t.Helper()
	g := openFiles(t, files)
	f, err := g.Fragments(context.Background(), "Port", engine.At{})
	if err != nil {
		t.Fatal(err)
	}
	for _, fr := range f.Fragments {
		if fr.Rows > 1 {
			for k := range files {
				if strings.HasPrefix(k, "nodes/") && strings.HasSuffix(k, "/data/"+fr.Files[0].Path) {
					return fr, k
				}
			}
		}
	}
	t.Fatal("no fragment of several rows")
	return
}

// Case 8 c, d: a data file is empty or gone. The table opens, its counts stand
// as recorded, and what is lost is named.
func TestLostDataFile(t *testing.T) {
	ctx := context.Background()
	files := graphFiles(t, "midlife")
	fragment, key := portData(t, files)
	whole := exportLines(t, openFiles(t, files), engine.At{})
	for name, data := range map[string][]byte{"gone": nil, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			g := openFiles(t, with(files, map[string][]byte{key: data}))
			snap, err := g.Snapshot(ctx, engine.At{})
			if err != nil || len(snap.Datasets) != 9 {
				t.Fatalf("snapshot: %v", err)
			}
			_, err = g.Rows(ctx, "Port", engine.At{}, engine.RowsOptions{Limit: 1000})
			var lost *engine.RowsLostError
			if !errors.As(err, &lost) || lost.Key != key || lost.Fragment != fragment.ID || lost.Rows != fragment.Rows-fragment.Deleted || lost.Table != "node:Port" {
				t.Fatalf("rows: %v", err)
			}
			says(t, "error", err.Error(), key, fmt.Sprintf("%d rows affected", lost.Rows), "unverified")
			var lines strings.Builder
			n, err := g.Export(ctx, &lines, engine.At{}, nil)
			if !errors.As(err, &lost) || n == 0 || !strings.HasPrefix(strings.Join(whole, "\n")+"\n", lines.String()) {
				t.Errorf("export: %d lines, %v", n, err)
			}
			if _, err := g.Export(ctx, discard{}, engine.At{}, []string{"Vessel", "Company"}); err != nil {
				t.Errorf("other types: %v", err)
			}
			hits, err := g.Find(ctx, "acme-of-nowhere", engine.At{})
			var part *engine.IncompleteError
			if len(hits) != 0 || !errors.As(err, &part) {
				t.Errorf("a search that could not look everywhere: %v, %v", hits, err)
			}
			if info, err := g.Info(ctx, engine.At{}); err != nil || info.Rows != 272 {
				t.Errorf("info: %+v, %v", info, err)
			}
			wantProblem(t, g, "rows-unreadable", fmt.Sprintf("version 11 on branch main: fragment %d cannot be read (", fragment.ID))
			wantProblem(t, g, "rows-unreadable", key)
			wantProblem(t, g, "rows-unreadable", fmt.Sprintf("%d rows affected", lost.Rows))
		})
	}
}

// A published version of a table whose manifest is gone is damage when it was
// the newest, and reclaimed history when newer ones are there.
func TestLostTableManifest(t *testing.T) {
	ctx := context.Background()
	files := graphFiles(t, "midlife")
	port := "nodes/0000000000000004-000000000000002a"
	g := openFiles(t, with(files, map[string][]byte{newestManifest(t, files, port): nil}))
	var damaged *engine.DamagedError
	if _, err := g.Rows(ctx, "Port", engine.At{}, engine.RowsOptions{}); !errors.As(err, &damaged) || damaged.Size >= 0 || damaged.Readable != 10 {
		t.Errorf("rows: %v", err)
	}
	wantProblem(t, g, "published-unreadable", port)

	g = openFiles(t, with(files, map[string][]byte{port + "/_versions/" + manifestName(9): nil}))
	var gone *engine.ReclaimedError
	if _, err := g.Rows(ctx, "Port", engine.At{Branch: "archive"}, engine.RowsOptions{}); !errors.As(err, &gone) || gone.Version != 9 || gone.Table != "node:Port" {
		t.Errorf("rows of the lazy branch: %v", err)
	}
	wantProblem(t, g, "published-missing", "9")
	verifyOthers(t, g, "main")
}

// A fragment of `__manifest` is gone: what is left is shown, beside an error
// that says what is in doubt.
func TestLostManifestFragment(t *testing.T) {
	ctx := context.Background()
	files := graphFiles(t, "midlife")
	g := openFiles(t, files)
	f, err := g.Fragments(ctx, "__manifest", engine.At{})
	if err != nil {
		t.Fatal(err)
	}
	last := f.Fragments[len(f.Fragments)-1].Files[0].Path
	g = openFiles(t, with(files, map[string][]byte{"__manifest/data/" + last: nil}))
	snap, err := g.Snapshot(ctx, engine.At{})
	var part *engine.IncompleteError
	if snap == nil || len(snap.Datasets) == 0 || !errors.As(err, &part) || len(part.Doubtful) == 0 {
		t.Fatalf("snapshot %v: %v", snap, err)
	}
	says(t, "error", err.Error(), "fragment", "may not be complete")
	info, err := g.Info(ctx, engine.At{})
	if err != nil {
		t.Fatal(err)
	}
	if f := findingOf(t, info, "M3"); f.Severity != engine.SeverityError || f.Trust == "" {
		t.Errorf("finding %+v", f)
	}
	if commits, err := g.Commits(ctx, "", 0); commits.Len() == 0 || !errors.As(err, &part) {
		t.Errorf("commits: %d, %v", commits.Len(), err)
	}
	wantProblem(t, g, "manifest-fragment", last)
	verifyOthers(t, g, "archive")

	// What the rows that are gone would hold is unknown: nothing is called
	// deletable, what is known to be held still is.
	if h, err := g.Holds(ctx, "node:Port", 3); !errors.As(err, &part) || h == nil || h.Deletable || len(h.HeldBy) > 0 {
		t.Errorf("version 3 of Port: %+v, %v", h, err)
	}
	if h, err := g.Holds(ctx, "node:Port", 9); !errors.As(err, &part) || h == nil || h.Deletable || len(h.HeldBy) == 0 {
		t.Errorf("version 9 of Port: %+v, %v", h, err)
	}
	if v, err := g.Versions(ctx, "node:Port", "", engine.VersionsOptions{Holders: true}); !errors.As(err, &part) || v == nil || len(v.Versions) != 11 {
		t.Errorf("versions of Port: %+v, %v", v, err)
	}
}

// A schema file is missing: tables and history read as before.
func TestMissingSchemaFile(t *testing.T) {
	ctx := context.Background()
	files := graphFiles(t, "midlife")
	rows, sum := exportHash(t, openFiles(t, files), engine.At{})
	for _, key := range []string{"_schema.pg", "_schema.ir.json", "__schema_state.json"} {
		t.Run(key, func(t *testing.T) {
			g := openFiles(t, with(files, map[string][]byte{key: nil}))
			if n, s := exportHash(t, g, engine.At{}); n != rows || s != sum {
				t.Errorf("the export depends on %s", key)
			}
			info, err := g.Info(ctx, engine.At{})
			if err != nil {
				t.Fatal(err)
			}
			f := findingOf(t, info, "G17")
			says(t, "finding", f.Title, key, "Rust engine")
			s, err := g.Schema(ctx)
			if err != nil || s.Finding == nil || (s.Source == "") != (key == "_schema.pg") {
				t.Errorf("schema: %+v, %v", s, err)
			}
			wantProblem(t, g, "schema-missing", key)
		})
	}
}

// A text that compiles to another schema than the accepted one is found, and
// types are still shown.
func TestSchemaTextOfAnotherShape(t *testing.T) {
	files := graphFiles(t, "midlife")
	text := strings.Replace(string(files["_schema.pg"]), "draft_m: F32?", "draft_m: F64?", 1)
	g := openFiles(t, with(files, map[string][]byte{"_schema.pg": []byte(text)}))
	wantProblem(t, g, "schema-source", "_schema.pg")
	info, err := g.Info(context.Background(), engine.At{})
	if err != nil {
		t.Fatal(err)
	}
	says(t, "finding", findingOf(t, info, "G16").Title, "_schema.pg", "compiles to another shape", "Vessel.draft_m differs")
}

// A feature that this program does not know is refused by name; the graph's
// other parts are still described.
func TestUnknownFeatureFlag(t *testing.T) {
	ctx := context.Background()
	files := graphFiles(t, "midlife")
	flag := func(m *tablepb.Manifest) { m.ReaderFeatureFlags |= 1 << 9 }
	key := newestManifest(t, files, "__manifest")
	g := openFiles(t, with(files, map[string][]byte{key: rewriteManifest(t, files[key], flag)}))
	var no *engine.UnsupportedError
	if _, err := g.Snapshot(ctx, engine.At{}); !errors.As(err, &no) {
		t.Errorf("snapshot: %v", err)
	} else {
		says(t, "error", err.Error(), "bit 9")
	}
	info, err := g.Info(ctx, engine.At{})
	if err != nil {
		t.Fatal(err)
	}
	says(t, "finding", findingOf(t, info, "M8").Title, "bit 9")
	if _, err := g.Snapshot(ctx, engine.At{Version: 14}); err != nil {
		t.Errorf("an older version: %v", err)
	}

	port := newestManifest(t, files, "nodes/0000000000000004-000000000000002a")
	g = openFiles(t, with(files, map[string][]byte{port: rewriteManifest(t, files[port], flag)}))
	if _, err := g.Rows(ctx, "Port", engine.At{}, engine.RowsOptions{}); !errors.As(err, &no) {
		t.Errorf("rows: %v", err)
	}
	wantProblem(t, g, "published-unreadable", "bit 9")
	verifyOthers(t, g, "archive")
}

// The stamp: below, above, no number, absent.
func TestStamps(t *testing.T) {
	ctx := context.Background()
	files := graphFiles(t, "midlife")
	key := newestManifest(t, files, "__manifest")
	const stamp = "omnigraph:internal_schema_version"
	for name, c := range map[string]struct {
		change func(map[string][]byte)
		reads  bool
		words  []string
	}{
		"5":      {func(m map[string][]byte) { m[stamp] = []byte("5") }, true, []string{"version 5"}},
		"7":      {func(m map[string][]byte) { m[stamp] = []byte("7") }, false, []string{"7"}},
		"abc":    {func(m map[string][]byte) { m[stamp] = []byte("abc") }, true, []string{"abc"}},
		"absent": {func(m map[string][]byte) { delete(m, stamp) }, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := openFiles(t, with(files, map[string][]byte{key: rewriteManifest(t, files[key], func(m *tablepb.Manifest) { c.change(m.SchemaMetadata) })}))
			snap, err := g.Snapshot(ctx, engine.At{})
			var part *engine.IncompleteError
			var no *engine.UnsupportedError
			if c.reads && (snap == nil || len(snap.Datasets) != 9 || !errors.As(err, &part)) {
				t.Errorf("snapshot %+v, %v", snap, err)
			}
			if !c.reads && !errors.As(err, &no) {
				t.Errorf("snapshot of a newer generation: %v", err)
			}
			info, err := g.Info(ctx, engine.At{})
			if err != nil {
				t.Fatal(err)
			}
			f := findingOf(t, info, "G20")
			says(t, "finding", f.Title, c.words...)
			if f.Severity != engine.SeverityError || info.Findings[0].Severity != engine.SeverityError {
				t.Errorf("%+v", info.Findings)
			}
			if c.reads {
				wantProblem(t, g, "stamp", "")
			}
		})
	}
}

// What is no graph says what it is.
func TestNotAGraph(t *testing.T) {
	ctx := context.Background()
	files := graphFiles(t, "midlife")
	table := map[string][]byte{}
	for k, v := range files {
		if rest, ok := strings.CutPrefix(k, "nodes/0000000000000004-000000000000002a/"); ok {
			table[rest] = v
		}
	}
	for name, c := range map[string]struct {
		files map[string][]byte
		kind  string
		words string
	}{
		"nothing": {map[string][]byte{}, "", "nothing is there"},
		"lance":   {table, "lance", "lance info"},
		"init":    {map[string][]byte{"_schema.pg": []byte("node A { x: String }"), "__init_claim.json": []byte("{}")}, "", "init was killed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := openFiles(t, c.files)
			for what, ask := range map[string]func() error{
				"info":     func() error { _, err := g.Info(ctx, engine.At{}); return err },
				"branches": func() error { _, err := g.BranchNames(ctx); return err },
				"snapshot": func() error { _, err := g.Snapshot(ctx, engine.At{}); return err },
				"details":  func() error { _, err := g.Branches(ctx); return err },
				"versions": func() error { _, err := g.Versions(ctx, "", "", engine.VersionsOptions{}); return err },
				"schema":   func() error { _, err := g.Schema(ctx); return err },
				"verify":   func() error { _, err := g.Verify(ctx, engine.VerifyOptions{}); return err },
				"pending":  func() error { _, err := g.Pending(ctx); return err },
				"log":      func() error { _, err := g.LogAll(ctx, 0); return err },
			} {
				var no *engine.NotAGraphError
				if err := ask(); !errors.As(err, &no) || no.Kind != c.kind {
					t.Errorf("%s: %v", what, err)
				} else {
					says(t, what, err.Error(), c.words)
				}
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
