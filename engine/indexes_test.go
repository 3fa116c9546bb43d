package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
)

// segmentsByPylance is what ds.describe_indices() of pylance 10.0.0 says of two
// tables of the graph maintained: the whole segment, fragments, bytes.
var segmentsByPylance = map[string]map[string]engine.IndexSegment{
	"node:Port": {
		"code_idx": segment("7b5ae4cf-3293-47d9-acee-c8e3f3cbc809", 13, "2026-11-29T15:07:02.802Z", 3898),
		"id_idx":   segment("5e19ab90-0a3d-4e2d-ba1c-1fbb38939b10", 13, "2026-11-29T15:07:02.740Z", 1590),
		"name_idx": segment("9b4006e9-ebfe-4022-9c88-bc1233c688ac", 13, "2026-11-29T15:07:02.767Z", 4334),
	},
	"edge:CallsAt": {
		"dst_idx": segment("5987a276-2631-474c-b5ee-58333fc42c74", 6, "2026-11-29T15:07:02.790Z", 2516),
		"id_idx":  segment("84463068-3da1-4141-bd68-61bf77c0c4a1", 6, "2026-11-29T15:07:02.759Z", 5432),
		"src_idx": segment("ee9f1310-5d62-4b81-b259-6a641afe3f91", 6, "2026-11-29T15:07:02.775Z", 2774),
	},
}

func segment(uuid string, version uint64, created string, bytes uint64) engine.IndexSegment {
	at, err := time.Parse(time.RFC3339Nano, created)
	if err != nil {
		panic(err)
	}
	return engine.IndexSegment{UUID: uuid, Version: version, CreatedAt: at, Fragments: 1, Bytes: &bytes}
}

func TestIndexSegmentsAgreeWithPylance(t *testing.T) {
	g := openFiles(t, graphFiles(t, "maintained"))
	for table, want := range segmentsByPylance {
		f, err := g.Fragments(context.Background(), table, engine.At{})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Indexes) != len(want) {
			t.Errorf("%s: %d indexes, pylance has %d", table, len(f.Indexes), len(want))
		}
		for _, x := range f.Indexes {
			w := want[x.Name]
			if len(x.Segments) != 1 {
				t.Fatalf("%s %s: %+v", table, x.Name, x.Segments)
			}
			got := x.Segments[0]
			if got.Bytes == nil || w.Bytes == nil || *got.Bytes != *w.Bytes {
				t.Errorf("%s %s: bytes %v, pylance says %v", table, x.Name, got.Bytes, w.Bytes)
			}
			got.Bytes, w.Bytes = nil, nil
			if got != w {
				t.Errorf("%s %s: %+v, pylance says %+v", table, x.Name, got, w)
			}
		}
	}
}

// The bytes of a segment are those of the objects in its folder, and segments
// of every graph name fragments that are there or gone.
func TestIndexSegmentsAndTheirObjects(t *testing.T) {
	ctx := context.Background()
	seen := 0
	for _, name := range sharedGraphs {
		if pace.Race && name != "maintained" { // which has the most of them
			continue
		}
		files := graphFiles(t, name)
		g := openFiles(t, files)
		snap, err := g.Snapshot(ctx, engine.At{})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range snap.Datasets {
			f, err := g.Fragments(ctx, d.Table(), engine.At{})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range f.Indexes {
				covered := 0
				for _, s := range x.Segments {
					seen++
					covered += s.Fragments - s.Missing
					var bytes uint64
					for key, data := range files {
						if strings.HasPrefix(key, d.Path+"/") && strings.Contains(key, "/_indices/"+s.UUID+"/") {
							bytes += uint64(len(data))
						}
					}
					if s.Bytes == nil || *s.Bytes != bytes || bytes == 0 || s.Version == 0 || s.CreatedAt.IsZero() {
						t.Errorf("%s %s %s: %+v, its objects have %d bytes", name, d.Table(), x.Name, s, bytes)
					}
				}
				if covered != x.CoveredFragments {
					t.Errorf("%s %s %s: segments cover %d fragments, the index %d", name, d.Table(), x.Name, covered, x.CoveredFragments)
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d segments were seen", seen)
	}
}
