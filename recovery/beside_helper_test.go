package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/recovery/audit"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// small is a graph of a few rows, a write of two of its tables, and what must be
// true whoever came between whom.
type small struct {
	*testing.T
	start  *memstore.Store
	tables map[string]uint64        // published before the write
	states [4]map[string]stuck.Rows // before; after smallWrite; after smallNext; after both
	seen   map[string]bool          // ends that were looked at
	runs   int
}

const (
	smallSchema = "node Book { isbn: String @key title: String pages: I32? }\nnode Note { text: String @key }\n"
	smallRows   = `{"type":"Book","data":{"isbn":"a","title":"A"}}` + "\n" + `{"type":"Note","data":{"text":"one"}}` + "\n"
	smallWrite  = `{"type":"Book","data":{"isbn":"n","title":"N"}}` + "\n" + `{"type":"Note","data":{"text":"two"}}` + "\n"
	smallNext   = `query q() { update Book set { title: "next" } where isbn = "a" }`
)

func newSmall(t *testing.T) *small {
	t.Helper()
	x := &small{T: t, start: memstore.New(memstore.Options{Name: "g"}), seen: map[string]bool{}}
	w := x.writer(x.start, newTick(), 1)
	if _, err := w.g.Init(context.Background(), engine.InitOptions{Source: []byte(smallSchema)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.load(smallRows); err != nil {
		t.Fatal(err)
	}
	x.tables = versionsOf(stuck.View(t, x.start, ""))
	for i := range x.states {
		s, c := x.start.Clone(), x.clock()
		if i&1 > 0 {
			if _, err := x.writer(s, c, 2).load(smallWrite); err != nil {
				t.Fatal(err)
			}
		}
		if i&2 > 0 {
			if r, err := x.next(s, c); err != nil || r.Commit == nil {
				t.Fatal(r, err)
			}
		}
		x.states[i] = stuck.RowsOf(t, stuck.Graph(t, s))
	}
	return x
}

// clock is one after the graph was made.
func (x *small) clock() *tick {
	c := newTick()
	c.pass(time.Hour)
	return c
}

// writer is a process with ids of its own.
func (x *small) writer(s blob.Store, c *tick, seed byte) tablesWriter {
	x.Helper()
	g, err := engine.Open(context.Background(), s.Properties().URL, engine.Options{Store: s, Write: true, NoCache: true, Clock: c.now, Random: rand.NewChaCha8([32]byte{seed})})
	if err != nil {
		x.Fatal(err)
	}
	return tablesWriter{g, c}
}

// next is another writer.
func (x *small) next(s blob.Store, c *tick) (*engine.Receipt, error) {
	x.Helper()
	_, r, err := x.writer(s, c, 3).g.Mutate(context.Background(), engine.MutateOptions{Source: smallNext})
	return r, err
}

// recoverer are the options of one, with ids of its own.
func recoverer(c *tick, now bool, seed byte) recovery.Options {
	return recovery.Options{Now: now, Clock: c.now, IDs: txn.NewIDs(c.now, rand.NewChaCha8([32]byte{seed}))}
}

// recoverOver looks and executes: the error is the first of all.
func recoverOver(s blob.Store, o recovery.Options) error {
	p, err := recovery.Look(context.Background(), s, o)
	if err != nil {
		return err
	}
	r, err := recovery.Execute(context.Background(), s, p, o)
	for n := 0; err == nil && n < len(r.Settled); n++ {
		err = r.Settled[n].Err
	}
	return err
}

// told is how a write ended.
type told struct {
	acked, refused bool // refused: it was told that nothing was written
	err            error
}

func toldBy(r *engine.Receipt, err error, died bool) told {
	return told{acked: err == nil && !died, refused: err != nil && !died && !engine.Wrote(err), err: err}
}

// ends recovers what is left, by a program that comes when all others are gone,
// and checks what all of them came to: the write, and another one, smallNext.
func (x *small) ends(what string, s blob.Store, c *tick, w, next told) {
	x.Helper()
	x.runs++
	key := fmt.Sprint(contents(x.T, s), w.acked, w.refused, next.acked, next.refused)
	if x.seen[key] {
		return
	}
	x.seen[key] = true
	before, nextBefore := x.rows(what, s)
	c.pass(time.Minute)
	if err := recoverOver(s, recoverer(c, false, 9)); err != nil {
		x.Errorf("%s: the last recovery: %v", what, err)
		return
	}
	once := contents(x.T, s)
	if err := recoverOver(s, recoverer(c, false, 10)); err != nil || contents(x.T, s) != once {
		x.Errorf("%s: a second recovery does something, %v", what, err)
	}
	after, nextAfter := x.rows(what, s)
	w.holds(x.T, what, before, after)
	next.holds(x.T, what+", the other", nextBefore, nextAfter)
	if left := stuck.Keys(x.T, s, sidecar.Folder); len(left) > 0 {
		x.Errorf("%s: records %v are left", what, left)
	}
	stuck.AtRest(x.T, s, "main")
	x.audited(what, s, map[sidecar.Kind]bool{sidecar.Load: after, sidecar.Mutation: nextAfter})
	stuck.Clean(x.T, what, stuck.Graph(x.T, s))
}

// holds checks what a writer was told against what is there before and after the
// last recovery.
func (w told) holds(t testing.TB, what string, before, after bool) {
	t.Helper()
	switch {
	case before && !after:
		t.Errorf("%s: what was visible is gone", what)
	case w.acked && !after:
		t.Errorf("%s: it was acknowledged, and is not there", what)
	case w.refused && after:
		t.Errorf("%s: it was told that nothing was written (%v), and it is there", what, w.err)
	}
}

// rows says which of the writes are there; a graph that is none of their states is
// an error.
func (x *small) rows(what string, s blob.Store) (whole, next bool) {
	x.Helper()
	rows := stuck.RowsOf(x.T, stuck.Graph(x.T, s))
	for i, state := range x.states {
		if maps.Equal(rows, state) {
			return i&1 > 0, i&2 > 0
		}
	}
	x.Errorf("%s: what is there is no state of the graph: %v", what, rows)
	return false, false
}

// audited: one row of each operation and kind, which names a commit that is there
// and the tables as they were moved.
func (x *small) audited(what string, s blob.Store, there map[sidecar.Kind]bool) {
	x.Helper()
	rows, err := audit.Read(context.Background(), s, audit.Options{})
	if err != nil {
		x.Fatal(err)
	}
	ids := commitsOf(x.T, s)
	if twice(ids) {
		x.Errorf("%s: a commit stands twice: %v", what, ids)
	}
	kinds := map[string]audit.Kind{}
	for _, r := range rows {
		if k, twice := kinds[r.Operation]; twice {
			x.Errorf("%s: operation %s is audited as %s and as %s", what, r.Operation, k, r.Kind)
		}
		kinds[r.Operation] = r.Kind
		if !slices.Contains(ids, r.Commit) {
			x.Errorf("%s: the row of %s names commit %s, which is not there", what, r.Operation, r.Commit)
		}
		forward := r.Kind == audit.RolledForward
		if forward != there[r.Writer] {
			x.Errorf("%s: %s is there: %v, and it is audited as %s", what, r.Writer, there[r.Writer], r.Kind)
		}
		if len(r.Outcomes) == 0 {
			x.Errorf("%s: audited is %+v without tables", what, r)
		}
		for _, o := range r.Outcomes {
			from, to := o.From, o.To
			if forward {
				from, to = to, from
			}
			if from != to+1 || r.Writer == sidecar.Load && to != x.tables[o.Alias] {
				x.Errorf("%s: audited is %s %+v, published was version %d", what, r.Kind, o, x.tables[o.Alias])
			}
		}
	}
	if v := versionsOf(stuck.View(x.T, s, "")); !there[sidecar.Load] && !there[sidecar.Mutation] && !maps.Equal(v, x.tables) && len(rows) == 0 {
		x.Errorf("%s: published are %v, were %v, and no row says what was taken back", what, v, x.tables)
	}
}

// contents are the keys of a store with their ETags.
func contents(t testing.TB, s blob.Store) string {
	t.Helper()
	var out strings.Builder
	for e, err := range s.List(context.Background(), blob.ListOptions{Recursive: true}) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&out, e.Key, e.ETag)
	}
	return out.String()
}

