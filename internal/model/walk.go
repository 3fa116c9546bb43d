package model

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/txn"
)

// Name is that of the store in memory, as if it had been opened by it.
const Name = "walk"

// Happened is what became of an operation.
type Happened struct {
	Op
	From, To int // turns
	Killed   bool
	Fired    int // faults that were met
	Err      error
	Receipt  *engine.Receipt
	Head     string // that a conditional write demanded
	Rows     State  // that a read saw
}

// History is a walk that was taken.
type History struct {
	Walk
	Store    *memstore.Store
	Happened []Happened
	Calls    []string       // of all clients, in the order of their turns
	visible  map[uint64]int // turn in which each version of `__manifest` came to be
	rest     State          // rows that the walk began with
}

// Options of a run.
type Options struct {
	// Under wraps the store that all clients share; nil = it is that of memory.
	Under func(blob.Store) blob.Store
}

// Take takes a walk. It runs in a bubble of testing/synctest.
func Take(ctx context.Context, w Walk, o Options) (*History, error) {
	store := memstore.New(memstore.Options{Name: Name})
	h := &History{Walk: w, Store: store}
	if err := h.begin(ctx); err != nil {
		return nil, err
	}
	by := map[int][]Op{}
	for _, op := range w.Ops {
		by[op.Client] = append(by[op.Client], op)
	}
	t := newTurns(w, len(by))
	shared := &world{Store: store, t: t, visible: map[uint64]int{}}
	if o.Under != nil {
		shared.Store = o.Under(store)
	}
	var mu sync.Mutex
	for _, number := range slices.Sorted(maps.Keys(by)) {
		c := &client{number: number, seed: w.Seed, t: t, world: shared}
		go func() {
			defer t.done()
			for _, op := range by[number] {
				done := c.do(ctx, op)
				mu.Lock()
				h.Happened = append(h.Happened, done)
				mu.Unlock()
			}
		}()
	}
	t.run()
	h.visible, h.Calls = shared.visible, t.calls
	slices.SortFunc(h.Happened, func(a, b Happened) int { return a.N - b.N })
	return h, nil
}

// begin makes the graph.
func (h *History) begin(ctx context.Context) error {
	g, err := open(ctx, h.Store, h.Seed, 0)
	if err != nil {
		return err
	}
	if _, err := g.Init(ctx, engine.InitOptions{Source: []byte(Schema)}); err != nil {
		return err
	}
	if _, err := g.Load(ctx, engine.LoadOptions{Mode: engine.LoadAppend, Input: input(begin.Lines())}); err != nil {
		return err
	}
	h.rest, _ = begin.Apply(State{})
	time.Sleep(time.Minute)
	return nil
}

// open is a fresh process.
func open(ctx context.Context, s blob.Store, seed, life uint64) (*engine.Graph, error) {
	return engine.Open(ctx, "mem://"+Name, engine.Options{Store: s, Write: true, NoCache: true, Random: random(seed, life)})
}

// random is that of one life of a client.
func random(seed, life uint64) io.Reader {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], life)
	return rand.NewChaCha8(key)
}

func input(lines string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(lines)), nil }
}

// client is who makes operations, one after the other.
type client struct {
	number int
	seed   uint64
	t      *turns
	world  *world

	lives uint64
	seat  *seat // nil: it must start
	ids   *txn.IDs
	g     *engine.Graph
	head  string // that it last saw
}

// do makes one operation.
func (c *client) do(ctx context.Context, op Op) Happened {
	out := Happened{Op: op}
	c.t.wait(c.number, op.N, true, "")
	defer c.t.ended(c.number)
	out.From = c.t.count()
	if c.seat == nil {
		c.lives++
		c.seat = &seat{Store: c.world, t: c.t, client: c.number}
		life := uint64(c.number+1)<<32 + c.lives
		c.ids = txn.NewIDs(nil, random(c.seed, life+1<<31))
		if c.g, out.Err = open(ctx, c.seat, c.seed, life); out.Err != nil {
			return out
		}
	}
	c.seat.begin(op)
	switch op.Do {
	case Wait:
		time.Sleep(op.For)
	case Read:
		out.Rows, out.Err = export(ctx, c.g, engine.At{})
	case Recover:
		out.Err = settle(ctx, c.seat, c.ids, op.Now)
	default:
		c.write(ctx, op, &out)
	}
	out.To = c.t.count()
	out.Fired = c.seat.fired()
	if out.Killed = c.seat.killed(); out.Killed {
		c.seat, c.head = nil, ""
	}
	return out
}

func (c *client) write(ctx context.Context, op Op, out *Happened) {
	actor := op.Actor()
	w := engine.WriteOptions{Actor: &actor}
	if op.If {
		if c.head == "" {
			s, err := c.g.Log(ctx, "", 1)
			if err != nil || s.Len() == 0 {
				out.Err = fmt.Errorf("looking for the head: %w", err)
				return
			}
			c.head = s.ID(0)
		}
		out.Head = c.head
		w.IfCommit = &out.Head
	}
	if op.Handle {
		w.Base = engine.BaseHandle
	}
	if op.Do == Mutate {
		_, out.Receipt, out.Err = c.g.Mutate(ctx, engine.MutateOptions{WriteOptions: w, Source: op.Source()})
	} else {
		out.Receipt, out.Err = c.g.Load(ctx, engine.LoadOptions{WriteOptions: w, Mode: engine.LoadMode(op.Do), Input: input(op.Lines())})
	}
	if out.Err == nil && out.Receipt.Commit != nil {
		c.head = out.Receipt.Commit.ID
	}
}

// export is the rows at a moment.
func export(ctx context.Context, g *engine.Graph, at engine.At) (State, error) {
	var out bytes.Buffer
	if _, err := g.Export(ctx, &out, at, nil); err != nil {
		return nil, err
	}
	return ParseExport(out.String())
}
