package load

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// Names of the structural columns of every table.
const (
	ColID  = "id"
	ColSrc = "src"
	ColDst = "dst"
)

// Table is one type whose entities are spelled.
type Table struct {
	Edge bool
	Name string
	// Properties are the names of the columns to spell, in order, without id,
	// src and dst.
	Properties []string
}

// BlobText gives the value of a blob property in one row of the batch: its
// bytes, or the URI of an external blob, or neither for null.
type BlobText func(property string, row int) (data []byte, uri string, null bool, err error)

// ValueError: a value that a line of JSON cannot hold, or bytes that are no
// text. What was written in its place is said in What.
type ValueError struct {
	Type, ID, Property string
	What               string
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("%s %q, property %s: %s", e.Type, e.ID, e.Property, e.What)
}

// Lines spells the rows of one record batch. It is valid as long as the batch
// is, and not safe for concurrent use.
type Lines struct {
	table Table
	id    textArray
	src   textArray
	dst   textArray
	names [][]byte // `,"name":`
	cols  []appender
	batch arrow.RecordBatch
	bad   string // why the value written last does not stand for itself
}

// textArray is what the two string arrays of Arrow have in common.
type textArray interface {
	arrow.Array
	Value(i int) string
}

// appender writes the value of a row, which is not null.
type appender struct {
	arr  arrow.Array
	blob bool
	put  func(l *Lines, dst []byte, row int) ([]byte, error)
}

// Bind prepares the spelling of a batch. Columns that batch has and table does
// not name are left out; a named one that batch lacks is an error.
func Bind(table Table, batch arrow.RecordBatch, blob BlobText) (*Lines, error) {
	l := &Lines{table: table, batch: batch}
	var err error
	if l.id, err = l.text(ColID); err != nil {
		return nil, err
	}
	if table.Edge {
		if l.src, err = l.text(ColSrc); err != nil {
			return nil, err
		}
		if l.dst, err = l.text(ColDst); err != nil {
			return nil, err
		}
	}
	for _, name := range table.Properties {
		arr, err := l.column(name)
		if err != nil {
			return nil, err
		}
		a, err := valueOf(name, arr, blob)
		if err != nil {
			return nil, fmt.Errorf("spelling property %s of %s: %w", name, table.Name, err)
		}
		key, _ := AppendString([]byte{','}, name)
		l.names = append(l.names, append(key, ':'))
		l.cols = append(l.cols, a)
	}
	return l, nil
}

func (l *Lines) column(name string) (arrow.Array, error) {
	at := l.batch.Schema().FieldIndices(name)
	if len(at) != 1 {
		return nil, fmt.Errorf("spelling %s: the rows have %d columns named %s, expected one", l.table.Name, len(at), name)
	}
	return l.batch.Column(at[0]), nil
}

func (l *Lines) text(name string) (textArray, error) {
	arr, err := l.column(name)
	if err != nil {
		return nil, err
	}
	s, ok := arr.(textArray)
	if !ok {
		return nil, fmt.Errorf("spelling %s: column %s is %s, expected text", l.table.Name, name, arr.DataType())
	}
	return s, nil
}

// Append appends the line of a row, without newline. With a *ValueError the
// line is complete nonetheless and holds a substitute for the value named;
// with any other error it is not.
func (l *Lines) Append(dst []byte, row int) ([]byte, error) {
	l.bad = ""
	var first error
	note := func(property string) {
		if l.bad != "" && first == nil {
			first = &ValueError{l.table.Name, l.id.Value(row), property, l.bad}
		}
		l.bad = ""
	}
	if l.table.Edge {
		dst = l.put(append(dst, `{"edge":`...), l.table.Name)
		note("type")
		dst = l.put(append(dst, `,"from":`...), l.src.Value(row))
		note("from")
		dst = l.put(append(dst, `,"to":`...), l.dst.Value(row))
		note("to")
	} else {
		dst = l.put(append(dst, `{"type":`...), l.table.Name)
		note("type")
	}
	dst = l.put(append(dst, `,"data":{"id":`...), l.id.Value(row))
	note("id")
	for i, c := range l.cols {
		dst = append(dst, l.names[i]...)
		if !c.blob && c.arr.IsNull(row) {
			dst = append(dst, "null"...)
			continue
		}
		var err error
		if dst, err = c.put(l, dst, row); err != nil {
			return dst, fmt.Errorf("%s %q, property %s: %w", l.table.Name, l.id.Value(row), l.table.Properties[i], err)
		}
		note(l.table.Properties[i])
	}
	return append(dst, '}', '}'), first
}

func (l *Lines) put(dst []byte, s string) []byte {
	dst, ok := AppendString(dst, s)
	if !ok {
		l.bad = "text that is not UTF-8, wrong bytes shown as U+FFFD"
	}
	return dst
}

// Ends are the id of a row and, of an edge, the ids of its ends.
func (l *Lines) Ends(row int) (id, src, dst string) {
	if l.table.Edge {
		src, dst = l.src.Value(row), l.dst.Value(row)
	}
	return l.id.Value(row), src, dst
}
