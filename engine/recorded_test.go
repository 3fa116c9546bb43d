package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
)

// Every branch of every shared graph reads as the Rust engine read it.
func TestGraphsReadAsRecorded(t *testing.T) {
	ctx := context.Background()
	for _, name := range pace.Every(t, 3, sharedGraphs) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := record(t, name)
			onEveryStore(t, graphFiles(t, name), func(t *testing.T, g *engine.Graph) {
				names, err := g.BranchNames(ctx)
				if err != nil || !slices.Equal(names, want.Branches.Branches) {
					t.Fatalf("branches %v, %v; want %v", names, err, want.Branches.Branches)
				}
				if len(want.Heads) != len(names) {
					t.Fatalf("%d heads are recorded of %d branches", len(want.Heads), len(names))
				}
				for branch, head := range want.Heads {
					snap, err := g.Snapshot(ctx, engine.At{Branch: branch})
					if err != nil {
						t.Fatalf("%s: %v", branch, err)
					}
					sameJSON(t, branch+" snapshot", snap, head.Snapshot)
					commits, err := g.Commits(ctx, branch, 0)
					if err != nil {
						t.Fatalf("%s: %v", branch, err)
					}
					sameJSON(t, branch+" commits", commits, head.Commits.Commits)
					rows, sum := exportHash(t, g, engine.At{Branch: branch})
					if rows != head.ExportRows || sum != head.ExportSHA256 {
						t.Errorf("%s: export has %d lines, sha256 %s; recorded are %d, %s", branch, rows, sum, head.ExportRows, head.ExportSHA256)
					}
				}
				verified(t, g)
			})
		})
	}
}

// Lines stand in the order that the Rust engine writes: edge:T before node:T,
// by the bytes of names, then of ids.
func TestExportOrder(t *testing.T) {
	g := openStore(t, demo(t))
	lines := exportLines(t, g, engine.At{})
	var keys []string
	for _, l := range lines {
		kind, typ, id, _, _ := parseLine(t, l)
		keys = append(keys, kind+":"+typ+"\x00"+id)
	}
	if !slices.IsSorted(keys) {
		t.Error("lines are not in order of type and id")
	}
	var only strings.Builder
	n, err := g.Export(context.Background(), &only, engine.At{}, []string{"Port", "edge:Owns"})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, l := range lines {
		if kind, typ, _, _, _ := parseLine(t, l); typ == "Port" || kind == "edge" && typ == "Owns" {
			want = append(want, l)
		}
	}
	if got := strings.Split(strings.TrimSuffix(only.String(), "\n"), "\n"); n != len(want) || !slices.Equal(got, want) {
		t.Errorf("the export of two types has %d lines, want %d of the whole", n, len(want))
	}
	verified(t, g)
}
