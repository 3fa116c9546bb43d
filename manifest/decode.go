package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
)

// column is one column that is read: its name, whether it is text, whether
// generations before 5 lack it, and where a row keeps it.
type column struct {
	name   string
	isText bool
	modern bool
	text   func(*Row, string)
	number func(*Row, uint64)
}

var columns = []column{
	{name: "object_id", isText: true, text: func(r *Row, s string) { r.ObjectID = s }},
	{name: "object_type", isText: true, text: func(r *Row, s string) { r.Kind = s }},
	{name: "location", isText: true, text: func(r *Row, s string) { r.Location = Text{s, true} }},
	{name: "metadata", isText: true, text: func(r *Row, s string) { r.Metadata = Text{s, true} }},
	{name: "table_key", isText: true, text: func(r *Row, s string) { r.Alias = s }},
	{name: "stable_table_id", modern: true, number: func(r *Row, n uint64) { r.Table = Number{n, true} }},
	{name: "table_incarnation_id", modern: true, number: func(r *Row, n uint64) { r.Incarnation = Number{n, true} }},
	{name: "table_version", number: func(r *Row, n uint64) { r.Version = Number{n, true} }},
	{name: "table_branch", isText: true, text: func(r *Row, s string) { r.Branch = Text{s, true} }},
	{name: "row_count", number: func(r *Row, n uint64) { r.Rows = Number{n, true} }},
	{name: lance.ColRowAddress, number: func(r *Row, n uint64) { r.Fragment, r.Offset = n>>32, uint32(n) }},
	{name: lance.ColCreatedAt, number: func(r *Row, n uint64) { r.Created = n }},
	{name: lance.ColLastUpdated, number: func(r *Row, n uint64) { r.Updated = n }},
}

// wanted are the columns to scan: those of the schema that rows are made of.
// A column of another type, or one missing that every generation has, is an
// error that wraps format.ErrCorrupt.
func wanted(s *format.Schema) ([]string, error) {
	var names []string
	for _, c := range columns {
		if strings.HasPrefix(c.name, "_") {
			continue
		}
		field, want := s.Lookup(c.name), "uint64"
		if c.isText {
			want = "string"
		}
		switch {
		case field == nil && c.modern:
			continue
		case field == nil:
			return nil, format.Corruptf("reading the rows of __manifest: column %q is missing", c.name)
		case field.LogicalType != want:
			return nil, format.Corruptf("reading the rows of __manifest: column %q is of type %s, expected %s", c.name, field.LogicalType, want)
		}
		names = append(names, c.name)
	}
	return names, nil
}

// decode makes rows of a batch, in the memory of rows. Their texts are the
// batch's: they end with it.
func decode(rows []Row, batch arrow.RecordBatch) ([]Row, error) {
	n := int(batch.NumRows())
	rows = slices.Grow(rows[:0], n)[:n]
	clear(rows)
	for _, c := range columns {
		at := batch.Schema().FieldIndices(c.name)
		if len(at) == 0 {
			continue
		}
		switch a := batch.Column(at[0]).(type) {
		case *array.String:
			if c.text == nil {
				return nil, fmt.Errorf("decoding __manifest: column %q is text", c.name)
			}
			for i := range rows {
				if a.IsValid(i) {
					c.text(&rows[i], a.Value(i))
				}
			}
		case *array.Uint64:
			if c.number == nil {
				return nil, fmt.Errorf("decoding __manifest: column %q is a number", c.name)
			}
			for i := range rows {
				if a.IsValid(i) {
					c.number(&rows[i], a.Value(i))
				}
			}
		default:
			return nil, fmt.Errorf("decoding __manifest: column %q is of type %s", c.name, a.DataType())
		}
	}
	return rows, nil
}
