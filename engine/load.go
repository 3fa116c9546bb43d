package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/omnideck/omnideck/engine/exec"
	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/validate"
)

// LoadMode is what a load does with what is there.
type LoadMode = load.Mode

// The modes: add and refuse an id that is there; add or replace whole entities;
// replace all entities of each type that occurs.
const (
	LoadAppend    = load.Append
	LoadMerge     = load.Merge
	LoadOverwrite = load.Overwrite
)

// LoadOptions say what to load.
type LoadOptions struct {
	WriteOptions
	Mode LoadMode
	// Input opens the lines from their beginning. It is opened again for another
	// attempt, and twice and more by LoadChunks.
	Input func() (io.ReadCloser, error)
}

// Load loads lines as one commit. An input without entities makes a commit that
// moves no table.
//
// Errors: *load.SyntaxError, *load.InputError, *HeadMovedError, *PlanMovedError,
// *ReadOnlyError, *txn.ConstraintError, *txn.ResourceLimitError, *txn.KeyConflictError, and
// others of package txn.
func (g *Graph) Load(ctx context.Context, l LoadOptions) (*Receipt, error) {
	return do(ctx, g, "load", func(ctx context.Context, o *operation) (*Receipt, error) {
		return o.write(ctx, l.WriteOptions, o.loading(&l))
	})
}

// loading is what a load asks for.
func (o *operation) loading(l *LoadOptions) *intent {
	read := &lines{o: o, l: l}
	return &intent{
		verb: "load", mode: l.Mode, strict: l.Mode == LoadOverwrite, digest: func() string { return read.sum },
		plan: func(ctx context.Context, t *txn.Txn) (*exec.Plan, error) {
			in, err := read.with(t.Contract.IR, t.Contract.IRHash)
			if err != nil {
				return nil, err
			}
			t.Contract.IR = read.ir
			return exec.Load(ctx, t, in.Batches, l.Mode)
		},
	}
}

// lines is an input as it was read with one schema: another attempt takes the
// same entities, with the same ids, when the schema is the same.
type lines struct {
	o    *operation
	l    *LoadOptions
	in   *load.Input
	ir   *schema.IR
	hash string
	sum  string // of the bytes
}

func (x *lines) with(ir *schema.IR, hash string) (*load.Input, error) {
	if x.in != nil && x.hash == hash {
		return x.in, nil
	}
	src, err := x.l.Input()
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var lost error
	sum := sha256.New()
	in, err := load.Read(io.TeeReader(src, sum), ir, load.Options{Mode: x.l.Mode, NewID: func() string {
		id, err := x.o.newID()
		if err != nil {
			lost = err
		}
		return id
	}})
	if err != nil {
		return nil, overLimit(err)
	}
	if lost != nil {
		return nil, lost
	}
	x.in, x.ir, x.hash, x.sum = in, ir, hash, hex.EncodeToString(sum.Sum(nil))
	return in, nil
}

func overLimit(err error) error {
	var l *validate.LimitError
	if errors.As(err, &l) {
		return &txn.ResourceLimitError{Limit: l}
	}
	return err
}

// ChunkProgress is how far a load in chunks came.
type ChunkProgress struct {
	Chunk, Of   int
	Entities    int  // of the chunk
	Landed      bool // it stood in the graph before
	Done, Total int64
	Commit      *Commit // of the chunk; nil when it had landed
}

// ChunkedReceipt is what a load in chunks came to.
type ChunkedReceipt struct {
	Receipt
	Chunks, Commits, Landed int
}

// textBytes bounds what a load in chunks remembers of ids and other texts, so that
// the last chunk looks its own up as fast as the first: some six million ids.
const textBytes = 256 << 20

// PartlyLoadedError: a load in chunks ended before its last chunk.
type PartlyLoadedError struct {
	Chunk, Of int // that was not loaded
	Commits   int // that were made before
	Err       error
}

func (e *PartlyLoadedError) Error() string {
	return fmt.Sprintf("chunk %d of %d was not loaded, %d commits were made before it: %v; load the same lines again to go on", e.Chunk, e.Of, e.Commits, e.Err)
}

func (e *PartlyLoadedError) Unwrap() error { return e.Err }

