package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/omnideck/omnideck"

// source is one Go file of the checkout.
type source struct {
	path    string // relative to the root, '/' separated
	room    string // folder, "." for the root
	test    bool
	made    bool // generated
	lines   int
	file    *ast.File
	fset    *token.FileSet
	imports []string // module-internal ones relative to the module, others as they are
}

// tree parses every Go file of the checkout.
func tree(t *testing.T) []source {
	t.Helper()
	root := rootDir(t)
	var out []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "dist") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		s, err := parse(p, filepath.ToSlash(rel))
		out = append(out, s)
		return err
	})
	if err != nil {
		t.Fatalf("reading the checkout: %v", err)
	}
	if len(out) < 50 {
		t.Fatalf("only %d Go files found below %s: the walk is broken", len(out), root)
	}
	return out
}

func parse(file, rel string) (source, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	s := source{path: rel, room: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"), made: ast.IsGenerated(f), file: f, fset: fset}
	s.lines = fset.File(f.Pos()).LineCount()
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return source{}, err
		}
		if p == module {
			p = "."
		}
		s.imports = append(s.imports, strings.TrimPrefix(p, module+"/"))
	}
	return s, nil
}

func rootDir(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(dir))
}

// TestNothingStray: what a tool or a test left behind, or fetched, does not get
// into the house: outside of the folders for test data only files of these
// kinds are tracked.
func TestNothingStray(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("SKIPPED: no git checkout here: %v", err)
	}
	kinds := []string{".go", ".md", ".mod", ".sum", ".proto", ".py", ".svg", "Makefile", "LICENSE", ".gitignore", ".gitattributes", ".ci/run"}
	for _, name := range strings.Split(strings.TrimRight(string(out), "\x00"), "\x00") {
		data := strings.Contains(name, "testdata/") || strings.HasPrefix(name, "fixtures/") || strings.HasPrefix(name, "golden/")
		if !data && !slices.ContainsFunc(kinds, func(k string) bool { return strings.HasSuffix(name, k) }) {
			t.Errorf("%q is tracked: what is it for? Scratch and fetched files stay outside of the checkout", name)
		}
	}
}
