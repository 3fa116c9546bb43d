package file

import (
	"errors"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/lance/file/layout"
	"github.com/omnideck/omnideck/lance/file/nest"
	"github.com/omnideck/omnideck/lance/file/pack"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
	filev2pb "github.com/omnideck/omnideck/lance/pb/filev2"
)

// step is a node on the way from a column's root to a leaf.
type step struct {
	layer    int // of the leaf's path
	kind     nest.Kind
	wide     bool // a list with 64-bit offsets
	dim      int  // of a fixed-size list
	child    int
	nullable bool
	name     string
}

// stream is a physical column that is written.
type stream struct {
	name     string // of the top-level column
	leafName string
	steps    []step // outermost first
	nullable bool   // the leaf
	claims   []bool // see pack.Leaf
	col      layout.Column
	factor   int64 // rows of pages for each row

	pieces []piece // of the next page
	joined int     // how many of them are joined ones
	rows   int64
	bytes  int64
	start  int64 // rows that are placed
	pages  []*filev2pb.Page
}

// piece is rows [from, to) of a column's array, which is retained.
type piece struct {
	d        arrow.ArrayData
	from, to int
}

func release(pieces []piece) {
	for _, p := range pieces {
		p.d.Release()
	}
}

// streamsOf makes the streams below a node.
func streamsOf(f *format.Field, n *node, above []step) ([]*stream, error) {
	if n.leaf {
		s := &stream{name: f.Name, leafName: f.Name, steps: slices.Clone(above), nullable: f.Nullable, col: n.col}
		layers := n.col.Path.Layers
		lists, fixed := false, false
		for i, layer := range layers {
			lists, fixed = lists || layer.Kind == nest.List, fixed || layer.Kind == nest.FixedList
			if i > 0 {
				s.steps[len(layers)-1-i].layer = i
			}
		}
		if lists && fixed {
			return nil, format.Unsupportedf("lists in or around a fixed-size list of structs, which Lance itself does not read")
		}
		if lists && (len(layers) > 2 || n.col.Type.Kind == values.Vector) {
			s.claims = []bool{f.Nullable}
			for i := len(s.steps) - 1; i >= 0; i-- {
				s.claims = append(s.claims, s.steps[i].nullable)
			}
		}
		var err error
		s.factor, err = n.col.Path.RowFactor()
		return []*stream{s}, err
	}
	var out []*stream
	for i, c := range n.children {
		st := step{kind: n.kind, child: i, nullable: f.Nullable, name: f.Name}
		switch t := n.dt.(type) {
		case *arrow.LargeListType:
			st.wide = true
		case *arrow.FixedSizeListType:
			st.dim = int(t.Len())
		}
		below, err := streamsOf(f.Children[i], c, append(above[:len(above):len(above)], st))
		if err != nil {
			return nil, err
		}
		out = append(out, below...)
	}
	for _, s := range out {
		s.name = f.Name
	}
	return out, nil
}

// size is about the Arrow bytes of rows [from, to) in the leaf.
func (s *stream) size(d arrow.ArrayData, from, to int) int64 {
	for _, st := range s.steps {
		from, to = from+d.Offset(), to+d.Offset()
		switch {
		case from == to:
			return 0
		case st.kind == nest.List:
			o := offsetsOf(d, st.wide)
			from, to = o.at(from), o.at(to)
		case st.kind == nest.FixedList:
			from, to = from*st.dim, to*st.dim
		}
		d = d.Children()[st.child]
	}
	n := int64(to - from)
	return leafSize(s.col.Type, d, from, to) + n/8 + int64(min(len(s.steps), 2))*n
}

