package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
)

// library is a schema of everything that a write is asked to tell apart.
const library = `node Book { isbn: String @key
 title: String
 cover: Blob?
 pages: I32? }
node Note { text: String
 n: I32? }
edge About: Note -> Book
edge Sequel: Book -> Book`

var shelf = []string{
	`{"type":"Book","data":{"isbn":"a","title":"A","cover":"base64:AQID","pages":1}}`,
	`{"type":"Book","data":{"isbn":"b","title":"B","cover":"base64:BAUG","pages":2}}`,
	`{"type":"Book","data":{"isbn":"it's","title":"C"}}`,
	`{"type":"Note","data":{"id":"n1","text":"one","n":1}}`,
	`{"edge":"About","from":"n1","to":"a","data":{"id":"e1"}}`,
	`{"edge":"Sequel","from":"a","to":"b","data":{"id":"s1"}}`,
	`{"edge":"Sequel","from":"b","to":"it's","data":{"id":"s2"}}`,
}

// filled is a graph of a schema with lines in it.
func filled(t testing.TB, schema string, lines []string) (*memstore.Store, *engine.Graph) {
	t.Helper()
	s := memstore.New(memstore.Options{Name: "case"})
	g := writable(t, s)
	if _, err := g.Init(t.Context(), engine.InitOptions{Source: []byte(schema)}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context(), engine.LoadOptions{Mode: engine.LoadAppend, Input: input(lines)}); err != nil {
		t.Fatal(err)
	}
	return s, g
}

func mutate(t testing.TB, g *engine.Graph, statements string) *engine.Receipt {
	t.Helper()
	_, r, err := g.Mutate(t.Context(), engine.MutateOptions{Source: "query q() { " + statements + " }"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Statements see what came before them, and updates keep the blobs that they do
// not set, also beside rows that set them.
func TestStatementsSeeEachOther(t *testing.T) {
	s, g := filled(t, library, shelf)
	_, r, err := g.Mutate(t.Context(), engine.MutateOptions{Params: []byte(`{"c":"base64:BwgJ"}`), Source: `query q($c: Blob) {
		update Book set { title: "A2" } where isbn = "a"
		update Book set { cover: $c } where title = "B"
		insert Book { isbn: "d", title: "A2" }
		update Book set { pages: 9 } where title = "A2"
		insert Note { text: "two" }
		update Note set { n: 5 } where n = 1
		insert About { from: "n1", to: "d" } }`})
	if err != nil {
		t.Fatal(err)
	}
	if r.Nodes != 7 || r.Edges != 1 {
		t.Errorf("%d nodes and %d edges are affected, expected 7 and 1", r.Nodes, r.Edges)
	}
	got := exported(t, g)
	for _, want := range []string{
		`{"id":"a","cover":"base64:AQID","isbn":"a","pages":9,"title":"A2"}`,
		`{"id":"b","cover":"base64:BwgJ","isbn":"b","pages":2,"title":"B"}`,
		`{"id":"d","cover":null,"isbn":"d","pages":9,"title":"A2"}`,
		`{"id":"n1","n":5,"text":"one"}`, `"n":null,"text":"two"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	sound(t, s)
}

// An update that sets no blob keeps all of them.
func TestUpdateKeepsBlobs(t *testing.T) {
	s, g := filled(t, library, shelf)
	mutate(t, g, `update Book set { pages: 7 } where pages > 0`)
	if got := exported(t, g); !strings.Contains(got, `"cover":"base64:AQID","isbn":"a","pages":7`) || !strings.Contains(got, `"cover":"base64:BAUG","isbn":"b","pages":7`) {
		t.Error(got)
	}
	sound(t, s)
}

// A deletion takes edges with it, counts what it finds twice once, and says in
// the history what it did as the Rust engine does.
func TestDeletions(t *testing.T) {
	s, g := filled(t, library, shelf)
	r := mutate(t, g, `delete Book where isbn = "it's" delete Book where pages >= 2 delete Sequel where from = "a" delete Book where title = "nobody"`)
	if r.Nodes != 2 || r.Edges != 2 {
		t.Errorf("%d nodes and %d edges, expected 2 and 2", r.Nodes, r.Edges)
	}
	for alias, want := range map[string]string{
		"node:Book":   `(isbn = 'it''s') OR (pages >= 2)`,
		"edge:Sequel": `(src IN ('it''s') OR dst IN ('it''s')) OR (src IN ('b') OR dst IN ('b')) OR (src = 'a')`,
	} {
		if got := predicate(t, s, alias); got != want {
			t.Errorf("%s: %s, expected %s", alias, got, want)
		}
	}
	if got := exported(t, g); strings.Count(got, "\n") != 3 {
		t.Error(got)
	}
	sound(t, s)
}

// predicate is the text of the newest transaction of a table, a deletion.
func predicate(t *testing.T, s blob.Store, alias string) string {
	t.Helper()
	v, err := manifest.Open(t.Context(), s, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, _ := v.Table(alias)
	snap, err := lance.Open(t.Context(), s, e.Location, lance.OpenOptions{Version: e.Version})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := snap.Transaction(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tx.Proto.GetDelete().GetPredicate()
}

// Nothing matched is no commit, and no object.
func TestNothingToWrite(t *testing.T) {
	s, g := filled(t, library, shelf)
	if r := mutate(t, g, `update Book set { pages: 1 } where isbn = "nobody" update Note set { n: 1 } where n > 100`); r.Commit != nil || r.Nodes != 0 {
		t.Errorf("%+v", r)
	}
	head := mutate(t, g, `update Book set { pages: 3 } where isbn = "a"`).Commit.ID
	before := keys(t, s)
	for _, id := range []string{head, "01ABC"} {
		_, r, err := g.Mutate(t.Context(), engine.MutateOptions{
			Source: `query q() { delete Book where isbn = "nobody" }`, WriteOptions: engine.WriteOptions{IfCommit: &id},
		})
		var moved *engine.HeadMovedError
		if id == head && (err != nil || r.Commit != nil) || id != head && (!errors.As(err, &moved) || moved.Actual != head) {
			t.Errorf("if at %s: %+v, %v", id, r, err)
		}
	}
	p, err := g.PlanMutate(t.Context(), engine.MutateOptions{Source: `query q() { delete Book where isbn = "a" }`})
	if err != nil || p.Nodes != 1 || p.Edges != 2 || len(p.Tables) != 3 || p.PinnedHead != head {
		t.Errorf("%+v, %v", p, err)
	}
	if after := keys(t, s); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

func keys(t *testing.T, s blob.Store) string {
	t.Helper()
	var out []string
	for e, err := range s.List(t.Context(), blob.ListOptions{Recursive: true}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Key)
	}
	return strings.Join(out, "\n")
}

// A handle that was opened for looking writes nothing.
func TestLookingHandleRefuses(t *testing.T) {
	s, _ := filled(t, library, shelf)
	g, err := engine.Open(t.Context(), "mem://case", engine.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = g.Mutate(t.Context(), engine.MutateOptions{Source: `query q() { delete Book where isbn = "a" }`})
	_, loadErr := g.Load(t.Context(), engine.LoadOptions{Mode: engine.LoadAppend, Input: input(nil)})
	_, initErr := g.Init(t.Context(), engine.InitOptions{})
	_, chunkErr := g.LoadChunks(t.Context(), engine.LoadOptions{Mode: engine.LoadAppend, Input: input(nil)}, nil)
	for _, err := range []error{err, loadErr, initErr, chunkErr} {
		if !errors.Is(err, blob.ErrReadOnly) {
			t.Errorf("%T: %v", err, err)
		}
	}
}

// Limits hold before anything is written.
func TestLimitsBeforeAnything(t *testing.T) {
	s, g := filled(t, library, shelf)
	before := keys(t, s)
	many := numberedBooks(8193)
	_, err := g.Load(t.Context(), engine.LoadOptions{Mode: engine.LoadAppend, Input: many})
	var limit *txn.ResourceLimitError
	if !errors.As(err, &limit) || limit.Limit.Limit != 8192 {
		t.Errorf("%T: %v", err, err)
	}
	if after := keys(t, s); after != before {
		t.Error("something was written")
	}
}

func numberedBooks(n int) func() (io.ReadCloser, error) {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"type":"Book","data":{"isbn":"%05d","title":"T"}}`+"\n", i)
	}
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text.String())), nil }
}

