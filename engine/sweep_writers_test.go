package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/stuck"
)

// What rivals do beside writers of the library.
var (
	addsBook = inserts(`insert Book { isbn: "theirs", title: "T" }`, `"isbn":"theirs"`)
	addsNote = inserts(`insert Note { text: "theirs" }`, `"text":"theirs"`)
	setsA    = sets(`update Book set { title: "theirs" } where isbn = "a"`, `"title":"theirs"`, `"title":"A"`)
)

// writers are those of the library, one for each kind of write.
var writers = []*writer{
	{name: "insert", run: mutation1(`insert Book { isbn: "n", title: "N" }`), rivals: map[string]rival{"same table": addsBook, "other table": addsNote}},
	{name: "update", run: mutation1(`update Book set { pages: 9 } where isbn = "a"`), rivals: map[string]rival{"same table": addsBook, "other table": addsNote, "same row": setsA}},
	{name: "delete", run: mutation1(`delete Book where isbn = "b"`), rivals: map[string]rival{"same table": addsBook, "other table": addsNote, "other row": setsA}},
	{name: "statements", run: mutation1(`insert Note { text: "two" } update Book set { pages: 7 } where isbn = "b" insert About { from: "n1", to: "b" } update Note set { n: 4 } where text = "two"`),
		rivals: map[string]rival{"first table": addsBook, "other table": addsNote, "other row": setsA}},
	{name: "load append", run: loads(engine.LoadAppend, `{"type":"Book","data":{"isbn":"n","title":"N"}}`, `{"type":"Note","data":{"text":"two"}}`, `{"edge":"Sequel","from":"n","to":"a"}`),
		rivals: map[string]rival{"first table": addsBook, "other table": addsNote, "other row": setsA}},
	{name: "load merge", run: loads(engine.LoadMerge, `{"type":"Book","data":{"isbn":"b","title":"B2"}}`, `{"type":"Note","data":{"id":"n2","text":"two"}}`, `{"edge":"Sequel","from":"b","to":"a","data":{"id":"s3"}}`),
		rivals: map[string]rival{"first table": addsBook, "other table": addsNote, "other row": setsA}},
	{name: "load overwrite", run: loads(engine.LoadOverwrite, `{"edge":"About","from":"n1","to":"b","data":{"id":"e9"}}`, `{"edge":"Sequel","from":"b","to":"a","data":{"id":"s9"}}`),
		rivals: map[string]rival{"other table": addsBook, "another table": addsNote, "other row": setsA}},
	{name: "conditional", run: func(ctx context.Context, g *engine.Graph, step func()) (error, error) {
		log, err := g.Log(ctx, "", 1)
		if err != nil {
			return nil, err
		}
		head := log.ID(0)
		return write1(ctx, g, engine.WriteOptions{IfCommit: &head}, `update Book set { pages: 9 } where isbn = "a" insert Note { text: "two" }`, step)
	}, rivals: map[string]rival{"same table": addsBook, "other row": setsA}},
}

// inTurn writes three times through one handle, which remembers what it read.
var inTurn = &writer{name: "in turn", run: func(ctx context.Context, g *engine.Graph, step func()) (warning, err error) {
	for _, text := range []string{`insert Book { isbn: "n", title: "N" }`, `update Book set { pages: 3 } where isbn = "n"`, `insert Note { text: "two" }`} {
		w, err := write1(ctx, g, engine.WriteOptions{}, text, step)
		if warning = errors.Join(warning, w); err != nil {
			return warning, err
		}
	}
	return warning, nil
}, rivals: map[string]rival{"other row": setsA}}

// write1 is one mutation.
func write1(ctx context.Context, g *engine.Graph, o engine.WriteOptions, statements string, step func()) (error, error) {
	_, r, err := g.Mutate(ctx, engine.MutateOptions{WriteOptions: o, Source: "query q() { " + statements + " }"})
	if err != nil {
		return nil, err
	}
	step()
	return r.Warning, nil
}

