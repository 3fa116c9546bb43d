package txn_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

const (
	rustSchema = "node Port {\n  code: String @key\n  name: String?\n}\nedge Route: Port -> Port\n"
	rustRows   = `{"type":"Port","data":{"code":"a","name":"A"}}` + "\n"
	rustNoop   = `query touch() { update Port set { name: "x" } where code = "nobody" }`
)

// rustGraph is a graph of the Rust CLI on the disk.
type rustGraph struct {
	t    *testing.T
	bin  string
	root string
}

func (r rustGraph) cli(args ...string) error {
	r.t.Helper()
	out, err := exec.CommandContext(r.t.Context(), r.bin, args...).CombinedOutput()
	if err != nil {
		r.t.Logf("%s: %s", args[0], out)
	}
	return err
}

func newRustGraph(t *testing.T) rustGraph {
	t.Helper()
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("SKIPPED: OMNIGRAPH_BIN is not set; the Rust CLI would recover our records")
	}
	dir := t.TempDir()
	r := rustGraph{t, bin, filepath.Join(dir, "g")}
	for name, text := range map[string]string{"s.pg": rustSchema, "d.jsonl": rustRows} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "--schema", filepath.Join(dir, "s.pg"), r.root}, {"load", "--mode", "append", "--data", filepath.Join(dir, "d.jsonl"), r.root},
		{"branch", "create", "b", "--store", r.root},
	} {
		if err := r.cli(args...); err != nil {
			t.Fatal(args, err)
		}
	}
	return r
}

