package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
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
	rust := rustCLI(t)
	l := lab.Test(t, lab.Options{})
	for name, least := range map[string]int{"midlife": 14, "diverged": 7} {
		upload(t, l, name)
		if n := compareDiffs(t, rust, l.URI(name)); n < least {
			t.Errorf("%s: only %d commits were compared", name, n)
		}
	}
	// Of a copied graph the Rust CLI compares no tables that a branch owns, so one
	// is made in place: rows are written anew with the same values, then others.
	harbor, ok := fixtures.SharedDir()
	if !ok {
		t.Skip("SKIPPED: no folder `shared` beside the checkout: no schema and rows to make a graph of")
	}
	uri, data := l.URI("fresh"), filepath.Join(harbor, "graphs", "harbor", "harbor.jsonl")
	other := filepath.Join(t.TempDir(), "other.jsonl")
	rows := `{"type":"Inspection","data":{"id":"insp-003","notes":"fire doors stuck","score":8.535,"at":"2026-02-04T12:00:00Z","photo":"base64:MbP7DfFGtkorMpXhbDyq5u0Lu7kVgb4MhuMM9sfb"}}
{"type":"Inspection","data":{"id":"insp-new","notes":"new","score":1,"at":"2026-02-04T12:00:00Z"}}
{"type":"Inspection","data":{"id":"insp-004","notes":"","score":2.049,"at":"2026-02-05T12:00:00Z"}}
{"type":"Port","data":{"code":"NLRTM","name":"Rotterdam","country":"NL","depth_m":24}}
`
	if err := os.WriteFile(other, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	nodes, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	nodes, _, _ = bytes.Cut(nodes, []byte(`{"edge"`)) // merged edges would be new ones
	again := filepath.Join(t.TempDir(), "again.jsonl")
	if err := os.WriteFile(again, nodes, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "--schema", filepath.Join(harbor, "graphs", "harbor", "harbor.pg"), uri},
		{"load", "--data", data, "--mode", "append", uri},
		{"branch", "create", "--uri", uri, "side"},
		{"load", "--data", other, "--mode", "merge", "--branch", "side", uri},
		{"load", "--data", again, "--mode", "merge", uri},
	} {
		if out, code := outcome(t, append([]string{rust}, args...)); code != exitOK {
			t.Fatalf("%v: exit %d\n%s", args, code, out)
		}
	}
	if n := compareDiffs(t, rust, uri); n != 3 {
		t.Errorf("fresh: %d commits were compared, want 3", n)
	}
}

// compareDiffs compares both programs on every commit that has a parent, and
// returns the number of those of which the Rust CLI could tell.
func compareDiffs(t *testing.T, rust, uri string) (compared int) {
	t.Helper()
	var log struct{ Commits []engine.LogEntry }
	if err := json.Unmarshal([]byte(run(t, "log", uri, "--graph", "--json").must(t)), &log); err != nil {
		t.Fatal(err)
	}
	for _, e := range log.Commits {
		if e.Parent == nil {
			continue
		}
		theirs, code := outcome(t, []string{rust, "commit", "changes", "--uri", uri, e.ID, "--json"})
		if code != exitOK && e.BranchName() != "main" {
			continue
		}
		ours := run(t, "diff", uri, *e.Parent, e.ID, "--limit", "0", "--json").must(t)
		a, b := ourChanges(t, ours), rustChanges(t, theirs)
		if !slices.Equal(a, b) {
			t.Errorf("%s %s: omnideck\n%q\nomnigraph\n%q", uri, e.ID, a, b)
		}
		compared++
	}
	return compared
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
