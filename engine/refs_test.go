package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine"
)

// TestDamagedRefHidesNoVersions: a ref that cannot be read takes away the
// certainty of what holds the versions, not the versions.
func TestDamagedRefHidesNoVersions(t *testing.T) {
	ctx := context.Background()
	files := graphFiles(t, "midlife")
	for key := range files {
		at := strings.Index(key, "/_refs/branches/")
		if at < 0 {
			continue
		}
		root, name := key[:at], strings.TrimSuffix(key[strings.LastIndex(key, "/")+1:], ".json")
		sound := openFiles(t, files)
		table := ""
		if root != "__manifest" {
			snap, err := sound.Snapshot(ctx, engine.At{})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(snap.Datasets, func(d engine.Dataset) bool { return d.Path == root })
			if i < 0 {
				continue // of a table that main does not publish
			}
			table = snap.Datasets[i].Table()
		}
		want, err := sound.Versions(ctx, table, "", engine.VersionsOptions{Holders: true})
		if err != nil {
			t.Fatal(err)
		}
		for what, damage := range map[string][]byte{"empty": {}, "cut": files[key][:len(files[key])/2], "no JSON": []byte("\x00\xff{")} {
			g := openFiles(t, with(files, map[string][]byte{key: damage}))
			var part *engine.IncompleteError
			got, err := g.Versions(ctx, table, "", engine.VersionsOptions{Holders: true})
			if got == nil || !errors.As(err, &part) || len(got.Versions) != len(want.Versions) {
				t.Errorf("%s is %s: versions of %q: %+v, %v", key, what, table, got, err)
				continue
			}
			says(t, key, strings.ReplaceAll(err.Error(), "%2F", "/"), strings.ReplaceAll(name, "%2F", "/"))
			if h, err := g.Holds(ctx, want.Table, want.Oldest); h == nil || !errors.As(err, &part) || h.Deletable {
				t.Errorf("%s is %s: the oldest version: %+v, %v", key, what, h, err)
			}
			if _, err := g.Holds(ctx, want.Table, 1<<40); !errors.As(err, &part) {
				t.Errorf("%s is %s: a version that may lie on the branch is denied: %v", key, what, err)
			}
		}
	}
}
