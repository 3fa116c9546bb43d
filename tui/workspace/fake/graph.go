package fake

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/engine"
)

// Entities of the sample graph: vessels call at ports and are registered in
// them, carriers own vessels. One call names a vessel that does not exist.

// harborPage answers pages of the tables of the sample graph.
func harborPage(ports, vessels, calls uint64) func(string, engine.RowsOptions) *engine.RowPage {
	port := Ports(ports)
	return func(table string, o engine.RowsOptions) *engine.RowPage {
		switch table {
		case "node:Vessel":
			return page(table, vessels, o, vesselColumns, vesselTypes, vessel)
		case "edge:CallsAt":
			return page(table, calls, o, callColumns, callTypes, call)
		case "edge:Registered":
			return page(table, 0, o, callColumns[:3], callTypes[:3], call)
		}
		return port(table, o)
	}
}

var (
	vesselColumns = []string{"id", "built", "draft_m", "imo", "kind", "name"}
	vesselTypes   = []string{"String", "Date?", "F32?", "U64", "enum(container, tanker)", "String"}
	callColumns   = []string{"id", "src", "dst", "arrived", "cargo_t"}
	callTypes     = []string{"String", "String", "String", "DateTime", "I64?"}
)

func page(table string, n uint64, o engine.RowsOptions, columns, types []string, row func(i uint64) engine.Row) *engine.RowPage {
	p := &engine.RowPage{Table: table, Offset: o.Offset, Total: n, Columns: columns, Types: types, Rows: []engine.Row{}}
	for i := o.Offset; i < n && len(p.Rows) < o.Limit; i++ {
		p.Rows = append(p.Rows, row(i))
	}
	p.Truncated = o.Offset+uint64(len(p.Rows)) < n
	return p
}

func vesselID(i uint64) string { return fmt.Sprintf("9%06d", i*7+11) }

func portID(i uint64) string { return fmt.Sprintf("port-%05d", i) }

func callID(i uint64) string { return fmt.Sprintf("01KD8X%020d", i*7919+31) }

func text(s string) engine.Cell { return engine.Cell{Kind: engine.CellText, Text: s} }

func vessel(i uint64) engine.Row {
	names := []string{"Aurora", "Boreas", "Calypso", "Delia", "Electra"}
	r := engine.Row{ID: vesselID(i)}
	built := engine.Cell{Kind: engine.CellTime, Text: fmt.Sprintf("%d-03-01", 1998+i%25)}
	if i%4 == 3 {
		built = engine.Cell{}
	}
	r.Values = []engine.Cell{
		text(r.ID), built, {Kind: engine.CellNumber, Text: fmt.Sprintf("%d.25", 6+i%9)}, {Kind: engine.CellNumber, Text: r.ID},
		text([]string{"container", "tanker"}[i%2]), text(fmt.Sprintf("%s %d", names[i%5], i)),
	}
	r.Line = fmt.Appendf(nil, `{"type":"Vessel","data":{"id":%q,"name":"%s %d"}}`, r.ID, names[i%5], i)
	return r
}

// ends of the i-th call: the vessel of every eleventh does not exist.
func callEnds(i uint64) (src, dst string) {
	if i%11 == 5 {
		return "9999999", portID(i % 5)
	}
	return vesselID(i % 40), portID(i % 5)
}

func call(i uint64) engine.Row {
	src, dst := callEnds(i)
	r := engine.Row{ID: callID(i), Src: src, Dst: dst}
	r.Values = []engine.Cell{
		text(r.ID), text(src), text(dst), {Kind: engine.CellTime, Text: fmt.Sprintf("2026-11-%02dT08:30:00Z", i%28+1)}, {Kind: engine.CellNumber, Text: fmt.Sprint(i * 31)},
	}
	r.Line = fmt.Appendf(nil, `{"edge":"CallsAt","from":%q,"to":%q,"data":{"id":%q}}`, src, dst, r.ID)
	return r
}

const callsDrawn = 60 // calls that have neighbours

