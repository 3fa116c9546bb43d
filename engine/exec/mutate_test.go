package exec_test

import (
	"errors"
	"testing"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/txn"
)

const library = `node Book { isbn: String @key
 title: String
 pages: I32? }
node Note { text: String
 n: I32? }
edge About: Note -> Book
edge Sequel: Book -> Book { since: I32? }`

var shelf = []string{
	`{"type":"Book","data":{"isbn":"a","title":"A","pages":1}}`,
	`{"type":"Book","data":{"isbn":"b","title":"B","pages":2}}`,
	`{"type":"Note","data":{"id":"n1","text":"one","n":1}}`,
	`{"edge":"About","from":"n1","to":"a","data":{"id":"e1"}}`,
	`{"edge":"Sequel","from":"a","to":"b","data":{"id":"s1"}}`,
	`{"edge":"Sequel","from":"b","to":"b","data":{"id":"s2"}}`,
}

// The rows of the shelf as they are exported.
const (
	bookA   = `{"type":"Book","data":{"id":"a","isbn":"a","pages":1,"title":"A"}}`
	bookB   = `{"type":"Book","data":{"id":"b","isbn":"b","pages":2,"title":"B"}}`
	noteN   = `{"type":"Note","data":{"id":"n1","n":1,"text":"one"}}`
	aboutA  = `{"edge":"About","from":"n1","to":"a","data":{"id":"e1"}}`
	sequel1 = `{"edge":"Sequel","from":"a","to":"b","data":{"id":"s1","since":null}}`
	sequel2 = `{"edge":"Sequel","from":"b","to":"b","data":{"id":"s2","since":null}}`
)

// sequences are mutations of the shelf of several statements.
var sequences = map[string]struct {
	statements   string
	nodes, edges int      // affected
	want         []string // beside the edges of the shelf
}{
	"insert, then update what was inserted": {
		`insert Book { isbn: "c", title: "C" } update Book set { pages: 7 } where title = "C"`, 2, 0,
		[]string{bookA, bookB, noteN, `{"type":"Book","data":{"id":"c","isbn":"c","pages":7,"title":"C"}}`}},
	"update by key of what was inserted": {
		`insert Book { isbn: "c", title: "C" } update Book set { pages: 7 } where isbn = "c"`, 2, 0,
		[]string{bookA, bookB, noteN, `{"type":"Book","data":{"id":"c","isbn":"c","pages":7,"title":"C"}}`}},
	"the last update stays": {
		`update Book set { pages: 7 } where isbn = "a" update Book set { pages: 8 } where isbn = "a"`, 2, 0,
		[]string{`{"type":"Book","data":{"id":"a","isbn":"a","pages":8,"title":"A"}}`, bookB, noteN}},
	"what a row was before is not found": {
		`update Book set { pages: 7 } where pages = 1 update Book set { title: "X" } where pages = 1`, 1, 0,
		[]string{`{"type":"Book","data":{"id":"a","isbn":"a","pages":7,"title":"A"}}`, bookB, noteN}},
	"what a row became is found": {
		`update Book set { pages: 7 } where pages = 1 update Book set { title: "X" } where pages = 7`, 2, 0,
		[]string{`{"type":"Book","data":{"id":"a","isbn":"a","pages":7,"title":"X"}}`, bookB, noteN}},
	"base and memory together": {
		`insert Book { isbn: "c", title: "C", pages: 2 } update Book set { title: "X" } where pages >= 2`, 3, 0,
		[]string{bookA, `{"type":"Book","data":{"id":"b","isbn":"b","pages":2,"title":"X"}}`, noteN, `{"type":"Book","data":{"id":"c","isbn":"c","pages":2,"title":"X"}}`}},
	"an insert of a key takes the whole row's place": {
		`insert Book { isbn: "a", title: "N" }`, 1, 0,
		[]string{`{"type":"Book","data":{"id":"a","isbn":"a","pages":null,"title":"N"}}`, bookB, noteN}},
	"an insert after an update of the same key": {
		`update Book set { pages: 7 } where isbn = "a" insert Book { isbn: "a", title: "N" }`, 2, 0,
		[]string{`{"type":"Book","data":{"id":"a","isbn":"a","pages":null,"title":"N"}}`, bookB, noteN}},
	"one key twice": {
		`insert Book { isbn: "c", title: "C", pages: 3 } insert Book { isbn: "c", title: "D" }`, 2, 0,
		[]string{bookA, bookB, noteN, `{"type":"Book","data":{"id":"c","isbn":"c","pages":null,"title":"D"}}`}},
	"two without a key": {
		`insert Note { text: "x" } insert Note { text: "x" } update Note set { n: 5 } where text = "x"`, 4, 0,
		[]string{bookA, bookB, noteN, `{"type":"Note","data":{"id":"new01","n":5,"text":"x"}}`, `{"type":"Note","data":{"id":"new02","n":5,"text":"x"}}`}},
	"update and insert of rows without a key": {
		`update Note set { n: 9 } where n = 1 insert Note { text: "x" }`, 2, 0,
		[]string{bookA, bookB, `{"type":"Note","data":{"id":"n1","n":9,"text":"one"}}`, `{"type":"Note","data":{"id":"new01","n":null,"text":"x"}}`}},
	"an edge to a node of the same call": {
		`insert Book { isbn: "c", title: "C" } insert Sequel { from: "b", to: "c", since: 3 }`, 1, 1,
		[]string{bookA, bookB, noteN, `{"type":"Book","data":{"id":"c","isbn":"c","pages":null,"title":"C"}}`, `{"edge":"Sequel","from":"b","to":"c","data":{"id":"new01","since":3}}`}},
	"the edge before its node": {
		`insert Sequel { from: "c", to: "c" } insert Book { isbn: "c", title: "C" }`, 1, 1,
		[]string{bookA, bookB, noteN, `{"type":"Book","data":{"id":"c","isbn":"c","pages":null,"title":"C"}}`, `{"edge":"Sequel","from":"c","to":"c","data":{"id":"new01","since":null}}`}},
	"an update to null": {
		`update Book set { pages: $null } where isbn = "a"`, 1, 0,
		[]string{`{"type":"Book","data":{"id":"a","isbn":"a","pages":null,"title":"A"}}`, bookB, noteN}},
	"one that finds nothing beside one that does": {
		`update Book set { pages: 7 } where isbn = "nobody" update Note set { n: 2 } where n = 1`, 1, 0,
		[]string{bookA, bookB, `{"type":"Note","data":{"id":"n1","n":2,"text":"one"}}`}},
}

