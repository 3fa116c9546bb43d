package layout

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/file/nest"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

type (
	enc   = enc21pb.CompressiveEncoding
	layer = enc21pb.RepDefLayer
)

func flat(bits uint64) *enc {
	return &enc{Compression: &enc21pb.CompressiveEncoding_Flat{Flat: &enc21pb.Flat{BitsPerValue: bits}}}
}

func variableEnc() *enc {
	return &enc{Compression: &enc21pb.CompressiveEncoding_Variable{Variable: &enc21pb.Variable{Offsets: flat(32)}}}
}

func fslEnc(n uint64, validity bool, inner *enc) *enc {
	return &enc{Compression: &enc21pb.CompressiveEncoding_FixedSizeList{FixedSizeList: &enc21pb.FixedSizeList{
		ItemsPerValue: n, Values: inner, HasValidity: validity}}}
}

func mini(l *enc21pb.MiniBlockLayout) *enc21pb.PageLayout {
	return &enc21pb.PageLayout{Layout: &enc21pb.PageLayout_MiniBlock{MiniBlock: l}}
}

func zip(l *enc21pb.FullZipLayout) *enc21pb.PageLayout {
	return &enc21pb.PageLayout{Layout: &enc21pb.PageLayout_FullZip{FullZip: l}}
}

func constant(l *enc21pb.ConstantLayout) *enc21pb.PageLayout {
	return &enc21pb.PageLayout{Layout: &enc21pb.PageLayout_Constant{Constant: l}}
}

// page is a page to be read: its buffers as hex, in which spaces and bars are
// for the eye and "XX*n" repeats a byte.
type page struct {
	name    string
	layout  *enc21pb.PageLayout
	buffers []string
	rows    int64
	dt      arrow.DataType
	lists   int // list layers around the leaf
	structs int // structs around the lists
	want    string
}

func bytesOf(t *testing.T, text string) []byte {
	t.Helper()
	var out []byte
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '|' || r == '\n' || r == '\t' }) {
		n := 1
		if at := strings.IndexByte(word, '*'); at >= 0 {
			if _, err := fmt.Sscanf(word[at+1:], "%d", &n); err != nil {
				t.Fatal(err)
			}
			word = word[:at]
		}
		p, err := hex.DecodeString(word)
		if err != nil {
			t.Fatalf("%q: %v", word, err)
		}
		for range n {
			out = append(out, p...)
		}
	}
	return out
}

func (p page) column(t *testing.T) Column {
	t.Helper()
	layers := []nest.Layer{{}}
	for range p.lists {
		layers = append(layers, nest.Layer{Kind: nest.List})
	}
	for range p.structs {
		layers = append(layers, nest.Layer{})
	}
	path, err := nest.NewPath(layers)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := values.TypeOf(p.dt)
	if err != nil {
		t.Fatal(err)
	}
	return Column{typ, path}
}

// read reads rows of a page, and shows levels and values.
func (p page) read(t *testing.T, from, to int64) (string, error) {
	t.Helper()
	var file []byte
	var ranges []Range
	for _, b := range p.buffers {
		bytes := bytesOf(t, b)
		ranges = append(ranges, Range{int64(len(file)), int64(len(bytes))})
		file = append(file, bytes...)
	}
	col := p.column(t)
	get := func(r Range) ([]byte, error) { return file[r.Off:r.End()], nil }
	parsed, err := Parse(p.layout, ranges, p.rows, col)
	if err != nil {
		return "", err
	}
	body, err := parsed.Open(get)
	if err != nil {
		return "", err
	}
	if _, err := body.Ranges(nil, from, to); err != nil {
		return "", err
	}
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	var s Sink
	s.Reset(col, mem, values.NewBudget(1<<20))
	defer s.Values.Release()
	n, encoded := body.Expect(from, to)
	if err := s.Expect(n, encoded); err != nil {
		return "", err
	}
	if err := body.Reader().Read(get, from, to, &s); err != nil {
		return "", err
	}
	lv := s.Levels()
	shapes, err := col.Path.Build(lv, mem)
	if err != nil {
		return "", err
	}
	defer nest.Release(shapes)
	validity := shapes[0].Validity
	shapes[0].Validity = nil
	data, err := s.Values.Finish(validity, shapes[0].Nulls)
	if err != nil {
		return "", err
	}
	defer data.Release()
	arr := array.MakeFromData(data)
	defer arr.Release()
	return strings.TrimSpace(fmt.Sprintf("%v %v %v", lv.Rep, lv.Def, arr)), nil
}

