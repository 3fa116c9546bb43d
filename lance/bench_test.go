package lance_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance"
)

// BenchmarkFold opens and scans a `__manifest` of 300 fragments of a few rows
// from memory, as the fold of a graph does.
func BenchmarkFold(b *testing.B) {
	store := inMemory(b, "deep", graph(b, "deep"))
	o := lance.OpenOptions{Allocator: memory.DefaultAllocator, Decoders: 1}
	b.ReportAllocs()
	fragments, rows := 0, int64(0)
	for b.Loop() {
		s, err := lance.Open(b.Context(), store, "__manifest", o)
		if err != nil {
			b.Fatal(err)
		}
		fragments, rows = len(s.Fragments()), 0
		for rec, err := range s.Scan(b.Context(), lance.ScanOptions{WithRowAddress: true, WithVersions: true, WithDeleted: true}) {
			if err != nil {
				b.Fatal(err)
			}
			rows += rec.NumRows()
			rec.Release()
		}
	}
	b.ReportMetric(float64(fragments), "fragments")
	b.ReportMetric(float64(rows), "rows")
}

// BenchmarkOpen opens that version without reading a row.
func BenchmarkOpen(b *testing.B) {
	store := inMemory(b, "deep", graph(b, "deep"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := lance.Open(b.Context(), store, "__manifest", lance.OpenOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
