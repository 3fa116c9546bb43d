package load

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn/validate"
)

// Source opens the input from its beginning. It is opened more than once.
type Source func() (io.ReadCloser, error)

// ChunkOptions of a load in chunks.
type ChunkOptions struct {
	Mode     Mode // Append or Merge
	AllowURI func(uri string) error
	// Salt sets this load apart from others: with another salt the entities that
	// have no id of their own get other ids.
	Salt string
	// Rows and Bytes of a type in a chunk, at most, and AllBytes of all types; 0
	// stands for the limits of one write.
	Rows, Bytes, AllBytes int64
}

func (o *ChunkOptions) fill() error {
	if o.Mode != Append && o.Mode != Merge {
		return fmt.Errorf("loading in chunks: found mode %q, expected append or merge: an overwrite is one transaction", o.Mode)
	}
	or := func(n *int64, most int64) {
		if *n <= 0 || *n > most {
			*n = most
		}
	}
	or(&o.Rows, validate.MaxRows)
	or(&o.Bytes, validate.MaxBytes)
	or(&o.AllBytes, validate.MaxBytes)
	return nil
}

// ChunkPlan is one chunk as it will be: one commit.
type ChunkPlan struct {
	Nodes, Edges      int64 // entities
	Bytes             int64 // as limits count
	FirstLine, ToLine int   // the lines it is from are among these
	digest            [sha256.Size]byte
}

// Plan is how an input is loaded in chunks.
type Plan struct {
	Chunks       []ChunkPlan
	Lines        int
	Nodes, Edges int64

	src   Source
	ir    *schema.IR
	o     ChunkOptions
	whole bool   // one chunk holds everything
	once  bool   // no edge comes before a node
	kinds []byte // a bit for each line: it is an edge
}

// MakePlan reads the whole input, and refuses it as Read does, before anything is
// loaded: rows, bytes and digests of every chunk are known then, and no entity is
// held.
func MakePlan(src Source, ir *schema.IR, o ChunkOptions) (*Plan, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	p := &Plan{src: src, ir: ir, o: o, once: true}
	nodes, edges, all := newCutter(&p.o), newCutter(&p.o), newCutter(&p.o)
	r, err := p.src()
	if err != nil {
		return nil, err
	}
	s := newScanner(r, p.ir, Options{AllowURI: p.o.AllowURI})
	s.passing = true
	err = s.each(func(e entity, line []byte) error {
		if e.size > p.o.Bytes {
			return &validate.LimitError{
				Resource: validate.ResourceBytes, Of: e.t.Alias(), Line: e.line, Limit: p.o.Bytes, Actual: e.size,
				Advice: "one entity is more than a chunk may hold",
			}
		}
		part := nodes
		if e.t.Kind == schema.KindEdge {
			part = edges
			p.mark(e.line)
		} else {
			p.once = p.once && edges.empty()
		}
		part.add(&e, line)
		if len(all.made) == 0 { // else everything is more than one chunk
			all.add(&e, line)
		}
		return nil
	})
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	p.Lines = s.frames.line
	p.Chunks = append(nodes.done(), edges.done()...)
	if one := all.done(); len(one) == 1 {
		p.Chunks, p.whole, p.once = one, true, true
	}
	for _, c := range p.Chunks {
		p.Nodes, p.Edges = p.Nodes+c.Nodes, p.Edges+c.Edges
	}
	return p, nil
}

func (p *Plan) mark(line int) {
	for len(p.kinds) <= line/8 {
		p.kinds = append(p.kinds, 0)
	}
	p.kinds[line/8] |= 1 << (line % 8)
}

func (p *Plan) isEdge(line int) bool {
	return line/8 < len(p.kinds) && p.kinds[line/8]>>(line%8)&1 == 1
}

// scan reads the input once, for entities that have ids.
func (p *Plan) scan(skip func(line int) bool, do func(e entity, line []byte) error) error {
	r, err := p.src()
	if err != nil {
		return err
	}
	names := newNamer(p.ir.Domain, p.o.Salt)
	s := newScanner(r, p.ir, Options{AllowURI: p.o.AllowURI})
	s.skip = skip
	err = s.each(func(e entity, line []byte) error {
		if !e.named {
			e.row.ID = names.id(e.t, line)
		}
		return do(e, line)
	})
	return errors.Join(err, r.Close())
}

// cutter says where a chunk ends: before the first entity that would be too much.
// It depends on what comes before alone.
type cutter struct {
	o      *ChunkOptions
	meters map[*schema.Type]*validate.Meter
	now    ChunkPlan
	sum    hash.Hash
	made   []ChunkPlan
}

func newCutter(o *ChunkOptions) *cutter {
	return &cutter{o: o, meters: map[*schema.Type]*validate.Meter{}, sum: sha256.New()}
}

