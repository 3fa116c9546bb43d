package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// TestRPCEqualsWhatTheProxyCounts: for every verb that asks a store, run as a
// process of its own against a real S3 endpoint, the member rpc says exactly
// what an independent proxy in front of the endpoint saw.
func TestRPCEqualsWhatTheProxyCounts(t *testing.T) {
	l := lab.Test(t, lab.Options{Meter: true})
	upload(t, l, "midlife")
	for _, v := range pace.Every(t, 8, verbs()) {
		if v.place == onNothing {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			graph := "midlife"
			if v.name == "init" {
				graph = "new"
			}
			args := append(strings.Fields(v.name), l.URI(graph))
			if v.place == onDataset {
				args[len(args)-1] += "/" + manifestTable
			}
			if v.name == "find" || v.name == "neighbors" {
				// A look-up that found its row lets go of the reads beside it: whether the
				// proxy still saw them is chance.
				args = append(args, "--concurrency", "1")
			}
			sample := samples[v.name]
			if v.name == "mutate" { // the sample finds nothing to change
				sample = []string{"-e", `query q() { delete Port where code = "NLRTM" }`}
			}
			said, seen := counted(t, l, append(args, sample...)...)
			compareCounts(t, said, seen, v.group == "change" && v.name != "recover") // which only looks, without --apply
		})
	}
}

// TestBudgets: what the verbs that the issues name may ask of a store by depth of
// history, and how many of these requests wait for one another.
// Latency is added so that requests really overlap.
func TestBudgets(t *testing.T) {
	if pace.Race {
		t.Skip("SKIPPED under the race detector: hops overlap in time, and it stretches time")
	}
	l := lab.Test(t, lab.Options{Meter: true, RTT: 20 * time.Millisecond})
	for graph, hops := range map[string]int{"maintained": 8, "deep": 14} {
		upload(t, l, graph)
		var info struct {
			Manifest struct{ Fragments int64 }
		}
		if err := json.Unmarshal([]byte(run(t, "info", l.URI(graph), "--json").must(t)), &info); err != nil {
			t.Fatal(err)
		}
		for verb, budget := range map[string]int64{"branch list": 4, "snapshot": 10 + info.Manifest.Fragments, "commit list": 10 + info.Manifest.Fragments} {
			said, seen := counted(t, l, append(strings.Fields(verb), l.URI(graph))...)
			compareCounts(t, said, seen, false)
			for n := 0; n < 24 && said.Hops > hops; n++ { // a busy machine can only add hops
				again, _ := counted(t, l, append(strings.Fields(verb), l.URI(graph))...)
				said.Hops = min(said.Hops, again.Hops)
			}
			t.Logf("%s on %s: %d requests, %d hops", verb, graph, said.Requests, said.Hops)
			if said.Requests > budget || said.Hops > hops {
				t.Errorf("%s on %s: %d requests in %d hops, budget %d in %d", verb, graph, said.Requests, said.Hops, budget, hops)
			}
		}
		onceMutated(t, l, graph, info.Manifest.Fragments)
	}
}

// onceMutated changes one row, cold.
func onceMutated(t *testing.T, l *lab.Lab, graph string, fragments int64) {
	t.Helper()
	mutate := func() cost.Reading {
		said, seen := counted(t, l, "mutate", l.URI(graph), "-e", `query q() { update Port set { name: "N" } where code = "NLRTM" }`)
		compareCounts(t, said, seen, true)
		return said
	}
	first := mutate()
	t.Logf("mutate on %s: %d requests, %d hops", graph, first.Requests, first.Hops)
	if first.Requests > fragments+40 || graph == "maintained" && first.Requests > 32 {
		t.Errorf("mutate on %s: %d requests with %d fragments, at most 40 more, and 32 where it is maintained", graph, first.Requests, fragments)
	}
	hops := first.Hops
	for n := 0; n < 24 && hops > 16 && graph == "maintained"; n++ {
		hops = min(hops, mutate().Hops)
	}
	if hops > 16 && graph == "maintained" {
		t.Errorf("mutate on %s: %d hops, at most 16", graph, hops)
	}
}

