package lance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
)

// System columns. They may be named in a list of columns like others; all are
// uint64 and never null. Without stable row ids _rowid is the row address.
const (
	ColRowID       = "_rowid"
	ColRowAddress  = "_rowaddr" // fragment id << 32 | physical offset
	ColCreatedAt   = "_row_created_at_version"
	ColLastUpdated = "_row_last_updated_at_version"
)

// systemColumns in the order in which options append them.
var systemColumns = []string{ColRowID, ColRowAddress, ColCreatedAt, ColLastUpdated}

// projection is what to read and in what order to hand it out.
type projection struct {
	fields []*format.Field // read from data files
	out    []outColumn     // result columns in order
	schema *arrow.Schema   // of the result
}

// outColumn is field number field of the projection, or a system column.
type outColumn struct {
	field  int
	system string
}

// NoColumnError: a column asked for is not in the schema.
type NoColumnError struct {
	Name    string
	Columns []string // that there are
}

func (e *NoColumnError) Error() string {
	return fmt.Sprintf("no column %q; the columns are %s", e.Name, strings.Join(e.Columns, ", "))
}

// project resolves the names of columns (nil = all of the schema), and appends
// the extra system columns that are not among them.
func (s *Snapshot) project(columns, extra []string) (*projection, error) {
	p := &projection{}
	fields := make([]arrow.Field, 0, len(columns)+len(extra))
	add := func(name string) error {
		if slices.ContainsFunc(fields, func(f arrow.Field) bool { return f.Name == name }) {
			return nil
		}
		if slices.Contains(systemColumns, name) {
			p.out = append(p.out, outColumn{-1, name})
			fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Uint64})
			return nil
		}
		f := s.manifest.Schema.Lookup(name)
		if f == nil {
			return &NoColumnError{name, s.columnNames()}
		}
		af, err := f.ArrowField()
		if err != nil {
			return err
		}
		p.out = append(p.out, outColumn{len(p.fields), ""})
		p.fields = append(p.fields, f)
		fields = append(fields, af)
		return nil
	}
	if columns == nil {
		columns = s.columnNames()
	}
	for _, name := range slices.Concat(columns, extra) {
		if err := add(name); err != nil {
			return nil, fmt.Errorf("columns of %s: %w", s.env.at(), err)
		}
	}
	p.schema = arrow.NewSchema(fields, nil)
	return p, nil
}

func (s *Snapshot) columnNames() []string {
	names := make([]string, len(s.manifest.Schema.Fields))
	for i, f := range s.manifest.Schema.Fields {
		names[i] = f.Name
	}
	return names
}

// has reports whether the result has the system column.
func (p *projection) has(system string) bool {
	return slices.ContainsFunc(p.out, func(c outColumn) bool { return c.system == system })
}

// filePlan is what to read from one data file of a fragment.
type filePlan struct {
	file int // index in Fragment.Files
	cols []file.Column
	at   []int // projection field of each column
}

// binder finds the columns of a projection in the files of fragments. It
// remembers the last answer: fragments of a table mostly look alike. It is not
// safe for concurrent use.
type binder struct {
	p     *projection
	last  []format.DataFile // files of the fragment that plans was made for
	plans []filePlan
}

// bind plans the reads of a fragment. No plan at all means that no file holds
// any of the columns.
func (b *binder) bind(f *format.Fragment) ([]filePlan, error) {
	if b.last != nil && slices.EqualFunc(b.last, f.Files, sameShape) {
		return b.plans, nil
	}
	plans, err := b.plan(f)
	if err == nil {
		b.last, b.plans = f.Files, plans
	}
	return plans, err
}

// sameShape reports whether two data files hold the same columns in the same
// places.
func sameShape(a, b format.DataFile) bool {
	return a.Major == b.Major && a.Minor == b.Minor &&
		slices.Equal(a.Fields, b.Fields) && slices.Equal(a.ColumnIndices, b.ColumnIndices)
}

func (b *binder) plan(f *format.Fragment) ([]filePlan, error) {
	var plans []filePlan
	held := make([]bool, len(b.p.fields))
	seen := map[int32]string{}
	var absent []file.Column
	for i := range f.Files {
		d := &f.Files[i]
		for _, id := range d.Fields {
			if other, dup := seen[id]; dup && id >= 0 {
				return nil, format.Corruptf("field %d is in two data files, %s and %s: which one holds is not decided", id, other, d.Path)
			}
			seen[id] = d.Path
		}
		cols := file.BindByID(b.p.fields, d.Fields, d.ColumnIndices, int(d.Major), int(d.Minor))
		absent = cols
		plan := filePlan{file: i}
		for k, c := range cols {
			if holds(c.Leaves) {
				held[k] = true
				plan.cols, plan.at = append(plan.cols, c), append(plan.at, k)
			}
		}
		if len(plan.cols) > 0 {
			plans = append(plans, plan)
		}
	}
	if len(plans) == 0 {
		return nil, nil
	}
	// What no file holds reads as null through the first one.
	for k, ok := range held {
		if !ok {
			c := absent[k]
			c.Leaves = slices.Repeat([]int{-1}, len(c.Leaves))
			plans[0].cols, plans[0].at = append(plans[0].cols, c), append(plans[0].at, k)
		}
	}
	return plans, nil
}

// absentColumns are the projection's fields as columns that no file holds.
func (b *binder) absentColumns() []file.Column {
	return file.BindByID(b.p.fields, nil, nil, 2, 2)
}
