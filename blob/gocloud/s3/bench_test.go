package s3_test

import (
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/gocloud/s3"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// BenchmarkOpen is what opening a bucket costs before any request.
func BenchmarkOpen(b *testing.B) {
	b.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	for b.Loop() {
		s, err := s3.Open(b.Context(), "b", "", s3.Options{})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

// BenchmarkGet is one small read after another, from a gateway on this machine.
func BenchmarkGet(b *testing.B) {
	lab.Test(b, lab.Options{})
	s, err := s3.Open(b.Context(), lab.Bucket, "g", s3.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Put(b.Context(), "k", make([]byte, 1<<20)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Get(b.Context(), "k", blob.Range{Off: 5000, Len: 4096}); err != nil {
			b.Fatal(err)
		}
	}
}
