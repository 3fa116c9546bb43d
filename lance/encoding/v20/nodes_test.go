package v20

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/lance/encoding/bitpack"
	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	"github.com/omnideck/omnideck/lance/encoding/fsst"
	"github.com/omnideck/omnideck/lance/encoding/variable"
	enc20pb "github.com/omnideck/omnideck/lance/pb/encodings"
)

type enc = enc20pb.ArrayEncoding

func buffer(i uint32) *enc20pb.Buffer { return &enc20pb.Buffer{BufferIndex: i} }

func flatNode(bits uint64, buf uint32) *enc {
	return &enc{ArrayEncoding: &enc20pb.ArrayEncoding_Flat{Flat: &enc20pb.Flat{BitsPerValue: bits, Buffer: buffer(buf)}}}
}

func constantNode(value ...byte) *enc {
	return &enc{ArrayEncoding: &enc20pb.ArrayEncoding_Constant{Constant: &enc20pb.Constant{Value: value}}}
}

func bitpackedNode(packed, unpacked uint64, signed bool) *enc {
	return &enc{ArrayEncoding: &enc20pb.ArrayEncoding_Bitpacked{Bitpacked: &enc20pb.Bitpacked{
		CompressedBitsPerValue: packed, UncompressedBitsPerValue: unpacked, Signed: signed, Buffer: buffer(0)}}}
}

func groupsNode(packed, unpacked uint64) *enc {
	return &enc{ArrayEncoding: &enc20pb.ArrayEncoding_BitpackedForNonNeg{BitpackedForNonNeg: &enc20pb.BitpackedForNonNeg{
		CompressedBitsPerValue: packed, UncompressedBitsPerValue: unpacked, Buffer: buffer(0)}}}
}

func noNulls(values *enc) *enc {
	return &enc{ArrayEncoding: &enc20pb.ArrayEncoding_Nullable{Nullable: &enc20pb.Nullable{
		Nullability: &enc20pb.Nullable_NoNulls{NoNulls: &enc20pb.NoNull{Values: values}}}}}
}

func someNulls(validity, values *enc) *enc {
	return &enc{ArrayEncoding: &enc20pb.ArrayEncoding_Nullable{Nullable: &enc20pb.Nullable{
		Nullability: &enc20pb.Nullable_SomeNulls{SomeNulls: &enc20pb.SomeNull{Validity: validity, Values: values}}}}}
}

func allNulls() *enc {
	return &enc{ArrayEncoding: &enc20pb.ArrayEncoding_Nullable{Nullable: &enc20pb.Nullable{
		Nullability: &enc20pb.Nullable_AllNulls{AllNulls: &enc20pb.AllNull{}}}}}
}

func binaryNode(ends, bytes uint32, adjustment uint64) *enc {
	return &enc{ArrayEncoding: &enc20pb.ArrayEncoding_Binary{Binary: &enc20pb.Binary{
		Indices: noNulls(flatNode(64, ends)), Bytes: flatNode(8, bytes), NullAdjustment: adjustment}}}
}

func fixedBinaryNode(width uint32, buf uint32) *enc {
	return &enc{ArrayEncoding: &enc20pb.ArrayEncoding_FixedSizeBinary{FixedSizeBinary: &enc20pb.FixedSizeBinary{
		Bytes: flatNode(8, buf), ByteWidth: width}}}
}

func dictionaryNode(indices, items *enc, n uint32) *enc {
	return &enc{ArrayEncoding: &enc20pb.ArrayEncoding_Dictionary{Dictionary: &enc20pb.Dictionary{
		Indices: indices, Items: items, NumDictionaryItems: n}}}
}

func vectorNode(dim uint32, items *enc) *enc {
	return &enc{ArrayEncoding: &enc20pb.ArrayEncoding_FixedSizeList{FixedSizeList: &enc20pb.FixedSizeList{
		Dimension: dim, Items: items}}}
}

