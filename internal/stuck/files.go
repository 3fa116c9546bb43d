package stuck

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/fixtures"
)

// WriteDir puts files into a folder, in place of what is there: a root on the
// disk, or that of a bucket whose objects lie in a folder.
func WriteDir(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := fixtures.Write(dir, files); err != nil {
		t.Fatal(err)
	}
}

// ReadDir are the files below a folder. What vanishes meanwhile is not there; what
// is still being written under a name of its own is no object.
func ReadDir(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || strings.Contains(rel, "#") {
			return err
		}
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		out[filepath.ToSlash(rel)] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