// open reads a branch of the graph with our readers.
func (r rustGraph) open(branch string) *graph {
	r.t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(r.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(r.root, p)
		if err == nil {
			files[filepath.ToSlash(rel)], err = os.ReadFile(p)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return openGraph(r.t, r.root, branch, files)
}

// rustPlans are plans of every kind that records can tell, on main and on a
// branch that has no table of its own, of which nothing was carried out.
var rustPlans = map[string]struct {
	branch string
	kind   txn.Kind
	class  txn.Class
	effect txn.EffectKind
	edit   func(*txn.PublishPlan)
}{
	"mutation":             {"", sidecar.Mutation, txn.Strict, "", nil},
	"load":                 {"", sidecar.Load, txn.Additive, "", nil},
	"mutation on a branch": {"b", sidecar.Mutation, txn.Additive, "", nil},
	"merge":                {"", sidecar.BranchMerge, txn.Strict, sidecar.MultiCommitHead, nil},
	"merge into a branch":  {"b", sidecar.BranchMerge, txn.Strict, sidecar.MultiCommitHead, nil},
	"merge, fork alone":    {"b", sidecar.BranchMerge, txn.Strict, sidecar.RefOnlyFork, nil},
	"schema apply":         {"", sidecar.SchemaApply, txn.Strict, sidecar.ExistingOverwrite, nil},
	"indexes":              {"", sidecar.EnsureIndices, txn.Maintenance, "", nil},
	"indexes on a branch":  {"b", sidecar.EnsureIndices, txn.Maintenance, "", nil},
	"optimize":             {"", sidecar.Optimize, txn.Maintenance, "", nil},
	"a decided roll-back":  {"", sidecar.Mutation, txn.Strict, "", func(p *txn.PublishPlan) { p.Actor = actor("someone") }},
}

func actor(s string) *string { return &s }

// draft is a plan on the table of ports, in the words of the Rust engine.
func (g *graph) draft(t *testing.T, what string) txn.PublishPlan {
	t.Helper()
	c := rustPlans[what]
	port, ok := g.view.Table("node:Port")
	if !ok {
		t.Fatal("no table of ports")
	}
	at := time.UnixMicro(1795965305034010).UTC()
	n := slices.Index(slices.Sorted(maps.Keys(rustPlans)), what)
	mint := func(role string) string { return fmt.Sprintf("01M8KXZG6JX0VA38C9QPJR%02d0%s", n, role) }
	p := txn.PublishPlan{
		ID: mint("P"), Kind: c.kind, Class: c.class, Pre: txn.ExactHead, Started: at, Base: g.base(), Rollback: mint("R"),
		Lineage: txn.Lineage{CommitID: mint("C"), CreatedAt: at.UnixMicro()},
	}
	id := txn.Identity(port.Identity)
	folder, _ := manifest.Location(port.Alias, port.Identity)
	a := txn.TableAction{Table: id, Alias: port.Alias, Path: g.root + "/" + folder, Pin: port.Version, Branch: c.branch, Effect: c.effect}
	if c.branch != "" {
		a.Fork = &txn.ForkSource{Version: port.Version}
	}
	if c.effect != sidecar.RefOnlyFork && c.kind != sidecar.Optimize {
		a.Commits = []txn.Transaction{{ReadVersion: port.Version, UUID: "omnigraph-" + mint("T")}}
	}
	switch c.kind {
	case sidecar.BranchMerge:
		p.Lineage.MergedParent = actor(mint("S"))
	case sidecar.SchemaApply:
		p.TargetIRHash = "sha256:" + strings.Repeat("ab", 32)
	case sidecar.Optimize:
		p.Pre, p.UUIDPrefix = txn.Monotonic, "omnigraph-opt-"+p.ID+"-"
	}
	p.Actions = []txn.TableAction{a}
	if c.edit != nil {
		c.edit(&p)
	}
	return p
}

// The Rust CLI reads each of our records, and its next writing open does with it
// what Interpret says; one whose paths spell the root otherwise it refuses.
func TestTheRustEngineRecoversOurRecords(t *testing.T) {
	r := newRustGraph(t)
	for what, c := range rustPlans {
		g := r.open(c.branch)
		p, err := txn.New(g.draft(t, what))
		if err == nil {
			p, err = p.Arm()
		}
		if err == nil && what == "a decided roll-back" {
			p, err = p.RollBack(nil)
		}
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		rec, err := p.Record()
		if err != nil {
			t.Fatal(err)
		}
		data, err := rec.Encode()
		if err != nil {
			t.Fatal(err)
		}
		obs := g.observe(p)
		v := txn.Interpret(p, obs, g.visible(p))
		version, tables := g.forecast(p, v)
		if c.kind == sidecar.Optimize {
			version++ // it does not know the prefix, which says that there was nothing to record
		}
		path := filepath.Join(r.root, filepath.FromSlash(rec.Name()))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := r.cli("mutate", "touch", "-e", rustNoop, "--store", r.root); err != nil {
			t.Errorf("%s: the Rust CLI refuses it: %v\n%s", what, err, data)
			os.Remove(path)
			continue
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s: the record is still there: %v", what, err)
		}
		after := r.open(c.branch)
		now := map[string]uint64{}
		for _, e := range after.view.Tables {
			now[e.Location] = e.Version
		}
		if after.view.Version != version || !maps.Equal(now, tables) {
			t.Errorf("%s: version %d, tables %v; %s (%s) leads to %d, %v", what, after.view.Version, now, v.Do, v.Text, version, tables)
		}
		if wantCommit := version != g.view.Version && c.kind != sidecar.Optimize; wantCommit {
			if _, ok := after.view.Commit(p.Rollback); !ok {
				t.Errorf("%s: the roll-back's commit is not there", what)
			}
		}
	}
	r.refuses(strings.Replace(r.root, "/g", "/./g", 1))
}

// refuses: a record that spells the root otherwise.
func (r rustGraph) refuses(root string) {
	r.t.Helper()
	g := r.open("")
	g.root = root
	p, err := txn.New(g.draft(r.t, "mutation"))
	if err == nil {
		p, err = p.Arm()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	rec, err := p.Record()
	if err != nil {
		r.t.Fatal(err)
	}
	data, err := rec.Encode()
	if err != nil {
		r.t.Fatal(err)
	}
	path := filepath.Join(r.root, filepath.FromSlash(rec.Name()))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		r.t.Fatal(err)
	}
	vis := g.visible(p)
	vis.Root = r.root
	if err, v := r.cli("mutate", "touch", "-e", rustNoop, "--store", r.root), txn.Interpret(p, g.observe(p), vis); err == nil || v.Do != txn.Refuse || v.Reason != txn.WrongPlace {
		r.t.Errorf("a record at another spelling of the root: the Rust CLI says %v, the verdict is %s", err, v.Do)
	}
}