// harborAround are the edges of the sample graph around a node.
func harborAround(typ, id string) *engine.Neighbors {
	n := &engine.Neighbors{Edges: []engine.NeighborEdge{}, Nodes: []engine.Hit{}}
	seen := map[engine.Hit]bool{}
	add := func(edge, eid, from, to string, other engine.Hit) {
		n.Edges = append(n.Edges, engine.NeighborEdge{Type: edge, ID: eid, From: from, To: to})
		if !seen[other] {
			seen[other] = true
			n.Nodes = append(n.Nodes, other)
		}
	}
	for i := range uint64(callsDrawn) {
		src, dst := callEnds(i)
		switch {
		case typ == "Port" && dst == id:
			add("CallsAt", callID(i), src, dst, engine.Hit{Kind: "node", Type: "Vessel", ID: src})
		case typ == "Vessel" && src == id:
			add("CallsAt", callID(i), src, dst, engine.Hit{Kind: "node", Type: "Port", ID: dst})
		}
	}
	for i := range uint64(12) {
		src, dst, eid := vesselID(i), portID(i%3), fmt.Sprintf("01KD8R%020d", i)
		switch {
		case typ == "Port" && dst == id:
			add("Registered", eid, src, dst, engine.Hit{Kind: "node", Type: "Vessel", ID: src})
		case typ == "Vessel" && src == id:
			add("Registered", eid, src, dst, engine.Hit{Kind: "node", Type: "Port", ID: dst})
		}
	}
	if typ == "Port" && strings.HasPrefix(id, "port-0000") {
		add("Feeds", "feeds-"+id, id, id, engine.Hit{Kind: "node", Type: "Port", ID: id})
	}
	return n
}

// harborHits are the tables of the sample graph in which an id stands.
func harborHits(id string) []engine.Hit {
	switch {
	case strings.HasPrefix(id, "port-"):
		return []engine.Hit{{Kind: "node", Type: "Port", ID: id}, {Kind: "node", Type: "Carrier", ID: id}}
	case strings.HasPrefix(id, "9"):
		return []engine.Hit{{Kind: "node", Type: "Vessel", ID: id}}
	case strings.HasPrefix(id, "01KD8X"):
		return []engine.Hit{{Kind: "edge", Type: "CallsAt", ID: id}}
	}
	return []engine.Hit{}
}

func object(s string) json.RawMessage { return json.RawMessage(s) }

// harborDiff compares two points of the sample graph: three tables, one of which
// was only rewritten.
func harborDiff() *engine.Diff {
	return &engine.Diff{
		A: engine.At{Version: 120}, B: engine.At{Version: 137},
		Types: map[string]map[string]string{"edge:CallsAt": {"arrived": "DateTime"}},
		Counts: []engine.DiffCount{
			{Table: "edge:CallsAt", Inserted: 1, Deleted: 1, From: 88, To: 89},
			{Table: "node:Carrier", Physical: true, From: 5, To: 6},
			{Table: "node:Port", Inserted: 1, Updated: 2, From: 41, To: 42},
		},
		Changes: []engine.Change{
			{Kind: "edge", Type: "CallsAt", ID: callID(1), Op: "delete", Before: object(`{"edge":"CallsAt","from":"9000018","to":"port-00001","data":{"id":"` + callID(1) + `","arrived":1764316800000,"cargo_t":31}}`)},
			{Kind: "edge", Type: "CallsAt", ID: callID(2), Op: "insert", After: object(`{"edge":"CallsAt","from":"9000025","to":"port-00002","data":{"id":"` + callID(2) + `","arrived":1764403200000,"cargo_t":null}}`)},
			{Kind: "node", Type: "Port", ID: "port-00001", Op: "update",
				Before: object(`{"type":"Port","data":{"id":"port-00001","cranes":1,"depth_m":21.0,"name":"Hamburg","notes":"deep water berth","open":true,"tags":["container"]}}`),
				After:  object(`{"type":"Port","data":{"id":"port-00001","cranes":1,"depth_m":24.0,"name":"Hamburg","notes":"","open":true,"tags":["container","ro-ro"]}}`)},
			{Kind: "node", Type: "Port", ID: "port-00002", Op: "update",
				Before: object(`{"type":"Port","data":{"id":"port-00002","cranes":2,"depth_m":null,"name":"Le Havre"}}`),
				After:  object(`{"type":"Port","data":{"id":"port-00002","cranes":2,"depth_m":14.5,"name":"Le Havre","pilot":"compulsory"}}`)},
			{Kind: "node", Type: "Port", ID: "port-99998", Op: "insert", After: object(`{"type":"Port","data":{"id":"port-99998","cranes":0,"name":"横浜港"}}`)},
		},
	}
}

// harborVersions compares two versions of node:Port.
func harborVersions() *engine.VersionDiff {
	after := portLayout()
	before := *after
	before.Version, before.Fragments, before.Rows, before.Bytes, before.Small = 41, after.Fragments[:60], 48209, 40<<20, 58
	before.Histogram = append([]engine.Bucket(nil), after.Histogram...)
	before.Histogram[0].Count--
	before.Indexes = append([]engine.TableIndex(nil), after.Indexes[:1]...)
	d := harborDiff()
	return &engine.VersionDiff{
		Table: "node:Port", Branch: "main", A: 41, B: 42, Before: &before, After: after,
		Kept: 58, Touched: 2, Added: 1, Count: d.Counts[2], Changes: d.Changes[2:], Types: map[string]string{},
	}
}
