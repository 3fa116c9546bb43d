package engine

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/engine/where"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/manifest"
)

// tableColumns are the columns of one version of a table as rows are told:
// id, (src, dst), then properties in the order of the table's own schema,
// which is that of their names.
type tableColumns struct {
	entry  manifest.Entry
	edge   bool
	fields []arrow.Field
	blobs  []bool // parallel to fields
}

func columnsOf(e manifest.Entry, s *lance.Snapshot) (*tableColumns, error) {
	out := &tableColumns{entry: e, edge: e.Kind() == "edge"}
	for _, f := range s.Schema().Fields {
		a, err := f.ArrowField()
		if err != nil {
			return nil, err
		}
		out.fields = append(out.fields, a)
		out.blobs = append(out.blobs, f.Blob() != format.NoBlob)
	}
	for _, name := range out.structural() {
		if out.index(name) < 0 {
			return nil, &DamagedError{Object: e.Location, Size: int64(s.Object().Size), Hint: "its schema has no column " + name + ", which every " + e.Kind() + " table has"}
		}
	}
	return out, nil
}

// structural are the columns that are no properties.
func (c *tableColumns) structural() []string {
	if c.edge {
		return []string{load.ColID, load.ColSrc, load.ColDst}
	}
	return []string{load.ColID}
}

func (c *tableColumns) index(name string) int {
	return slices.IndexFunc(c.fields, func(f arrow.Field) bool { return f.Name == name })
}

// properties are the names of all properties, in order.
func (c *tableColumns) properties() []string {
	structural := c.structural()
	var out []string
	for _, f := range c.fields {
		if !slices.Contains(structural, f.Name) {
			out = append(out, f.Name)
		}
	}
	return out
}

// choose are the properties that were asked for, in the table's order; nil
// asks for all. from and to name the ends of an edge, as exported lines do.
func (c *tableColumns) choose(asked []string) ([]string, error) {
	all := c.properties()
	if asked == nil {
		return all, nil
	}
	want := map[string]bool{}
	for _, name := range asked {
		if slices.Contains(c.structural(), name) || c.edge && (name == "from" || name == "to") {
			continue
		}
		if !slices.Contains(all, name) {
			return nil, &NotFoundError{What: "property", Name: name, Where: "of " + c.entry.Alias, Suggestions: Suggest(name, all)}
		}
		want[name] = true
	}
	out := []string{}
	for _, name := range all {
		if want[name] {
			out = append(out, name)
		}
	}
	return out, nil
}

// blobNames are those of the given columns that hold blobs.
func (c *tableColumns) blobNames(names []string) []string {
	var out []string
	for _, n := range names {
		if i := c.index(n); i >= 0 && c.blobs[i] {
			out = append(out, n)
		}
	}
	return out
}

// labels spells the types of columns: by the contract where it knows them, by
// the table's own schema otherwise.
func (c *tableColumns) labels(names []string, spelled map[string]string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		k := c.index(n)
		if s := spelled[n]; s != "" {
			out[i] = s
		} else {
			out[i] = spellType(c.fields[k].Type, c.blobs[k])
		}
	}
	return out
}

// where types a condition against the columns; "" chooses every row and has no
// filter.
func (c *tableColumns) where(text string) (*where.Filter, error) {
	if text == "" {
		return nil, nil
	}
	expr, err := where.Parse(text)
	if err != nil {
		return nil, &UsageError{What: "--where", Why: err.Error()}
	}
	cols := make([]where.Column, len(c.fields))
	for i, f := range c.fields {
		cols[i] = where.Column{Name: f.Name, Type: f.Type, Label: spellType(f.Type, c.blobs[i]), Blob: c.blobs[i]}
	}
	filter, err := expr.Bind(cols)
	if err != nil {
		return nil, &UsageError{What: "--where", Why: err.Error()}
	}
	return filter, nil
}
