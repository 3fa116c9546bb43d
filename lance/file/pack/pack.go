// Package pack makes the pages of data files 2.2: what package layout reads.
//
// # What a page is made of
//
// A Leaf holds a run of rows of one physical column: pairs of levels (package
// nest, whose codes do not depend on the page) and one value for each pair
// that has one, nulls included. Encode chooses a layout and the encodings
// inside, by the first that fits:
//
//  1. no valid value: constant, with the levels in a block
//  2. all valid values are equal, and there are few levels: constant, with the
//     value
//  3. a packed struct with text: full-zip
//  4. an Arrow dictionary, or few enough distinct values: mini-block with a
//     dictionary
//  5. 256 bytes and more: full-zip, unless a struct outside a list is null, in
//     which case Lance 10 miscounts when it reads the page
//  6. mini-block
//
// # Encodings inside
//
// Words of 8 to 64 bits are runs, bit-packed or flat, whichever is smallest;
// text of 32 KiB and more is packed with symbols (fsst) if that helps; values
// of more than 32 KiB are compressed with zstd one by one. Levels and the
// values of dictionaries are blocks, chosen once for the whole page.
//
// # Chunks
//
// A chunk holds about 4 KiB, at most 4096 values (1024 bit-packed), and as
// many pairs as fit into the 16 bits of its sizes. Pairs without a value belong
// to the chunk after them. Where a run of such pairs is too long for any chunk,
// Encode says ErrSplit: half of the rows may do, and in the end the run is
// alone on a constant page, which has no such limit.
//
// The limits are those of Lance 10 as its files show them. Hints in the metadata
// of fields (compression, structural encoding) are not followed.
package pack

import (
	"errors"

	"github.com/omnideck/omnideck/lance/file/layout"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// ErrSplit: the rows do not fit into one page; fewer may.
var ErrSplit = errors.New("too many rows for one page")

// Leaf is a run of rows of one physical column.
type Leaf struct {
	Rows   int64   // as pages count them: times the dimensions of fixed-size lists of structs
	Reps   []uint8 // rep level of every pair; nil: there is no list
	Codes  []uint8 // code of every pair (package nest); nil: all 0
	Values *Values // one for every pair that has one
	// Claims says of each layer, innermost first, whether the page should have
	// levels for its nulls, and for empty lists, whether there are any or not;
	// nil: only for what there is. Lance 10 cannot read several pages of structs
	// or vectors inside lists, its own included, if their layers differ in kind.
	Claims []bool
}

// Page is an encoded page.
type Page struct {
	Rows    int64
	Buffers [][]byte
	Layout  *enc21pb.PageLayout
}

// narrow is the limit of the bytes of values that are kept in chunks.
const narrow = 256

// Encode makes a page of a leaf. ErrSplit asks for fewer rows.
func Encode(l *Leaf, col layout.Column) (*Page, error) {
	lv := newLevels(l, col.Path)
	if lv.valid == 0 {
		return noValue(l, lv, col.Type)
	}
	if value, ok := constantOf(l, lv); ok {
		return constantPage(l, lv, value), nil
	}
	t, v := col.Type, l.Values
	switch t.Kind {
	case values.Packed:
		return packedPage(l, lv, t)
	case values.Dict:
		d, err := dictionaryFor(v, lv, 8*t.Width, signed(t.Arrow))
		if err != nil {
			return nil, err
		}
		return mini(l, lv, d.indices, d)
	}
	if d := tryDictionary(v, lv); d != nil {
		return mini(l, lv, d.indices, d)
	}
	if v.widest() >= narrow && !lv.masked && !(t.Kind == values.Vector && v.isBits()) {
		return zip(l, lv)
	}
	p, err := mini(l, lv, encoderOf(v), nil)
	if errors.Is(err, ErrSplit) && l.Rows == 1 && !lv.masked && t.Kind != values.Bool && t.Kind != values.Vector {
		return zip(l, lv)
	}
	return p, err
}

// packedPage makes a page of packed structs.
func packedPage(l *Leaf, lv *levels, t *values.Type) (*Page, error) {
	switch {
	case len(t.Fields) > 0:
	case len(lv.kinds) == 1:
		return emptyStructs(l), nil
	default:
		return nil, refused("a struct without fields inside another column")
	}
	for _, f := range t.Fields {
		if f.Kind == values.Bytes {
			return zip(l, lv)
		}
	}
	e, err := newPacked(l.Values)
	if err != nil {
		return nil, err
	}
	return mini(l, lv, e, nil)
}

// pageOf wraps a layout.
func pageOf(rows int64, buffers [][]byte, m any) *Page {
	p := &Page{Rows: rows, Buffers: buffers, Layout: &enc21pb.PageLayout{}}
	switch m := m.(type) {
	case *enc21pb.MiniBlockLayout:
		p.Layout.Layout = &enc21pb.PageLayout_MiniBlock{MiniBlock: m}
	case *enc21pb.FullZipLayout:
		p.Layout.Layout = &enc21pb.PageLayout_FullZip{FullZip: m}
	case *enc21pb.ConstantLayout:
		p.Layout.Layout = &enc21pb.PageLayout_Constant{Constant: m}
	}
	return p
}

// refused says what is not written.
func refused(what string) error { return format.Unsupportedf("%s, which is not written", what) }