func mutation1(statements string) func(context.Context, *engine.Graph, func()) (error, error) {
	return func(ctx context.Context, g *engine.Graph, step func()) (error, error) {
		return write1(ctx, g, engine.WriteOptions{}, statements, step)
	}
}

func loads(mode engine.LoadMode, lines ...string) func(context.Context, *engine.Graph, func()) (error, error) {
	return func(ctx context.Context, g *engine.Graph, step func()) (error, error) {
		r, err := g.Load(ctx, engine.LoadOptions{Mode: mode, Input: input(lines)})
		if err != nil {
			return nil, err
		}
		step()
		return r.Warning, nil
	}
}

// inChunks loads two chunks.
var inChunks = &writer{name: "load in chunks", run: func(ctx context.Context, g *engine.Graph, step func()) (error, error) {
	var text strings.Builder
	for i := range 8192 + 2 {
		fmt.Fprintf(&text, `{"type":"Note","data":{"id":"x%05d","text":"T"}}`+"\n", i)
	}
	r, err := g.LoadChunks(ctx, engine.LoadOptions{Mode: engine.LoadAppend, Input: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text.String())), nil
	}}, func(engine.ChunkProgress) { step() })
	return r.Warning, err
}}

// onBranch writes a branch that has tables of its own.
var onBranch = &writer{name: "branch", branch: "rival", run: func(ctx context.Context, g *engine.Graph, step func()) (error, error) {
	return write1(ctx, g, engine.WriteOptions{Branch: "rival"}, `update Port set { country: "XX" } where code = "NLRTM" insert CallsAt { from: "9000204", to: "NLRTM", arrived: datetime("2026-01-01T04:00:00Z") }`, step)
}, rivals: map[string]rival{
	"same table":  inserts(`insert Port { code: "theirs", name: "T", country: "NL" }`, `"code":"theirs"`),
	"other table": inserts(`insert Company { slug: "theirs", name: "T", listed: true }`, `"slug":"theirs"`),
}}

// inMem is a graph in memory.
type inMem struct {
	base *memstore.Store
	url  string // "" = that of the store
}

func (p inMem) store() (blob.Store, error) {
	if s := p.base.Clone(); p.url == "" {
		return s, nil
	} else {
		return stuck.At(s, p.url), nil
	}
}

// Every writer, every fault at every call, in memory: of some writers all places, of
// the others some. OMNIDECK_FULL=1 tries all.
func TestSweepWriters(t *testing.T) {
	for i, w := range writers {
		t.Run(w.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := filled(t, library, shelf)
				(&sweep{T: t, writer: w, place: inMem{base: s}}).swept(fault.Plan{Places: sample([]int{0, 10, 10}[i%3])})
			})
		})
	}
	for _, w := range []*writer{inTurn, inChunks} {
		t.Run(w.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := filled(t, library, shelf)
				(&sweep{T: t, writer: w, place: inMem{base: s}}).swept(fault.Plan{Places: sample(5)})
			})
		})
	}
	t.Run(onBranch.name, func(t *testing.T) {
		files := graphFiles(t, "diverged")
		synctest.Test(t, func(t *testing.T) {
			(&sweep{T: t, writer: onBranch, place: inMem{memory(t, memstore.Options{Name: "g"}, files), "s3://lab/diverged"}}).swept(fault.Plan{Places: sample(8)})
		})
	})
}

// Every writer in every weather.
func TestSweepWeathers(t *testing.T) {
	seeds := make([]uint64, 3)
	if full() {
		seeds = make([]uint64, 40)
	}
	for i := range seeds {
		seeds[i] = uint64(i + 1)
	}
	for _, weather := range fault.Weathers(pass) {
		t.Run(weather.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := filled(t, library, shelf)
				for _, w := range append(writers, inTurn) {
					one := &sweep{T: t, writer: w, place: inMem{base: s}}
					if err := one.begin(); err != nil {
						t.Fatal(err)
					}
					r, err := one.scenario().Weather(context.Background(), weather, seeds...)
					if err != nil {
						t.Errorf("%s: %v", w.name, err)
					}
					t.Logf("%s: %s", w.name, r)
				}
			})
		})
	}
}
