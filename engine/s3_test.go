package engine_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// onS3 puts a graph into the bucket of a lab, at the address where it was
// written.
func onS3(t *testing.T, l *lab.Lab, name string) string { return onS3At(t, l, name, name) }

// onS3At puts a graph at an address of the bucket.
func onS3At(t *testing.T, l *lab.Lab, graph, name string) string {
	t.Helper()
	if err := fixtures.Write(l.Path(name), graphFiles(t, graph)); err != nil {
		t.Fatal(err)
	}
	return l.URI(name)
}

// Graphs in a real bucket read as the Rust engine read them, and are not moved.
func TestGraphsOnS3ReadAsRecorded(t *testing.T) {
	ctx := context.Background()
	l := lab.Test(t, lab.Options{})
	for _, name := range pace.Every(t, 2, []string{"midlife", "maintained", "diverged", "deep"}) {
		t.Run(name, func(t *testing.T) {
			want := record(t, name)
			g := openAt(t, onS3(t, l, name), engine.Options{})
			names, err := g.BranchNames(ctx)
			if err != nil || !slices.Equal(names, want.Branches.Branches) {
				t.Fatalf("branches %v, %v", names, err)
			}
			for branch, head := range want.Heads {
				snap, err := g.Snapshot(ctx, engine.At{Branch: branch})
				if err != nil {
					t.Fatal(err)
				}
				sameJSON(t, branch+" snapshot", snap, head.Snapshot)
				commits, err := g.Commits(ctx, branch, 0)
				if err != nil {
					t.Fatal(err)
				}
				sameJSON(t, branch+" commits", commits, head.Commits.Commits)
				if rows, sum := exportHash(t, g, engine.At{Branch: branch}); rows != head.ExportRows || sum != head.ExportSHA256 {
					t.Errorf("%s: export has %d lines, sha256 %s", branch, rows, sum)
				}
			}
			info, err := g.Info(ctx, engine.At{})
			if err != nil || !g.Remote() || len(info.Store) < 3 {
				t.Fatalf("info %+v, %v", info, err)
			}
			for _, f := range info.Findings {
				if f.ID == "M2" {
					t.Errorf("a graph at its own address: %+v", f)
				}
			}
			verified(t, g)
		})
	}
}

// What our meter counts is what a proxy in front of the store counts, for every
// question of a fresh process.
func TestS3CountsAreTheProxys(t *testing.T) {
	ctx := context.Background()
	l := lab.Test(t, lab.Options{Meter: true})
	uri := onS3(t, l, "midlife")
	for _, name := range pace.Every(t, 8, slices.Sorted(maps.Keys(methods(nil)))) {
		o := engine.Options{}
		if slices.Contains([]string{"entity", "find", "neighbors"}, name) {
			// A look-up that found its row lets go of the reads beside it: whether the
			// proxy still saw them is chance.
			o.Concurrency = 1
		}
		g := openAt(t, uri, o)
		if err := l.Reset(); err != nil {
			t.Fatal(err)
		}
		m := blob.NewMeter(cost.Classify)
		var none *engine.NotFoundError
		if err := methods(g)[name](blob.WithMeter(ctx, m)); err != nil && !errors.As(err, &none) {
			t.Fatalf("%s: %v", name, err)
		}
		proxy, err := l.Stats()
		if err != nil {
			t.Fatal(err)
		}
		ours := m.Totals()
		if ours.Requests != proxy.Requests || ours.BytesRead != proxy.BytesRead && ours.Ops[blob.OpList] == 0 {
			t.Errorf("%s: we count %d requests and %d bytes, the proxy %d and %d (%v, %v)", name, ours.Requests, ours.BytesRead, proxy.Requests, proxy.BytesRead, ours.Ops, proxy.Ops)
		}
		if gets, heads, lists := proxy.Ops["get"]+proxy.Ops["range"], proxy.Ops["head"], proxy.Ops["list"]; gets != ours.Ops[blob.OpGet] || heads != ours.Ops[blob.OpHead] || lists != ours.Ops[blob.OpList] {
			t.Errorf("%s: we count %v, the proxy %v", name, ours.Ops, proxy.Ops)
		}
		g.Close()
	}
}

