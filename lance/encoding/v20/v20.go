// Package v20 decodes the pages of data files of format 2.0.
//
// # Columns
//
// Every field has a column of its own, in the depth-first order of the schema:
// a struct one whose pages have rows but no data, then those of its children;
// a list one of offsets, then those of its item. A fixed-size list of numbers,
// a dictionary, a packed struct and a blob are one column. Structs have no
// validity: a null struct comes back as a valid one whose children are zero.
//
// # Pages
//
// A page is described by a tree of ArrayEncoding nodes, whose leaves address
// buffers of the page (type 0), the column (1) or the file (2). Words are
// little-endian, bits lowest first:
//
//	flat                    words as in Arrow, 1 bit or whole bytes; may be
//	                        zstd or lz4 as in package general
//	constant                one word for all
//	bitpacked               words of so many bits one after the other, signed
//	                        ones to be extended
//	bitpacked_for_non_neg   groups of package bitpack at one width, the last
//	                        one filled up
//	nullable                values, with or without a bit of validity each (1 is
//	                        valid), or nothing, all being null
//	fixed_size_list         items, dimension for each value
//	list                    u64 ends, the 0 in front implied; from the null
//	                        adjustment A on a null list, ended at end - A. The
//	                        items are those of the next column from where those
//	                        of this column's page before ended (num_items)
//	binary                  u64 ends under the same rule, and bytes
//	fixed_size_binary       bytes, byte_width for each value
//	fsst                    a binary, packed as in package fsst
//	dictionary              indices and items. Of a plain column index 0 is null
//	                        and i is item i-1; of a dictionary column index i is
//	                        item i, which may be null
//	packed_struct           the children side by side, row after row
//
// A blob column is a packed struct of position and size (u64) of the payload in
// the file; position 1 of size 0 is null, position 0 of size 0 is empty.
//
// The int32 list [[1,2], null, []] has the ends 2, 5, 2 with A = 3.
package v20

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	enc20pb "github.com/omnideck/omnideck/lance/pb/encodings"
)

// Buffers are the bytes that a page's description may address.
type Buffers struct {
	Page   [][]byte // buffers of the page
	Column [][]byte // buffers of the column
	File   [][]byte // global buffers of the file
}

// get finds an addressed buffer.
func (b *Buffers) get(ref *enc20pb.Buffer) ([]byte, error) {
	var list [][]byte
	switch ref.GetBufferType() {
	case enc20pb.BufferType_PAGE:
		list = b.Page
	case enc20pb.BufferType_COLUMN:
		list = b.Column
	case enc20pb.BufferType_FILE:
		list = b.File
	}
	if ref == nil || uint64(ref.GetBufferIndex()) >= uint64(len(list)) {
		return nil, corrupt.New("format 2.0", "a buffer that is there", "buffer %d of %d of type %v",
			ref.GetBufferIndex(), len(list), ref.GetBufferType())
	}
	return list[ref.GetBufferIndex()], nil
}

// Page is a page of a column. Load reads its buffers; it is called once for
// each read that needs them, and not at all for a struct.
type Page struct {
	Rows     int64
	Encoding *enc20pb.ArrayEncoding
	Load     func() (Buffers, error)
}

// Kind is how a field is laid out.
type Kind int

// The kinds. A Leaf is any field of one column but a packed struct or a blob.
const (
	Leaf Kind = iota
	Struct
	List
	Packed
	Blob
)

// Field is a field to be read, with its column's pages in row order. Children
// of a struct may be left out when Type leaves them out too.
type Field struct {
	Type     arrow.DataType // of a Blob BlobType
	Kind     Kind
	Pages    []Page
	Children []*Field // of a struct; of a list its item
}

// BlobType is what a Blob is read as: where the payload is in the file. Nulls
// are nulls of the struct.
var BlobType = arrow.StructOf(
	arrow.Field{Name: "position", Type: arrow.PrimitiveTypes.Uint64},
	arrow.Field{Name: "size", Type: arrow.PrimitiveTypes.Uint64},
)

// span is rows from to to of a page's rows.
type span struct{ from, to int64 }

func (s span) len() int64 { return s.to - s.from }

// times is the span of s's items, k for each row.
func (s span) times(k int64) (span, error) {
	hi, lo := bits.Mul64(uint64(s.to), uint64(k))
	if hi != 0 || lo>>62 != 0 || k < 0 {
		return span{}, corrupt.New("format 2.0", "lists of a size that can be", "%d items for each of %d rows", k, s.to)
	}
	return span{s.from * k, s.to * k}, nil
}
