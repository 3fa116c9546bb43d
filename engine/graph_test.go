package engine_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
)

func TestResolveAt(t *testing.T) {
	ctx := context.Background()
	g := openStore(t, demo(t))
	commits, err := g.Commits(ctx, "review/new-calls", 0)
	if err != nil {
		t.Fatal(err)
	}
	c := commits[0]
	if c.BranchName() != "review/new-calls" {
		t.Fatalf("the head of the branch is %+v", c)
	}
	full := engine.At{Branch: "review/new-calls", Commit: c.ID, Version: c.ManifestVersion}
	for _, x := range []struct {
		text, branch string
		want         engine.At
	}{
		{"", "", engine.At{}},
		{"", "archive", engine.At{Branch: "archive"}},
		{"fix/ports", "", engine.At{Branch: "fix/ports"}},
		{"main", "archive", engine.At{Branch: "main"}},
		{"12", "", engine.At{Version: 12}},
		{"10", "archive", engine.At{Branch: "archive", Version: 10}},
		{c.ID, "", full},
		{strings.ToLower(c.ID[12:]), "", full},
	} {
		got, err := g.ResolveAt(ctx, x.text, x.branch)
		if err != nil || got != x.want {
			t.Errorf("%q on %q is %+v, %v; want %+v", x.text, x.branch, got, err, x.want)
		}
	}
	var usage *engine.UsageError
	if _, err := g.ResolveAt(ctx, c.ID[:4], ""); !errors.As(err, &usage) {
		t.Errorf("a beginning that many commits have: %v", err)
	}
	var none *engine.NotFoundError
	if _, err := g.ResolveAt(ctx, "revew/new-calls", ""); !errors.As(err, &none) || !slices.Contains(none.Suggestions, "review/new-calls") {
		t.Errorf("a mistyped branch: %v", err)
	}
	if _, err := g.Snapshot(ctx, engine.At{Version: 99}); !errors.As(err, &none) || none.What != "version" {
		t.Errorf("a version that never was: %v", err)
	}
	if _, err := g.Snapshot(ctx, engine.At{Branch: "archve"}); !errors.As(err, &none) || !slices.Contains(none.Suggestions, "archive") {
		t.Errorf("an absent branch: %v", err)
	}
	if _, err := g.Info(ctx, engine.At{Branch: "archve"}); !errors.As(err, &none) || none.What != "branch" {
		t.Errorf("info of an absent branch: %v", err)
	}
	if _, err := g.Versions(ctx, "", "archve", engine.VersionsOptions{}); !errors.As(err, &none) || none.What != "branch" {
		t.Errorf("versions of an absent branch: %v", err)
	}
	if i, err := g.Info(ctx, engine.At{Branch: "fix/ports"}); err != nil || i.Branch != "fix/ports" || i.GraphManifestVersion != 11 {
		t.Errorf("info of a branch: %+v, %v", i, err)
	}
	one, err := g.Commit(ctx, c.ID)
	if err != nil || one.ID != c.ID || one.CreatedAt != c.CreatedAt {
		t.Errorf("commit %+v, %v", one, err)
	}
	if _, err := g.Snapshot(ctx, engine.At{Branch: "main", Commit: c.ID, Version: 12}); err == nil || !strings.Contains(err.Error(), c.ID) {
		t.Errorf("a commit at another version: %v", err)
	}
	verified(t, g)
}

