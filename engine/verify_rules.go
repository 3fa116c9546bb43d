package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn/validate"
)

// wholeTable is one published table version whose rows are judged.
type wholeTable struct {
	entry  manifest.Entry
	branch string // the first that publishes it
	snap   *lance.Snapshot

	ids   *validate.Hashes // of a node table that edges may end at, once read
	whole bool             // every row was read
	lost  []*RowsLostError // of fragments that cannot be read
}

// link is an edge table with the tables of its ends, as some branch has them
// together.
type link struct {
	from, to *wholeTable // nil = not to be asked
	branch   string
	faults   validate.Faults
}

// rules asks the rules of the schema of every table version once, and of every
// edge for its nodes on every branch where these are other versions.
func (v *verifier) rules(ctx context.Context, views []*manifest.View, c *schema.Contract, find func(manifest.Entry) *wholeTable, tables []*wholeTable) error {
	var nodes, edges []*wholeTable
	for _, w := range tables {
		switch {
		case w == nil:
		case w.entry.Kind() == "edge":
			edges = append(edges, w)
		default:
			nodes = append(nodes, w)
		}
	}
	if c.IR == nil {
		v.add(Problem{ID: "rules-incomplete", Severity: SeverityWarn, Key: schema.IRKey, Found: "no schema that can be trusted: of rows only ids and their number were judged", Expected: "types, whose rules are asked"})
	}
	typeOf := func(w *wholeTable) *schema.Type {
		kind := schema.KindNode
		if w.entry.Kind() == "edge" {
			kind = schema.KindEdge
		}
		if c.IR == nil {
			return &schema.Type{Kind: kind, Name: w.entry.Name()}
		}
		t, ok := c.IR.Type(kind, w.entry.Name())
		if !ok {
			t = &schema.Type{Kind: kind, Name: w.entry.Name()}
			v.incomplete(w, w.branch, "the schema has no such type", "a type, whose rules are asked", 0)
		}
		return t
	}
	err := v.each(len(nodes), func(i int) error {
		t := typeOf(nodes[i])
		return v.judge(ctx, nodes[i], t, nil, c.IR != nil && isEnd(c.IR, t))
	})
	if err != nil {
		return err
	}
	return v.each(len(edges), func(i int) error {
		t := typeOf(edges[i])
		return v.judge(ctx, edges[i], t, v.links(views, edges[i], t, find), false)
	})
}

func isEnd(ir *schema.IR, t *schema.Type) bool {
	return slices.ContainsFunc(ir.Edges, func(e schema.Type) bool { return e.From.Name == t.Name || e.To.Name == t.Name })
}

// links are the different node tables that an edge table version has on the
// branches that publish it. A node table of which rows were not read says
// nothing about what is missing in it.
func (v *verifier) links(views []*manifest.View, w *wholeTable, t *schema.Type, find func(manifest.Entry) *wholeTable) []*link {
	if rows, known := w.snap.CountRows(); t.From.Name == "" || known && rows == 0 {
		return nil
	}
	var out []*link
	for _, view := range views {
		if e, ok := view.Table(w.entry.Alias); !ok || keyOf(e) != keyOf(w.entry) {
			continue
		}
		node := func(name string) *wholeTable {
			if e, ok := view.Table("node:" + name); ok {
				if n := find(e); n != nil && n.whole {
					return n
				}
			}
			return nil
		}
		l := &link{from: node(t.From.Name), to: node(t.To.Name), branch: nameOf(view.Branch)}
		if slices.ContainsFunc(out, func(o *link) bool { return o.from == l.from && o.to == l.to }) {
			continue
		}
		out = append(out, l)
		for _, end := range []struct {
			table *wholeTable
			name  string
		}{{l.from, t.From.Name}, {l.to, t.To.Name}} {
			if end.table == nil {
				v.incomplete(w, l.branch, "the nodes of "+end.name+" cannot all be read: ends of edges among them were not looked for", "every node", 0)
			}
		}
	}
	return out
}

// incomplete says that rules were not asked of everything.
func (v *verifier) incomplete(w *wholeTable, branch, found, expected string, rows uint64) {
	v.add(Problem{ID: "rules-incomplete", Severity: SeverityWarn, Table: w.entry.Alias, Branch: branch, Version: w.entry.Version, Key: w.entry.Location, Found: found, Expected: expected, RowsAffected: rows})
}

// judge reads the rows of a table version, and once more what the first reading
// makes suspect.
func (v *verifier) judge(ctx context.Context, w *wholeTable, t *schema.Type, links []*link, keep bool) error {
	columns := w.snap.Schema()
	x := validate.NewTable(t, func(name string) bool { return columns.Lookup(name) != nil })
	if absent := x.Absent(); len(absent) > 0 {
		v.incomplete(w, w.branch, "no column "+strings.Join(absent, ", "), "a column of every property that has a rule", w.entry.Rows)
	}
	done, err := v.read(ctx, w, x.Columns(), func(batch arrow.RecordBatch) error {
		return x.Look(batch, func(row *validate.Row) {
			for _, l := range links {
				validate.Endpoints(t, row, l.from.has, l.to.has, l.faults.Add)
			}
		})
	})
	v.checked(func(c *VerifyChecked) {
		c.Keys += x.Rows()
		if len(links) > 0 {
			c.Edges += x.Rows()
		}
	})
	if err != nil || !done {
		return err
	}
	w.whole = len(w.lost) == 0
	v.lost(w, t, x.Rows())
	if x.Suspects() {
		if done, err = v.read(ctx, w, x.ColumnsAgain(), x.LookAgain); err != nil || !done {
			return err
		}
	}
	if keep {
		w.ids = x.IDs() // sorted by now
	}
	for _, f := range x.Faults(w.whole) {
		p := faultProblem(f, w.entry, w.branch)
		if f.First.Rule == validate.RuleDuplicate {
			if p.Copies, _, err = w.snap.Copies(ctx, "id", f.Named...); err != nil {
				return err
			}
		}
		v.add(p)
	}
	for _, l := range links {
		for _, f := range l.faults.List() {
			v.add(faultProblem(f, w.entry, l.branch))
		}
	}
	return nil
}

