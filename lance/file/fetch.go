package file

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance/file/layout"
	"github.com/omnideck/omnideck/lance/format"
)

// block is a run of bytes of the file in memory.
type block struct {
	off int64
	buf []byte
}

func (b block) end() int64 { return b.off + int64(len(b.buf)) }

// cut is a part of the block.
func (b block) cut(r layout.Range) ([]byte, bool) {
	at := r.Off - b.off
	if at < 0 || r.Len < 0 || at > int64(len(b.buf))-r.Len {
		return nil, false
	}
	return b.buf[at : at+r.Len : at+r.Len], true
}

// blocks is what one call fetched, in order. It may be used by several
// goroutines.
type blocks struct {
	r      *Reader
	blocks []block
	pooled [][]byte
}

// get is the layout.Get of what was fetched or is held by the reader.
func (s *blocks) get(rg layout.Range) ([]byte, error) {
	if rg.Len == 0 {
		return nil, nil
	}
	i, found := slices.BinarySearchFunc(s.blocks, rg.Off, func(b block, off int64) int { return cmp.Compare(b.off, off) })
	if !found {
		i--
	}
	if i < 0 {
		return s.r.held(rg)
	}
	if p, ok := s.blocks[i].cut(rg); ok {
		return p, nil
	}
	if p, ok := s.stitch(i, rg); ok {
		return p, nil
	}
	return s.r.held(rg)
}

// stitch copies a range that begins in block i from it and those that follow.
func (s *blocks) stitch(i int, rg layout.Range) ([]byte, bool) {
	end := i
	for at := rg.Off; at < rg.End(); end++ {
		if end == len(s.blocks) || s.blocks[end].off > at {
			return nil, false
		}
		at = max(at, s.blocks[end].end())
	}
	if end <= i+1 {
		return nil, false
	}
	out := make([]byte, 0, rg.Len)
	for _, b := range s.blocks[i:end] {
		from := rg.Off + int64(len(out)) - b.off
		out = append(out, b.buf[from:min(int64(len(b.buf)), rg.End()-b.off)]...)
	}
	return out, true
}

// release gives pooled memory back. What get returned is void then.
func (s *blocks) release() {
	for _, p := range s.pooled {
		pool.Put(&p)
	}
	s.blocks, s.pooled = nil, nil
}

// pool keeps the memory of reads into our own.
var pool sync.Pool

func fromPool(n int64) []byte {
	if p, ok := pool.Get().(*[]byte); ok && int64(cap(*p)) >= n {
		return (*p)[:n]
	}
	return make([]byte, n, (n+n/4+4095)&^4095)
}

// merge joins ranges that overlap or lie at most gap bytes apart, and leaves
// out those that are held already.
func (r *Reader) merge(ranges []layout.Range) []layout.Range {
	var out []layout.Range
	for _, rg := range ranges {
		if rg.Len == 0 || r.have(rg) {
			continue
		}
		out = append(out, rg)
	}
	slices.SortFunc(out, func(a, b layout.Range) int { return cmp.Compare(a.Off, b.Off) })
	n := 0
	for _, rg := range out {
		if n > 0 && rg.Off <= out[n-1].End()+r.opts.Coalesce {
			out[n-1].Len = max(out[n-1].End(), rg.End()) - out[n-1].Off
			continue
		}
		out[n] = rg
		n++
	}
	return out[:n]
}

// maxRequests bounds the reads of one call that are under way together.
const maxRequests = 64

// fetch reads ranges, near ones together, side by side. If the source can read
// into memory of ours, and pooled is set, that comes from the pool and goes back
// with release.
func (r *Reader) fetch(ctx context.Context, ranges []layout.Range, pooled bool) (*blocks, error) {
	s := &blocks{r: r}
	merged := r.merge(ranges)
	for _, m := range merged {
		if m.Off < 0 || m.End() > r.src.Size() {
			return nil, format.Corruptf("%d bytes at %d of an object of %d", m.Len, m.Off, r.src.Size())
		}
	}
	var todo []pending
	for _, m := range merged {
		todo = r.reads(todo, s, m, pooled)
	}
	s.blocks = slices.Grow(s.blocks, len(todo))
	for i, p := range todo {
		if p.part == nil || i == 0 || &p.whole[0] != &todo[i-1].whole[0] {
			s.blocks = append(s.blocks, block{p.rg.Off, p.whole})
		}
		todo[i].block = len(s.blocks) - 1
	}
	if err := beside.Each(ctx, len(todo), maxRequests, func(ctx context.Context, k int) error { return r.read(ctx, s, todo[k]) }); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// pending is one read, of at most ReadBytes. It becomes a block, or fills a
// part of the memory of one.
type pending struct {
	rg    layout.Range
	block int
	into  IntoReader
	part  []byte // of whole; nil without into
	whole []byte
}

// reads appends the reads of one merged range.
func (r *Reader) reads(todo []pending, s *blocks, m layout.Range, pooled bool) []pending {
	into, ok := r.src.(IntoReader)
	var whole []byte
	if ok = ok && pooled; ok {
		whole = fromPool(m.Len)
		s.pooled = append(s.pooled, whole)
	}
	for off := int64(0); off < m.Len; off += r.opts.ReadBytes {
		n := min(r.opts.ReadBytes, m.Len-off)
		p := pending{rg: layout.Range{Off: m.Off + off, Len: n}}
		if ok {
			p.into, p.part, p.whole = into, whole[off:off+n], whole
		}
		todo = append(todo, p)
	}
	return todo
}

// read carries out one read.
func (r *Reader) read(ctx context.Context, s *blocks, p pending) error {
	if p.into != nil {
		return p.into.ReadInto(ctx, p.rg.Off, p.part)
	}
	b, err := r.readRange(ctx, p.rg)
	s.blocks[p.block] = block{p.rg.Off, b}
	return err
}

// readRange reads exactly one range.
func (r *Reader) readRange(ctx context.Context, rg layout.Range) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := r.src.ReadRange(ctx, rg.Off, rg.Len)
	if err != nil {
		return nil, err
	}
	if int64(len(p)) != rg.Len {
		return nil, fmt.Errorf("the store answered %d bytes to a read of %d at %d", len(p), rg.Len, rg.Off)
	}
	return p, nil
}