// The hops that the meter counts are what a longer way to a real store costs. A
// busy machine adds to wall time, never takes from it: the least of several
// runs counts, and there are more of them until the two agree.
func TestHopsAreTheSlopeOfTime(t *testing.T) {
	if !full() || pace.Race {
		t.Skip("SKIPPED without OMNIDECK_FULL=1 and under the race detector: it measures time on the wall; in a bubble it is every trace that is compared with the clock")
	}
	rtts := []time.Duration{10 * time.Millisecond, 50 * time.Millisecond}
	for _, name := range []string{"midlife", "maintained"} {
		wall := []time.Duration{time.Hour, time.Hour}
		const passes = 15
		for pass := 1; ; pass++ {
			hops := 0
			for i, rtt := range rtts {
				uri := onS3(t, lab.Test(t, lab.Options{Meter: true, RTT: rtt}), name)
				for range 2 {
					var took time.Duration
					took, hops = timedSnapshot(t, uri)
					wall[i] = min(wall[i], took)
				}
			}
			slope := float64(wall[1]-wall[0]) / float64(rtts[1]-rtts[0])
			if math.Abs(slope-float64(hops)) <= 1 {
				t.Logf("%s: %d hops, slope %.2f after %d passes", name, hops, slope, pass)
				break
			}
			if pass == passes {
				t.Errorf("%s: %d hops are counted, the slope of time is %.2f in the best of %d passes", name, hops, slope, passes)
				break
			}
		}
	}
}

func timedSnapshot(t *testing.T, uri string) (took time.Duration, hops int) {
	t.Helper()
	g := openAt(t, uri, engine.Options{NoCache: true})
	defer g.Close()
	m := blob.NewMeter(cost.Classify)
	start := time.Now()
	if _, err := g.Snapshot(blob.WithMeter(context.Background(), m), engine.At{}); err != nil {
		t.Fatal(err)
	}
	return time.Since(start), m.Totals().Hops
}

// put writes objects through a client, so that they have an ETag.
func put(t *testing.T, uri string, files map[string][]byte) {
	t.Helper()
	s, err := opener.Open(context.Background(), uri)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for key, data := range files {
		if _, err := s.Put(context.Background(), key, data); err != nil {
			t.Fatal(err)
		}
	}
}

// Copies of immutable objects spare a second process their requests, and
// --no-cache keeps none.
func TestCopiesOfManifests(t *testing.T) {
	dir := t.TempDir()
	l := lab.Test(t, lab.Options{})
	t.Setenv("XDG_CACHE_HOME", dir)
	uri := l.URI("copies")
	put(t, uri, graphFiles(t, "midlife"))
	ask := func(noCache bool) (blob.Totals, *engine.Versions) {
		g, err := engine.Open(context.Background(), uri, engine.Options{NoCache: noCache})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		m := blob.NewMeter(cost.Classify)
		v, err := g.Versions(blob.WithMeter(context.Background(), m), "", "", engine.VersionsOptions{Details: true})
		if err != nil {
			t.Fatal(err)
		}
		return m.Totals(), v
	}
	plain, want := ask(true)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("--no-cache left %v, %v", left, err)
	}
	first, _ := ask(false)
	second, got := ask(false)
	if plain.Requests != 16 || first.Requests != 16 || second.Requests != 1 {
		t.Errorf("%d requests without copies, %d at first, %d then; want 16, 16, 1", plain.Requests, first.Requests, second.Requests)
	}
	for i := range want.Versions {
		if a, b := want.Versions[i], got.Versions[i]; a.Transaction != b.Transaction || !a.CreatedAt.Equal(b.CreatedAt) || *a.Rows != *b.Rows {
			t.Errorf("a copy tells something else: %+v and %+v", a, b)
		}
	}
}