// has reports whether a node is known; of a table that is not to be asked, all are.
func (w *wholeTable) has(id string) bool { return w == nil || w.ids == nil || w.ids.Has(id) }

// read scans a table and notes the fragments that cannot be read. done is false
// when nothing can be said about the rest; that was told then.
func (v *verifier) read(ctx context.Context, w *wholeTable, columns []string, visit func(arrow.RecordBatch) error) (done bool, err error) {
	w.lost = nil
	scan := lance.ScanOptions{Columns: columns, Lean: true, OnDamaged: func(f *lance.FragmentError) bool {
		lost, ok := v.rowsError(ctx, f, w.entry).(*RowsLostError)
		if ok {
			w.lost = append(w.lost, lost)
		}
		return ok
	}}
	for batch, err := range w.snap.Scan(ctx, scan) {
		if err == nil {
			err = visit(batch)
			batch.Release()
			if err != nil {
				e := w.entry
				v.add(Problem{ID: ruleIDs[validate.RuleType], Table: e.Alias, Branch: w.branch, Version: e.Version, Key: e.Location, Found: clipped(err.Error()), Expected: "columns of the types that the schema has", RowsAffected: e.Rows})
				v.incomplete(w, w.branch, "the rows were not judged: a column is of another type", "columns of the types that the schema has", e.Rows)
				return false, ctx.Err()
			}
			continue
		}
		if p, ok := dataProblem(v.rowsError(ctx, err, w.entry), w.entry, w.branch); ok && ctx.Err() == nil {
			v.add(p)
			return false, nil
		}
		return false, err
	}
	return true, ctx.Err()
}

// lost tells of fragments that cannot be read, or else whether as many rows were
// read as are recorded.
func (v *verifier) lost(w *wholeTable, t *schema.Type, rows uint64) {
	e := w.entry
	missing := uint64(0)
	for _, l := range w.lost {
		p, _ := dataProblem(l, e, w.branch)
		v.add(p)
		missing += l.Rows
	}
	found := fmt.Sprintf("%d rows were read and judged", rows)
	if t.Card.Min > 0 {
		found += "; whether a source has too few edges was not"
	}
	switch {
	case !w.whole:
		v.incomplete(w, w.branch, found, fmt.Sprintf("%d rows, as the graph recorded", e.Rows), missing)
	case rows != e.Rows:
		v.add(Problem{ID: "count-scanned", Table: e.Alias, Branch: w.branch, Version: e.Version, Key: e.Location, Found: fmt.Sprintf("%d rows by scanning", rows), Expected: fmt.Sprintf("%d rows, as the graph recorded", e.Rows), RowsAffected: difference(rows, e.Rows)})
	}
}

// ruleIDs are the ids of the problems of rules (docs/VERIFY.md).
var ruleIDs = map[validate.Rule]string{
	validate.RuleRequired: "value-required", validate.RuleType: "value-type", validate.RuleEnum: "value-enum",
	validate.RuleRange: "value-range", validate.RuleCheck: "value-check", validate.RulePattern: "rule-pattern",
	validate.RuleKey: "value-key", validate.RuleUnique: "unique", validate.RuleDuplicate: "duplicate-id",
	validate.RuleEndpoint: "dangling-edge", validate.RuleCardMax: "cardinality-max", validate.RuleCardMin: "cardinality-min",
}

// RuleProblems are the ids of the problems that verify has with rows, sorted.
func RuleProblems() []string { return slices.Sorted(maps.Values(ruleIDs)) }

// clipped keeps a text of a row short enough to be told.
func clipped(s string) string {
	const most = 1000
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

func faultProblem(f *validate.Fault, e manifest.Entry, branch string) Problem {
	first := f.First
	p := Problem{
		ID: ruleIDs[first.Rule], Table: e.Alias, Branch: branch, Version: e.Version, Key: e.Location,
		Found: clipped(first.Text), RowsAffected: f.Rows,
		Property: strings.Join(first.Columns, ", "), Value: clipped(first.Value),
	}
	for _, id := range f.Named {
		p.Entities = append(p.Entities, clipped(id))
	}
	if len(first.Columns) > 1 {
		p.Property = "(" + p.Property + ")"
	}
	if f.Rows > 1 {
		p.Found = fmt.Sprintf("%d times, the first: %s", f.Rows, p.Found)
	}
	switch first.Rule {
	case validate.RuleRequired:
		p.Expected = "a value: the type is " + first.Bound
	case validate.RuleType:
		p.Expected = "a value of type " + first.Bound
	case validate.RuleEnum:
		p.Expected = "one of " + first.Bound
	case validate.RulePattern:
		p.Severity, p.RowsAffected = SeverityWarn, 0
		p.Expected = "a pattern that can be evaluated: every write of the type is refused, and its patterns were not asked"
	case validate.RuleKey:
		p.Expected = "a value that makes a key"
	case validate.RuleUnique:
		p.Expected = "each value once"
	case validate.RuleDuplicate:
		p.Expected = "each id once"
	case validate.RuleEndpoint:
		p.Expected = "a node of " + first.Bound
	case validate.RuleCardMax:
		p.Expected = "at most " + first.Bound + " edges of a source"
	case validate.RuleCardMin:
		p.Expected = "at least " + first.Bound + " edges of a source that has any"
	default:
		p.Expected = first.Bound
	}
	return p
}
