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

// What a publish costs beside its requests: a short history and a long one.
func BenchmarkPublish(b *testing.B) {
	for _, name := range []string{"maintained", "deep"} {
		b.Run(name, func(b *testing.B) {
			w := newWriter(b, store(b, graph(b, name)), "", 1)
			v := open(b, w.store, manifest.Options{})
			b.ReportAllocs()
			for b.Loop() {
				v = w.publish(w.options(v, w.next(v.Tables[0]))).View
			}
		})
	}
}
