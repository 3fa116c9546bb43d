//go:build !windows

package localfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/blobtest"
	"github.com/omnideck/omnideck/blob/localfs"
)

func open(t *testing.T, root string) *localfs.Store {
	t.Helper()
	s, err := localfs.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Store { return open(t, t.TempDir()) })
}

// TestConformanceOfARootThatIsNotThere: the first write makes the folders.
func TestConformanceOfARootThatIsNotThere(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Store {
		return open(t, filepath.Join(t.TempDir(), "a b", "%41#", "ü"))
	})
}

func TestConformanceThroughALink(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Store {
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(t.TempDir(), link); err != nil {
			t.Fatal(err)
		}
		return open(t, link+"/")
	})
}

// TestETag: inode, mtime in µs and size, as the Rust engine records for the
// same file.
func TestETag(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "f")
	if err := os.WriteFile(path, []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := open(t, root).Head(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	st := fi.Sys().(*syscall.Stat_t)
	if want := fmt.Sprintf("%x-%x-%x", st.Ino, fi.ModTime().UnixMicro(), 5); a.ETag != want {
		t.Errorf("ETag %s, want %s", a.ETag, want)
	}
}

// TestUnfinishedFilesAreHidden: names of the shape NAME#DIGITS are not objects
// yet, to us and to the Rust engine.
func TestUnfinishedFilesAreHidden(t *testing.T) {
	root := t.TempDir()
	for _, n := range []string{"a.manifest", "a.manifest#1", "a.manifest#18446744073709551615", "#7", "a#x", "a#", "b#1/c", "a#1x"} {
		path := filepath.Join(root, n)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, root)
	if got := keys(t, s, blob.ListOptions{Recursive: true}); got != "a# a#1x a#x a.manifest b#1/c" {
		t.Errorf("listed %s", got)
	}
	for _, key := range []string{"x#1", "d/#22"} {
		if _, err := s.Put(t.Context(), key, nil); !errors.Is(err, blob.ErrKey) {
			t.Errorf("Put(%q): %v", key, err)
		}
	}
}

func keys(t *testing.T, s blob.Store, opts blob.ListOptions) string {
	t.Helper()
	var out []string
	for e, err := range s.List(t.Context(), opts) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Key)
	}
	return strings.Join(out, " ")
}

// TestReadingWritesNothing: a tree without any right to write is read, and not
// touched.
func TestReadingWritesNothing(t *testing.T) {
	root := t.TempDir()
	s := open(t, root)
	for _, k := range []string{"t/_versions/1.manifest", "t/data/x.lance", "_schema.pg"} {
		if _, err := s.Put(t.Context(), k, []byte(k)); err != nil {
			t.Fatal(err)
		}
	}
	chmod := func(dir, file fs.FileMode) {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				return os.Chmod(p, dir)
			}
			return os.Chmod(p, file)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	chmod(0o555, 0o444)
	t.Cleanup(func() { chmod(0o755, 0o644) })
	before := snapshot(t, root)
	r := open(t, root)
	if got := keys(t, r, blob.ListOptions{Recursive: true}); got != "_schema.pg t/_versions/1.manifest t/data/x.lance" {
		t.Errorf("listed %s", got)
	}
	if _, err := r.Get(t.Context(), "t/data/x.lance", blob.All); err != nil {
		t.Error(err)
	}
	if _, err := r.Head(t.Context(), "none"); !errors.Is(err, blob.ErrNotExist) {
		t.Error(err)
	}
	if after := snapshot(t, root); after != before {
		t.Errorf("reading changed the folder:\n%s\nbefore:\n%s", after, before)
	}
	if os.Getuid() != 0 {
		if _, err := r.PutIfAbsent(t.Context(), "t/new", nil); !errors.Is(err, blob.ErrPermission) {
			t.Errorf("a create in a read-only folder: %v", err)
		}
	}
}

