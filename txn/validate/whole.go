package validate

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
)

// Table holds all rows of a table against the rules of its type that ask nothing
// of other tables: values, keys, uniqueness, ids that stand twice, cardinality.
// The first look (Look, for every batch) judges values and remembers eight bytes
// for every row, and as many for every group of unique columns and for a bounded
// cardinality. What they make suspect the second look (LookAgain, for every
// batch once more, when Suspects says so) compares text by text: nothing is told
// because hashes meet. At most maxSuspects texts of a rule are compared; the
// number of rows beyond them is that of the hashes.
type Table struct {
	t      *schema.Type // with the properties that have a rule
	narrow *schema.Type // without those that are only required
	quick  *ValueRules  // of narrow
	rules  *ValueRules  // of t
	absent []string     // properties that have a rule and no column

	ids     Hashes
	groups  []*Unique
	keys    []Hashes // by group
	degree  *Degree
	sources Hashes

	twice   *IDs
	oddIDs  suspects
	oddKeys []suspects // by group
	many    suspects   // sources with more edges than may be
	few     suspects

	again  bool // the second look has begun
	rows   uint64
	faults Faults
	row    Row
}

// NewTable begins a table of a type; has says which columns there are.
func NewTable(t *schema.Type, has func(column string) bool) *Table {
	x := &Table{degree: NewDegree(t), twice: NewIDs(t)}
	ruled := ruledColumns(t)
	x.t = only(t, func(p *schema.Property) bool {
		judged := !p.Type.Nullable || ruled[p.Name]
		if judged && !has(p.Name) {
			x.absent = append(x.absent, p.Name)
		}
		return judged && has(p.Name)
	})
	var bad *Violation
	if x.rules, bad = NewValueRules(x.t); bad != nil {
		x.faults.Add(bad)
		x.t.Constraints = slices.DeleteFunc(slices.Clone(x.t.Constraints), func(c schema.Constraint) bool { return c.Kind == "check" })
		x.rules, _ = NewValueRules(x.t)
	}
	x.narrow = only(x.t, func(p *schema.Property) bool { return ruled[p.Name] })
	x.quick, _ = NewValueRules(x.narrow)
	x.groups = Groups(x.narrow)
	x.keys = make([]Hashes, len(x.groups))
	return x
}

// ruledColumns are those of which a rule looks at the values.
func ruledColumns(t *schema.Type) map[string]bool {
	out := map[string]bool{}
	for _, c := range t.Constraints {
		if c.Kind == "index" {
			continue
		}
		for _, f := range c.Fields {
			out[f.Name()] = true
		}
	}
	for _, p := range t.Properties {
		if p.Type.Enum != nil {
			out[p.Name] = true
		}
	}
	return out
}

// only is a type with some of its properties.
func only(t *schema.Type, keep func(*schema.Property) bool) *schema.Type {
	out := *t
	out.Properties = nil
	for i := range t.Properties {
		if keep(&t.Properties[i]) {
			out.Properties = append(out.Properties, t.Properties[i])
		}
	}
	return &out
}

// Absent are the properties with a rule that the table has no column of.
func (x *Table) Absent() []string { return x.absent }

// Columns are those that the first look reads.
func (x *Table) Columns() []string { return names(x.t) }

// ColumnsAgain are those that the second look reads.
func (x *Table) ColumnsAgain() []string { return names(x.narrow) }

func names(t *schema.Type) (out []string) {
	for _, c := range t.Columns() {
		out = append(out, c.Name)
	}
	return out
}

// Rows is the number of rows of the first look.
func (x *Table) Rows() uint64 { return x.rows }

// IDs are the ids of the first look.
func (x *Table) IDs() *Hashes { return &x.ids }

// Look judges one more batch and shows each row that has an id, and an edge both
// ends, to visit. The row is good until visit returns; of its values there are
// those that rules look at. An error says that the columns are not those of the
// type.
func (x *Table) Look(batch arrow.RecordBatch, visit func(*Row)) error {
	t, rules := x.narrow, x.quick
	for _, p := range x.t.Properties {
		for _, at := range batch.Schema().FieldIndices(p.Name) {
			if !p.Type.Nullable && batch.Column(at).NullN() > 0 {
				t, rules = x.t, x.rules
			}
		}
	}
	return x.each(t, batch, func(row *Row) {
		rules.Check(row, x.faults.Add)
		if t != x.narrow {
			row.Values = x.narrowed(row.Values)
		}
		x.ids.Add(row.ID)
		for i, u := range x.groups {
			key, _, exempt, bad := u.key(row)
			switch {
			case bad != nil:
				x.faults.Add(bad)
			case !exempt:
				x.keys[i].Add(key)
			}
		}
		if x.degree != nil {
			x.sources.Add(row.Src)
		}
		visit(row)
	})
}

