package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// TestScreensSayWhatTheProxyCounts: for every place, opened by a process of its
// own against a real S3 endpoint, the status line of the screen and the matrix
// of its drawer say exactly what an independent proxy saw, in total and by
// class and operation.
func TestScreensSayWhatTheProxyCounts(t *testing.T) {
	l := lab.Test(t, lab.Options{Meter: true})
	for _, graph := range []string{"midlife", "wide", "deep"} {
		upload(t, l, graph)
		for _, place := range pace.Every(t, 4, everyPlace(t, l.URI(graph))) {
			t.Run(graph+"/"+place, func(t *testing.T) {
				if err := l.Reset(); err != nil {
					t.Fatal(err)
				}
				args := []string{"snap", l.URI(graph), "--screen", place, "--size", "120x70", "--keys", "m", "--rpc", "--no-cache"}
				if strings.HasPrefix(place, "find/") || strings.Contains(place, "/rows/") {
					// A look-up that found its row lets go of the reads beside it: whether the
					// proxy still saw them is chance.
					args = append(args, "--concurrency", "1")
				}
				screen, said := drawn(t, args...)
				log, err := l.Log()
				if err != nil {
					t.Fatal(err)
				}
				seen, all := map[string]int64{}, map[string]int64{}
				for _, r := range log {
					key := strings.TrimPrefix(strings.TrimPrefix(r.Key, lab.Bucket+"/"), "?") // of a LIST: its prefix
					key = strings.TrimPrefix(key, graph+"/")
					seen[cost.Classify(key)+" "+r.Op]++
					all[r.Op]++
				}
				if said != int64(len(log)) || said == 0 && place != "operations" {
					t.Errorf("--rpc says %d requests, the proxy saw %d", said, len(log))
				}
				want := fmt.Sprintf(" GET %d HEAD %d LIST %d PUT %d DEL %d ", all["get"], all["head"], all["list"], all["put"], all["delete"])
				if !strings.Contains(screen, want) || all["put"]+all["delete"] > 0 {
					t.Errorf("the status line does not say%s:\n%s", want, screen)
				}
				if shown := matrix(screen); !maps.Equal(shown, seen) {
					t.Errorf("the drawer says %v, the proxy saw %v:\n%s", shown, seen, screen)
				}
				t.Logf("%d requests", said)
			})
		}
	}
}

// everyPlace is each screen, of the largest tables, of an entity that is there
// and of the last commit.
func everyPlace(t *testing.T, uri string) []string {
	t.Helper()
	var snap struct {
		Datasets []struct {
			Kind string `json:"entity_kind"`
			Type string `json:"type_name"`
			Rows int64  `json:"entity_count"`
		}
	}
	var log struct {
		Commits []struct {
			ID string `json:"graph_commit_id"`
		}
	}
	ask := func(to any, args ...string) {
		if err := json.Unmarshal([]byte(run(t, append(args, "--no-cache")...).must(t)), to); err != nil {
			t.Fatal(err)
		}
	}
	ask(&snap, "snapshot", uri, "--json")
	ask(&log, "log", uri, "--json")
	node, edge, most := "", "", map[string]int64{"node": -1, "edge": -1}
	for _, d := range snap.Datasets {
		if d.Rows > most[d.Kind] {
			most[d.Kind] = d.Rows
			if d.Kind == "node" {
				node = d.Type
			} else {
				edge = d.Type
			}
		}
	}
	var row struct {
		Data struct {
			ID string `json:"id"`
		}
	}
	ask(&row, "rows", uri, node, "--limit", "1", "--ndjson")
	out := []string{"overview", "branches", "commits", "tables", "versions", "operations", "find/" + row.Data.ID, "diff/" + log.Commits[1].ID + ".." + log.Commits[0].ID}
	for _, tab := range []string{"schema", "fragments", "versions", "indexes", "rows"} {
		out = append(out, "node:"+node+"/"+tab)
	}
	return append(out, "node:"+node+"/rows/"+row.Data.ID, "edge:"+edge+"/rows")
}

// drawn runs the test binary as omnideck and returns the screen and the number
// of requests that it said it made.
func drawn(t *testing.T, args ...string) (screen string, requests int64) {
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
	return string(out), readingOf(t, stderr.String()).Requests
}

// matrix reads the requests by class and operation from a drawer: a name of
// fourteen cells, then six cells a count.
func matrix(screen string) map[string]int64 {
	out := map[string]int64{}
	inside := false
	for _, line := range strings.Split(screen, "\n") {
		if inside = inside || strings.HasPrefix(line, " class  "); !inside || len(line) < 20 {
			continue
		}
		class := strings.TrimSpace(line[:14])
		for i, op := range []string{"get", "head", "list", "put", "delete"} {
			cell := strings.TrimSpace(line[min(len(line), 14+6*i):min(len(line), 20+6*i)])
			if n, err := strconv.ParseInt(cell, 10, 64); err == nil && strings.Contains(class, ".") || class == cost.Schema || class == cost.Recovery || class == cost.Other {
				if n > 0 {
					out[class+" "+op] = n
				}
			}
		}
	}
	return out
}
