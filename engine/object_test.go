package engine_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/engine"
)

// The beginning of any object, as it lies there, for one request.
func TestObject(t *testing.T) {
	ctx := context.Background()
	files := graphFiles(t, "midlife")
	files["empty"] = nil
	files["large"] = bytes.Repeat([]byte("0123456789abcdef"), 8<<10)
	onEveryStore(t, files, func(t *testing.T, g *engine.Graph) {
		for key, data := range files {
			for _, n := range []int{-1, 0, 1, 40, 64 << 10, 1 << 30} {
				want := 64 << 10
				if n > 0 {
					want = min(n, want)
				}
				got, err := g.Object(ctx, key, n)
				if err != nil || got.Key != key || got.Size != int64(len(data)) || !bytes.Equal(got.Bytes, data[:min(want, len(data))]) {
					t.Fatalf("%s, %d bytes: %+v, %v", key, n, got, err)
				}
			}
		}
	})
	for key, requests := range map[string]int64{"large": 1, "_schema.pg": 1} {
		totals, _ := traced(t, files, func(ctx context.Context, g *engine.Graph) error {
			_, err := g.Object(ctx, key, 64<<10)
			return err
		})
		if totals.Requests != requests || totals.BytesRead > 64<<10 {
			t.Errorf("%s cost %+v", key, totals)
		}
	}
}

// Names that are no names are refused before anything is asked; what is not
// there is said so, and so is a folder.
func TestObjectOfNoName(t *testing.T) {
	ctx := context.Background()
	dir := folder(t, graphFiles(t, "midlife"))
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := blob.NewMeter(nil)
	g := openAt(t, dir, engine.Options{Meter: m})
	for _, key := range []string{"", "/etc/passwd", "..", "../secret", "nodes/../../secret", "nodes//x", "a/.", "./_schema.pg", "nodes/", "a\x00b"} {
		var usage *engine.UsageError
		if o, err := g.Object(ctx, key, 10); !errors.As(err, &usage) {
			t.Errorf("%q: %+v, %v", key, o, err)
		}
	}
	if n := m.Totals().Requests; n != 0 {
		t.Errorf("%d requests for names that are none", n)
	}
	for _, key := range []string{"nodes", "__manifest/_versions", "nobody", "nodes/%2e%2e/secret"} {
		var none *engine.NotFoundError
		if o, err := g.Object(ctx, key, 10); !errors.As(err, &none) || none.Name != key {
			t.Errorf("%q: %+v, %v", key, o, err)
		}
	}
}