// Statements are run in their order: each sees what those before it wrote, and of
// rows of one id the last stays.
func TestStatementsInOrder(t *testing.T) {
	base := newGraph(t, library, shelf...)
	for name, c := range sequences {
		t.Run(name, func(t *testing.T) {
			g := base.clone()
			g.t = t
			g.n = 0
			p, _, err := g.mutateWith("$null: I32?", `{"null":null}`, c.statements)
			if err != nil {
				t.Fatal(err)
			}
			if p.Nodes != c.nodes || p.Edges != c.edges {
				t.Errorf("%d nodes and %d edges are affected, expected %d and %d", p.Nodes, p.Edges, c.nodes, c.edges)
			}
			g.wantRows(append(c.want, aboutA, sequel1, sequel2)...)
		})
	}
}

// A class is strict as soon as something that is there is replaced by condition.
func TestClasses(t *testing.T) {
	g := newGraph(t, library, shelf...)
	for statements, want := range map[string]txn.Class{
		`insert Book { isbn: "a", title: "N" }`:                                        txn.Additive,
		`insert Sequel { from: "a", to: "a" }`:                                         txn.Additive,
		`update Note set { n: 3 } where n >= 0`:                                        txn.Strict,
		`insert Note { text: "x" } update Note set { n: 4 } where n >= 0`:              txn.Strict,
		`insert Note { text: "x" } update Book set { pages: 4 } where isbn = "nobody"`: txn.Strict,
		`delete Sequel where to = "b"`:                                                 txn.Strict,
	} {
		if p, _, err := g.mutate(statements); err != nil || p.Class != want {
			t.Errorf("%s: %v, %v, expected %v", statements, p, err, want)
		}
	}
	for mode, want := range map[load.Mode]txn.Class{load.Append: txn.Additive, load.Merge: txn.Additive, load.Overwrite: txn.Strict} {
		if p, err := g.load(mode); err != nil || p.Class != want {
			t.Errorf("%s: %v, %v", mode, p, err)
		}
	}
}