// LoadChunks loads lines in as many commits as the limits of one ask for, append
// or merge. All lines are read, and refused, before the first. A chunk that
// stands in the graph already is passed over, so that the same load goes on where
// it was broken off (package load). Each chunk is one operation; the next one is
// read meanwhile, so that two are held.
//
// Errors: as Load; *UsageError for another mode; *PartlyLoadedError for what came
// after the lines were read once, a *load.ChangedError among it. The receipt
// beside them says what was committed.
func (g *Graph) LoadChunks(ctx context.Context, l LoadOptions, progress func(ChunkProgress)) (*ChunkedReceipt, error) {
	out := &ChunkedReceipt{Receipt: Receipt{Branch: nameOf(l.Branch)}}
	switch {
	case l.Mode != LoadAppend && l.Mode != LoadMerge:
		return out, &UsageError{What: "load in chunks", Why: "only append and merge can be split; an overwrite is one commit"}
	case l.IfCommit != nil:
		return out, &UsageError{What: "load in chunks", Why: "it makes several commits, and only one can stand on a head that is named"}
	case l.Base.kind == baseView:
		return out, &UsageError{What: "load in chunks", Why: "it makes several commits, and only the first can stand on what is shown"}
	case l.Plan != nil:
		return out, &UsageError{What: "load in chunks", Why: "it makes several commits, and a plan is of one"}
	case g.door == nil:
		return out, &ReadOnlyError{g.uri}
	}
	l.texts = lance.NewTextMemory(textBytes)
	defer l.texts.Forget()
	ir, err := g.contractForLoad(ctx, l.WriteOptions)
	if err != nil {
		return out, err
	}
	plan, err := load.MakePlan(l.Input, ir, load.ChunkOptions{Mode: l.Mode})
	if err != nil {
		return out, overLimit(err)
	}
	out.Chunks = len(plan.Chunks)
	total, seen := plan.Nodes+plan.Edges, map[string]int{}
	var done int64
	err = eachAhead(plan, func(c *load.Chunk) error {
		r, err := g.loadChunk(ctx, l, c)
		if err != nil {
			return err
		}
		done += c.Nodes + c.Edges
		p := ChunkProgress{Chunk: c.Number, Of: c.Of, Entities: int(c.Nodes + c.Edges), Done: done, Total: total, Commit: r.Commit, Landed: r.Commit == nil}
		out.take(r, seen)
		if progress != nil {
			progress(p)
		}
		return nil
	})
	if err != nil {
		return out, &PartlyLoadedError{min(out.Commits+out.Landed+1, out.Chunks), out.Chunks, out.Commits, err}
	}
	return out, nil
}

// errGivenUp ends the reading of chunks that nobody takes any more.
var errGivenUp = errors.New("the load has ended")

// eachAhead is plan.Each that reads the next chunk while one is loaded.
func eachAhead(plan *load.Plan, do func(*load.Chunk) error) error {
	chunks, stop := make(chan *load.Chunk), make(chan struct{})
	var read error
	go func() {
		defer close(chunks)
		read = plan.Each(1, func(c *load.Chunk) error {
			select {
			case chunks <- c:
				return nil
			case <-stop:
				return errGivenUp
			}
		})
	}()
	for c := range chunks {
		if err := do(c); err != nil {
			close(stop)
			for range chunks { // until the reader has ended
			}
			return err
		}
	}
	return read
}

// take adds what one chunk came to.
func (c *ChunkedReceipt) take(r *Receipt, seen map[string]int) {
	if r.Commit == nil {
		c.Landed++
	} else {
		c.Commits++
		c.Commit, c.Tables, c.Attempts = r.Commit, r.Tables, r.Attempts
	}
	for _, l := range r.Loads {
		key := l.Kind + ":" + l.Name
		i, ok := seen[key]
		if !ok {
			i = len(c.Loads)
			seen[key] = i
			c.Loads = append(c.Loads, LoadedType{Kind: l.Kind, Name: l.Name})
		}
		c.Loads[i].Rows += l.Rows
	}
	if c.Warning == nil {
		c.Warning = r.Warning
	}
}

// contractForLoad is the schema that all chunks are read with.
func (g *Graph) contractForLoad(ctx context.Context, w WriteOptions) (*schema.IR, error) {
	return do(ctx, g, "load", func(ctx context.Context, o *operation) (*schema.IR, error) {
		opts, err := o.txnOptions(ctx, w, &intent{})
		if err != nil {
			return nil, err
		}
		t, err := txn.Begin(ctx, o.door, opts)
		if err != nil {
			return nil, said(err)
		}
		return t.Contract.IR, nil
	})
}

// loadChunk loads what is left of one chunk.
func (g *Graph) loadChunk(ctx context.Context, l LoadOptions, c *load.Chunk) (*Receipt, error) {
	return do(ctx, g, "load", func(ctx context.Context, o *operation) (*Receipt, error) {
		return o.write(ctx, l.WriteOptions, &intent{verb: "load", mode: l.Mode, plan: func(ctx context.Context, t *txn.Txn) (*exec.Plan, error) {
			return exec.Chunk(ctx, t, c, l.Mode)
		}})
	})
}
