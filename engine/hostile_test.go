package engine_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
)

// Any byte of any object may be another: every question gives an answer or an
// error, and none of them is a panic or has no end.
func TestAnyByteMayBeWrong(t *testing.T) {
	ctx := context.Background()
	files := graphFiles(t, "midlife")
	keys := slices.Sorted(maps.Keys(files))
	runs, step := 0, 39989
	if testing.Short() || pace.Race {
		step *= 30
	}
	place := 0
	for _, key := range keys {
		for ; place < len(files[key]); place += step {
			bad := slices.Clone(files[key])
			bad[place] ^= byte(1 + place%255)
			g := openFiles(t, with(files, map[string][]byte{key: bad}))
			_, _ = g.Info(ctx, engine.At{})
			_, _ = g.Branches(ctx)
			_, _ = g.Export(ctx, discard{}, engine.At{}, nil)
			_, _ = g.Diff(ctx, engine.At{Version: 1}, engine.At{}, engine.DiffOptions{})
			_, _ = g.DiffVersions(ctx, "node:Port", "", 8, 11, engine.DiffOptions{})
			_, _ = g.Versions(ctx, "node:Port", "", engine.VersionsOptions{Details: true, Holders: true})
			if _, err := g.Verify(ctx, engine.VerifyOptions{Deep: true}); err != nil {
				t.Errorf("verify with byte %d of %s wrong: %v", place, key, err)
			}
			runs++
		}
		place -= len(files[key])
	}
	if runs < 10 && !pace.Race {
		t.Errorf("%d runs over %d objects", runs, len(keys))
	}
}

// Case 11b: the same graph under any name of its folder and any spelling of it.
func TestSpellingsOfTheRoot(t *testing.T) {
	files := graphFiles(t, "midlife")
	rows, sum := exportHash(t, openFiles(t, files), engine.At{Branch: "review/new-calls"})
	base := t.TempDir()
	dir := filepath.Join(base, "a #%41 ü?b")
	if err := os.Rename(folder(t, files), dir); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(here, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{dir, dir + "/", relative, link, "file://" + strings.ReplaceAll(dir, "%", "%25")} {
		g := openAt(t, uri, engine.Options{})
		if n, s := exportHash(t, g, engine.At{Branch: "review/new-calls"}); n != rows || s != sum {
			t.Errorf("%s: %d lines", uri, n)
		}
		if g.URI() != uri {
			t.Errorf("%s is told as %s", uri, g.URI())
		}
		verified(t, g)
	}
}
