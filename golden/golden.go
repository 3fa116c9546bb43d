// Package golden compares what a test made with a file in this folder.
//
//	file/    a data file that we wrote, byte by byte
//	txn/     the verdict of Interpret on every state of an operation and its tables
//	trace/   what each method of the engine asks of a store, on the embedded graph
//
// `go test … -update` writes the files anew; look at the difference before you
// commit it.
package golden

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// update is the flag of that name; another package may have defined it.
var update = func() flag.Value {
	if f := flag.Lookup("update"); f != nil {
		return f.Value
	}
	flag.Bool("update", false, "write golden files anew")
	return flag.Lookup("update").Value
}()

// Equal fails the test when got is not what the file holds; name is relative to
// this folder.
func Equal(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join(folder(t), filepath.FromSlash(name))
	if update.String() == "true" {
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, got, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; `go test -update` writes it", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("golden/%s differs:\n%s", name, diff(string(want), string(got)))
	}
}

// folder finds the folder golden of the checkout that the test runs in.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "golden")
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("golden: no go.mod above the test's folder")
		}
		dir = up
	}
}

// diff shows the lines around the first difference.
func diff(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	const most = 12
	part := func(lines []string) string {
		return strings.Join(lines[min(i, len(lines)):min(i+most, len(lines))], "\n")
	}
	return fmt.Sprintf("from line %d on\nwant:\n%s\n\ngot:\n%s", i+1, part(a), part(b))
}
