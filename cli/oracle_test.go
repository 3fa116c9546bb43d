package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// rustCLI finds the other program.
func rustCLI(t *testing.T) string {
	t.Helper()
	rust := os.Getenv("OMNIGRAPH_BIN")
	if rust == "" {
		var err error
		if rust, err = exec.LookPath("omnigraph"); err != nil {
			t.Skip("SKIPPED: no Rust CLI: put `omnigraph` on the PATH or name it in OMNIGRAPH_BIN")
		}
	}
	return rust
}

// TestSameAsTheRustCLI runs the same argument lists on both programs, on a real
// endpoint, where the shared graphs stand where they were written, and compares
// what scripts see: stdout and the exit code. OMNIGRAPH_BIN names the binary.
func TestSameAsTheRustCLI(t *testing.T) {
	rust := rustCLI(t)
	l := lab.Test(t, lab.Options{})
	for _, g := range []string{"midlife", "maintained"} {
		upload(t, l, g)
		uri := l.URI(g)
		same(t, rust, [][]string{
			{"snapshot", uri}, {"snapshot", uri, "--json"}, {"--store", uri, "snapshot"}, {"snapshot", "--branch", "archive", uri, "--json"}, {"snapshot", uri, "--branch", "nowhere"},
			{"branch", "list", "--uri", uri}, {"branch", "list", "--store", uri, "--json"},
			{"commit", "list", uri}, {"commit", "list", uri, "--json"}, {"commit", "list", uri, "--branch", "review/new-calls"}, {"commit", "list", uri, "--branch", "nowhere"},
			{"commit", "show", "--uri", uri, demoCommit}, {"commit", "show", "--store", uri, demoCommit, "--json"}, {"commit", "show", "--uri", uri, "01ZZZZZZZZZZZZZZZZZZZZZZZZ"},
			{"schema", "show", uri}, {"schema", "get", uri, "--json"},
			{"export", uri}, {"export", uri, "--branch", "fix/ports"}, {"export", uri, "--type", "Port", "--type", "Partner"}, {"export", uri, "--type", "Nobody"},
			{"snapshot", uri, "--store", uri}, {"snapshot"}, {"snapshot", "--profile", "none"}, {"snapshot", uri, "--bogus"}, {"commit", "show"}, {"branch"}, {"branch", "lst"},
		})
	}
	// A copied graph refuses blobs there (decisions 24), so one is made in place.
	uri := l.URI("fresh")
	harbor, ok := fixtures.SharedDir()
	if !ok {
		t.Skip("SKIPPED: no folder `shared` beside the checkout: no schema and rows to make a graph of")
	}
	for _, args := range [][]string{
		{"init", "--schema", filepath.Join(harbor, "graphs", "harbor", "harbor.pg"), uri},
		{"load", "--data", filepath.Join(harbor, "graphs", "harbor", "harbor.jsonl"), "--mode", "append", uri},
		{"branch", "create", "--uri", uri, "side"},
	} {
		if out, code := outcome(t, append([]string{rust}, args...)); code != exitOK {
			t.Fatalf("%v: exit %d\n%s", args, code, out)
		}
	}
	head := strings.Fields(run(t, "commit", "list", uri, "--limit", "1").must(t))[0]
	var lists [][]string
	for _, args := range [][]string{
		{"stat"}, {"stat", "--json"}, {"stat", "--branch", "side", "--json"}, {"stat", "--branch", "main"}, {"stat", "--snapshot", head, "--json"}, {"stat", "--snapshot", "01ZZZZZZZZZZZZZZZZZZZZZZZZ"},
		{"stat", "--branch", "main", "--snapshot", head},
		{"get"}, {"get", "--offset", "3", "--length", "9"}, {"get", "--offset", "28"}, {"get", "--length", "5", "--branch", "side"}, {"get", "--offset", "3000"}, {"get", "--length", "0"},
		{"get", "--offset", "18446744073709551615", "--length", "2"},
	} {
		for _, id := range []string{"insp-003", "insp-000", "insp-001", "nobody"} {
			cell := []string{"node", "Inspection", id, "photo"}
			lists = append(lists, slices.Concat([]string{"blob", args[0], "--store", uri}, cell, args[1:]))
		}
	}
	same(t, rust, append(lists, []string{"blob", "stat", "--store", uri, "node", "Inspection", "insp-003", "notes"}, []string{"blob", "stat", "--store", uri, "thing", "Inspection", "insp-003", "photo"}))
}

// same compares both programs on argument lists.
func same(t *testing.T, rust string, lists [][]string) {
	t.Helper()
	for _, args := range lists {
		ours, code := outcome(t, append([]string{os.Args[0]}, args...))
		theirs, want := outcome(t, append([]string{rust}, args...))
		if code != want || !bytes.Equal(ours, theirs) {
			t.Errorf("%v\nomnideck: exit %d\n%s\nomnigraph: exit %d\n%s", args, code, excerpt(string(ours)), want, excerpt(string(theirs)))
		}
	}
}

// outcome runs one of the programs and returns stdout and the exit code.
func outcome(t *testing.T, args []string) ([]byte, int) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	if args[0] == os.Args[0] {
		cmd.Args[0] = "omnideck"
	}
	cmd.Env = append(os.Environ(), "OMNIGRAPH_HOME="+t.TempDir())
	out, err := cmd.Output()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return out, cmd.ProcessState.ExitCode()
}
