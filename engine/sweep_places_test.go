package engine_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// onDisk is a graph whose objects are files of this machine: a folder, or a bucket
// of the lab. It always lies at the same address, which records name.
type onDisk struct {
	uri   string
	path  string            // of the folder
	files map[string][]byte // by path below it
}

func (p *onDisk) store() (blob.Store, error) {
	if err := p.put(p.files); err != nil {
		return nil, err
	}
	return opener.Open(context.Background(), p.uri)
}

// put makes the folder hold these files and nothing else.
func (p *onDisk) put(files map[string][]byte) error {
	if err := os.RemoveAll(p.path); err != nil {
		return err
	}
	for key, data := range files {
		path := filepath.Join(p.path, key)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// read is what the folder holds.
func (p *onDisk) read() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(p.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		key, err := filepath.Rel(p.path, path)
		if err == nil {
			files[key], err = os.ReadFile(path)
		}
		return err
	})
	return files, err
}

// libraryAt makes the library at an address.
func libraryAt(t *testing.T, uri, path string) *onDisk {
	t.Helper()
	p := &onDisk{uri: uri, path: path}
	g := openAt(t, uri, engine.Options{Write: true})
	if _, err := g.Init(t.Context(), engine.InitOptions{Source: []byte(library)}); err != nil {
		t.Fatal(err)
	}
	if _, err := loadLines(t, g, engine.LoadAppend, shelf); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.files, err = p.read(); err != nil || len(p.files) < 20 {
		t.Fatalf("%d files, %v", len(p.files), err)
	}
	return p
}

// soon is a grace that a test can wait for.
const soon = 300 * time.Millisecond

// Every writer in a folder, one place of each fault; OMNIDECK_FULL=1 tries all.
func TestSweepWritersOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "g")
	at := libraryAt(t, dir, dir)
	for i, w := range pace.Every(t, 3, append(writers, inTurn)) {
		t.Run(w.name, func(t *testing.T) {
			(&sweep{T: t, writer: w, place: at, grace: soon}).swept(fault.Plan{Places: sample(1), Seed: uint64(i * 5)})
		})
	}
}

// A row and a load of three tables in a bucket of a real endpoint.
func TestSweepWritersOnS3(t *testing.T) {
	l := lab.Test(t, lab.Options{})
	at := libraryAt(t, l.URI("library"), l.Path("library"))
	for i, w := range writers {
		if w.name != "update" && w.name != "load append" {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			(&sweep{T: t, writer: w, place: at, grace: soon}).swept(fault.Plan{Places: sample(2), Seed: uint64(i * 7)})
		})
	}
}