// narrowed are the values of narrow among those of t, in the same place.
func (x *Table) narrowed(values []value.Value) []value.Value {
	out := values[:0]
	for i, at := 0, 0; i < len(values) && at < len(x.narrow.Properties); i++ {
		if x.t.Properties[i].Name == x.narrow.Properties[at].Name {
			out = append(out, values[i])
			at++
		}
	}
	return out
}

// each reads the rows of a batch. Those without an id or an end are told, at the
// first look, and passed over.
func (x *Table) each(t *schema.Type, batch arrow.RecordBatch, visit func(*Row)) error {
	s, err := NewScan(t, batch)
	if err != nil {
		return err
	}
	for i := range int(batch.NumRows()) {
		if err := s.Row(i, &x.row); err != nil {
			return err
		}
		if column := s.unnamed(i); column != "" {
			if !x.again {
				x.faults.Add(unnamedViolation(x.t, x.row.ID, column))
			}
		} else {
			visit(&x.row)
		}
		if !x.again {
			x.rows++
		}
	}
	return nil
}

// unnamed is the first of id, src and dst that is null in a row.
func (s *Scan) unnamed(i int) string {
	for k, name := range []string{"id", "src", "dst"} {
		if s.ends[k] != nil && s.ends[k].IsNull(i) {
			return name
		}
	}
	return ""
}

func unnamedViolation(t *schema.Type, id, column string) *Violation {
	v := &Violation{Rule: RuleRequired, Type: t, Columns: []string{column}, Value: "null", Bound: "String"}
	if column != "id" {
		v.IDs = []string{id}
	}
	v.Text = fmt.Sprintf("%s is null (%s %s '%s')", column, t.Kind, t.Name, id)
	return v
}

// Suspects ends the first look and reports whether a second one is needed.
func (x *Table) Suspects() bool {
	x.again = true
	copies := func(n uint64) uint64 { return n - 1 }
	x.oddIDs = x.ids.suspects(copies)
	n := len(x.oddIDs.hashes)
	x.oddKeys = make([]suspects, len(x.groups))
	for i := range x.groups {
		x.oddKeys[i] = x.keys[i].suspects(copies)
		n += len(x.oddKeys[i].hashes)
		x.keys[i] = Hashes{}
	}
	if x.degree != nil {
		card := x.degree.t.Card
		x.many = x.sources.suspects(func(n uint64) uint64 { return one(card.Max != nil && n > *card.Max) })
		x.few = x.sources.suspects(func(n uint64) uint64 { return one(n < card.Min) })
		n += len(x.many.hashes) + len(x.few.hashes)
		x.sources = Hashes{}
	}
	return n > 0
}

func one(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// LookAgain compares what is suspect in one more batch.
func (x *Table) LookAgain(batch arrow.RecordBatch) error {
	return x.each(x.narrow, batch, func(row *Row) {
		if x.oddIDs.has(row.ID) {
			if v := x.twice.Add(row.ID); v != nil {
				x.faults.Add(v)
			}
		}
		for i, u := range x.groups {
			key, _, exempt, bad := u.key(row)
			if exempt || bad != nil || !x.oddKeys[i].has(key) {
				continue
			}
			if v := u.Add(row); v != nil && v.IDs[0] != v.IDs[1] { // an id that stands twice is told as that
				x.faults.Add(v)
			}
		}
		if x.degree != nil && (x.many.has(row.Src) || x.few.has(row.Src)) {
			x.degree.Add(row.Src, 1)
		}
	})
}

// Faults ends the last look. whole says that every row of the table was seen:
// otherwise no source is told to have too few edges.
func (x *Table) Faults(whole bool) []*Fault {
	if x.degree != nil {
		x.degree.Done(func(v *Violation) bool {
			if v.Rule == RuleCardMin && !whole {
				return true
			}
			return x.faults.Add(v)
		})
	}
	x.corrected(x.oddIDs, RuleDuplicate, []string{"id"})
	for i, u := range x.groups {
		x.corrected(x.oddKeys[i], RuleUnique, u.Columns)
	}
	x.corrected(x.many, RuleCardMax, []string{"src"})
	x.corrected(x.few, RuleCardMin, []string{"src"})
	return x.faults.List()
}

// corrected counts what was not compared, of a rule that was found broken.
func (x *Table) corrected(s suspects, rule Rule, columns []string) {
	if s.more {
		x.faults.atLeast(rule, columns, s.all)
	}
}
