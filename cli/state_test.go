package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStateIsKept: what was kept of a graph is found again under every spelling
// of its address, by its owner only, and a graph without any has none.
func TestStateIsKept(t *testing.T) {
	t.Chdir(t.TempDir())
	s := state{filepath.Join(t.TempDir(), "omnideck")}
	if text, err := s.load("harbor"); text != nil || err != nil {
		t.Fatalf("found %q, %v before anything was kept", text, err)
	}
	for graph, text := range map[string]string{"harbor": "one", "s3://b/harbor": "two"} {
		for _, v := range []string{"older", text} {
			if err := s.save(graph, []byte(v)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for graph, want := range map[string]string{"harbor": "one", "./harbor/": "one", "s3://b/harbor/": "two", "s3://b/other": ""} {
		if text, err := s.load(graph); string(text) != want || err != nil {
			t.Errorf("%s: found %q, %v", graph, text, err)
		}
	}
	file, err := s.copied([]byte("a secret"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(s.dir, "graphs", "*"))
	if err != nil || len(files) != 2 {
		t.Errorf("%d files, %v", len(files), err)
	}
	for _, f := range append(files, file) {
		if i, err := os.Stat(f); err != nil || i.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, i.Mode(), err)
		}
	}
}

// TestStateThatCannotBeRead is an error, and none of a size that a state never
// has is read whole.
func TestStateThatCannotBeRead(t *testing.T) {
	s := state{t.TempDir()}
	if err := os.MkdirAll(s.file("a"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.load("a"); err == nil {
		t.Error("a folder was read as a state")
	}
	if err := s.save("a", []byte("x")); err == nil || !strings.Contains(err.Error(), "keeping the state of this graph") {
		t.Errorf("kept in the place of a folder: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "graphs", ".new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.WriteFile(s.file("b"), make([]byte, stateMax+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.load("b"); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("too large: %v", err)
	}
}