func snapshot(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, p, fi.Mode(), fi.Size(), fi.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWhatIsNoObject: pipes, sockets and dangling links are not there, and
// asking for them returns at once.
func TestWhatIsNoObject(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Skipf("SKIPPED: this file system makes no pipes: %v", err)
	}
	if err := os.Symlink("nowhere", filepath.Join(root, "dangling")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(root, "device")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("itself", filepath.Join(root, "itself")); err != nil {
		t.Fatal(err)
	}
	s := open(t, root)
	for _, k := range []string{"pipe", "dangling", "device"} {
		if _, err := s.Get(t.Context(), k, blob.All); !errors.Is(err, blob.ErrNotExist) {
			t.Errorf("Get(%s): %v", k, err)
		}
		if _, err := s.Head(t.Context(), k); !errors.Is(err, blob.ErrNotExist) {
			t.Errorf("Head(%s): %v", k, err)
		}
	}
	for _, prefix := range []string{"", "pipe/"} {
		if got := keys(t, s, blob.ListOptions{Prefix: prefix, Recursive: true}); got != "" {
			t.Errorf("listed %s below %q", got, prefix)
		}
	}
}

// TestFolderOfAnother: a folder that may not be looked into, as lost+found at
// the top of a disk, does not hide its neighbours.
func TestFolderOfAnother(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("SKIPPED: root may look into every folder; run the test as another user")
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "lost+found"), 0o000); err != nil {
		t.Fatal(err)
	}
	s := open(t, root)
	if _, err := s.Put(t.Context(), "nodes/x", nil); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, s, blob.ListOptions{}); got != "lost+found nodes" {
		t.Errorf("listed %s", got)
	}
	var last error
	for _, err := range s.List(t.Context(), blob.ListOptions{Prefix: "lost+found/"}) {
		last = err
	}
	if !errors.Is(last, blob.ErrPermission) {
		t.Errorf("inside: %v", last)
	}
}

func TestLinks(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	if _, err := open(t, other).Put(t.Context(), "data/x.lance", []byte("elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(root, "nodes")); err != nil {
		t.Fatal(err)
	}
	s := open(t, root)
	if got := keys(t, s, blob.ListOptions{Recursive: true}); got != "nodes/data/x.lance" {
		t.Errorf("listed %s", got)
	}
	if o, err := s.Get(t.Context(), "nodes/data/x.lance", blob.All); err != nil || string(o.Data) != "elsewhere" {
		t.Errorf("read %q, %v", o.Data, err)
	}
	if err := os.Symlink(root, filepath.Join(other, "back")); err != nil {
		t.Fatal(err)
	}
	var last error
	n := 0
	for _, err := range s.List(t.Context(), blob.ListOptions{Recursive: true}) {
		last = err
		if n++; n > 100 {
			break
		}
	}
	if last == nil || !strings.Contains(last.Error(), "leads back") {
		t.Errorf("a loop of links was listed: %v", last)
	}
}

func TestOpen(t *testing.T) {
	dir := mustEval(t, t.TempDir()) // which may be below a link
	if err := os.MkdirAll(filepath.Join(dir, "real", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("real", "deep"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"real":      filepath.Join(wd, "real"),
		"real/":     filepath.Join(wd, "real"),
		"./real/.":  filepath.Join(wd, "real"),
		"link":      filepath.Join(wd, "link"),
		"real/..":   wd,
		"link/..":   filepath.Join(dir, "real"), // where the system goes, not where the text goes
		"not/there": filepath.Join(wd, "not", "there"),
	} {
		if got := open(t, in).Properties().URL; got != want {
			t.Errorf("Open(%q) is %s, want %s", in, got, want)
		}
	}
	if err := os.WriteFile("file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "file", "file/below"} {
		s, err := localfs.Open(bad)
		if bad == "file/below" && err == nil {
			if got := keys(t, s, blob.ListOptions{}); got != "" {
				t.Errorf("below a file: %s", got)
			}
			continue
		}
		if err == nil {
			t.Errorf("Open(%q) succeeded", bad)
		}
	}
}

func mustEval(t *testing.T, p string) string {
	t.Helper()
	r, err := filepath.EvalSymlinks(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func BenchmarkFirstOf768(b *testing.B) {
	s := versions(b, 768)
	for b.Loop() {
		for _, err := range s.List(b.Context(), blob.ListOptions{Prefix: "t/_versions/", PageSize: 1}) {
			if err != nil {
				b.Fatal(err)
			}
			break
		}
	}
}

func BenchmarkAllOf768(b *testing.B) {
	s := versions(b, 768)
	for b.Loop() {
		n := 0
		for _, err := range s.List(b.Context(), blob.ListOptions{Prefix: "t/_versions/"}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 768 {
			b.Fatal(n)
		}
	}
}

func BenchmarkGet4K(b *testing.B) {
	s := versions(b, 1)
	if _, err := s.Put(b.Context(), "big", make([]byte, 8<<20)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Get(b.Context(), "big", blob.Range{Off: 1 << 20, Len: 4096}); err != nil {
			b.Fatal(err)
		}
	}
}

func versions(b *testing.B, n int) *localfs.Store {
	root := b.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "t/_versions"), 0o755); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("t/_versions/%020d.manifest", i)), []byte("x"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	s, err := localfs.Open(root)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// TestPutWhereNoFolderCanBeMade: a link to nowhere has a name, and nothing below
// it can be made, however often one tries.
func TestPutWhereNoFolderCanBeMade(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{filepath.Join(dir, "link", "graph"), filepath.Join(dir, "link", "a", "graph")} {
		_, err := open(t, root).PutIfAbsent(t.Context(), "a/b", []byte("x"))
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, expected that a folder is not there", root, err)
		}
	}
}
