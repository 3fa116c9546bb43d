package cli

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// TestSameAsTheRustCLI runs the same argument lists on both programs, on a real
// endpoint, where the shared graphs stand where they were written, and compares
// what scripts see: stdout and the exit code. OMNIGRAPH names the binary.
func TestSameAsTheRustCLI(t *testing.T) {
	rust := os.Getenv("OMNIGRAPH")
	if rust == "" {
		var err error
		if rust, err = exec.LookPath("omnigraph"); err != nil {
			t.Skip("SKIPPED: no Rust CLI: put `omnigraph` on the PATH or name it in OMNIGRAPH")
		}
	}
	l := lab.Test(t, lab.Options{})
	for _, g := range []string{"midlife", "maintained"} {
		upload(t, l, g)
		uri := l.URI(g)
		for _, args := range [][]string{
			{"snapshot", uri}, {"snapshot", uri, "--json"}, {"--store", uri, "snapshot"}, {"snapshot", "--branch", "archive", uri, "--json"}, {"snapshot", uri, "--branch", "nowhere"},
			{"branch", "list", "--uri", uri}, {"branch", "list", "--store", uri, "--json"},
			{"commit", "list", uri}, {"commit", "list", uri, "--json"}, {"commit", "list", uri, "--branch", "review/new-calls"}, {"commit", "list", uri, "--branch", "nowhere"},
			{"commit", "show", "--uri", uri, demoCommit}, {"commit", "show", "--store", uri, demoCommit, "--json"}, {"commit", "show", "--uri", uri, "01ZZZZZZZZZZZZZZZZZZZZZZZZ"},
			{"schema", "show", uri}, {"schema", "get", uri, "--json"},
			{"export", uri}, {"export", uri, "--branch", "fix/ports"}, {"export", uri, "--type", "Port", "--type", "Partner"}, {"export", uri, "--type", "Nobody"},
			{"blob", "stat", "--store", uri, "node", "Inspection", demoBlob, "photo"}, {"blob", "stat", "--store", uri, "node", "Inspection", demoBlob, "photo", "--json"},
			{"blob", "stat", "--store", uri, "node", "Inspection", demoBlob, "photo", "--branch", "archive", "--json"},
			{"blob", "stat", "--store", uri, "node", "Inspection", demoBlob, "photo", "--snapshot", demoCommit, "--json"},
			{"blob", "stat", "--store", uri, "node", "Inspection", "insp-001", "photo"},
			{"blob", "get", "--store", uri, "node", "Inspection", demoBlob, "photo"}, {"blob", "get", "--store", uri, "node", "Inspection", demoBlob, "photo", "--offset", "3", "--length", "9"},
			{"blob", "get", "--store", uri, "node", "Inspection", demoBlob, "photo", "--offset", "3000"}, {"blob", "get", "--store", uri, "node", "Inspection", demoBlob, "photo", "--length", "0"},
			{"snapshot", uri, "--store", uri}, {"snapshot"}, {"snapshot", "--profile", "none"}, {"snapshot", uri, "--bogus"}, {"commit", "show"}, {"branch"},
		} {
			ours, code := both(t, append([]string{os.Args[0]}, args...))
			theirs, want := both(t, append([]string{rust}, args...))
			if code != want || !bytes.Equal(ours, theirs) {
				t.Errorf("%v\nomnideck: exit %d\n%s\nomnigraph: exit %d\n%s", args, code, excerpt(string(ours)), want, excerpt(string(theirs)))
			}
		}
	}
}

// both runs one of the programs and returns stdout and the exit code.
func both(t *testing.T, args []string) ([]byte, int) {
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