func (c *cutter) empty() bool { return c.now.Nodes+c.now.Edges == 0 && len(c.made) == 0 }

// full reports whether an entity begins a new chunk.
func (c *cutter) full(e *entity) bool {
	m := c.meters[e.t]
	return c.now.Bytes > 0 && (c.now.Bytes+e.size > c.o.AllBytes || m != nil && (m.Rows >= c.o.Rows || m.Bytes+e.size > c.o.Bytes))
}

// add takes an entity; cut says that the chunk before it is done.
func (c *cutter) add(e *entity, line []byte) (cut bool) {
	if cut = c.full(e); cut {
		c.cut()
	}
	m := c.meters[e.t]
	if m == nil {
		m = &validate.Meter{Type: e.t}
		c.meters[e.t] = m
	}
	m.Rows, m.Bytes = m.Rows+1, m.Bytes+e.size
	if c.now.Bytes == 0 {
		c.now.FirstLine = e.line
	}
	c.now.ToLine, c.now.Bytes = e.line, c.now.Bytes+e.size
	if e.t.Kind == schema.KindEdge {
		c.now.Edges++
	} else {
		c.now.Nodes++
	}
	c.sum.Write(line)
	c.sum.Write([]byte{'\n'})
	return cut
}

func (c *cutter) cut() {
	c.sum.Sum(c.now.digest[:0])
	c.made = append(c.made, c.now)
	c.now = ChunkPlan{}
	c.sum.Reset()
	clear(c.meters)
}

// done are the chunks, the last one too.
func (c *cutter) done() []ChunkPlan {
	if c.now.Bytes > 0 {
		c.cut()
	}
	return c.made
}

// Chunk is one chunk with its entities.
type Chunk struct {
	ChunkPlan
	Number, Of int // Number from 1
	Batches    []*Batch
}

// Each reads the input again and hands out its chunks in their order, from the one
// of a number (from 1) on. One chunk is held at a time; do may keep it. When the
// input is not what was planned, the error is a *ChangedError, and the chunk it
// names is not handed out.
func (p *Plan) Each(from int, do func(*Chunk) error) error {
	f := &filler{p: p, from: from, do: do}
	skips := []func(line int) bool{nil}
	if !p.once {
		skips = []func(line int) bool{p.isEdge, func(line int) bool { return !p.isEdge(line) }}
	}
	for _, skip := range skips {
		if err := f.pass(skip); err != nil {
			return err
		}
	}
	if f.done < len(p.Chunks) {
		return &ChangedError{f.done + 1}
	}
	return nil
}

// filler fills chunks.
type filler struct {
	p       *Plan
	from    int
	do      func(*Chunk) error
	done    int // chunks handed out
	batches map[*schema.Type]*Batch
}

// pass reads the input once, without the lines to be skipped.
func (f *filler) pass(skip func(int) bool) error {
	part, kind := newCutter(&f.p.o), schema.KindInterface
	err := f.p.scan(skip, func(e entity, line []byte) error {
		if kind != e.t.Kind && !f.p.whole { // no chunk but the only one has both
			if err := f.flush(part); err != nil {
				return err
			}
		}
		kind = e.t.Kind
		if part.full(&e) {
			if err := f.flush(part); err != nil {
				return err
			}
		}
		part.add(&e, line)
		f.take(&e)
		return nil
	})
	var wrong *InputError
	var syntax *SyntaxError
	var limit *validate.LimitError
	switch { // what was planned had nothing wrong
	case errors.As(err, &wrong), errors.As(err, &syntax), errors.As(err, &limit):
		return &ChangedError{f.done + 1}
	case err != nil:
		return err
	}
	return f.flush(part)
}

func (f *filler) take(e *entity) {
	if f.batches == nil {
		f.batches = map[*schema.Type]*Batch{}
	}
	b := f.batches[e.t]
	if b == nil {
		b = &Batch{Type: e.t}
		f.batches[e.t] = b
	}
	b.Rows, b.Lines, b.Bytes = append(b.Rows, e.row), append(b.Lines, e.line), b.Bytes+e.size
}

// flush ends a chunk and hands it out.
func (f *filler) flush(part *cutter) error {
	if len(f.batches) == 0 {
		return nil
	}
	part.cut()
	plan := part.made[len(part.made)-1]
	part.made = nil
	if f.done >= len(f.p.Chunks) || f.p.Chunks[f.done] != plan {
		return &ChangedError{f.done + 1}
	}
	f.done++
	c := &Chunk{plan, f.done, len(f.p.Chunks), inOrder(f.batches)}
	f.batches = nil
	if c.Number < f.from {
		return nil
	}
	return f.do(c)
}
