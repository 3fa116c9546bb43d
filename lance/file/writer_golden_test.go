package file

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/golden"
	"github.com/omnideck/omnideck/lance/file/layout"
)

// TestGoldenFile shows every byte of a small file, part by part.
func TestGoldenFile(t *testing.T) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.BinaryTypes.String},
		nullable("age", arrow.PrimitiveTypes.Int32),
		nullable("kind", arrow.BinaryTypes.String),
		nullable("tags", arrow.ListOfField(itemOf(arrow.BinaryTypes.String))),
		nullable("gone", arrow.FixedWidthTypes.Date32),
	}, nil))
	b.Field(0).(*array.StringBuilder).AppendValues([]string{"ann", "bob", "cy"}, nil)
	b.Field(1).(*array.Int32Builder).AppendValues([]int32{31, 0, 7}, []bool{true, false, true})
	b.Field(2).(*array.StringBuilder).AppendValues([]string{"person", "person", "person"}, nil)
	tags := b.Field(3).(*array.ListBuilder)
	for _, n := range []int{2, -1, 0} {
		appendList(tags, n, func(v array.Builder, k int) { v.(*array.StringBuilder).Append([]string{"x", "yz"}[k]) })
	}
	b.Field(4).AppendNulls(3)
	rec := b.NewRecordBatch()
	out := writeAll(t, rec, WriteOptions{})
	check(t, rec, out)
	golden.Equal(t, "file/written", annotate(t, out.Bytes()))
}

// annotate dumps the parts of a file with their names, in the file's order.
func annotate(t *testing.T, data []byte) []byte {
	t.Helper()
	o := openBytes(t, "golden", data, Options{})
	var dump bytes.Buffer
	part := func(name string, r layout.Range) {
		fmt.Fprintf(&dump, "%s: %d bytes at %d\n", name, r.Len, r.Off)
		dump.WriteString(hex.Dump(data[r.Off:r.End()]))
	}
	for i := range o.r.NumColumns() {
		m, err := o.r.meta(i)
		if err != nil {
			t.Fatal(err)
		}
		for k, p := range m.pages {
			l, err := pageLayout(p.encoding)
			if err != nil {
				t.Fatal(err)
			}
			// The text form of messages is spaced at random, on purpose.
			text := bytes.Join(bytes.Fields([]byte(l.String())), []byte(" "))
			fmt.Fprintf(&dump, "column %q, page %d, %d rows: %s\n", o.cols[i].Field.Name, k, p.rows, text)
			for n, b := range p.buffers {
				part(fmt.Sprintf("  buffer %d", n), b)
			}
		}
	}
	part("schema", o.r.gbo[0])
	for i, r := range o.r.cmo {
		part(fmt.Sprintf("metadata of column %d", i), r)
	}
	f := o.r.foot
	part("positions of column metadata", layout.Range{Off: f.cmoStart, Len: f.gboStart - f.cmoStart})
	part("positions of global buffers", layout.Range{Off: f.gboStart, Len: entrySize * f.globals})
	part("footer", layout.Range{Off: int64(len(data)) - footerSize, Len: footerSize})
	return dump.Bytes()
}