// A load in chunks that is broken off goes on where it was, and a third run finds
// nothing left.
func TestLoadInChunks(t *testing.T) {
	s, g := filled(t, library, shelf)
	lines := numberedBooks(8192 + 5)
	stop := errors.New("stop")
	broken := &stopping{Store: s, err: stop}
	one, err := engine.Open(t.Context(), "mem://case", engine.Options{Store: broken, Write: true})
	if err != nil {
		t.Fatal(err)
	}
	l := engine.LoadOptions{Mode: engine.LoadAppend, Input: lines}
	_, err = one.LoadChunks(t.Context(), l, func(p engine.ChunkProgress) { broken.on.Store(true) })
	var partly *engine.PartlyLoadedError
	if !errors.As(err, &partly) || partly.Commits != 1 || partly.Chunk != 2 || !engine.Wrote(err) || !errors.Is(err, stop) {
		t.Fatalf("%T: %v", err, err)
	}
	for round, want := range [][2]int{{1, 1}, {0, 2}} {
		var told []engine.ChunkProgress
		r, err := g.LoadChunks(t.Context(), l, func(p engine.ChunkProgress) { told = append(told, p) })
		if err != nil {
			t.Fatal(err)
		}
		if r.Chunks != 2 || r.Commits != want[0] || r.Landed != want[1] || len(told) != 2 || told[1].Done != 8197 {
			t.Errorf("round %d: %+v, %+v", round, r, told)
		}
	}
	if n := strings.Count(exported(t, g), `"type":"Book"`); n != 8197+3 {
		t.Errorf("%d books", n)
	}
	l.Mode = engine.LoadOverwrite
	var usage *engine.UsageError
	if _, err := g.LoadChunks(t.Context(), l, nil); !errors.As(err, &usage) {
		t.Errorf("%v", err)
	}
}