func packedNode(buf uint32) *enc {
	return &enc{ArrayEncoding: &enc20pb.ArrayEncoding_PackedStruct{PackedStruct: &enc20pb.PackedStruct{Buffer: buffer(buf)}}}
}

func words64(values ...uint64) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, v)
	}
	return out
}

func leaf(typ arrow.DataType, rows int64, node *enc, bufs ...[]byte) *Field {
	return &Field{Type: typ, Pages: []Page{{Rows: rows, Encoding: node, Load: func() (Buffers, error) {
		return Buffers{Page: bufs}, nil
	}}}}
}

func texts(t *testing.T, f *Field, from, to int64) []string {
	t.Helper()
	a, err := Read(f, from, to)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	out := make([]string, a.Len())
	for i := range out {
		out[i] = a.ValueStr(i)
	}
	return out
}

// Nodes that Lance 10 does not write any more, by what their description says.
func TestOlderNodes(t *testing.T) {
	numbers := make([]uint32, 1500)
	for i := range numbers {
		numbers[i] = uint32(i % 100)
	}
	groups := bitpack.Append(bitpack.Append(nil, numbers[:1024], 7), numbers[1024:], 7)
	for name, c := range map[string]struct {
		field    *Field
		from, to int64
		want     []string
	}{
		// 3 bits each, lowest first: 1, 7, 4, 0
		"bitpacked unsigned": {leaf(arrow.PrimitiveTypes.Int16, 4, bitpackedNode(3, 16, false), []byte{0b00111001, 0b0001}), 0, 4, []string{"1", "7", "4", "0"}},
		"bitpacked signed":   {leaf(arrow.PrimitiveTypes.Int64, 4, bitpackedNode(3, 64, true), []byte{0b00111001, 0b0001}), 0, 4, []string{"1", "-1", "-4", "0"}},
		"bitpacked range":    {leaf(arrow.PrimitiveTypes.Int8, 4, noNulls(bitpackedNode(3, 8, true)), []byte{0b00111001, 0b0001}), 1, 3, []string{"-1", "-4"}},
		"bitpacked 0 bits":   {leaf(arrow.PrimitiveTypes.Int8, 2, bitpackedNode(0, 8, true), nil), 0, 2, []string{"0", "0"}},
		"bitpacked 64 bits":  {leaf(arrow.PrimitiveTypes.Int64, 2, bitpackedNode(64, 64, true), words64(1, math.MaxUint64)), 0, 2, []string{"1", "-1"}},
		"bitpacked 61 bits":  {leaf(arrow.PrimitiveTypes.Int64, 2, bitpackedNode(61, 64, true), words64(1|7<<61, math.MaxUint64)), 0, 2, []string{"1", "-1"}},
		"groups":             {leaf(arrow.PrimitiveTypes.Uint32, 1500, groupsNode(7, 32), groups), 1022, 1027, []string{"22", "23", "24", "25", "26"}},
		"groups of 0 bits":   {leaf(arrow.PrimitiveTypes.Uint64, 3, groupsNode(0, 64), nil), 1, 3, []string{"0", "0"}},
		"constant":           {leaf(arrow.PrimitiveTypes.Uint16, 9, constantNode(1, 2), nil), 3, 5, []string{"513", "513"}},
		"fixed-size binary":  {leaf(arrow.BinaryTypes.String, 3, fixedBinaryNode(2, 0), []byte("aabbcc")), 1, 3, []string{"bb", "cc"}},
		"fixed-size of 0":    {leaf(arrow.BinaryTypes.LargeString, 3, fixedBinaryNode(0, 0), nil), 1, 3, []string{"", ""}},
		"bits":               {leaf(arrow.FixedWidthTypes.Boolean, 12, flatNode(1, 0), []byte{0x0f, 0x0a}), 3, 11, []string{"true", "false", "false", "false", "false", "false", "true", "false"}},
		"all null":           {leaf(arrow.BinaryTypes.String, 9, allNulls()), 2, 4, []string{"(null)", "(null)"}},
		"null type":          {leaf(arrow.Null, 9, allNulls()), 2, 4, []string{"(null)", "(null)"}},
		"nulls in vectors":   {leaf(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8), 3, someNulls(flatNode(1, 0), vectorNode(2, someNulls(flatNode(1, 1), flatNode(8, 2)))), []byte{0b101}, []byte{0b011101}, []byte{1, 2, 3, 4, 5, 6}), 0, 3, []string{"[1,null]", "(null)", "[5,null]"}},
	} {
		if got := texts(t, c.field, c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The list of the package comment.
func TestListExample(t *testing.T) {
	item := leaf(arrow.PrimitiveTypes.Int32, 4, flatNode(32, 0), []byte{9, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0})
	list := leaf(arrow.ListOf(arrow.PrimitiveTypes.Int32), 3, nil, words64(2, 5, 2))
	node := &enc20pb.List{Offsets: flatNode(64, 0), NullOffsetAdjustment: 3, NumItems: 2}
	list.Pages[0].Encoding = &enc{ArrayEncoding: &enc20pb.ArrayEncoding_List{List: node}}
	list.Kind, list.Children = List, []*Field{item}
	// A page before with two items of its own and one list.
	first := list.Pages[0]
	first.Rows, first.Load = 1, func() (Buffers, error) { return Buffers{Page: [][]byte{words64(2)}}, nil }
	list.Pages = []Page{first, list.Pages[0]}
	want := []string{"[9,9]", "[1,2]", "(null)", "[]"}
	for from := range 5 {
		for to := from; to <= 4; to++ {
			if got := texts(t, list, int64(from), int64(to)); !slices.Equal(got, want[from:to]) {
				t.Errorf("rows %d to %d: %v, want %v", from, to, got, want[from:to])
			}
		}
	}
}

func TestBufferOwners(t *testing.T) {
	f := leaf(arrow.PrimitiveTypes.Uint8, 1, nil)
	f.Pages[0].Load = func() (Buffers, error) {
		return Buffers{Page: [][]byte{{1}}, Column: [][]byte{{2}}, File: [][]byte{{0}, {3}}}, nil
	}
	for want, ref := range map[string]*enc20pb.Buffer{
		"1": {BufferType: enc20pb.BufferType_PAGE}, "2": {BufferType: enc20pb.BufferType_COLUMN},
		"3": {BufferType: enc20pb.BufferType_FILE, BufferIndex: 1},
	} {
		f.Pages[0].Encoding = &enc{ArrayEncoding: &enc20pb.ArrayEncoding_Flat{Flat: &enc20pb.Flat{BitsPerValue: 8, Buffer: ref}}}
		if got := texts(t, f, 0, 1); got[0] != want {
			t.Errorf("%v: %v, want %s", ref, got, want)
		}
	}
}

func TestDictionaries(t *testing.T) {
	items := binaryNode(1, 2, 4) // "a", null, "bc"
	bufs := [][]byte{{0, 1, 2, 3, 1}, words64(1, 5, 3), []byte("abc")}
	plain := leaf(arrow.BinaryTypes.String, 5, dictionaryNode(flatNode(8, 0), items, 3), bufs...)
	if got, want := texts(t, plain, 0, 5), []string{"(null)", "a", "(null)", "bc", "a"}; !slices.Equal(got, want) {
		t.Errorf("plain: %v, want %v", got, want)
	}
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String}
	dict := leaf(typ, 4, dictionaryNode(flatNode(8, 0), items, 3), []byte{0, 1, 2, 0}, bufs[1], bufs[2])
	if got, want := texts(t, dict, 0, 4), []string{"a", "(null)", "bc", "a"}; !slices.Equal(got, want) {
		t.Errorf("dictionary: %v, want %v", got, want)
	}
}

func TestFSSTIsPacked(t *testing.T) {
	f := manyPages(t)
	table, err := fsst.Parse(f.fields[0].Pages[0].Encoding.GetFsst().GetSymbolTable())
	if err != nil || !table.Packed() {
		t.Errorf("the file of testdata has no packed strings: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	i32, str := arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String
	structOf := arrow.StructOf(arrow.Field{Name: "a", Type: i32}, arrow.Field{Name: "b", Type: arrow.FixedWidthTypes.Boolean})
	deep := flatNode(32, 0)
	for range maxDepth {
		deep = noNulls(deep)
	}
	zstdFlat := flatNode(32, 0)
	zstdFlat.GetFlat().Compression = &enc20pb.Compression{Scheme: "zstd"}
	brotli := proto.Clone(zstdFlat).(*enc)
	brotli.GetFlat().Compression.Scheme = "brotli"
	for name, f := range map[string]*Field{
		"no node":             leaf(i32, 2, &enc{}),
		"no description":      leaf(i32, 2, nil),
		"no buffer":           leaf(i32, 2, flatNode(32, 1), make([]byte, 8)),
		"short buffer":        leaf(i32, 2, flatNode(32, 0), make([]byte, 7)),
		"other width":         leaf(i32, 2, flatNode(64, 0), make([]byte, 16)),
		"width 12":            leaf(i32, 2, flatNode(12, 0), make([]byte, 16)),
		"text of words":       leaf(str, 2, flatNode(32, 0), make([]byte, 16)),
		"words of text":       leaf(i32, 1, binaryNode(0, 1, 2), words64(1), []byte("a")),
		"too deep":            leaf(i32, 2, deep, make([]byte, 8)),
		"short bits":          leaf(i32, 9, someNulls(flatNode(1, 0), flatNode(32, 1)), make([]byte, 1), make([]byte, 36)),
		"short groups":        leaf(i32, 2, groupsNode(5, 32), make([]byte, bitpack.Size(5)-1)),
		"packed width 33":     leaf(i32, 2, groupsNode(33, 32), make([]byte, 33*128)),
		"short bitpacked":     leaf(i32, 3, bitpackedNode(3, 32, false), make([]byte, 1)),
		"bitpacked width 65":  leaf(i32, 3, bitpackedNode(65, 32, false), make([]byte, 100)),
		"constant of 3":       leaf(i32, 2, constantNode(1, 2, 3)),
		"ends fall":           leaf(str, 2, binaryNode(0, 1, 9), words64(2, 1), []byte("ab")),
		"end outside":         leaf(str, 1, binaryNode(0, 1, 9), words64(3), []byte("ab")),
		"huge end":            leaf(str, 1, binaryNode(0, 1, 9), words64(math.MaxUint64), []byte("ab")),
		"no adjustment":       leaf(str, 1, binaryNode(0, 1, 0), words64(1), []byte("ab")),
		"index too great":     leaf(str, 1, dictionaryNode(flatNode(8, 0), binaryNode(1, 2, 2), 1), []byte{2}, words64(1), []byte("a")),
		"many items":          leaf(str, 1, dictionaryNode(flatNode(8, 0), fixedBinaryNode(0, 1), math.MaxUint32), []byte{2}, nil),
		"index of 12 bits":    leaf(str, 1, dictionaryNode(flatNode(12, 0), binaryNode(1, 2, 2), 1), []byte{2}, words64(1), []byte("a")),
		"other dimension":     leaf(arrow.FixedSizeListOf(3, i32), 1, vectorNode(2, flatNode(32, 0)), make([]byte, 12)),
		"vector of a number":  leaf(i32, 1, vectorNode(1, flatNode(32, 0)), make([]byte, 12)),
		"packed bits":         {Type: structOf, Kind: Packed, Pages: leaf(structOf, 1, packedNode(0), make([]byte, 9)).Pages},
		"packed number":       leaf(i32, 1, packedNode(0), make([]byte, 9)),
		"short packed":        {Type: BlobType, Kind: Blob, Pages: leaf(BlobType, 2, packedNode(0), make([]byte, 31)).Pages},
		"list without list":   {Type: arrow.ListOf(i32), Kind: List, Pages: leaf(i32, 2, flatNode(32, 0), make([]byte, 8)).Pages, Children: []*Field{leaf(i32, 2, flatNode(32, 0), make([]byte, 8))}},
		"validity of numbers": leaf(i32, 1, someNulls(flatNode(8, 0), flatNode(32, 1)), make([]byte, 1), make([]byte, 4)),
		"validity twice":      leaf(i32, 1, someNulls(flatNode(1, 0), someNulls(flatNode(1, 0), flatNode(32, 1))), make([]byte, 1), make([]byte, 4)),
		"zstd of nothing":     leaf(i32, 1, zstdFlat, []byte{1, 2, 3}),
		"unknown scheme":      leaf(i32, 1, brotli, []byte{1, 2, 3}),
		"negative rows":       leaf(i32, -1, flatNode(32, 0), make([]byte, 8)),
	} {
		a, err := Read(f, 0, max(1, f.Pages[0].Rows))
		if !errors.Is(err, corrupt.ErrCorrupt) && !errors.Is(err, corrupt.ErrUnsupported) {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
	wide := leaf(arrow.FixedSizeListOf(1<<20, i32), 1<<20, allNulls())
	if _, err := Read(wide, 0, 1<<20); !errors.Is(err, variable.ErrTooLong) {
		t.Errorf("4 TiB of nulls: %v", err)
	}
}

// FuzzRead reads pages whose description and buffers are anything.
func FuzzRead(f *testing.F) {
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int32, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeBinary,
		arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32), BlobType, arrow.Null,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String},
	}
	add := func(typ uint8, node *enc, rows uint16, bufs ...[]byte) {
		description, err := proto.Marshal(node)
		if err != nil {
			f.Fatal(err)
		}
		bufs = append(bufs, nil, nil, nil)
		f.Add(typ, description, rows, rows/3, bufs[0], bufs[1], bufs[2])
	}
	add(0, flatNode(32, 0), 6, make([]byte, 24))
	add(0, bitpackedNode(7, 32, true), 6, make([]byte, 24))
	add(0, groupsNode(3, 32), 1500, make([]byte, 768))
	add(1, someNulls(flatNode(1, 0), flatNode(1, 1)), 12, []byte{1, 2}, []byte{3, 4})
	add(2, binaryNode(0, 1, 6), 3, words64(1, 7, 5), []byte("abcde"))
	add(2, dictionaryNode(flatNode(8, 0), binaryNode(1, 2, 4), 3), 5, []byte{0, 1, 2, 3, 1}, words64(1, 5, 3), []byte("abc"))
	add(7, dictionaryNode(flatNode(8, 0), binaryNode(1, 2, 4), 3), 5, []byte{0, 1, 2, 2, 1}, words64(1, 5, 3), []byte("abc"))
	add(4, vectorNode(3, flatNode(32, 0)), 2, make([]byte, 24))
	add(5, packedNode(0), 2, make([]byte, 32))
	add(6, allNulls(), 2)
	f.Fuzz(func(t *testing.T, typ uint8, description []byte, rows, from uint16, a, b, c []byte) {
		node := &enc{}
		if proto.Unmarshal(description, node) != nil {
			return
		}
		field := leaf(types[int(typ)%len(types)], int64(rows), node, a, b, c)
		if field.Type == BlobType {
			field.Kind = Blob
		}
		from = min(from, rows)
		array, err := Read(field, int64(from), int64(rows))
		if err != nil {
			if !errors.Is(err, corrupt.ErrCorrupt) && !errors.Is(err, corrupt.ErrUnsupported) && !errors.Is(err, variable.ErrTooLong) {
				t.Fatal(err)
			}
			return
		}
		defer array.Release()
		if array.Len() != int(rows-from) {
			t.Fatalf("%d rows of %d", array.Len(), rows-from)
		}
		for i := range array.Len() {
			_ = array.ValueStr(i)
		}
	})
}