// Nothing found is nothing to write.
func TestNothing(t *testing.T) {
	g := newGraph(t, library, shelf...)
	for _, statements := range []string{
		`update Book set { pages: 1 } where isbn = "nobody"`, `delete Book where title = "nobody"`, `delete Sequel where from = "nobody"`,
		`update Note set { n: 1 } where n > 100 update Note set { n: 1 } where n < 0`,
	} {
		err := g.untouched(func(g *graph) error { _, _, err := g.mutate(statements); return err })
		if !errors.Is(err, txn.ErrNothing) {
			t.Errorf("%s: %v", statements, err)
		}
	}
	g.wantRows(bookA, bookB, noteN, aboutA, sequel1, sequel2)
}

// What deletions take away, how it is counted, and how it is told in the history.
func TestDeletions(t *testing.T) {
	base := newGraph(t, library, shelf...)
	for name, c := range map[string]struct {
		statements   string
		nodes, edges int
		want         []string
		texts        map[string]string
	}{
		"a node with its edges": {
			`delete Book where isbn = "a"`, 1, 2, []string{bookB, noteN, sequel2},
			map[string]string{"node:Book": `isbn = 'a'`, "edge:About": `dst IN ('a')`, "edge:Sequel": `src IN ('a') OR dst IN ('a')`}},
		"an edge that leads to itself counts once": {
			`delete Book where isbn = "b"`, 1, 2, []string{bookA, noteN, aboutA},
			map[string]string{"node:Book": `isbn = 'b'`, "edge:Sequel": `src IN ('b') OR dst IN ('b')`}},
		"an edge between two nodes that go counts once": {
			`delete Book where pages >= 1`, 2, 3, []string{noteN},
			map[string]string{"node:Book": `pages >= 1`, "edge:About": `dst IN ('a', 'b')`, "edge:Sequel": `src IN ('a', 'b') OR dst IN ('a', 'b')`}},
		"a node that two statements find": {
			`delete Book where isbn = "a" delete Book where pages < 2`, 1, 2, []string{bookB, noteN, sequel2},
			map[string]string{"node:Book": `(isbn = 'a') OR (pages < 2)`, "edge:About": `dst IN ('a')`, "edge:Sequel": `src IN ('a') OR dst IN ('a')`}},
		"an edge of its own, and with its node": {
			`delete Sequel where from = "a" delete Book where isbn = "a"`, 1, 2, []string{bookB, noteN, sequel2},
			map[string]string{"node:Book": `isbn = 'a'`, "edge:About": `dst IN ('a')`, "edge:Sequel": `(src = 'a') OR (src IN ('a') OR dst IN ('a'))`}},
		"one end is of another type": {
			`delete Note where n = 1`, 1, 1, []string{bookA, bookB, sequel1, sequel2},
			map[string]string{"node:Note": `n = 1`, "edge:About": `src IN ('n1')`}},
		"edges alone": {
			`delete Sequel where to = "b"`, 0, 2, []string{bookA, bookB, noteN, aboutA},
			map[string]string{"edge:Sequel": `dst = 'b'`}},
		"one that finds nothing": {
			`delete Book where isbn = "nobody" delete About where from = "n1"`, 0, 1, []string{bookA, bookB, noteN, sequel1, sequel2},
			map[string]string{"edge:About": `src = 'n1'`}},
	} {
		t.Run(name, func(t *testing.T) {
			g := base.clone()
			g.t = t
			p, r, err := g.mutate(c.statements)
			if err != nil {
				t.Fatal(err)
			}
			if p.Nodes != c.nodes || p.Edges != c.edges || len(r.Tables) != len(c.texts) {
				t.Errorf("%d nodes and %d edges of %d tables are affected, expected %d and %d of %d", p.Nodes, p.Edges, len(r.Tables), c.nodes, c.edges, len(c.texts))
			}
			wantTexts(t, p, c.texts)
			g.wantRows(c.want...)
		})
	}
}
