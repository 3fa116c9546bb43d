package manifest_test

import (
	"context"
	"testing"

	"github.com/omnideck/omnideck/manifest"
)

// What it costs to open and fold a graph from memory; the long one has 300
// commits and as many fragments.
func BenchmarkOpen(b *testing.B) {
	for _, name := range graphs {
		b.Run(name, func(b *testing.B) {
			s := store(b, graph(b, name))
			for b.Loop() {
				if _, err := manifest.Open(context.Background(), s, manifest.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFold(b *testing.B) {
	v := open(b, store(b, graph(b, "deep")), manifest.Options{})
	b.Run("changes", func(b *testing.B) {
		for b.Loop() {
			for range v.Changes() {
			}
		}
	})
}