const (
	item, list         = enc21pb.RepDefLayer_ALL_VALID_ITEM, enc21pb.RepDefLayer_ALL_VALID_LIST
	itemNull, listBoth = enc21pb.RepDefLayer_NULLABLE_ITEM, enc21pb.RepDefLayer_NULL_AND_EMPTY_LIST
)

var vec4 = arrow.FixedSizeListOf(4, arrow.PrimitiveTypes.Uint8)

// The chunks and items below are those of real files, as the format's
// description quotes them.
var pages = []page{
	{"bool", mini(&enc21pb.MiniBlockLayout{DefCompression: flat(16), ValueCompression: flat(1), Layers: []layer{itemNull},
		NumBuffers: 1, NumItems: 4, HasLargeChunk: true}),
		[]string{"20000000", "0400 0800 01000000 | 0000 0000 0100 0000 | 09 fe*7"}, 4, arrow.FixedWidthTypes.Boolean, 0, 0,
		"[] [0 0 1 0] [true false (null) true]"},
	{"list of i32 in 2.2", mini(&enc21pb.MiniBlockLayout{RepCompression: flat(16), DefCompression: flat(16), ValueCompression: flat(32),
		Layers: []layer{itemNull, listBoth}, NumBuffers: 1, NumItems: 5, HasLargeChunk: true, RepetitionIndexDepth: 1}),
		[]string{"80000000", "0700 0e00 0e00 14000000 fe*6 | 0100 0000 0100 0100 0100 0000 0100 fefe" +
			"| 0000 0000 0200 0300 0100 0000 0000 fefe | 01000000 02000000 00000000 03000000 04000000 fe*4", "05 00*7 00*8"},
		5, arrow.PrimitiveTypes.Int32, 1, 0, "[1 0 1 1 1 0 1] [0 0 3 4 1 0 0] [1 2 (null) 3 4]"},
	{"list of i32 in 2.1", mini(&enc21pb.MiniBlockLayout{RepCompression: flat(16), DefCompression: flat(16), ValueCompression: flat(32),
		Layers: []layer{itemNull, listBoth}, NumBuffers: 1, NumItems: 5, RepetitionIndexDepth: 1}),
		[]string{"7000", "0700 0e00 0e00 1400 | 0100 0000 0100 0100 0100 0000 0100 fefe" +
			"| 0000 0000 0200 0300 0100 0000 0000 fefe | 01000000 02000000 00000000 03000000 04000000 fe*4", "05 00*7 00*8"},
		5, arrow.PrimitiveTypes.Int32, 1, 0, "[1 0 1 1 1 0 1] [0 0 3 4 1 0 0] [1 2 (null) 3 4]"},
	{"list of lists of i8", mini(&enc21pb.MiniBlockLayout{RepCompression: flat(16), DefCompression: flat(16), ValueCompression: flat(8),
		Layers: []layer{item, listBoth, listBoth}, NumBuffers: 1, NumItems: 4, HasLargeChunk: true, RepetitionIndexDepth: 1}),
		[]string{"60000000", "0800 1000 1000 04000000 fe*6 | 0200 0100 0200 0200 0200 0100 0000 0200 | 0000 0200 0300 0400 0100 0000 0000 0000 | 01020304 fe*4",
			"05 00*7 00*8"},
		5, arrow.PrimitiveTypes.Int8, 2, 0, "[2 1 2 2 2 1 0 2] [0 4 5 6 3 0 0 0] [1 2 3 4]"},
	{"runs", mini(&enc21pb.MiniBlockLayout{ValueCompression: &enc{Compression: &enc21pb.CompressiveEncoding_Rle{Rle: &enc21pb.Rle{Values: flat(32), RunLengths: flat(8)}}},
		Layers: []layer{item}, NumBuffers: 2, NumItems: 8, HasLargeChunk: true}),
		[]string{"30000000", "0000 08000000 02000000 fe*6 | 07000000 09000000 | 06 05 fe*6"}, 8, arrow.PrimitiveTypes.Int32, 0, 0,
		"[] [] [7 7 7 7 7 7 9 9]"},
	{"vectors in chunks", mini(&enc21pb.MiniBlockLayout{DefCompression: flat(16), ValueCompression: fslEnc(4, true, flat(8)),
		Layers: []layer{itemNull}, NumBuffers: 2, NumItems: 3, HasLargeChunk: true}),
		[]string{"50000000", "0300 0600 02000000 0c000000 fe*4 | 0000 0100 0000 fefe | 0f0d fe*6 | 01020304 00000000 05000708 fe*4"}, 3, vec4, 0, 0,
		"[] [0 1 0] [[1 2 3 4] (null) [5 (null) 7 8]]"},
	{"vectors in items", zip(&enc21pb.FullZipLayout{BitsDef: 1, Details: &enc21pb.FullZipLayout_BitsPerValue{BitsPerValue: 40},
		NumItems: 3, NumVisibleItems: 3, ValueCompression: fslEnc(4, true, flat(8)), Layers: []layer{itemNull}}),
		[]string{"00 0f01020304 | 01 0000000000 | 00 0d05000708"}, 3, vec4, 0, 0, "[] [0 1 0] [[1 2 3 4] (null) [5 (null) 7 8]]"},
	{"packed structs", mini(&enc21pb.MiniBlockLayout{ValueCompression: &enc{Compression: &enc21pb.CompressiveEncoding_PackedStruct{
		PackedStruct: &enc21pb.PackedStruct{BitsPerValue: []uint64{16, 8}, Values: flat(24)}}}, Layers: []layer{item}, NumBuffers: 1, NumItems: 2, HasLargeChunk: true}),
		[]string{"10000000", "0000 06000000 fefe | 010002 030004 fefe"}, 2,
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Uint16}, arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Uint8}), 0, 0,
		"[] [] {[1 3] [2 4]}"},
	{"struct of lists", mini(&enc21pb.MiniBlockLayout{RepCompression: flat(16), DefCompression: flat(16), ValueCompression: flat(8),
		Layers: []layer{item, listBoth, itemNull}, NumBuffers: 1, NumItems: 2, HasLargeChunk: true, RepetitionIndexDepth: 1}),
		[]string{"60000000", "0500 0a00 0a00 02000000 fe*6 | 0100 0000 0100 0100 0100 fe*6 | 0000 0000 0300 0100 0200 fe*6 | 0102 fe*6", "04 00*7 00*8"},
		4, arrow.PrimitiveTypes.Int8, 1, 1, "[1 0 1 1 1] [0 0 5 3 4] [1 2]"},
	{"text in items", zip(&enc21pb.FullZipLayout{BitsDef: 1, Details: &enc21pb.FullZipLayout_BitsPerOffset{BitsPerOffset: 32},
		NumItems: 4, NumVisibleItems: 4, ValueCompression: variableEnc(), Layers: []layer{itemNull}}),
		[]string{"00 02000000 6162 | 01 | 00 00000000 | 00 03000000 78797a", "00 07 08 0d 15"}, 4, arrow.BinaryTypes.String, 0, 0,
		`[] [0 1 0 0] ["ab" (null) "" "xyz"]`},
	{"lists of text in items", listsOfText(), []string{textItems, "00 0d 0e 0f 16"}, 4, arrow.BinaryTypes.String, 1, 0, textLists},
	{"with an index of 16 bits", listsOfText(), []string{textItems, "0000 0d00 0e00 0f00 1600"}, 4, arrow.BinaryTypes.String, 1, 0, textLists},
	{"with an index of 32 bits", listsOfText(), []string{textItems, "00000000 0d000000 0e000000 0f000000 16000000"}, 4, arrow.BinaryTypes.String, 1, 0, textLists},
	{"with an index of 64 bits", listsOfText(), []string{textItems, "00*8 0d 00*7 0e 00*7 0f 00*7 16 00*7"}, 4, arrow.BinaryTypes.String, 1, 0, textLists},
	{"all null", constant(&enc21pb.ConstantLayout{Layers: []layer{itemNull}}), nil, 3, arrow.PrimitiveTypes.Int32, 0, 0, "[] [1 1 1] [(null) (null) (null)]"},
	{"inline", constant(&enc21pb.ConstantLayout{Layers: []layer{item}, InlineValue: []byte{7, 0}}), nil, 3, arrow.PrimitiveTypes.Int16, 0, 0, "[] [] [7 7 7]"},
	{"inline with levels", constant(&enc21pb.ConstantLayout{Layers: []layer{itemNull}, InlineValue: []byte{1}}), []string{"", "0000 0100 0000"}, 3,
		arrow.FixedWidthTypes.Boolean, 0, 0, "[] [0 1 0] [true (null) true]"},
	{"stored", constant(&enc21pb.ConstantLayout{Layers: []layer{item}}), []string{"02000000 08000000 02000000 | 00000000 02000000 | 6869"}, 2,
		arrow.BinaryTypes.String, 0, 0, `[] [] ["hi" "hi"]`},
	{"stored with levels", constant(&enc21pb.ConstantLayout{Layers: []layer{itemNull}}),
		[]string{"02000000 08000000 02000000 | 00000000 02000000 | 6869", "", "0000 0100 0000"}, 3, arrow.BinaryTypes.String, 0, 0,
		`[] [0 1 0] ["hi" (null) "hi"]`},
	{"no items", constant(&enc21pb.ConstantLayout{Layers: []layer{item, listBoth}}), []string{"0100 0100 0100 0100", "0100 0200 0100 0100"}, 4,
		arrow.PrimitiveTypes.Int32, 1, 0, "[1 1 1 1] [3 4 3 3] []"},
	{"inline in lists", constant(&enc21pb.ConstantLayout{Layers: []layer{item, list}, InlineValue: []byte{5}}), []string{"0100 0000 0100", ""}, 2,
		arrow.PrimitiveTypes.Uint8, 1, 0, "[1 0 1] [] [5 5 5]"},
	{"blobs", &enc21pb.PageLayout{Layout: &enc21pb.PageLayout_Blob{Blob: &enc21pb.BlobLayout{Layers: []layer{itemNull},
		InnerLayout: mini(&enc21pb.MiniBlockLayout{ValueCompression: &enc{Compression: &enc21pb.CompressiveEncoding_PackedStruct{
			PackedStruct: &enc21pb.PackedStruct{BitsPerValue: []uint64{64, 64}, Values: flat(128)}}}, Layers: []layer{item}, NumBuffers: 1, NumItems: 3, HasLargeChunk: true})}}},
		[]string{"60000000", "0000 30000000 fefe | 40 00*7 05 00*7 | 00*16 | 00 00 01 00*5 00*8"}, 3,
		arrow.StructOf(arrow.Field{Name: "position", Type: arrow.PrimitiveTypes.Uint64}, arrow.Field{Name: "size", Type: arrow.PrimitiveTypes.Uint64}), 0, 0,
		"[] [0 0 1] {[64 0 (null)] [5 0 (null)]}"},
}

