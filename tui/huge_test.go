package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// mega and kilo are 1 MB and 1 KB of text that no screen may write as it is.
var (
	mega = strings.Repeat("long \x1b[31m\u202e長/\n\t", 1<<16)[:1<<20]
	kilo = mega[:1<<10]
)

// swollen is a graph in which everything that may be long is: values and names
// of actors of 1 MB, 10,000 properties, names of branches of 1 KB, 2,000
// types, an entity with 200,000 edges.
func swollen() *fake.Workspace {
	ws := fake.Harbor()
	ws.Script = map[string]fake.Step{"": {Get: 1}}
	ws.BranchList[1].Name, ws.BranchList[2].Parent, ws.BranchList[0].NeededBy[0] = kilo, kilo, kilo
	for i := range ws.Log {
		if i%3 == 0 {
			ws.Log[i].Actor, ws.Log[i].Branch = &mega, &kilo
		}
	}
	swellTypes(ws)
	ws.Page = hugePage
	around := &engine.Neighbors{Truncated: true}
	for i := range 200_000 {
		to := fmt.Sprintf("v%d\x1b[m/%s", i, kilo[:i%40])
		around.Edges = append(around.Edges, engine.NeighborEdge{Type: "CallsAt", ID: fmt.Sprint("e", i), From: to, To: "port-00000"})
	}
	ws.Around = func(string, string) *engine.Neighbors { return around }
	ws.Hits = func(string) []engine.Hit {
		hits := make([]engine.Hit, 5000)
		for i := range hits {
			hits[i] = engine.Hit{Kind: "node", Type: fmt.Sprintf("Type%d", i), ID: mega}
		}
		return hits
	}
	ws.InfoAnswer.Findings[0].Title, ws.InfoAnswer.Findings[0].Trust = mega, mega
	ws.InfoAnswer.PendingRecovery[0].Actor = mega
	for i := range 300 {
		ws.InfoAnswer.PendingRecovery[0].Tables = append(ws.InfoAnswer.PendingRecovery[0].Tables, engine.PendingTable{Table: fmt.Sprint("node:", i), Path: kilo})
	}
	return ws
}

// swellTypes adds 2,000 types, changed by the newest commit, and 10,000 properties
// to Port.
func swellTypes(ws *fake.Workspace) {
	changes := make([]engine.TableChange, 2000)
	contract := *ws.Contract
	for i := range 2000 {
		d := ws.Tables.Datasets[i%5]
		d.TypeName = fmt.Sprintf("Type%d/%s", i, kilo[:i%200])
		ws.Tables.Datasets = append(ws.Tables.Datasets, d)
		changes[i] = engine.TableChange{Table: d.Table(), FromVersion: 1, ToVersion: 2, RowsDelta: int64(i)}
		contract.Types = append(contract.Types, engine.SchemaType{Kind: d.EntityKind, Name: d.TypeName, From: "Port", To: d.TypeName, Constraints: []string{mega[:4096]}})
	}
	ws.Log[0].Changed = changes
	for i := range contract.Types {
		if t := &contract.Types[i]; t.Name == "Port" {
			for n := range 10_000 {
				t.Properties = append(t.Properties, engine.SchemaProperty{Name: fmt.Sprintf("p%05d", n), Type: "enum(" + kilo + ")"})
			}
		}
	}
	contract.Source = mega
	ws.Contract = &contract
}

// hugePage is a window of rows with 10,000 values of 1 MB each.
func hugePage(table string, o engine.RowsOptions) *engine.RowPage {
	p := &engine.RowPage{Table: table, Total: 1 << 60, Truncated: true, Columns: []string{"id"}, Types: []string{"String"}}
	for n := range 10_000 {
		p.Columns, p.Types = append(p.Columns, fmt.Sprintf("p%05d", n)), append(p.Types, "String?")
	}
	for i := range min(max(o.Limit, 1), 50) {
		r := engine.Row{ID: []string{"port-00000", "a/b\n\x1b[2J\u202e", mega}[min(i, 2)]}
		r.Values = append(r.Values, engine.Cell{Kind: engine.CellText, Text: r.ID})
		for range 10_000 {
			r.Values = append(r.Values, engine.Cell{Kind: engine.CellText, Text: mega})
		}
		p.Rows = append(p.Rows, r)
	}
	return p
}

// TestHugeContent: however much a store holds in one place, every screen of it
// is whole and stands within a moment after each key.
func TestHugeContent(t *testing.T) {
	if pace.Race {
		t.Skip("SKIPPED under the race detector: one goroutine draws, for minutes")
	}
	ws := swollen()
	for i, place := range places {
		t.Run(place.name, func(t *testing.T) {
			t.Parallel()
			size := [][2]int{{80, 24}, {200, 60}}[i%2]
			pace.Within(t, fmt.Sprintf("from a key to the frame at %dx%d", size[0], size[1]), 400*time.Millisecond, func() (worst time.Duration) {
				synctest.Test(t, func(t *testing.T) { worst = walkHuge(t, ws, place.start, size[0], size[1]) })
				return worst
			})
		})
	}
}

// walkHuge opens a place, presses keys there, and returns the most processor
// time that a key took to become a frame.
func walkHuge(t *testing.T, ws *fake.Workspace, place string, w, h int) (worst time.Duration) {
	t.Helper()
	b := newBench(t, ws, Options{URI: ws.Address, Screen: place}, w, h)
	b.drain()
	b.draw()
	for _, key := range hugeKeys {
		var lines []string
		worst = max(worst, pace.Thread(func() {
			b.send(press(key))
			lines = b.draw()
		}))
		if b.crash != nil {
			t.Fatalf("%s: %v\n%s", key, b.crash.cause, b.crash.stack)
		}
		for _, l := range lines {
			if ansi.StringWidth(l) != w {
				t.Fatalf("%s: a line of %d cells: %q", key, ansi.StringWidth(l), l)
			}
		}
		b.drain()
	}
	b.stop()
	return worst
}

var hugeKeys = []string{
	"j", "j", "enter", "tab", "j", "G", "k", "tab", "esc", "y", "esc", "o", "j", "enter", "c", "esc", "w", "D", "=", "m", "m", "?", "esc", ":", "r", "tab", "esc", "ctrl+p", "T", "y", "esc",
	"/", "l", "o", "enter", "n", "esc",
}