// upload puts a shared graph where the endpoint finds it.
func upload(t *testing.T, l *lab.Lab, graph string) {
	t.Helper()
	dir, _ := unpacked(t, graph)
	if err := os.Rename(dir, l.Path(graph)); err != nil {
		t.Fatal(err)
	}
}

// counted runs a verb as a process and returns what it and the proxy counted.
func counted(t *testing.T, l *lab.Lab, args ...string) (said cost.Reading, seen lab.Stats) {
	t.Helper()
	if err := l.Reset(); err != nil {
		t.Fatal(err)
	}
	onStderr := args[0] == "blob" && args[1] == "get" || args[0] == "snap"
	args = append(args, "--rpc")
	if !onStderr {
		args = append(args, "--json")
	}
	if args[0] != "lance" {
		args = append(args, "--no-cache")
	}
	said = process(t, onStderr, args...)
	seen, err := l.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return said, seen
}

func compareCounts(t *testing.T, said cost.Reading, seen lab.Stats, writes bool) {
	t.Helper()
	if said.Requests != seen.Requests || said.Requests == 0 {
		t.Errorf("said %d requests, the proxy saw %d", said.Requests, seen.Requests)
	}
	for op, n := range map[string]int64{"get": said.Ops.Get, "head": said.Ops.Head, "list": said.Ops.List, "put": said.Ops.Put, "delete": said.Ops.Delete, "copy": said.Ops.Copy} {
		if seen.Ops[op] != n {
			t.Errorf("said %d × %s, the proxy saw %d", n, op, seen.Ops[op])
		}
	}
	if wrote := said.Ops.Put+said.Ops.Delete+said.Ops.Copy > 0; wrote != writes {
		t.Errorf("wrote: %v, expected %v: %+v", wrote, writes, said.Ops)
	}
}

// process runs the test binary as omnideck and returns what it said of its
// requests: the member rpc, or the line on stderr.
func process(t *testing.T, onStderr bool, args ...string) cost.Reading {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Args[0] = "omnideck"
	cmd.Env = append(os.Environ(), "OMNIGRAPH_HOME="+t.TempDir())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr.String())
	}
	var doc struct {
		RPC cost.Reading `json:"rpc"`
	}
	if onStderr {
		return readingOf(t, stderr.String())
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatalf("%v printed no JSON: %v\n%s", args, err, excerpt(string(out)))
	}
	return doc.RPC
}

// readingOf reads the line that --rpc prints for people.
func readingOf(t *testing.T, stderr string) (r cost.Reading) {
	t.Helper()
	_, line, ok := strings.Cut(stderr, "rpc: ")
	if _, err := fmt.Sscanf(line, "%d", &r.Requests); !ok || err != nil {
		t.Fatalf("no line of rpc in %q", stderr)
	}
	for op, n := range map[string]*int64{"get": &r.Ops.Get, "head": &r.Ops.Head, "list": &r.Ops.List, "put": &r.Ops.Put, "delete": &r.Ops.Delete, "copy": &r.Ops.Copy} {
		if _, after, ok := strings.Cut(line, op+" "); ok {
			_, _ = fmt.Sscanf(after, "%d", n)
		}
	}
	return r
}

// TestCtrlC: an interrupted process stops waiting for a store that does not
// answer, says so and exits with 130.
func TestCtrlC(t *testing.T) {
	arrived := make(chan struct{}, 100)
	l := lab.Test(t, lab.Options{Between: func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			arrived <- struct{}{}
			<-r.Context().Done() // until the client is gone
		})
	}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "info", l.URI("nothing"))
	cmd.Args[0] = "omnideck"
	cmd.Env = append(os.Environ(), "OMNIGRAPH_HOME="+t.TempDir())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-arrived:
	case <-ctx.Done():
		t.Fatal("no request arrived")
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code follows
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit %d, %s", code, stderr.String())
	}
}