// listsOfText is [["ab","c"], null, [], [null,"d"]].
func listsOfText() *enc21pb.PageLayout {
	return zip(&enc21pb.FullZipLayout{BitsRep: 1, BitsDef: 2, Details: &enc21pb.FullZipLayout_BitsPerOffset{BitsPerOffset: 32},
		NumItems: 6, NumVisibleItems: 4, ValueCompression: variableEnc(), Layers: []layer{itemNull, listBoth}})
}

const textItems = "04 02000000 6162 | 00 01000000 63 | 06 | 07 | 05 | 00 01000000 64"

const textLists = `[1 0 1 1 1 0] [0 0 3 4 1 0] ["ab" "c" (null) "d"]`

func TestPages(t *testing.T) {
	for _, p := range pages {
		t.Run(p.name, func(t *testing.T) {
			got, err := p.read(t, 0, p.rows)
			if err != nil || got != p.want {
				t.Errorf("got  %s (%v)\nwant %s", got, err, p.want)
			}
		})
	}
}

// TestPagesDamaged cuts every buffer of every page, flips every bit, and
// claims other numbers of rows: an error or a value.
func TestPagesDamaged(t *testing.T) {
	for _, p := range pages {
		for i, b := range p.buffers {
			sound := bytesOf(t, b)
			for k := range sound {
				q := p
				q.buffers = append([]string{}, p.buffers...)
				q.buffers[i] = hex.EncodeToString(sound[:k])
				mustBeOrderly(t, q)
				for bit := range 8 {
					bad := append([]byte{}, sound...)
					bad[k] ^= 1 << bit
					q.buffers[i] = hex.EncodeToString(bad)
					mustBeOrderly(t, q)
				}
			}
		}
		if len(p.buffers) > 0 {
			q := p
			q.buffers = p.buffers[1:]
			mustBeOrderly(t, q)
			for _, rows := range []int64{0, p.rows - 1, p.rows + 1, 1 << 40} {
				q := p
				q.rows = rows
				mustBeOrderly(t, q)
			}
		}
	}
}

func mustBeOrderly(t *testing.T, p page) {
	t.Helper()
	if p.rows == 0 {
		return
	}
	_, err := p.read(t, 0, min(p.rows, 10))
	if err != nil && !errors.Is(err, format.ErrCorrupt) && !errors.Is(err, format.ErrUnsupported) && !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%s: %v", p.name, err)
	}
}