// stages of the write, in its order: what it does between them changes nothing
// that anybody looks at.
var stages = []spot{{"put record", 0}, {"commit table", 0}, {"commit table", 1}, {"put record", 1}, {"publish", 0}, {"delete record", 0}}

// stopped is a writer that stands still before one of its stages.
type stopped struct {
	stop
	done chan told
}

// stop begins the write, which goes on when it is told to, and then dies before
// another stage; len(stages) = never. nil: it did not come so far.
func (x *small) stop(s blob.Store, c *tick, at, dies int) *stopped {
	w := &stopped{newStop(), make(chan told, 1)}
	rules := []fault.Rule{stages[at].rule(w.action)}
	if dies < len(stages) {
		rules = append(rules, stages[dies].rule(fault.Halt))
	}
	f := fault.New(s, rules...)
	p := x.writer(f, c, 2)
	go func() {
		r, err := p.load(smallWrite)
		w.done <- toldBy(r, err, f.Halted())
	}()
	select {
	case <-w.here:
		return w
	case <-w.done:
		return nil
	}
}

// goesOn lets it go on until its end.
func (w *stopped) goesOn() told {
	close(w.resume)
	return <-w.done
}

// fine: what a recovery may say that others came beside.
func fine(err error) bool {
	return err == nil || errors.As(err, new(*recovery.ChangedError)) || errors.As(err, new(*recovery.YoungError))
}
