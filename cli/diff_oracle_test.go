package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// rustChange is a change as `omnigraph commit changes --json` tells it.
type rustChange struct {
	Kind string `json:"kind"`
	Type struct {
		Name string `json:"name"`
	} `json:"type"`
	ID        string      `json:"id"`
	Op        string      `json:"op"`
	RawBefore *rustEntity `json:"before"`
	RawAfter  *rustEntity `json:"after"`
}

type rustEntity struct {
	Properties map[string]any `json:"properties"`
	Endpoints  *struct {
		From string `json:"from"`
		To   string `json:"to"`
	} `json:"endpoints"`
}

// TestDiffAsTheRustCLI: what each commit changed relative to its first parent is
// what the Rust CLI says, on a real endpoint where the graphs were written.
func TestDiffAsTheRustCLI(t *testing.T) {
	rust := os.Getenv("OMNIGRAPH_BIN")
	if rust == "" {
		var err error
		if rust, err = exec.LookPath("omnigraph"); err != nil {
			t.Skip("SKIPPED: no Rust CLI: put `omnigraph` on the PATH or name it in OMNIGRAPH_BIN")
		}
	}
	l := lab.Test(t, lab.Options{})
	for _, name := range []string{"midlife", "diverged"} {
		upload(t, l, name)
		uri := l.URI(name)
		var log struct{ Commits []engine.LogEntry }
		if err := json.Unmarshal([]byte(run(t, "log", uri, "--graph", "--json").must(t)), &log); err != nil {
			t.Fatal(err)
		}
		compared := 0
		for _, e := range log.Commits {
			if e.Parent == nil {
				continue
			}
			theirs, code := outcome(t, []string{rust, "commit", "changes", "--uri", uri, e.ID, "--json"})
			if code != exitOK && e.BranchName() != "main" {
				continue // it finds commits of main's history only
			}
			ours := run(t, "diff", uri, *e.Parent, e.ID, "--limit", "0", "--json").must(t)
			a, b := ourChanges(t, ours), rustChanges(t, theirs)
			if !slices.Equal(a, b) {
				t.Errorf("%s %s: omnideck\n%q\nomnigraph\n%q", name, e.ID, a, b)
			}
			compared++
		}
		if compared < 7 {
			t.Errorf("%s: only %d commits were compared", name, compared)
		}
	}
}

// rustChanges are changes as sorted lines of JSON, without blobs, which the two
// programs tell differently.
func rustChanges(t *testing.T, doc []byte) []string {
	t.Helper()
	var d struct{ Changes []rustChange }
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatalf("%v: %s", err, excerpt(string(doc)))
	}
	var out []string
	for _, c := range d.Changes {
		out = append(out, changeLine(t, c.Kind, c.Type.Name, c.ID, c.Op, c.RawBefore, c.RawAfter))
	}
	slices.Sort(out)
	return out
}

func ourChanges(t *testing.T, doc string) []string {
	t.Helper()
	var d struct{ Changes []engine.Change }
	if err := json.Unmarshal([]byte(doc), &d); err != nil {
		t.Fatal(err)
	}
	entity := func(raw json.RawMessage) *rustEntity {
		var x *struct {
			From, To string
			Data     map[string]any
		}
		if err := json.Unmarshal(raw, &x); err != nil {
			t.Fatal(err)
		}
		if x == nil {
			return nil
		}
		out := &rustEntity{Properties: x.Data}
		delete(out.Properties, "id")
		if x.From != "" {
			out.Endpoints = &struct {
				From string `json:"from"`
				To   string `json:"to"`
			}{x.From, x.To}
		}
		return out
	}
	var out []string
	for _, c := range d.Changes {
		out = append(out, changeLine(t, c.Kind, c.Type, c.ID, c.Op, entity(c.Before), entity(c.After)))
	}
	slices.Sort(out)
	return out
}

func changeLine(t *testing.T, kind, typ, id, op string, before, after *rustEntity) string {
	t.Helper()
	for _, e := range []*rustEntity{before, after} {
		if e != nil {
			delete(e.Properties, "photo")
		}
	}
	line, err := json.Marshal([]any{kind, typ, id, op, before, after})
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}