// When the lines change after a chunk was loaded, what was loaded is told.
func TestLinesThatChangeBetweenChunks(t *testing.T) {
	_, g := filled(t, library, shelf)
	opened := 0
	l := engine.LoadOptions{Mode: engine.LoadAppend, Input: func() (io.ReadCloser, error) {
		opened++
		return numberedBooks(8192 + 6 - opened)()
	}}
	r, err := g.LoadChunks(t.Context(), l, nil)
	var partly *engine.PartlyLoadedError
	var changed *load.ChangedError
	if !errors.As(err, &partly) || !errors.As(err, &changed) || partly.Commits != 1 || partly.Chunk != 2 || changed.Chunk != 2 || !engine.Wrote(err) || r.Commits != 1 {
		t.Errorf("%+v, %T: %v", r, err, err)
	}
}

// stopping refuses writes once it is on.
type stopping struct {
	blob.Store
	on  atomic.Bool
	err error
}

func (s *stopping) PutIfAbsent(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	if s.on.Load() {
		return blob.Attrs{}, s.err
	}
	return s.Store.PutIfAbsent(ctx, key, data)
}

func (s *stopping) Put(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	if s.on.Load() {
		return blob.Attrs{}, s.err
	}
	return s.Store.Put(ctx, key, data)
}

// The Rust engine opens no graph whose address has a control character: none is
// made there.
func TestInitWhereTheRustEngineCannotOpen(t *testing.T) {
	for _, name := range []string{"a\tb", "a\nb", "a\x7f"} {
		s := memstore.New(memstore.Options{Name: name})
		if _, err := writable(t, s).Init(t.Context(), engine.InitOptions{Source: []byte(library)}); !errors.Is(err, txn.ErrCaller) || !strings.Contains(err.Error(), "control character") {
			t.Errorf("%q: %v", name, err)
		}
		for e := range s.List(t.Context(), blob.ListOptions{Recursive: true}) {
			t.Errorf("%q: left %s", name, e.Key)
		}
	}
}

// What stands in the way of a new graph.
func TestInitRefuses(t *testing.T) {
	s, g := filled(t, library, shelf)
	for _, force := range []bool{false, true} {
		_, err := g.Init(t.Context(), engine.InitOptions{Source: []byte(library), Force: force})
		var taken *txn.AlreadyInitializedError
		if !errors.As(err, &taken) {
			t.Errorf("%T: %v", err, err)
		}
	}
	sound(t, s)
	orphan := inMemory(t)
	if _, err := orphan.Put(t.Context(), "_schema.pg", []byte("node A {}")); err != nil {
		t.Fatal(err)
	}
	var taken *txn.AlreadyInitializedError
	if _, err := writable(t, orphan).Init(t.Context(), engine.InitOptions{Source: []byte(library)}); !errors.As(err, &taken) || taken.Key != "_schema.pg" {
		t.Errorf("%T: %v", err, err)
	}
	if _, err := writable(t, orphan).Init(t.Context(), engine.InitOptions{Source: []byte(library), Force: true}); err != nil {
		t.Error(err)
	}
	sound(t, orphan)
	claimed := inMemory(t)
	if _, err := claimed.Put(t.Context(), "__init_claim.json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	var claim *txn.ClaimedError
	if _, err := writable(t, claimed).Init(t.Context(), engine.InitOptions{Source: []byte(library), Force: true}); !errors.As(err, &claim) {
		t.Errorf("%T: %v", err, err)
	}
}

var drawn = regexp.MustCompile(`[0-9]+\.(arrow|bin)$|[01]{24}[0-9a-f]{26}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9A-Z]{26}`)

// callsText spells requests without what is drawn anew in every run.
func callsText(totals blob.Totals, calls []blob.Call) []byte {
	lines := make([]string, len(calls))
	for i, c := range calls {
		lines[i] = fmt.Sprintf("%2d  %-4s  %-13s %s", c.Hop, c.Op, c.Class, drawn.ReplaceAllString(c.Key, "…"))
	}
	slices.Sort(lines)
	return []byte(fmt.Sprintf("requests %d  hops %d\n%s\n", totals.Requests, totals.Hops, strings.Join(lines, "\n")))
}

// What of a write that failed may stand.
func TestWrote(t *testing.T) {
	own := &txn.RecoveryRequiredError{OperationID: "A"}
	other := &txn.RecoveryRequiredError{OperationID: "B", Other: true}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{own, true}, {other, false}, {&txn.ContentionError{Err: other}, false}, {&txn.ReadSetChangedError{}, false},
		{&engine.PartlyLoadedError{Commits: 1, Err: other}, true}, {&engine.PartlyLoadedError{Err: own}, true}, {&engine.PartlyLoadedError{Err: other}, false},
	} {
		if got := engine.Wrote(fmt.Errorf("x: %w", c.err)); got != c.want {
			t.Errorf("%T %v: %v", c.err, c.err, got)
		}
	}
}
