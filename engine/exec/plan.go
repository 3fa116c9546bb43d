package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
	"github.com/omnideck/omnideck/txn/validate"
)

// maxViolations is how many broken rules are told at once.
const maxViolations = 20

// Plan is what a write does to the base of one Txn. Nothing is staged yet.
type Plan struct {
	Kind  txn.Kind
	Class txn.Class
	Nodes int // affected; of a load, written
	Edges int
	Loads []Loaded // of a load: by type, in the order of its tables
	Delta validate.Delta
	Reads validate.ReadSet

	t      *txn.Txn
	tables []*table
}

// Loaded is how many entities of a type a load brings.
type Loaded struct {
	Type *schema.Type
	Rows int
}

// table is what a plan does to one table: the addresses of rows of the base, and
// how it is staged.
type table struct {
	typ   *schema.Type
	stage func(ctx context.Context, t *txn.Txn) error
	rows  int    // that are written
	gone  int    // that are removed
	text  string // of a deletion
	why   string
}

// Touched is what a plan does to one table, for people.
type Touched struct {
	Alias   string
	Written int
	Removed int
	Text    string // predicate of a deletion
	Why     string // what of the write is about this table
}

// Touches are the tables in the order in which they are staged.
func (p *Plan) Touches() []Touched {
	out := make([]Touched, 0, len(p.tables))
	for _, tb := range p.tables {
		out = append(out, Touched{Alias: tb.typ.Alias(), Written: tb.rows, Removed: tb.gone, Text: tb.text, Why: tb.why})
	}
	return out
}

// check holds the delta against the rules of the schema.
func (p *Plan) check(ctx context.Context) error {
	r, err := validate.Check(ctx, p.t.Contract.IR, p.Delta, p.t.Reader(), maxViolations)
	if err != nil {
		return fmt.Errorf("checking the write against the graph: %w", err)
	}
	if len(r.Violations) > 0 {
		return &txn.ConstraintError{Violations: r.Violations, More: r.More}
	}
	p.Reads = r.Read
	return nil
}

// Prepare writes the files of every table, which no version names yet, side by
// side, and gives the plan to publish.
func (p *Plan) Prepare(ctx context.Context) (*txn.PublishPlan, error) {
	aliases := make([]string, len(p.tables))
	for i, tb := range p.tables {
		aliases[i] = tb.typ.Alias()
	}
	if err := p.t.Draw(aliases...); err != nil {
		return nil, err
	}
	if err := txn.Beside(len(p.tables), func(i int) error { return kept(p.tables[i].stage(ctx, p.t), p.tables[i].typ) }); err != nil {
		return nil, err
	}
	return p.t.Plan(p.Kind, p.Class, p.Reads)
}

// kept puts the limit of what an update reads in order to keep it into the words
// of package txn.
func kept(err error, t *schema.Type) error {
	var l *lance.LimitError
	if errors.As(err, &l) {
		return &txn.ResourceLimitError{Limit: &validate.LimitError{Resource: validate.ResourceBytes, Of: t.Alias(), Limit: l.Limit, Actual: l.Actual, Advice: advice}}
	}
	return err
}

// Conditional makes the plan one that applies on the head that its caller named,
// or not at all.
func (p *Plan) Conditional() { p.Class = txn.Conditional }

// limited puts a limit into the words of package txn.
func limited(err error) error {
	var l *validate.LimitError
	if errors.As(err, &l) {
		return &txn.ResourceLimitError{Limit: l}
	}
	return err
}

// ordered are types, nodes before edges, by name: the order of publishing.
func ordered[T any](in map[*schema.Type]T) []*schema.Type {
	var out []*schema.Type
	for t := range in {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *schema.Type) int {
		if a.Kind != b.Kind {
			return int(a.Kind) - int(b.Kind)
		}
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return out
}

const (
	mutation = sidecar.Mutation
	loading  = sidecar.Load
)
