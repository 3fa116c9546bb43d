package tui

import (
	"bufio"
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/workspace"
)

// exportedEdge is an edge as `export` prints it.
type exportedEdge struct {
	Edge, From, To string
	Data           struct {
		ID string `json:"id"`
	}
}

// TestNeighboursAreThoseThatAreExported: what stands on the screen of a node are
// the edges that an export of the graph prints of it, and no others.
func TestNeighboursAreThoseThatAreExported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, _ := midlife(t)
		ws, err := open(t.Context(), "mem://midlife")
		if err != nil {
			t.Fatal(err)
		}
		edges := exportedEdges(t, ws)
		contract, err := ws.Schema(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ends := map[string]engine.SchemaType{}
		for _, s := range contract.Types {
			ends[s.Name] = s
		}
		for _, node := range [][2]string{{"Port", "NLRTM"}, {"Vessel", "9000000"}, {"Company", "blue-anchor"}, {"Inspection", "insp-000"}} {
			var want []string
			for _, e := range edges {
				s := ends[e.Edge]
				if s.From == node[0] && e.From == node[1] || s.To == node[0] && e.To == node[1] {
					want = append(want, e.Data.ID)
				}
			}
			if len(want) == 0 {
				t.Errorf("%v has no edges: the test says nothing", node)
			}
			open, _ := midlife(t) // a bench closes what it shows
			ws, err := open(t.Context(), "mem://midlife")
			if err != nil {
				t.Fatal(err)
			}
			b := newBench(t, ws, Options{URI: ws.URI(), Screen: "node:" + node[0] + "/rows/" + node[1]}, 200, 60)
			b.drain()
			shown := strings.Join(b.draw(), "\n")
			for _, e := range edges {
				if got := strings.Contains(shown, e.Data.ID); got != slices.Contains(want, e.Data.ID) {
					t.Errorf("%v: edge %s %s is shown: %v\n%s", node, e.Edge, e.Data.ID, got, shown)
				}
			}
			b.stop()
		}
	})
}

func exportedEdges(t *testing.T, ws workspace.Workspace) []exportedEdge {
	t.Helper()
	snap, err := ws.Snapshot(t.Context(), engine.At{})
	if err != nil {
		t.Fatal(err)
	}
	var out []exportedEdge
	for _, d := range snap.Datasets {
		if d.EntityKind != "edge" {
			continue
		}
		var lines bytes.Buffer
		if _, err := ws.WriteRows(t.Context(), &lines, d.Table(), engine.At{}, engine.RowsOptions{}); err != nil {
			t.Fatal(err)
		}
		for s := bufio.NewScanner(&lines); s.Scan(); {
			var e exportedEdge
			if err := json.Unmarshal(s.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			out = append(out, e)
		}
	}
	return out
}
