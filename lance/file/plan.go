package file

import "github.com/apache/arrow-go/v18/arrow"

// planAll looks up all columns of a call.
func (r *Reader) planAll(cols []Column) ([]*column, error) {
	out := make([]*column, len(cols))
	for i, c := range cols {
		var err error
		if out[i], err = r.plan(c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// schemaOf is the schema of batches.
func schemaOf(cols []*column) *arrow.Schema {
	fields := make([]arrow.Field, len(cols))
	for i, c := range cols {
		fields[i] = c.arrow
	}
	return arrow.NewSchema(fields, nil)
}

// bytes is the size of all buffers of a column.
func (c *column) bytes() int64 {
	n := c.old.bytes()
	for _, l := range c.leaves {
		if l != nil {
			n += l.bytes
		}
	}
	return n
}
