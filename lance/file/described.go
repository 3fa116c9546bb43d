package file

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/omnideck/omnideck/lance/file/pack"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/pb"
	enc20pb "github.com/omnideck/omnideck/lance/pb/encodings"
	filepb "github.com/omnideck/omnideck/lance/pb/file"
	filev2pb "github.com/omnideck/omnideck/lance/pb/filev2"
)

var stable = proto.MarshalOptions{Deterministic: true}

// direct is the direct encoding of a message.
func direct(name string, m proto.Message) (*filev2pb.Encoding, error) {
	value, err := stable.Marshal(m)
	if err != nil {
		return nil, err
	}
	all, err := stable.Marshal(&anypb.Any{TypeUrl: "/" + name, Value: value})
	return &filev2pb.Encoding{Location: &filev2pb.Encoding_Direct{Direct: &filev2pb.DirectEncoding{Encoding: all}}}, err
}

// place puts the buffers of a page in the file.
func (s *stream) place(out *output, p *pack.Page) error {
	enc, err := direct(pb.PageLayoutName, p.Layout)
	if err != nil {
		return err
	}
	page := &filev2pb.Page{Length: uint64(p.Rows), Priority: uint64(s.start / s.factor), Encoding: enc}
	for _, b := range p.Buffers {
		page.BufferOffsets = append(page.BufferOffsets, uint64(out.put(b)))
		page.BufferSizes = append(page.BufferSizes, uint64(len(b)))
	}
	s.start += p.Rows
	s.pages = append(s.pages, page)
	return nil
}

// describe is the metadata of the column.
func (s *stream) describe() ([]byte, error) {
	enc, err := direct(pb.ColumnEncodingName, &enc20pb.ColumnEncoding{
		ColumnEncoding: &enc20pb.ColumnEncoding_Values{Values: &emptypb.Empty{}}})
	if err != nil {
		return nil, err
	}
	return stable.Marshal(&filev2pb.ColumnMetadata{Encoding: enc, Pages: s.pages})
}

// describeFile is the schema that the file itself carries.
func describeFile(fields []*format.Field, metadata map[string]string, rows int64) ([]byte, error) {
	schema := &filepb.Schema{}
	_, schema.Metadata = (&format.Schema{Metadata: metadata}).Proto()
	for _, f := range fields {
		schema.Fields = appendField(schema.Fields, f, -1)
	}
	return stable.Marshal(&filepb.FileDescriptor{Schema: schema, Length: uint64(rows)})
}

// blobFields are the children that a blob column has in a file. They have no
// ids.
var blobFields = []*format.Field{
	{ID: -1, Name: "kind", LogicalType: "uint8"},
	{ID: -1, Name: "position", LogicalType: "uint64"},
	{ID: -1, Name: "size", LogicalType: "uint64"},
	{ID: -1, Name: "blob_id", LogicalType: "uint32"},
	{ID: -1, Name: "blob_uri", LogicalType: "string"},
}

// appendField appends a field and those below it.
func appendField(out []*filepb.Field, f *format.Field, parent int32) []*filepb.Field {
	p := f.Proto()
	p.ParentId = parent
	children, below := f.Children, f.ID
	if f.Blob() == format.BlobV2 {
		children, below = blobFields, -1
		p.ExtensionName = ""
		p.Metadata = map[string][]byte{format.MetaBlob: []byte("true"), "lance-encoding:packed": []byte("true")}
	}
	out = append(out, p)
	for _, c := range children {
		out = appendField(out, c, below)
	}
	return out
}

// fits tells whether an array of a type can be written as another. Names of
// items and whether they may be null are the schema's affair.
func fits(want, got arrow.DataType) error {
	if !alike(want, got) {
		return fmt.Errorf("%w: a column of %s, the schema has %s", ErrInput, got, want)
	}
	return nil
}

func alike(want, got arrow.DataType) bool {
	if e, ok := got.(arrow.ExtensionType); ok {
		got = e.StorageType()
	}
	if want.ID() != got.ID() {
		return false
	}
	switch w := want.(type) {
	case *arrow.FixedSizeListType:
		g := got.(*arrow.FixedSizeListType)
		return w.Len() == g.Len() && alike(w.Elem(), g.Elem())
	case *arrow.DictionaryType:
		g := got.(*arrow.DictionaryType)
		return w.IndexType.ID() == g.IndexType.ID() && alike(w.ValueType, g.ValueType)
	case arrow.ListLikeType:
		return alike(w.Elem(), got.(arrow.ListLikeType).Elem())
	case *arrow.StructType:
		g := got.(*arrow.StructType)
		if w.NumFields() != g.NumFields() {
			return false
		}
		for i, f := range w.Fields() {
			if f.Name != g.Field(i).Name && !(f.Name == "" || g.Field(i).Name == "") || !alike(f.Type, g.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return arrow.TypeEqual(want, got)
}
