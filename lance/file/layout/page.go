// Package layout decodes the pages of data files 2.1 and 2.2: how a page is cut
// into buffers, and how rows are found in them.
//
// A page goes through three states. A Page is its description, parsed once. Its
// heads (chunk words, dictionary, repetition index, levels of constants) turn
// it into a Body, which knows where every row's bytes are; it does not change
// and is worth keeping. A Reader has scratch memory of its own and decodes runs
// of rows of a Body.
//
// "Rows" here are those of the page: below fixed-size lists of structs these
// are the table's rows times the dimensions.
//
// # Mini-block
//
//	buffer 0     chunk words, u16 or u32 (large): log2 of values in 4 bits, then
//	             the chunk's size in units of 8 bytes, minus one
//	buffer 1     chunks, back to back
//	buffer 2     dictionary, if the layout has one
//	last buffer  repetition index, if there are lists: u64 pairs (ends, partial)
//
// Every chunk but the last has 1 << log values; the last has what is left. A
// chunk, each part of which is filled up to a multiple of 8 bytes:
//
//	u16                   levels
//	u16                   bytes of repetition levels, if the layout has them
//	u16                   bytes of definition levels, if the layout has them
//	u16 or u32 (large)…   bytes of each value buffer
//	                      the buffers, in that order
//
// ends is the number of rows that end in a chunk, partial the number of pairs
// of a row that goes on in the next one. A chunk has a preamble, the rest of a
// row, if the one before has a partial.
//
// # Full-zip
//
//	buffer 0   items: control word, value
//	buffer 1   rows+1 positions in buffer 0 of 1, 2, 4 or 8 bytes; if values are
//	           variable or there are lists
//
// A control word is rep << bits_def | def in 0, 1, 2 or 4 bytes. A fixed value
// is there if the pair has one at all, also for nulls; a variable one (u32 or
// u64 length, bytes) if it is also valid.
//
// # Constant
//
//	inline value, 0 or 2 buffers   the value; raw levels
//	no inline,    1 or 3 buffers   buffer 0 the value; raw levels
//	no inline,    0 buffers        all null, one layer
//	no inline,    2 buffers        no valid value; levels, maybe compressed
//
// A value in a buffer: u32 count, u32 length of each, then the Arrow buffers.
//
// # Blob
//
// Position and size of payloads as a packed struct in an inner layout. A size
// of 0 at a position other than 0 is a null: def << 16 | rep.
package layout

import (
	"github.com/omnideck/omnideck/lance/file/nest"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// Range is a run of bytes of the file.
type Range struct{ Off, Len int64 }

// End is the position behind the range.
func (r Range) End() int64 { return r.Off + r.Len }

// Part is a range inside r.
func (r Range) part(off, n int64) (Range, error) {
	if off < 0 || n < 0 || off > r.Len-n {
		return Range{}, format.Corruptf("%d bytes at %d of a buffer of %d bytes", n, off, r.Len)
	}
	return Range{r.Off + off, n}, nil
}

// Get returns the bytes of a range that Heads or Ranges announced, or of a part
// of one. They are the callee's only until it returns, and not to be written to.
type Get func(r Range) ([]byte, error)

// Page is the description of a page.
type Page interface {
	// Rows is the number of rows.
	Rows() int64
	// Heads are the ranges that Open needs.
	Heads() []Range
	// Open reads the heads.
	Open(get Get) (Body, error)
}

// Body is a page whose heads were read. It may be used by several goroutines.
type Body interface {
	// Size is about the memory that is held, in bytes.
	Size() int64
	// Ranges appends what Read needs for rows [from, to).
	Ranges(rs []Range, from, to int64) ([]Range, error)
	// Expect is about how many values rows [from, to) have, and in how many bytes.
	Expect(from, to int64) (n, encoded int64)
	// Reader makes a reader.
	Reader() Reader
}

// Reader decodes runs of rows. It is used by one goroutine at a time, and goes
// fastest when runs ascend.
type Reader interface {
	// Read appends rows [from, to) to the sink. After an error the sink is void.
	Read(get Get, from, to int64, s *Sink) error
}

// Column is what the schema says about a physical column.
type Column struct {
	Type *values.Type
	Path *nest.Path
}

// Parse reads the description of a page: its layout, where its buffers are and
// how many rows it claims.
func Parse(pl *enc21pb.PageLayout, buffers []Range, rows int64, col Column) (Page, error) {
	switch l := pl.GetLayout().(type) {
	case *enc21pb.PageLayout_MiniBlock:
		return parseMini(l.MiniBlock, buffers, rows, col)
	case *enc21pb.PageLayout_FullZip:
		return parseZip(l.FullZip, buffers, rows, col)
	case *enc21pb.PageLayout_Constant:
		return parseConstant(l.Constant, buffers, rows, col)
	case *enc21pb.PageLayout_Blob:
		return parseBlob(l.Blob, buffers, rows, col)
	case *enc21pb.PageLayout_Sparse:
		return nil, format.Unsupportedf("a page in the sparse layout, of format 2.3")
	}
	return nil, format.Unsupportedf("a page in a layout that this program does not know")
}

// mapOf is the table from def levels of a page to codes.
func mapOf(layers []enc21pb.RepDefLayer, path *nest.Path) (*nest.Map, error) {
	kinds := make([]nest.LayerKind, len(layers))
	for i, l := range layers {
		kinds[i] = nest.LayerKind(l)
	}
	return path.Map(kinds)
}

// need checks the number of buffers of a page.
func need(buffers []Range, n int, what string) error {
	if len(buffers) != n {
		return format.Corruptf("a %s page with %d buffers, expected %d", what, len(buffers), n)
	}
	return nil
}
