package file

import (
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/pb"
	enc20pb "github.com/omnideck/omnideck/lance/pb/encodings"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
	filepb "github.com/omnideck/omnideck/lance/pb/file"
	filev2pb "github.com/omnideck/omnideck/lance/pb/filev2"
)

// madePage is a page of a file made by hand.
type madePage struct {
	layout  *enc21pb.PageLayout
	rows    uint64
	buffers [][]byte
}

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	p, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func wrapped(t testing.TB, name string, m proto.Message) *filev2pb.Encoding {
	t.Helper()
	a := &anypb.Any{TypeUrl: "/" + name, Value: marshal(t, m)}
	return &filev2pb.Encoding{Location: &filev2pb.Encoding_Direct{Direct: &filev2pb.DirectEncoding{Encoding: marshal(t, a)}}}
}

// make22 makes a file of format 2.2 with one column.
func make22(t testing.TB, logicalType string, rows uint64, pages ...madePage) []byte {
	t.Helper()
	var file []byte
	meta := &filev2pb.ColumnMetadata{Encoding: wrapped(t, pb.ColumnEncodingName, &enc20pb.ColumnEncoding{})}
	pad := func() {
		for len(file)%alignment != 0 {
			file = append(file, 'H')
		}
	}
	for _, p := range pages {
		page := &filev2pb.Page{Length: p.rows, Encoding: wrapped(t, pb.PageLayoutName, p.layout)}
		for _, b := range p.buffers {
			page.BufferOffsets = append(page.BufferOffsets, uint64(len(file)))
			page.BufferSizes = append(page.BufferSizes, uint64(len(b)))
			file = append(file, b...)
			pad()
		}
		meta.Pages = append(meta.Pages, page)
	}
	schema := marshal(t, &filepb.FileDescriptor{Length: rows, Schema: &filepb.Schema{Fields: []*filepb.Field{
		{Name: "v", Id: 0, ParentId: -1, LogicalType: logicalType, Nullable: true}}}})
	schemaAt := len(file)
	file = append(file, schema...)
	block, metaAt := marshal(t, meta), len(file)
	file = append(file, block...)
	cmo := len(file)
	file = append(append(file, le(8, uint64(metaAt))...), le(8, uint64(len(block)))...)
	gbo := len(file)
	file = append(append(file, le(8, uint64(schemaAt))...), le(8, uint64(len(schema)))...)
	for _, v := range []int{metaAt, cmo, gbo} {
		file = append(file, le(8, uint64(v))...)
	}
	return append(append(file, le(4, 1)...), append(le(4, 1), append(le(4, 2|2<<16), "LANC"...)...)...)
}

func constantPage(rows uint64, inline []byte, buffers ...[]byte) madePage {
	kind := enc21pb.RepDefLayer_NULLABLE_ITEM
	if inline != nil || len(buffers) == 1 {
		kind = enc21pb.RepDefLayer_ALL_VALID_ITEM
	}
	return madePage{&enc21pb.PageLayout{Layout: &enc21pb.PageLayout_Constant{Constant: &enc21pb.ConstantLayout{
		Layers: []enc21pb.RepDefLayer{kind}, InlineValue: inline}}}, rows, buffers}
}

// TestGreatClaims reads small files that claim very much: what is allocated is
// bounded by a batch, not by the claim.
func TestGreatClaims(t *testing.T) {
	const all = 1 << 32
	text := slices.Concat(le(4, 2), le(4, 8), le(4, 1<<20), le(4, 0), le(4, 1<<20), make([]byte, 1<<20))
	for _, c := range []struct {
		what, logicalType string
		rows              uint64
		pages             []madePage
		limit             int64 // of Arrow memory at once
	}{
		{"nulls", "int64", all, []madePage{constantPage(all, nil)}, 64 << 20},
		{"a number", "int64", all, []madePage{constantPage(all, []byte("12345678"))}, 64 << 20},
		{"vectors of nulls", "fixed_size_list:double:100000", all, []madePage{constantPage(all, nil)}, 256 << 20},
		{"a text of 1 MiB", "string", 1 << 20, []madePage{constantPage(1<<20, nil, text)}, 1 << 30},
	} {
		t.Run(c.what, func(t *testing.T) {
			mem := &peakAllocator{}
			o := openBytes(t, "claims", make22(t, c.logicalType, c.rows, c.pages...), Options{Allocator: mem, Parallelism: 2})
			rows, batches := int64(0), 0
			for b, err := range o.r.Scan(t.Context(), o.cols, ScanOptions{To: -1}) {
				if err != nil {
					t.Fatal(err)
				}
				rows += b.NumRows()
				b.Release()
				if batches++; batches == 5 {
					break
				}
			}
			b, err := o.r.Take(t.Context(), o.cols, []int64{int64(c.rows) - 1, 0})
			if err != nil {
				t.Fatal(err)
			}
			b.Release()
			if peak := mem.peak.Load(); peak > c.limit || mem.now.Load() != 0 {
				t.Errorf("%d bytes at once for %d rows, %d not given back", peak, rows, mem.now.Load())
			}
		})
	}
}

// TestFalseClaims: numbers of rows that cannot be, or do not agree.
func TestFalseClaims(t *testing.T) {
	for what, data := range map[string][]byte{
		"more rows than addresses": make22(t, "int64", 1<<33, constantPage(1<<33, nil)),
		"a page too few":           make22(t, "int64", 10, constantPage(9, nil)),
		"a page too many":          make22(t, "int64", 10, constantPage(9, nil), constantPage(2, nil)),
		"pages that overflow":      make22(t, "int64", 10, constantPage(1<<63, nil), constantPage(1<<63+10, nil)),
		"a value of another width": make22(t, "int64", 10, constantPage(10, []byte("1234"))),
		"no such type":             make22(t, "int65", 10, constantPage(10, nil)),
		"levels of other rows":     make22(t, "int64", 10, constantPage(10, nil, nil, make([]byte, 18))),
	} {
		err := readHostile(t.Context(), data, &peakAllocator{}, (*Reader).BindAll)
		if !errors.Is(err, format.ErrCorrupt) && !errors.Is(err, format.ErrUnsupported) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
