package file

import (
	"strings"

	"github.com/omnideck/omnideck/lance/format"
)

// Column binds a top-level field of a schema to the file.
type Column struct {
	Field  *format.Field // with children
	Leaves []int         // physical column of each owning leaf in depth-first order; -1 = not in this file, reads as null
}

// BindByID makes the columns of fields from a manifest DataFile's fields and
// column_indices. In 2.1 and later leaves, packed structs and blobs own
// columns; in 2.0 every field does. Nothing but ids decides: names and order
// may differ from file to file.
func BindByID(fields []*format.Field, ids, columnIndices []int32, major, minor int) []Column {
	at := make(map[int32]int, len(ids))
	for i, id := range ids {
		if i < len(columnIndices) && columnIndices[i] >= 0 {
			at[id] = int(columnIndices[i])
		}
	}
	cols := make([]Column, len(fields))
	for i, f := range fields {
		cols[i] = Column{Field: f, Leaves: []int{}}
		for _, owner := range owners(nil, f, minor == 0) {
			c, ok := at[owner.ID]
			if !ok {
				c = -1
			}
			cols[i].Leaves = append(cols[i].Leaves, c)
		}
	}
	return cols
}

// BindAll binds the file's own schema, for loose files and index files: its
// owning fields are the physical columns, one by one.
func (r *Reader) BindAll() ([]Column, error) {
	s, err := r.FileSchema()
	if err != nil {
		return nil, err
	}
	cols, next := make([]Column, len(s.Fields)), 0
	for i, f := range s.Fields {
		cols[i] = Column{Field: f}
		for range owners(nil, f, r.foot.minor == 0) {
			cols[i].Leaves = append(cols[i].Leaves, next)
			next++
		}
	}
	if next != len(r.cmo) {
		return nil, r.fail("", -1, format.Corruptf("a schema of %d columns in a file of %d", next, len(r.cmo)))
	}
	return cols, nil
}

// owners are the fields of a tree that own a physical column, depth first.
func owners(out []*format.Field, f *format.Field, all bool) []*format.Field {
	if isLeaf(f) {
		return append(out, f)
	}
	if all {
		out = append(out, f)
	}
	for _, c := range f.Children {
		out = owners(out, c, all)
	}
	return out
}

// isLeaf tells whether all of a field is in one physical column.
func isLeaf(f *format.Field) bool {
	return len(f.Children) == 0 || f.Blob() != format.NoBlob || isPacked(f)
}

// isPacked tells whether a struct is stored row by row.
func isPacked(f *format.Field) bool {
	return f.LogicalType == "struct" &&
		(strings.EqualFold(f.Metadata["lance-encoding:packed"], "true") || strings.EqualFold(f.Metadata["packed"], "true"))
}