// A cleaned graph: old commits are listed, their tables are gone, and the
// error says why.
func TestReclaimedHistory(t *testing.T) {
	ctx := context.Background()
	g := openFiles(t, graphFiles(t, "maintained"))
	commits, err := g.Commits(ctx, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	gone, reads := 0, 0
	for _, c := range commits {
		at := engine.At{Branch: c.BranchName(), Commit: c.ID, Version: c.ManifestVersion}
		if _, err := g.Snapshot(ctx, at); err != nil {
			t.Errorf("snapshot at %s: %v", c.ID, err)
			continue
		}
		var reclaimed *engine.ReclaimedError
		switch _, err := g.Rows(ctx, "Port", at, engine.RowsOptions{}); {
		case err == nil:
			reads++
		case errors.As(err, &reclaimed):
			gone++
			says(t, "error", err.Error(), "node:Port", "removed by cleanup")
		default:
			t.Errorf("rows at %s: %v", c.ID, err)
		}
	}
	if gone == 0 || reads == 0 {
		t.Errorf("%d commits are reclaimed and %d read; want some of both", gone, reads)
	}
	verified(t, g)
}

func TestBranches(t *testing.T) {
	ctx := context.Background()
	g := openStore(t, demo(t))
	list, err := g.Branches(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]engine.Branch{}
	for _, b := range list {
		got[b.Name] = b
		if b.Problem != "" || b.NeededBy == nil || b.Head == "" || b.ManifestVersion == 0 {
			t.Errorf("%+v", b)
		}
	}
	if list[0].Name != "main" || len(list) != 4 {
		t.Fatalf("%+v", list)
	}
	if m := got["main"]; m.Parent != "" || !m.OwnHead || m.Ahead != 0 || !m.Created.IsZero() || len(m.NeededBy) != 3 {
		t.Errorf("main %+v", m)
	}
	if a := got["archive"]; a.Parent != "main" || a.OwnHead || a.OwnedTables != 0 || a.ForkVersion != a.ManifestVersion || a.Created.IsZero() || a.Ahead != 0 {
		t.Errorf("the lazy branch %+v", a)
	}
	if r := got["review/new-calls"]; !r.OwnHead || r.OwnedTables == 0 || r.Ahead == 0 {
		t.Errorf("the branch under review %+v", r)
	}
	verified(t, g)
}

// Every version that a branch publishes is held, by that branch.
func TestEveryPublishedVersionIsHeld(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"midlife", "maintained", "diverged"} {
		g := openFiles(t, graphFiles(t, name))
		names, err := g.BranchNames(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, branch := range names {
			snap, err := g.Snapshot(ctx, engine.At{Branch: branch})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range snap.Datasets {
				vs, err := g.Versions(ctx, d.Table(), branch, engine.VersionsOptions{Holders: true})
				if err != nil {
					t.Fatal(err)
				}
				if vs.Published != d.Version || vs.Head < vs.Published {
					t.Errorf("%s %s on %s: published %d, head %d, the snapshot says %d", name, d.Table(), branch, vs.Published, vs.Head, d.Version)
				}
				i := slices.IndexFunc(vs.Versions, func(v engine.Version) bool { return v.Version == d.Version })
				if i < 0 || !slices.ContainsFunc(vs.Versions[i].HeldBy, func(h engine.Holder) bool { return h.Name == branch }) {
					t.Errorf("%s %s on %s: version %d is not held by the branch: %+v", name, d.Table(), branch, d.Version, vs.Versions)
				}
				if !slices.Contains(vs.Versions[0].HeldBy, engine.Holder{Kind: "head", Name: vs.Branch}) {
					t.Errorf("%s %s on %s: the newest version is not the head: %+v", name, d.Table(), branch, vs.Versions[0])
				}
			}
		}
		verified(t, g)
	}
}

func TestHolds(t *testing.T) {
	ctx := context.Background()
	g := openStore(t, demo(t))
	for _, c := range []struct {
		table   string
		version uint64
		kinds   []string
	}{
		{"node:Port", 11, []string{"head", "published"}},
		{"node:Port", 10, nil},
		{"Port", 9, []string{"branch", "lazy_branch", "merge_base"}},
		{"__manifest", 15, []string{"head"}},
		{"__manifest", 10, []string{"branch", "lazy_branch", "merge_base"}},
		{"__manifest", 3, nil},
	} {
		h, err := g.Holds(ctx, c.table, c.version)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, x := range h.HeldBy {
			if !slices.Contains(kinds, x.Kind) {
				kinds = append(kinds, x.Kind)
			}
		}
		if !slices.Equal(kinds, c.kinds) || h.Deletable != (c.kinds == nil) || h.Reason == "" {
			t.Errorf("%s %d: %+v, want %v", c.table, c.version, h, c.kinds)
		}
	}
	var none *engine.NotFoundError
	if _, err := g.Holds(ctx, "node:Port", 77); !errors.As(err, &none) {
		t.Errorf("an absent version: %v", err)
	}
	verified(t, g)
}

// Case 7: a tag holds its version; one whose branch is gone is a problem; what
// lies under tree/ without a ref is no branch.
func TestTagsAndLeftoverTrees(t *testing.T) {
	ctx := context.Background()
	port := "nodes/0000000000000004-000000000000002a/"
	tag := func(branch string, version int) []byte {
		b := "null"
		if branch != "" {
			b = `"` + branch + `"`
		}
		return fmt.Appendf(nil, `{"branch":%s,"version":%d,"manifestSize":1}`, b, version)
	}
	files := with(graphFiles(t, "midlife"), map[string][]byte{
		port + "_refs/tags/keep.json":                          tag("", 3),
		"__manifest/_refs/tags/old.json":                       tag("", 2),
		"__manifest/tree/a b/_versions/" + manifestName(3):     {1},
		"__manifest/_refs/branches/%C3%BCn%C3%AF.json":         []byte(`{"parentBranch":null,"identifier":{"version_mapping":[[1,"00000000000000000000000000000000"]]},"parentVersion":1,"createAt":1,"manifestSize":1,"metadata":{}}`),
		"__manifest/_refs/branches/__schema_apply_lock__.json": []byte(`{"parentBranch":null,"identifier":{"version_mapping":[[15,"00000000000000000000000000000001"]]},"parentVersion":15,"createAt":1,"manifestSize":1,"metadata":{}}`),
		"__manifest/tree/ünï/_versions/" + manifestName(1):     cloneTo(t, graphFiles(t, "midlife")["__manifest/_versions/"+manifestName(1)], "ünï"),
		"_graph_commits.lance/_versions/" + manifestName(1):    {1},
		"__create_if_absent_probe_01M8KXG0NG0FWW02TRC547XBE1":  {},
		"__init_claim.json":                                    []byte(`{"version":1}`),
		"__schema_state.json#3":                                {},
		"__recovery/01M8KXG0NG0FWW02TRC547XBE1.json#1":         {},
	})
	g := openFiles(t, files)
	names, err := g.BranchNames(ctx)
	if err != nil || !slices.Equal(names, []string{"archive", "fix/ports", "main", "review/new-calls", "ünï"}) {
		t.Errorf("branches %v, %v", names, err)
	}
	h, err := g.Holds(ctx, "node:Port", 3)
	if err != nil || !slices.Contains(h.HeldBy, engine.Holder{Kind: "tag", Name: "keep"}) {
		t.Errorf("holds %+v, %v", h, err)
	}
	var none *engine.NotFoundError
	if _, err := g.Snapshot(ctx, engine.At{Branch: "a b"}); !errors.As(err, &none) || none.What != "branch" {
		t.Errorf("a tree without a ref: %v", err)
	}
	info, err := g.Info(ctx, engine.At{})
	if err != nil {
		t.Fatal(err)
	}
	says(t, "lock", findingOf(t, info, "G14").Title, "__schema_apply_lock__", "refuses every write")
	findingOf(t, info, "G18")
	findingOf(t, info, "G35")
	residue := 0
	for _, f := range info.Findings {
		if f.ID == "G46" {
			residue++
		}
	}
	if residue != 4 || info.Branches != 5 {
		t.Errorf("%d findings of residue, %d branches: %+v", residue, info.Branches, info.Findings)
	}
	if !slices.IsSortedFunc(info.Findings, func(a, b engine.Finding) int { return rank(b.Severity) - rank(a.Severity) }) {
		t.Errorf("findings are not worst first: %+v", info.Findings)
	}
	gone := openFiles(t, with(graphFiles(t, "midlife"), map[string][]byte{port + "_refs/tags/lost.json": tag("deleted", 3)}))
	wantProblem(t, gone, "tag-branch", "lost")
}

func rank(s engine.Severity) int {
	return slices.Index([]engine.Severity{engine.SeverityOK, engine.SeverityInfo, engine.SeverityWarn, engine.SeverityError}, s)
}

// Blobs are the bytes that export spells.
func TestBlobs(t *testing.T) {
	ctx := context.Background()
	s := demo(t)
	g := openStore(t, s)
	got, null := 0, 0
	for _, l := range parseAll(t, exportLines(t, g, engine.At{})) {
		if l.typ != "Inspection" {
			continue
		}
		var text *string
		if err := json.Unmarshal(l.data["photo"], &text); err != nil {
			t.Fatal(err)
		}
		stat, err := g.BlobStat(ctx, "node", "Inspection", l.id, "photo", engine.At{})
		if err != nil {
			t.Fatal(err)
		}
		var buf bytes.Buffer
		_, err = g.BlobGet(ctx, &buf, "node", "Inspection", l.id, "photo", engine.At{})
		if text == nil {
			null++
			var none *engine.NotFoundError
			if stat.Kind != "null" || !errors.As(err, &none) {
				t.Errorf("%s: %+v, %v", l.id, stat, err)
			}
			continue
		}
		got++
		want, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(*text, "base64:"))
		if err != nil || !bytes.Equal(buf.Bytes(), want) || stat.Size != uint64(len(want)) || len(stat.ETag) != 34 {
			t.Errorf("%s: %d bytes, want %d; %+v, %v", l.id, buf.Len(), len(want), stat, err)
		}
		says(t, "note", stat.Note, "Rust engine", "ETag")
		if o, err := s.Get(ctx, stat.Key, blob.All); err != nil || !bytes.Contains(o.Data, want) {
			t.Errorf("%s: the object %s does not hold the bytes: %v", l.id, stat.Key, err)
		}
	}
	if got == 0 || null == 0 {
		t.Errorf("%d blobs and %d nulls; want some of both", got, null)
	}
	var usage *engine.UsageError
	if _, err := g.BlobStat(ctx, "node", "Inspection", "x", "notes", engine.At{}); !errors.As(err, &usage) {
		t.Errorf("no blob: %v", err)
	}
	var none *engine.NotFoundError
	if _, err := g.BlobStat(ctx, "node", "Inspection", "x", "photo", engine.At{}); !errors.As(err, &none) {
		t.Errorf("no entity: %v", err)
	}
	verified(t, g)
}

