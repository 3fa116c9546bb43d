package engine_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/engine"
)

// checkResolved resolves texts that name a state; c is the head of review/new-calls.
func checkResolved(t *testing.T, g *engine.Graph, c engine.Commit) {
	t.Helper()
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
		got, err := g.ResolveAt(t.Context(), x.text, x.branch)
		if err != nil || got != x.want {
			t.Errorf("%q on %q is %+v, %v; want %+v", x.text, x.branch, got, err, x.want)
		}
	}
}

// checkAbsent asks for versions and branches that are not there.
func checkAbsent(t *testing.T, g *engine.Graph) {
	t.Helper()
	ctx := t.Context()
	var none *engine.NotFoundError
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
}

func TestResolveAt(t *testing.T) {
	ctx := context.Background()
	g := openStore(t, demo(t))
	commits, err := g.Commits(ctx, "review/new-calls", 0)
	if err != nil {
		t.Fatal(err)
	}
	c := commits.Commit(0)
	if c.BranchName() != "review/new-calls" {
		t.Fatalf("the head of the branch is %+v", c)
	}
	checkResolved(t, g, c)
	var usage *engine.UsageError
	if _, err := g.ResolveAt(ctx, c.ID[:4], ""); !errors.As(err, &usage) {
		t.Errorf("a beginning that many commits have: %v", err)
	}
	var none *engine.NotFoundError
	if _, err := g.ResolveAt(ctx, "revew/new-calls", ""); !errors.As(err, &none) || !slices.Contains(none.Suggestions, "review/new-calls") {
		t.Errorf("a mistyped branch: %v", err)
	}
	checkAbsent(t, g)
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
	for c := range commits.All() {
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
	says(t, "lock", findingOf(t, info, "G14").Title, "__schema_apply_lock__", "refuse every write")
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

// rustETags are what the Rust CLI printed for midlife.
var rustETags = map[string]string{"insp-000": `"82b26ef73a4a8dbba90bb5b7469bc580"`, "insp-003": `"2869328e8ccd816cd171140643d82d27"`}

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
		if want := rustETags[l.id]; want != "" && stat.ETag != want {
			t.Errorf("%s: ETag %s, the Rust CLI says %s", l.id, stat.ETag, want)
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
