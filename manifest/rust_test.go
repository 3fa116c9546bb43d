package manifest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob/localfs"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/manifest"
)

// rust runs the Rust engine's program on a graph.
type rust struct {
	t    *testing.T
	root string
}

func newRust(t *testing.T, root string) rust {
	t.Helper()
	if os.Getenv("OMNIGRAPH_BIN") == "" {
		t.Skip("SKIPPED: OMNIGRAPH_BIN is not set; the Rust CLI would work on graphs that we published to")
	}
	return rust{t, root}
}

// run is what it prints; it must succeed.
func (r rust) run(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), os.Getenv("OMNIGRAPH_BIN"), args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	cmd.Env = append(os.Environ(), "HOME="+r.t.TempDir(), "RUST_BACKTRACE=0")
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("omnigraph %s: %v\n%.3000s\n%.1000s", strings.Join(args, " "), err, problems.String(), out.String())
	}
	return out.String()
}

// mutate runs one statement on a branch.
func (r rust) mutate(branch, statement string, args ...string) {
	r.t.Helper()
	r.run(append([]string{"mutate", "--store", r.root, "--branch", branch, "-e", "query q() { " + statement + " }"}, args...)...)
}

// file writes a text beside the graph.
func (r rust) file(name, text string) string {
	r.t.Helper()
	path := filepath.Join(filepath.Dir(r.root), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// files are the objects of a local graph.
func (r rust) files() map[string][]byte {
	r.t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(r.root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		key, err := filepath.Rel(r.root, path)
		if err == nil {
			out[filepath.ToSlash(key)], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

const firstSchema = `node Person { name: String @key  age: I32? }
node Old { name: String @key }
edge Knows: Person -> Person { since: Date? }
`

const secondSchema = `node Human @rename_from("Person") { name: String @key  age: I32? }
node Fresh { name: String @key }
edge Meets: Human -> Human @rename_from("Knows") { since: Date? }
`

// What the Rust engine publishes in an init, a schema apply, on branches of
// branches, in merges and maintenance is, made again by us, the same.
func TestReplayRustScenario(t *testing.T) {
	r := newRust(t, filepath.Join(t.TempDir(), "g"))
	r.run("init", r.root, "--schema", r.file("a.pg", firstSchema))
	r.mutate("main", `insert Person { name: "a" }`, "--as", "ann")
	r.run("schema", "apply", r.root, "--schema", r.file("b.pg", secondSchema), "--json")
	r.mutate("main", `insert Human { name: "b" }`)
	r.run("branch", "create", "--uri", r.root, "f")
	r.mutate("f", `insert Human { name: "c" }`)
	r.run("branch", "create", "--uri", r.root, "--from", "f", "g")
	r.mutate("f", `insert Fresh { name: "d" }`)
	r.mutate("main", `insert Fresh { name: "e" }`)
	r.run("branch", "merge", "--uri", r.root, "f", "--into", "g")
	r.run("branch", "merge", "--uri", r.root, "f", "--into", "main")
	r.run("branch", "merge", "--uri", r.root, "main", "--into", "g")
	r.run("optimize", r.root, "--json")
	r.mutate("main", `delete Human where name = "a"`)
	kinds := map[string]int{}
	s := store(t, r.files())
	for _, b := range []string{"", "f", "g"} {
		replayBranch(t, s, b, kinds)
	}
	t.Log(kinds)
	for _, kind := range []string{"genesis", "registration", "rename", "tombstone", "update"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s was replayed", kind)
		}
	}
}

// local is a graph on local files with a store of ours on it.
func local(t *testing.T, root string, files map[string][]byte) *localfs.Store {
	t.Helper()
	s, err := localfs.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for key, data := range files {
		if _, err := s.Put(t.Context(), key, data); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// The Rust engine works on graphs that we publish to, and we go on after it:
// nothing it lists is lost, it finds nothing to repair, and each builds on what
// the other published last.
func TestRustGoesOn(t *testing.T) {
	for _, name := range []string{"", "maintained", "diverged", fixtures.Demo} {
		t.Run("graph "+name, func(t *testing.T) {
			r := newRust(t, filepath.Join(t.TempDir(), "g"))
			files, insert := map[string][]byte{}, `insert Port { code: "ZZZZ%d", name: "Last", country: "NL" }`
			if name == "" {
				r.run("init", r.root, "--schema", r.file("a.pg", firstSchema))
				insert = `insert Person { name: "p%d" }`
			} else {
				files = graph(t, name)
			}
			s := local(t, r.root, files)
			x := &exchange{rust: r, w: newWriter(t, nil, "", 3)}
			x.w.on = s
			x.ours(nil)
			for i := range 3 {
				x.mutate("main", fmt.Sprintf(insert, i))
				x.theirs()
				x.ours(nil)
			}
			x.again() // version rows that are there already
			r.run("branch", "create", "--uri", r.root, "side")
			side := &exchange{rust: r, w: newWriter(t, nil, "side", 4)}
			side.w.on, side.w.n = s, 5000
			if p := side.ours(nil); p.View.Commits.Len() != x.w.fresh().Commits.Len()+1 {
				t.Errorf("the first commit on a branch: %+v", p)
			}
			x.mutate("side", fmt.Sprintf(insert, 8))
			side.ours(nil)
			side.theirs()
			x.mutate("main", fmt.Sprintf(insert, 9))
			x.ours(nil)
			r.run("branch", "merge", "--uri", r.root, "side", "--into", "main")
			x.ours(nil)
			r.run("optimize", r.root, "--json")
			x.ours(nil)
			if out := r.run("repair", r.root, "--json"); strings.Count(out, `"classification"`) == 0 || strings.Count(out, `"classification"`) != strings.Count(out, `"no_drift"`) {
				t.Errorf("repair: %s", out)
			}
			x.mutate("main", fmt.Sprintf(insert, 10))
			x.ours(nil)
			x.theirs()
		})
	}
}

// The Rust engine works on a graph whose __manifest we created.
func TestRustOnOurGenesis(t *testing.T) {
	r := newRust(t, filepath.Join(t.TempDir(), "g"))
	r.run("init", r.root, "--schema", r.file("a.pg", firstSchema))
	x := &exchange{rust: r, w: newWriter(t, nil, "", 3)}
	x.w.on = local(t, r.root, nil)
	v := x.w.fresh()
	o := manifest.CreateOptions{Commit: *x.w.intent(), Now: x.w.now}
	for _, e := range v.Tables {
		o.Tables = append(o.Tables, manifest.Update{Identity: e.Identity, Alias: e.Alias, Version: e.Version, Rows: e.Rows, Meta: e.Meta})
	}
	if err := os.RemoveAll(filepath.Join(r.root, manifest.Folder)); err != nil {
		t.Fatal(err)
	}
	if _, err := manifest.Create(t.Context(), x.w.on, o); err != nil {
		t.Fatal(err)
	}
	x.theirs()
	x.mutate("main", `insert Person { name: "a" }`)
	r.run("schema", "apply", r.root, "--schema", r.file("b.pg", secondSchema), "--json")
	x.ours(nil)
	x.mutate("main", `insert Human { name: "b" }`)
	x.theirs()
}

// exchange is two programs that publish in turns on the branch of w.
type exchange struct {
	rust
	w    *writer
	made []string // commits of ours
}

// ours publishes a commit of ours and reads it back.
func (x *exchange) ours(edits []manifest.Edit) *manifest.Published {
	x.t.Helper()
	v := x.w.fresh()
	o := x.w.options(v, edits...)
	o.Head = &manifest.ExactHead{Commit: v.Heads[orMain(v.Branch)]}
	if v.Ref != nil {
		o.Head.Identifier = v.Ref.Identifier
	}
	p := x.w.publish(o)
	x.made = append(x.made, o.Commit.ID)
	if diff := manifest.Diff(p.View, x.w.fresh()); diff != "" {
		x.t.Fatalf("after %s: %s", o.Commit.ID, diff)
	}
	return p
}

// again publishes every table's version once more, as it is.
func (x *exchange) again() {
	x.t.Helper()
	var edits []manifest.Edit
	for _, e := range x.w.fresh().Tables {
		edits = append(edits, manifest.Update{Identity: e.Identity, Alias: e.Alias, Version: e.Version, Owner: e.Owner, Rows: e.Rows, Meta: e.Meta})
	}
	x.ours(edits)
	x.theirs()
}

// theirs checks what the Rust engine lists: all our commits, each the parent of
// the next one of main, and the tables that we see.
func (x *exchange) theirs() {
	x.t.Helper()
	var list struct{ Commits []commit }
	if err := json.Unmarshal([]byte(x.run("commit", "list", x.root, "--branch", orMain(x.w.branch), "--json")), &list); err != nil {
		x.t.Fatal(err)
	}
	v := x.w.fresh()
	if got, want := list.Commits, commitsOf(v); !reflect.DeepEqual(got, want) {
		x.t.Errorf("the Rust engine lists commits\n%+v\nwe\n%+v", got, want)
	}
	var snap snapshot
	if err := json.Unmarshal([]byte(x.run("snapshot", x.root, "--branch", orMain(x.w.branch), "--json")), &snap); err != nil {
		x.t.Fatal(err)
	}
	if got, want := snap.Tables, snapshotOf(v).Tables; len(got) == 0 || !reflect.DeepEqual(got, want) {
		x.t.Errorf("the Rust engine sees\n%+v\nwe\n%+v", got, want)
	}
	for _, id := range x.made {
		if _, ok := v.Commit(id); !ok {
			x.t.Errorf("commit %s is lost", id)
		}
	}
}
