package s3_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/gocloud/s3"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// TestObjectsThatWereNotPut: files copied into the gateway's folder are objects
// too, with one ETag however they are asked for.
func TestObjectsThatWereNotPut(t *testing.T) {
	l := lab.Test(t, lab.Options{})
	path := filepath.Join(l.Path("g"), "t", "data", "x.lance")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("value"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := s3.Open(t.Context(), lab.Bucket, "g", s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	head, err := s.Head(t.Context(), "t/data/x.lance")
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Get(t.Context(), "t/data/x.lance", blob.Range{Off: 1, Len: 2})
	if err != nil || string(o.Data) != "al" {
		t.Fatalf("%q, %v", o.Data, err)
	}
	n := 0
	for e, err := range s.List(t.Context(), blob.ListOptions{Prefix: "t/", Recursive: true}) {
		if err != nil || e.Key != "t/data/x.lance" || e.ETag != head.ETag {
			t.Errorf("listed %+v, %v; Head says %+v", e, err, head)
		}
		n++
	}
	if n != 1 || head.ETag == "" || o.ETag != head.ETag {
		t.Errorf("%d listed; Head %+v, Get %+v", n, head, o.Attrs)
	}
}
