//go:build !windows

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Lines may come from a pipe, which gives them once: it is opened once, and a
// load in chunks, which reads them more than once, is refused before it waits.
func TestLinesFromAPipe(t *testing.T) {
	dir := t.TempDir()
	pipe, pg, graph := filepath.Join(dir, "pipe"), filepath.Join(dir, "s.pg"), filepath.Join(dir, "g")
	if err := os.WriteFile(pg, []byte("node Q { x: String? }"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "init", "--schema", pg, graph).must(t)
	if r := run(t, "load", "--data", pipe, "--mode", "merge", "--chunk", graph); r.code != exitUsage || !strings.Contains(r.stderr, "is a pipe") {
		t.Errorf("%d: %s", r.code, r.stderr)
	}
	wrote := make(chan error)
	go func() { wrote <- os.WriteFile(pipe, []byte(`{"type":"Q"}`+"\n"), 0) }()
	run(t, "load", "--data", pipe, "--mode", "append", graph).must(t)
	if err := <-wrote; err != nil {
		t.Error(err)
	}
	if got := run(t, "export", graph).must(t); strings.Count(got, "\n") != 1 {
		t.Errorf("found %q", got)
	}
	lines := &lineFile{path: pipe, given: true}
	if _, err := lines.open(); err == nil || !strings.Contains(err.Error(), "read once") {
		t.Errorf("a second reading: %v", err)
	}
}