// Each method leaves one line, also when it fails, and its requests are
// counted by the meters of the context and of the process. A ledger that cannot
// be written fails nothing.
func TestLedgerAndMeters(t *testing.T) {
	ledger := cost.OpenLedger(filepath.Join(t.TempDir(), "l", "ledger.ndjson"))
	process, screen := blob.NewMeter(cost.Classify), blob.NewMeter(cost.Classify)
	s := demo(t)
	g := openAt(t, "demo:", engine.Options{Store: s, Ledger: ledger, Meter: process})
	ctx := blob.WithMeter(context.Background(), screen)
	snap, err := g.Snapshot(ctx, engine.At{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Snapshot(ctx, engine.At{Branch: "nope"}); err == nil {
		t.Error("no error")
	}
	for range g.StreamRows(ctx, "Port", engine.At{}, engine.RowsOptions{Limit: 1}) {
		break
	}
	lines, err := ledger.Read(0, nil)
	if err != nil || len(lines) != 3 {
		t.Fatalf("ledger %+v, %v", lines, err)
	}
	if l := lines[0]; l.Operation != "snapshot" || l.Requests != 17 || l.Hops == 0 || l.Outcome != "ok" || l.Commit == "" || l.URI != s.Properties().URL {
		t.Errorf("line %+v of %+v", l, snap)
	}
	if l := lines[1]; !strings.Contains(l.Outcome, "nope") {
		t.Errorf("line %+v", l)
	}
	if l := lines[2]; l.Operation != "rows" || l.Outcome != "ok" {
		t.Errorf("line %+v", l)
	}
	var sum int64
	for _, l := range lines {
		sum += l.Requests
	}
	if a, b := process.Totals().Requests, screen.Totals().Requests; a != sum || b != sum {
		t.Errorf("the process counted %d requests, the screen %d, the ledger %d", a, b, sum)
	}
	broken := openAt(t, "demo:", engine.Options{Store: demo(t), Ledger: cost.OpenLedger("/dev/null/no")})
	if _, err := broken.Snapshot(ctx, engine.At{}); err != nil {
		t.Errorf("a ledger that cannot be written: %v", err)
	}
	verified(t, g)
}

// An ended context ends every method with its error.
func TestCancelled(t *testing.T) {
	g := openStore(t, demo(t))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, ask := range methods(g) {
		if err := ask(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	verified(t, g)
}

// A store that does not answer is an error, never an empty answer.
func TestUnavailableStore(t *testing.T) {
	s := memory(t, memstore.Options{Name: "g"}, graphFiles(t, "midlife"))
	g := openStore(t, s)
	s.Close()
	for name, ask := range methods(g) {
		if err := ask(context.Background()); !errors.Is(err, blob.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// questions are all that can be asked of a graph, with their answers.
func questions(g *engine.Graph) map[string]func(context.Context) (any, error) {
	at := engine.At{}
	return map[string]func(context.Context) (any, error){
		"resolve":   func(ctx context.Context) (any, error) { return g.ResolveAt(ctx, "12", "") },
		"info":      func(ctx context.Context) (any, error) { return g.Info(ctx, at) },
		"names":     func(ctx context.Context) (any, error) { return g.BranchNames(ctx) },
		"branches":  func(ctx context.Context) (any, error) { return g.Branches(ctx) },
		"snapshot":  func(ctx context.Context) (any, error) { return g.Snapshot(ctx, at) },
		"commits":   func(ctx context.Context) (any, error) { return g.Commits(ctx, "", 0) },
		"commit":    func(ctx context.Context) (any, error) { return g.Commit(ctx, "01M8KXG5CWP06TVR9ERN3FFKFD") },
		"log":       func(ctx context.Context) (any, error) { return g.Log(ctx, "", 0) },
		"log all":   func(ctx context.Context) (any, error) { return g.LogAll(ctx, 0) },
		"schema":    func(ctx context.Context) (any, error) { return g.Schema(ctx) },
		"pending":   func(ctx context.Context) (any, error) { return g.Pending(ctx) },
		"fragments": func(ctx context.Context) (any, error) { return g.Fragments(ctx, "Port", at) },
		"holds":     func(ctx context.Context) (any, error) { return g.Holds(ctx, "node:Port", 9) },
		"find":      func(ctx context.Context) (any, error) { return g.Find(ctx, "NLRTM", at) },
		"verify":    func(ctx context.Context) (any, error) { return g.Verify(ctx, engine.VerifyOptions{}) },
		"rows":      func(ctx context.Context) (any, error) { return g.Rows(ctx, "Port", at, engine.RowsOptions{}) },
		"blob stat": func(ctx context.Context) (any, error) { return g.BlobStat(ctx, "node", "Inspection", "x", "photo", at) },
		"export": func(ctx context.Context) (any, error) {
			var b strings.Builder
			_, err := g.Export(ctx, &b, at, nil)
			return b.String(), err
		},
		"versions": func(ctx context.Context) (any, error) {
			return g.Versions(ctx, "Port", "", engine.VersionsOptions{Details: true, Holders: true})
		},
		"manifest versions": func(ctx context.Context) (any, error) {
			return g.Versions(ctx, "", "", engine.VersionsOptions{Details: true, Holders: true})
		},
		"neighbors": func(ctx context.Context) (any, error) {
			return g.Neighbors(ctx, "Port", "NLRTM", at, engine.NeighborsOptions{Depth: 2})
		},
		"stream": func(ctx context.Context) (any, error) {
			var lines []string
			for row, err := range g.StreamRows(ctx, "Port", at, engine.RowsOptions{}) {
				if err != nil {
					return lines, err
				}
				lines = append(lines, string(row.Line))
			}
			return lines, nil
		},
	}
}

// methods are the questions without their answers.
func methods(g *engine.Graph) map[string]func(context.Context) error {
	out := map[string]func(context.Context) error{}
	for name, ask := range questions(g) {
		out[name] = func(ctx context.Context) error { _, err := ask(ctx); return err }
	}
	return out
}

// Many questions at once give the answers of one.
func TestManyAtOnce(t *testing.T) {
	ctx := context.Background()
	g := openStore(t, demo(t))
	want, err := g.Snapshot(ctx, engine.At{})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(want)
	var wg sync.WaitGroup
	for range 4 {
		for name, ask := range methods(g) {
			wg.Go(func() {
				var none *engine.NotFoundError
				if err := ask(ctx); err != nil && !errors.As(err, &none) {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		wg.Go(func() {
			got, err := g.Snapshot(ctx, engine.At{})
			if b, _ := json.Marshal(got); err != nil || !bytes.Equal(b, text) {
				t.Errorf("snapshot beside others: %s, %v", b, err)
			}
		})
	}
	wg.Wait()
	verified(t, g)
}

// A merge base is held at what its snapshot shows.
func TestMergeBasesAreHeld(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"midlife", "diverged"} {
		g := openFiles(t, graphFiles(t, name))
		names, err := g.BranchNames(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, branch := range names {
			if branch == "main" {
				continue
			}
			base := mergeBase(t, g, branch)
			for table, d := range snapshotAt(t, g, base) {
				owner := "main"
				if d.NativeBranch != nil {
					owner = *d.NativeBranch
				}
				vs, err := g.Versions(ctx, table, owner, engine.VersionsOptions{Holders: true})
				if err != nil || vs.Branch != owner {
					t.Fatalf("%s on %s: %+v, %v", table, owner, vs, err)
				}
				held := slices.ContainsFunc(vs.Versions, func(v engine.Version) bool {
					return v.Version == d.Version && slices.Contains(v.HeldBy, engine.Holder{Kind: "merge_base", Name: branch + " and main"})
				})
				if !held {
					t.Errorf("%s: version %d of %s is the merge base of %s (%s) and not held: %+v", name, d.Version, table, branch, base.ID, vs.Versions)
				}
			}
		}
		verified(t, g)
	}
}

// mergeBase is the best common ancestor of a branch and main, found by hand:
// the one with the least sum of distances.
func mergeBase(t *testing.T, g *engine.Graph, branch string) engine.Commit {
	t.Helper()
	all, err := g.LogAll(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]engine.Commit{}
	for _, e := range all {
		byID[e.ID] = e.Commit
	}
	distances := func(branch string) map[string]int {
		commits, err := g.Commits(context.Background(), branch, 1)
		if err != nil {
			t.Fatal(err)
		}
		out, frontier := map[string]int{}, []string{commits[0].ID}
		for d := 0; len(frontier) > 0; d++ {
			var next []string
			for _, id := range frontier {
				if _, seen := out[id]; seen {
					continue
				}
				out[id] = d
				for _, p := range []*string{byID[id].Parent, byID[id].MergedParent} {
					if p != nil {
						next = append(next, *p)
					}
				}
			}
			frontier = next
		}
		return out
	}
	a, b := distances("main"), distances(branch)
	best, least := engine.Commit{}, 1<<30
	for id, d := range a {
		if e, ok := b[id]; ok && (d+e < least || d+e == least && byID[id].ManifestVersion > best.ManifestVersion) {
			best, least = byID[id], d+e
		}
	}
	if best.ID == "" {
		t.Fatalf("%s and main share nothing", branch)
	}
	return best
}
