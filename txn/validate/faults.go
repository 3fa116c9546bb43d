package validate

import (
	"cmp"
	"slices"
	"strings"
)

// MaxNamed is how many entities a Fault names.
const MaxNamed = 5

// Fault is one rule that is broken on the same columns by one row or by many.
type Fault struct {
	First *Violation
	Rows  uint64 // rows that break it; of a cardinality, sources
	// Named are the first few entities that break it, each once; of a cardinality
	// the sources.
	Named []string
}

// Faults gathers the violations of a table. The zero value is empty.
type Faults struct {
	list []*Fault
}

// Add takes one more violation, always asking for more.
func (f *Faults) Add(v *Violation) bool {
	at := slices.IndexFunc(f.list, func(x *Fault) bool { return x.First.Rule == v.Rule && slices.Equal(x.First.Columns, v.Columns) })
	if at < 0 {
		at = len(f.list)
		f.list = append(f.list, &Fault{First: v})
	}
	x := f.list[at]
	x.Rows++
	named := v.IDs
	if v.Rule == RuleCardMax || v.Rule == RuleCardMin {
		named = []string{v.Value}
	}
	for _, id := range named {
		if len(x.Named) < MaxNamed && !slices.Contains(x.Named, id) {
			x.Named = append(x.Named, id)
		}
	}
	return true
}

// List is what was found, by rule and columns.
func (f *Faults) List() []*Fault {
	return slices.SortedFunc(slices.Values(f.list), func(a, b *Fault) int {
		return cmp.Or(strings.Compare(string(a.First.Rule), string(b.First.Rule)), slices.Compare(a.First.Columns, b.First.Columns))
	})
}

// atLeast corrects the number of rows of a rule of which only some were looked
// at one by one.
func (f *Faults) atLeast(rule Rule, columns []string, rows uint64) {
	for _, x := range f.list {
		if x.First.Rule == rule && slices.Equal(x.First.Columns, columns) {
			x.Rows = max(x.Rows, rows)
		}
	}
}
