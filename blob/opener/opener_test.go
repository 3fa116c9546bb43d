package opener

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
)

// TestOneFolderManySpellings is case 11 (b): a root with spaces, '#', '%41',
// 'ü', a slash at the end, a link; relative, absolute and as a file URL.
func TestOneFolderManySpellings(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	const name = "a b#c%41ü?d"
	s, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), "k", []byte("v")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, name, "k")); err != nil {
		t.Fatalf("the file was made elsewhere: %v", err)
	}
	if err := os.Symlink(name, "link"); err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{
		name, name + "/", "./" + name, filepath.Join(dir, name), filepath.Join(dir, name) + "//", "link", "link/",
		"file://" + dir + "/a%20b%23c%2541%C3%BC%3Fd", "file://" + dir + "/a b#c%2541ü?d/", "file://localhost" + dir + "/link",
		"FILE://" + dir + "/link", "file:" + dir + "/a%20b%23c%2541%C3%BC%3Fd", "File:" + dir + "/link",
	} {
		s, err := Open(t.Context(), uri)
		if err != nil {
			t.Errorf("%q: %v", uri, err)
			continue
		}
		if o, err := s.Get(t.Context(), "k", blob.All); err != nil || string(o.Data) != "v" {
			t.Errorf("%q leads to %s, where k is %q, %v", uri, s.Properties().URL, o.Data, err)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, uri := range []string{
		"", "ftp://x/y", "file://server/share", "file:///a%4", "file:///a%zz", "mem://nobody", "s3://", "s3:///x", "s3://b/a//b", "s3://b/../c",
		"gs://", "azblob://",
	} {
		if s, err := Open(t.Context(), uri); err == nil {
			t.Errorf("%q was opened as %s", uri, s.Properties().URL)
		}
	}
}

func TestMem(t *testing.T) {
	m := memstore.New(memstore.Options{Name: "tank"})
	defer memstore.Register("tank", m)()
	s, err := Open(t.Context(), "mem://tank")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), "k", nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Head(t.Context(), "k"); err != nil {
		t.Errorf("one holder's Close closed the store of all: %v", err)
	}
	ro, err := Open(t.Context(), "mem://tank", ReadOnly(), InFlight(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := ro.Delete(t.Context(), "k"); !errors.Is(err, blob.ErrReadOnly) {
		t.Errorf("Delete through a read-only store: %v", err)
	}
}

func TestBuckets(t *testing.T) {
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	t.Setenv("AWS_PROFILE", "")
	t.Setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:1")
	t.Setenv("AZURE_STORAGE_ACCOUNT", "acc")
	t.Setenv("AZURE_STORAGE_SAS_TOKEN", "sig=x")
	for uri, want := range map[string]string{
		"s3://b": "s3://b", "s3://b/": "s3://b", "s3://b/a b/%41/": "s3://b/a b/%41",
		"gs://b/p": "gs://b/p", "azblob://b/p/": "azblob://b/p",
	} {
		s, err := Open(t.Context(), uri)
		if err != nil {
			t.Errorf("%q: %v", uri, err)
			continue
		}
		if p := s.Properties(); p.URL != want || !p.Remote {
			t.Errorf("%q is %+v, want URL %s", uri, p, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestWindowsPaths checks the spelling only; nothing here runs on Windows.
func TestWindowsPaths(t *testing.T) {
	for _, tt := range []struct{ host, path, want string }{
		{"", "/C:/graphs/g", `C:\graphs\g`},
		{"server", "/share name/g", `\\server\share name\g`},
		{"localhost", "/D:/g", `D:\g`},
	} {
		if got, err := systemPath("windows", tt.host, tt.path); err != nil || got != tt.want {
			t.Errorf("host %q path %q: %q, %v; want %q", tt.host, tt.path, got, err, tt.want)
		}
	}
}

func TestSplit(t *testing.T) {
	for uri, want := range map[string][2]string{
		"s3://b/a/c%20d": {"s3://b", "a/c%20d"}, "S3://B/a": {"s3://B", "a"}, "file:///x/my%20f.bin": {"file:///x/", "my f.bin"}, "file:/x/f": {"file:///x/", "f"},
		"/x/my%20f": {"/x/", "my%20f"}, "/f": {"/", "f"}, "gs://b/k": {"gs://b", "k"}, "s3://b": {}, "s3://b/": {}, "file:///x/": {}, "f": {}, "": {}, "file:///x/%zz": {},
	} {
		folder, key, ok := Split(uri)
		if got := [2]string{folder, key}; ok != (want[1] != "") || ok && got != want {
			t.Errorf("%q is %q, %v; expected %q", uri, got, ok, want)
		}
	}
}
