package txn_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/localfs"
	"github.com/omnideck/omnideck/txn"
)

const (
	cliSchema = "node Port {\n  code: String @key\n  name: String\n}\nnode Company {\n  slug: String @key\n  name: String\n}\n"
	cliRows   = `{"type":"Port","data":{"code":"a","name":"A"}}
{"type":"Port","data":{"code":"b","name":"B"}}
{"type":"Company","data":{"slug":"x","name":"X"}}
`
	cliTouch = `query touch() { update Port set { name: "Rust" } where code = "b" }`
	cliNoop  = `query touch() { update Port set { name: "Rust" } where code = "nobody" }`
)

// cli runs the Rust program.
type cli struct{ bin string }

func rustCLI(t *testing.T) cli {
	t.Helper()
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("SKIPPED: OMNIGRAPH_BIN is not set; the Rust CLI would go on with what we wrote")
	}
	return cli{bin}
}

func (c cli) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), c.bin, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("omnigraph %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// begin is a graph that it made, in a folder.
func (c cli) begin(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "g")
	for name, text := range map[string]string{"s.pg": cliSchema, "d.jsonl": cliRows} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.run(t, "init", "--schema", filepath.Join(dir, "s.pg"), root)
	c.run(t, "load", "--mode", "append", "--data", filepath.Join(dir, "d.jsonl"), root)
	return root
}

func folder(t *testing.T, root string) *localfs.Store {
	t.Helper()
	s, err := localfs.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// The Rust CLI reads what we published, writes on it and finds no drift; then we
// write on that.
func TestTheRustEngineGoesOn(t *testing.T) {
	c := rustCLI(t)
	root := c.begin(t)
	s := folder(t, root)
	o := writing(1)
	for round := range 3 {
		name := string(rune('P' + round))
		r := run(t, s, o, txn.Strict, set(ports, "a", "name", name), set(companies, "x", "name", name))
		run(t, s, writing(uint64(10+round)), txn.Additive, add(ports, "code", "a", "new"+name))
		if round > 0 {
			run(t, s, writing(uint64(20+round)), txn.Strict, remove(ports, "new"+string(rune('P'+round-1))))
		}
		if r.Commit.ID == "" {
			t.Error("no commit")
		}
		c.run(t, "mutate", "touch", "-e", cliTouch, "--store", root)
		out := c.run(t, "export", root)
		for _, want := range []string{`"name":"` + name + `"`, `"code":"new` + name + `"`, `"name":"Rust"`, `"slug":"x"`} {
			if !strings.Contains(out, want) {
				t.Errorf("round %d: %s is not in its export:\n%s", round, want, out)
			}
		}
		if n := strings.Count(out, "\n"); n != 4 {
			t.Errorf("round %d: %d rows, expected 4:\n%s", round, n, out)
		}
		if rep := c.run(t, "repair", "--json", root); strings.Count(rep, `"no_drift"`) != 2 || strings.Count(rep, `"classification"`) != 2 {
			t.Errorf("round %d: repair found something: %s", round, rep)
		}
		o = writing(uint64(2 + round))
	}
	look(t, s).atRest(t)
}

// Where a writer dies after it armed its record, the next writing open of the
// Rust CLI brings the graph to the old or the new state, all of it, and goes on.
func TestTheRustEngineRecoversADeadWriter(t *testing.T) {
	c := rustCLI(t)
	start := c.begin(t)
	write := func(s blob.Store) error {
		_, err := txn.Run(context.Background(), s, writing(1), plan(txn.Strict, set(ports, "a", "name", "Ours"), set(companies, "x", "name", "Ours")))
		return err
	}
	old, fresh := 0, 0
	n, err := fault.Sweep(60, func(at int) (bool, error) {
		// Paths are in records, so the graph lies at its own address.
		root := filepath.Join(t.TempDir(), "g")
		if err := os.CopyFS(root, os.DirFS(start)); err != nil {
			return false, err
		}
		inner := folder(t, root)
		s := fault.New(inner, fault.Rule{Match: fault.Writes, At: at, Do: fault.Halt})
		werr := write(s)
		if s.Fired() == 0 {
			return false, werr
		}
		if len(recordsIn(t, inner)) == 0 {
			return true, nil // nothing for it to do: see TestHaltAnywhere
		}
		c.run(t, "mutate", "touch", "-e", cliNoop, "--store", root)
		after := look(t, inner)
		after.atRest(t)
		switch got := after.text(t, ports, "a", "name") + after.text(t, companies, "x", "name"); got {
		case "AX":
			old++
		case "OursOurs":
			fresh++
		default:
			t.Errorf("write %d: %q", at, got)
		}
		run(t, inner, writing(uint64(100+at)), txn.Strict, set(ports, "a", "name", "Later"))
		return true, nil
	})
	if err != nil {
		t.Error(err)
	}
	if old == 0 || fresh == 0 {
		t.Errorf("%d states went back and %d forward, expected some of each", old, fresh)
	}
	t.Logf("%d places, %d back, %d forward", n, old, fresh)
}
