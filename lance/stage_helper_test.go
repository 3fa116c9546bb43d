package lance_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
)

// mapColumn changes the values of a column of text.
func mapColumn(rows lance.Rows, name string, f func(string) string) lance.Rows {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for batch, err := range rows {
			if err == nil {
				batch = mapBatch(batch, name, f)
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

func mapBatch(batch arrow.RecordBatch, name string, f func(string) string) arrow.RecordBatch {
	defer batch.Release()
	cols := make([]arrow.Array, batch.NumCols())
	for i, field := range batch.Schema().Fields() {
		cols[i] = batch.Column(i)
		if field.Name != name {
			continue
		}
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for _, v := range values(batch.Column(i)) {
			b.Append(f(v))
		}
		cols[i] = b.NewArray()
	}
	return array.NewRecordBatch(batch.Schema(), cols, batch.NumRows())
}

// values spells all values of a column.
func values(c arrow.Array) []string {
	out := make([]string, c.Len())
	for i := range out {
		out[i] = c.ValueStr(i)
	}
	return out
}

// person is a row of the tables that tests write.
type person struct {
	id    string
	n     *int64
	text  string
	tags  []string // nil = null
	vec   []float32
	day   int32
	at    int64
	photo []byte // nil = null

	// What only the table says of a row.
	rowID, made, last uint64
}

// people is the schema of person.
func people() *format.Schema {
	field := func(id int32, name, typ string, nullable bool) *format.Field {
		return &format.Field{ID: id, ParentID: -1, Name: name, LogicalType: typ, Nullable: nullable}
	}
	key := field(0, "id", "string", false)
	key.PrimaryKey, key.Metadata = true, map[string]string{format.MetaPrimaryKey: "true"}
	tags := field(3, "tags", "list", true)
	tags.Children = []*format.Field{{ID: 4, ParentID: 3, Name: "item", LogicalType: "string", Nullable: true}}
	photo := field(8, "photo", "struct", true)
	photo.Metadata = map[string]string{format.MetaExtensionName: format.ExtBlobV2}
	photo.Children = []*format.Field{
		{ID: 9, ParentID: 8, Name: "data", LogicalType: "large_binary", Nullable: true},
		{ID: 10, ParentID: 8, Name: "uri", LogicalType: "string", Nullable: true},
	}
	return &format.Schema{Fields: []*format.Field{
		key, field(1, "n", "int64", true), field(2, "text", "string", false), tags,
		field(5, "vec", "fixed_size_list:float:3", true), field(6, "day", "date32:day", false), field(7, "at", "date64:ms", false), photo,
	}}
}

var blobInput = arrow.StructOf(
	arrow.Field{Name: "data", Type: arrow.BinaryTypes.LargeBinary, Nullable: true},
	arrow.Field{Name: "uri", Type: arrow.BinaryTypes.String, Nullable: true},
)

// batchOf is people as a batch; photo as bytes where asked, else as a blob is
// written.
func batchOf(mem memory.Allocator, all []*person, asBytes bool) arrow.RecordBatch {
	photo := arrow.Field{Name: "photo", Type: blobInput, Nullable: true}
	if asBytes {
		photo.Type = arrow.BinaryTypes.LargeBinary
	}
	b := array.NewRecordBuilder(mem, arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.BinaryTypes.String},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "text", Type: arrow.BinaryTypes.String},
		{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "vec", Type: arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32), Nullable: true},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32},
		{Name: "at", Type: arrow.FixedWidthTypes.Date64},
		photo,
	}, nil))
	defer b.Release()
	for _, p := range all {
		b.Field(0).(*array.StringBuilder).Append(p.id)
		if n := b.Field(1).(*array.Int64Builder); p.n == nil {
			n.AppendNull()
		} else {
			n.Append(*p.n)
		}
		b.Field(2).(*array.StringBuilder).Append(p.text)
		tags := b.Field(3).(*array.ListBuilder)
		tags.Append(p.tags != nil)
		for _, tag := range p.tags {
			tags.ValueBuilder().(*array.StringBuilder).Append(tag)
		}
		if vec := b.Field(4).(*array.FixedSizeListBuilder); p.vec == nil {
			vec.AppendNull()
		} else {
			vec.Append(true)
			vec.ValueBuilder().(*array.Float32Builder).AppendValues(p.vec, nil)
		}
		b.Field(5).(*array.Date32Builder).Append(arrow.Date32(p.day))
		b.Field(6).(*array.Date64Builder).Append(arrow.Date64(p.at))
		switch blob := b.Field(7).(type) {
		case *array.BinaryBuilder:
			if p.photo == nil {
				blob.AppendNull()
			} else {
				blob.Append(p.photo)
			}
		case *array.StructBuilder:
			if blob.Append(p.photo != nil); p.photo != nil {
				blob.FieldBuilder(0).(*array.BinaryBuilder).Append(p.photo)
				blob.FieldBuilder(1).AppendNull()
			}
		}
	}
	return b.NewRecordBatch()
}

// seeded gives the randomness of a staged transaction.
func seeded(n int) io.Reader {
	return bytes.NewReader(binary.LittleEndian.AppendUint64(make([]byte, 24), uint64(n)))
}

func blobColumns(s *lance.Snapshot) (out []string) {
	for _, f := range s.Schema().Fields {
		if f.Blob() == format.BlobV2 {
			out = append(out, f.Name)
		}
	}
	return out
}

// withBlobs puts the bytes where a scan has descriptors, and takes the
// addresses out.
func withBlobs(s *lance.Snapshot, rows lance.Rows) lance.Rows {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for batch, err := range rows {
			if err == nil {
				batch, err = materialized(s, batch)
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

func materialized(s *lance.Snapshot, batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	defer batch.Release()
	var fields []arrow.Field
	var cols []arrow.Array
	for i, f := range batch.Schema().Fields() {
		switch {
		case f.Name == lance.ColRowAddress:
			continue
		case !slices.Contains(blobColumns(s), f.Name):
			fields, cols = append(fields, f), append(cols, batch.Column(i))
			continue
		}
		blobs, err := s.BlobsOf(batch, f.Name)
		if err != nil {
			return nil, err
		}
		b := array.NewStructBuilder(memory.DefaultAllocator, arrow.StructOf(
			arrow.Field{Name: "uri", Type: arrow.BinaryTypes.String, Nullable: true},
			arrow.Field{Name: "data", Type: arrow.BinaryTypes.Binary, Nullable: true}))
		for _, v := range blobs {
			data, err := v.Read(context.Background(), 0, -1)
			if err != nil {
				return nil, err
			}
			if b.Append(!v.Null); !v.Null {
				b.FieldBuilder(0).AppendNull()
				b.FieldBuilder(1).(*array.BinaryBuilder).Append(data)
			}
		}
		arr := b.NewArray()
		defer arr.Release()
		fields, cols = append(fields, arrow.Field{Name: f.Name, Type: arr.DataType(), Nullable: true}), append(cols, arr)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, batch.NumRows()), nil
}

// without leaves columns out.
func without(rows lance.Rows, names []string) lance.Rows {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for batch, err := range rows {
			if err == nil {
				var fields []arrow.Field
				var cols []arrow.Array
				for i, f := range batch.Schema().Fields() {
					if !slices.Contains(names, f.Name) {
						fields, cols = append(fields, f), append(cols, batch.Column(i))
					}
				}
				next := array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, batch.NumRows())
				batch.Release()
				batch = next
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
	}
}
