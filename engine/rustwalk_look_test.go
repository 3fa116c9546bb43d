package engine_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

// pylance lets it look at every dataset of a graph, or maintain all, and returns
// what it says.
func pylance(t *testing.T, step, root, stdin string) map[string]any {
	t.Helper()
	python := os.Getenv("OMNIDECK_PYTHON")
	if python == "" {
		t.Log("NOT CHECKED: OMNIDECK_PYTHON is not set; pylance would read and maintain what we wrote")
		return nil
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/pylance_graph.py", step, root)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("pylance, %s %s: %v\n%s", step, root, err, stderr.String())
	}
	var doc map[string]any
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatalf("pylance, %s: %v: %s", step, err, out)
	}
	return doc
}

// pylance reads every version of both graphs and finds the same rows in both;
// then it maintains both, which leaves them broken for everybody else.
func (w *rustWalk) pylance() {
	w.t.Helper()
	tables := w.tables("main", w.side)
	got, want := pylance(w.t, "look", w.both, tables), pylance(w.t, "look", w.solo, tables)
	if !reflect.DeepEqual(got, want) {
		w.t.Errorf("step %d: pylance reads %v\nof the Rust CLI alone %v", w.at, got, want)
	}
	delete(got, "tables")
	w.t.Logf("pylance looked: %v", got)
	got, want = pylance(w.t, "maintain", w.both, ""), pylance(w.t, "maintain", w.solo, "")
	if !reflect.DeepEqual(got, want) {
		w.t.Errorf("step %d: pylance removed %v\nof the Rust CLI alone %v", w.at, got, want)
	}
	w.t.Logf("pylance maintained: %v", got)
}

// tables are the heads of branches, as pylance is asked for them.
func (w *rustWalk) tables(branches ...string) string {
	w.t.Helper()
	type table struct {
		Path    string  `json:"path"`
		Branch  *string `json:"branch"`
		Version uint64  `json:"version"`
	}
	var all []table
	for _, b := range branches {
		var doc struct {
			Datasets []struct {
				Path    string  `json:"dataset_path"`
				Branch  *string `json:"native_dataset_branch"`
				Version uint64  `json:"published_dataset_version"`
			}
		}
		if err := json.Unmarshal([]byte(w.mustRust("snapshot", "--json", "--branch", b, w.both)), &doc); err != nil {
			w.t.Fatal(err)
		}
		for _, d := range doc.Datasets {
			all = append(all, table(d))
		}
	}
	out, err := json.Marshal(all)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(out)
}