// leafSize is the bytes of elements [from, to) of a leaf's array.
func leafSize(t *values.Type, d arrow.ArrayData, from, to int) int64 {
	n := int64(to - from)
	switch t.Kind {
	case values.Null:
		return 0
	case values.Bool:
		return n / 8
	case values.Bytes:
		if n == 0 {
			return 0
		}
		o := offsetsOf(d, t.Large)
		return n*int64(t.Size()) + int64(o.at(d.Offset()+to)-o.at(d.Offset()+from))
	case values.Packed:
		total := int64(0)
		for i, f := range t.Fields {
			total += leafSize(f, d.Children()[i], d.Offset()+from, d.Offset()+to)
		}
		return total
	case values.Dict:
		// What the values take once they are looked up, on average.
		dict := d.Dictionary()
		return n * (8 + leafSize(t.Item, dict, 0, dict.Len())/int64(max(dict.Len(), 1)))
	}
	return n * int64(t.Size())
}

// fit is how many of rows [from, to) still belong to the page; 0 = it is full.
func (s *stream) fit(d arrow.ArrayData, from, to int, o WriteOptions) int {
	n := int(min(int64(to-from), o.maxPageRows-s.rows))
	room := o.PageBytes - s.bytes
	if n > 0 && s.size(d, from, from+n) > room {
		n = sort.Search(n, func(k int) bool { return s.size(d, from, from+k+1) > room })
	}
	if n == 0 && s.rows == 0 {
		return 1
	}
	return max(n, 0)
}

// keep keeps a piece for the next page. Many small ones are joined.
func (s *stream) keep(p piece, o WriteOptions) error {
	p.d.Retain()
	s.pieces = append(s.pieces, p)
	s.rows += int64(p.to - p.from)
	s.bytes += s.size(p.d, p.from, p.to)
	if len(s.pieces)-s.joined < o.piecesToJoin || s.col.Type.Kind == values.Dict {
		return nil
	}
	if s.joined >= o.piecesToJoin {
		s.joined = 0
	}
	parts := make([]arrow.Array, 0, o.piecesToJoin)
	for _, p := range s.pieces[s.joined:] {
		cut := array.NewSliceData(p.d, int64(p.from), int64(p.to))
		parts = append(parts, array.MakeFromData(cut))
		cut.Release()
	}
	all, err := array.Concatenate(parts, o.Allocator)
	for _, a := range parts {
		a.Release()
	}
	if err != nil {
		return err
	}
	defer all.Release()
	release(s.pieces[s.joined:])
	all.Data().Retain()
	s.pieces = append(s.pieces[:s.joined], piece{all.Data(), 0, all.Len()})
	s.joined = len(s.pieces)
	return nil
}

// job is a page that is being encoded, or several if one does not do.
type job struct {
	s      *stream
	pieces []piece
	bytes  int64 // Arrow
	pages  []*pack.Page
	err    error
	done   chan struct{}
}

func (j *job) run() {
	defer release(j.pieces)
	j.err = j.encode(j.pieces)
}

// encode makes pages of pieces, half of the rows at a time where they do not
// fit into one.
func (j *job) encode(pieces []piece) error {
	l, err := j.s.flatten(pieces)
	if err != nil {
		return err
	}
	p, err := pack.Encode(l, j.s.col)
	if err == nil {
		j.pages = append(j.pages, p)
		return nil
	}
	if !errors.Is(err, pack.ErrSplit) {
		return err
	}
	rows := 0
	for _, p := range pieces {
		rows += p.to - p.from
	}
	if rows < 2 {
		return format.Unsupportedf("a row with too many empty or null lists in it for any page")
	}
	first, second := halves(pieces, rows/2)
	if err := j.encode(first); err != nil {
		return err
	}
	return j.encode(second)
}

// halves cuts pieces behind so many rows.
func halves(pieces []piece, rows int) (first, second []piece) {
	for _, p := range pieces {
		n := min(rows, p.to-p.from)
		if rows -= n; n > 0 {
			first = append(first, piece{p.d, p.from, p.from + n})
		}
		if p.from+n < p.to {
			second = append(second, piece{p.d, p.from + n, p.to})
		}
	}
	return first, second
}
