package commit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// python finds an interpreter that has pylance, or skips.
func python(t testing.TB) string {
	t.Helper()
	if py := interpreter(); py != "" {
		return py
	}
	t.Skip("SKIPPED: no Python with pylance; set OMNIDECK_PYTHON to one (pip install pylance==10.0.0)")
	return ""
}

var interpreter = sync.OnceValue(func() string {
	for _, py := range []string{os.Getenv("OMNIDECK_PYTHON"), "python3"} {
		if py != "" && exec.Command(py, "-c", "import lance, pyarrow").Run() == nil {
			return py
		}
	}
	return ""
})

// folder reads the manifests and transactions below dir, or all files.
func folder(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err == nil {
			out[filepath.ToSlash(rel)], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
