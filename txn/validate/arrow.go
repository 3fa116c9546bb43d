package validate

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
)

// Record makes rows a batch with the columns of their table, to be released by
// the caller. A value that its column cannot hold is an error.
func Record(mem memory.Allocator, t *schema.Type, rows []Row) (arrow.RecordBatch, error) {
	columns := t.Columns()
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.Name, Type: c.Arrow, Nullable: c.Nullable}
	}
	b := array.NewRecordBuilder(mem, arrow.NewSchema(fields, nil))
	defer b.Release()
	b.Reserve(len(rows))
	first := len(columns) - len(t.Properties)
	for r := range rows {
		row := &rows[r]
		for i, text := range []string{row.ID, row.Src, row.Dst}[:first] {
			b.Field(i).(*array.StringBuilder).Append(text)
		}
		for i, v := range row.Values {
			if err := value.Append(b.Field(first+i), v); err != nil {
				return nil, fmt.Errorf("%s '%s', property %s: %w", t.Alias(), row.ID, t.Properties[i].Name, err)
			}
		}
	}
	return b.NewRecordBatch(), nil
}

// Scan reads rows off a batch of a table as it is scanned, to be fed to rules.
type Scan struct {
	t      *schema.Type
	ends   [3]*array.String // id, src, dst
	values []arrow.Array
}

// NewScan finds the columns of a type in a batch, by their names; others are
// passed over. It is valid as long as the batch is.
func NewScan(t *schema.Type, batch arrow.RecordBatch) (*Scan, error) {
	s := &Scan{t: t}
	for i, c := range t.Columns() {
		at := batch.Schema().FieldIndices(c.Name)
		if len(at) != 1 {
			return nil, fmt.Errorf("reading rows of %s: the batch has %d columns named %s, expected one", t.Alias(), len(at), c.Name)
		}
		column := batch.Column(at[0])
		if c.Prop != nil {
			s.values = append(s.values, column)
			continue
		}
		text, ok := column.(*array.String)
		if !ok {
			return nil, fmt.Errorf("reading rows of %s: column %s is %s, expected text", t.Alias(), c.Name, column.DataType())
		}
		s.ends[i] = text
	}
	return s, nil
}

// Row reads a row into one that is used again: what it held before is lost. A
// blob is an empty one, since no rule looks into it.
func (s *Scan) Row(i int, row *Row) error {
	for k, to := range []*string{&row.ID, &row.Src, &row.Dst} {
		if s.ends[k] != nil {
			*to = string(append([]byte(nil), s.ends[k].Value(i)...))
		}
	}
	row.Values = row.Values[:0]
	for k, column := range s.values {
		p := &s.t.Properties[k]
		var v value.Value
		var err error
		switch {
		case p.Type.Scalar.Name != "Blob":
			v, err = value.At(p.Type, column, i)
		case !column.IsNull(i):
			v, err = value.Of(p.Type, "base64:")
		}
		if err != nil {
			return fmt.Errorf("%s '%s', property %s: %w", s.t.Alias(), row.ID, p.Name, err)
		}
		row.Values = append(row.Values, v)
	}
	return nil
}
