package file

import (
	"container/list"
	"context"
	"sync"

	"github.com/omnideck/omnideck/lance/file/layout"
)

// headSlot is a page's place in the cache.
type headSlot struct {
	body layout.Body
	elem *list.Element
}

// headCache keeps the bodies of pages, those used last.
type headCache struct {
	mu    sync.Mutex
	limit int64
	size  int64
	used  list.List // of *page, the one used last in front
}

// bodyOverhead is about the memory of a body besides its tables.
const bodyOverhead = 512

func (c *headCache) get(p *page) layout.Body {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.head.body == nil {
		return nil
	}
	c.used.MoveToFront(p.head.elem)
	return p.head.body
}

func (c *headCache) put(p *page, b layout.Body) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.head.body != nil {
		return // another call was faster
	}
	p.head = headSlot{b, c.used.PushFront(p)}
	c.size += b.Size() + bodyOverhead
	for c.size > c.limit && c.used.Len() > 0 {
		last := c.used.Remove(c.used.Back()).(*page)
		c.size -= last.head.body.Size() + bodyOverhead
		last.head = headSlot{}
	}
}

// segment is a run of rows of one page, counted as the page does.
type segment struct {
	page     *page
	body     layout.Body
	from, to int64
}

// segments appends those of rows [from, to) of the table.
func (l *leaf) segments(out []segment, from, to int64) []segment {
	from, to = from*l.factor, to*l.factor
	k := l.pageOf(from)
	for ; from < to && k < len(l.pages); k++ {
		end := min(to, l.starts[k+1])
		if end > from {
			out = append(out, segment{page: l.pages[k], from: from - l.starts[k], to: end - l.starts[k]})
			from = end
		}
	}
	return out
}

// pageOf is the page with row r, counted as pages do.
func (l *leaf) pageOf(r int64) int {
	lo, hi := 0, len(l.pages)
	for lo < hi {
		if mid := (lo + hi) / 2; l.starts[mid+1] > r {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// part is the segments of one leaf in one run of rows.
type part struct {
	leaf     *leaf
	segments []segment
}

// openHeads gives every segment its body. The heads that are not kept are read
// together, unless pre holds them.
func (r *Reader) openHeads(ctx context.Context, parts []part, pre *blocks) error {
	var ranges []layout.Range
	missing := false
	for i := range parts {
		segs := parts[i].segments
		for k := range segs {
			if segs[k].body = r.heads.get(segs[k].page); segs[k].body == nil {
				missing = true
				ranges = append(ranges, segs[k].page.Heads()...)
			}
		}
	}
	if !missing {
		return nil
	}
	if pre == nil {
		var err error
		if pre, err = r.fetch(ctx, ranges, false); err != nil {
			return err
		}
	}
	opened := map[*page]layout.Body{}
	for i := range parts {
		segs := parts[i].segments
		for k := range segs {
			if segs[k].body != nil {
				continue
			}
			p := segs[k].page
			if opened[p] == nil {
				b, err := p.Open(pre.get)
				if err != nil {
					return r.fail(parts[i].leaf.name, p.number, err)
				}
				opened[p] = b
				r.heads.put(p, b)
			}
			segs[k].body = opened[p]
		}
	}
	return nil
}

// dataRanges are the bytes that decoding needs.
func (r *Reader) dataRanges(parts []part) ([]layout.Range, error) {
	var ranges []layout.Range
	var err error
	for _, p := range parts {
		for _, s := range p.segments {
			if ranges, err = s.body.Ranges(ranges, s.from, s.to); err != nil {
				return nil, r.fail(p.leaf.name, s.page.number, err)
			}
		}
	}
	return ranges, nil
}
