package index_test

import (
	"encoding/binary"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/omnideck/omnideck/lance/format"
	filepb "github.com/omnideck/omnideck/lance/pb/file"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// manifestWith makes a manifest file of four fragments of ten rows and one
// index with a segment for each list of fragments.
func manifestWith(t *testing.T, segments ...[]byte) []byte {
	t.Helper()
	var raw [][]byte
	for _, fragments := range segments {
		bits := roaring.New()
		for _, f := range fragments {
			bits.Add(uint32(f))
		}
		b, err := bits.ToBytes()
		if err != nil {
			t.Fatal(err)
		}
		if fragments == nil {
			b = nil
		}
		raw = append(raw, b)
	}
	return manifestRaw(t, raw...)
}

func manifestRaw(t *testing.T, bitmaps ...[]byte) []byte {
	t.Helper()
	section := &tablepb.IndexSection{}
	for i, b := range bitmaps {
		section.Indices = append(section.Indices, &tablepb.IndexMetadata{
			Uuid: &tablepb.UUID{Uuid: append(make([]byte, 15), byte(i))}, Fields: []int32{0}, Name: "id_idx", FragmentBitmap: b,
			IndexDetails: &anypb.Any{TypeUrl: "/lance.table.BTreeIndexDetails"}, Files: []*tablepb.IndexFile{{Path: "page_data.lance", SizeBytes: 7}},
		})
	}
	m := &tablepb.Manifest{
		Version: 1, IndexSection: proto.Uint64(0),
		Fields: []*filepb.Field{{Name: "id", ParentId: -1, LogicalType: "string"}},
	}
	for id := range uint64(4) {
		m.Fragments = append(m.Fragments, &tablepb.DataFragment{Id: id, PhysicalRows: 10})
	}
	var out []byte
	for _, msg := range []proto.Message{section, m} {
		b, err := proto.Marshal(msg)
		if err != nil {
			t.Fatal(err)
		}
		if msg == proto.Message(m) {
			pos := len(out)
			out = append(binary.LittleEndian.AppendUint32(out, uint32(len(b))), b...)
			out = binary.LittleEndian.AppendUint64(out, uint64(pos))
			out = append(out, 0, 0, 2, 0)
			out = append(out, "LANC"...)
			break
		}
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(b))), b...)
	}
	return out
}

func parse(t *testing.T, file []byte) *format.Manifest {
	t.Helper()
	m, err := format.ParseManifest(file)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
