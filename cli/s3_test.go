package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// TestRPCEqualsWhatTheProxyCounts: for every verb that reads a graph, run as a
// process of its own against a real S3 endpoint, the member rpc says exactly
// what an independent proxy in front of the endpoint saw.
func TestRPCEqualsWhatTheProxyCounts(t *testing.T) {
	l := lab.Test(t, lab.Options{Meter: true})
	dir, _ := unpacked(t, "midlife")
	if err := os.Rename(dir, l.Path("midlife")); err != nil {
		t.Fatal(err)
	}
	for _, v := range verbs() {
		if v.place != onGraph {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			args := append(strings.Fields(v.name), l.URI("midlife"))
			args = append(append(args, samples[v.name]...), "--rpc", "--no-cache")
			if v.name != "blob get" {
				args = append(args, "--json")
			}
			if err := l.Reset(); err != nil {
				t.Fatal(err)
			}
			said := process(t, v.name == "blob get", args...)
			seen, err := l.Stats()
			if err != nil {
				t.Fatal(err)
			}
			compareCounts(t, said, seen)
		})
	}
}

func compareCounts(t *testing.T, said cost.Reading, seen lab.Stats) {
	t.Helper()
	if said.Requests != seen.Requests || said.Requests == 0 {
		t.Errorf("said %d requests, the proxy saw %d", said.Requests, seen.Requests)
	}
	for op, n := range map[string]int64{"get": said.Ops.Get, "head": said.Ops.Head, "list": said.Ops.List, "put": said.Ops.Put, "delete": said.Ops.Delete, "copy": said.Ops.Copy} {
		if seen.Ops[op] != n {
			t.Errorf("said %d × %s, the proxy saw %d", n, op, seen.Ops[op])
		}
	}
	if said.Ops.Put+said.Ops.Delete+said.Ops.Copy > 0 {
		t.Errorf("looking wrote: %+v", said.Ops)
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
