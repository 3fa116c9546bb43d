package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	if l := lines[2]; l.Operation != "rows" || l.Outcome != "ok" || l.Table != "node:Port" || lines[0].Table != "" {
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
		"records":   func(ctx context.Context) (any, error) { return g.PendingRecords(ctx) },
		"fragments": func(ctx context.Context) (any, error) { return g.Fragments(ctx, "Port", at) },
		"holds":     func(ctx context.Context) (any, error) { return g.Holds(ctx, "node:Port", 9) },
		"find":      func(ctx context.Context) (any, error) { return g.Find(ctx, "NLRTM", at) },
		"verify":    func(ctx context.Context) (any, error) { return g.Verify(ctx, engine.VerifyOptions{}) },
		"rows":      func(ctx context.Context) (any, error) { return g.Rows(ctx, "Port", at, engine.RowsOptions{}) },
		"rows sorted": func(ctx context.Context) (any, error) {
			return g.Rows(ctx, "Port", at, engine.RowsOptions{Sort: "depth_m", Desc: true, Offset: 2, Limit: 5})
		},
		"blob stat": func(ctx context.Context) (any, error) { return g.BlobStat(ctx, "node", "Inspection", "x", "photo", at) },
		"entity":    func(ctx context.Context) (any, error) { return g.Entity(ctx, "node:Port", "NLRTM", at) },
		"object":    func(ctx context.Context) (any, error) { return g.Object(ctx, "_schema.pg", 100) },
		"diff": func(ctx context.Context) (any, error) {
			return g.Diff(ctx, engine.At{Version: 13}, at, engine.DiffOptions{})
		},
		"diff versions": func(ctx context.Context) (any, error) {
			return g.DiffVersions(ctx, "Port", "", 8, 11, engine.DiffOptions{})
		},
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
	for c := range all.All() {
		byID[c.ID] = c
	}
	distances := func(branch string) map[string]int {
		commits, err := g.Commits(context.Background(), branch, 1)
		if err != nil {
			t.Fatal(err)
		}
		out, frontier := map[string]int{}, []string{commits.ID(0)}
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
