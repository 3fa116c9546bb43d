package exec

import (
	"context"
	"fmt"
	"slices"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/query"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/validate"
)

// advice is how to split a mutation.
const advice = "split it into several mutations, or bring the rows with load --chunk"

// Options of a mutation.
type Options struct {
	NewID func() (string, error) // ids of edges and of nodes without a key
	// AllowURI says why an external blob may not be where its URI says, nil that
	// it may. Without it none is allowed.
	AllowURI func(uri string) error
}

// Mutate runs statements, which are bound to the schema of t. The error is
// txn.ErrNothing when they change nothing, a *txn.ConstraintError, a
// *txn.ResourceLimitError, or that of reading.
func Mutate(ctx context.Context, t *txn.Txn, statements []query.Statement, o Options) (*Plan, error) {
	m := &mutating{t: t, o: o, of: map[*schema.Type]*pending{}, cut: map[*schema.Type]*removal{}}
	class := txn.Additive
	for i := range statements {
		var err error
		switch s := &statements[i]; s.Verb {
		case query.Insert:
			err = m.insert(s)
		case query.Update:
			class, err = txn.Strict, m.update(ctx, s)
		case query.Delete:
			class, err = txn.Strict, m.delete(ctx, s)
		}
		if err != nil {
			return nil, limited(err)
		}
	}
	if m.nodes+m.edges == 0 {
		return nil, txn.ErrNothing
	}
	p := &Plan{Kind: mutation, Class: class, Nodes: m.nodes, Edges: m.edges, t: t}
	for _, typ := range ordered(m.of) {
		p.Delta = append(p.Delta, validate.Change{Type: typ, Batches: m.of[typ].batches})
		p.tables = append(p.tables, m.of[typ].table())
	}
	for _, typ := range ordered(m.cut) {
		r := m.cut[typ]
		p.Delta = append(p.Delta, validate.Change{Type: typ, Removed: r.ids})
		p.tables = append(p.tables, r.table())
	}
	return p, p.check(ctx)
}

// mutating is one run of statements.
type mutating struct {
	t            *txn.Txn
	o            Options
	of           map[*schema.Type]*pending
	cut          map[*schema.Type]*removal
	nodes, edges int
}

func (m *mutating) count(t *schema.Type, n int) {
	if t.Kind == schema.KindEdge {
		m.edges += n
	} else {
		m.nodes += n
	}
}

// pending are the rows of one type that statements have written so far.
type pending struct {
	typ     *schema.Type
	batches []validate.Batch
	meter   validate.Meter
	rows    []*written
	at      map[string]*written
	keyed   bool // an insert with a key is among them
}

// written is a row as it stands after the statements so far.
type written struct {
	row  validate.Row
	addr uint64 // in the base, when based
	// based: it is a row of the base that was updated; otherwise it was inserted.
	based bool
	given []bool // by property: the value was said; only asked of blobs
}

func (m *mutating) pending(t *schema.Type) *pending {
	p := m.of[t]
	if p == nil {
		p = &pending{typ: t, meter: validate.Meter{Type: t, Advice: advice}, at: map[string]*written{}}
		m.of[t] = p
	}
	return p
}

// add takes a row as a statement leaves it.
func (p *pending) add(w *written) error {
	if err := p.meter.Add(validate.Size(p.typ, &w.row), 0); err != nil {
		return err
	}
	old := p.at[w.row.ID]
	if old == nil {
		p.rows = append(p.rows, w)
		p.at[w.row.ID] = w
		return nil
	}
	*old = *w
	return nil
}

func (m *mutating) insert(s *query.Statement) error {
	p := m.pending(s.Type)
	w := &written{row: validate.Row{Src: s.From, Dst: s.To, Values: make([]value.Value, len(s.Type.Properties))}, given: make([]bool, len(s.Type.Properties))}
	for i := range w.given {
		w.given[i] = true // what is not named is null
	}
	if err := m.set(w, s); err != nil {
		return err
	}
	kind := validate.Insert
	if key := s.Type.Key(); key != nil {
		kind, p.keyed = validate.Upsert, true
		id, err := idOf(s.Type, key, &w.row)
		if err != nil {
			return err
		}
		w.row.ID = id
	} else {
		id, err := m.o.NewID()
		if err != nil {
			return err
		}
		w.row.ID = id
	}
	m.count(s.Type, 1)
	p.batches = append(p.batches, validate.Batch{Kind: kind, Rows: []validate.Row{w.row}})
	return p.add(w)
}

// idOf is the id that a key makes.
func idOf(t *schema.Type, key []schema.PropRef, r *validate.Row) (string, error) {
	values := make([]value.Value, len(key))
	for n, k := range key {
		values[n] = r.Values[slices.IndexFunc(t.Properties, func(p schema.Property) bool { return p.Name == k.Name })]
	}
	id, err := value.ID(values)
	if err != nil {
		return "", fmt.Errorf("making the id of a %s: %w", t.Name, err)
	}
	return id, nil
}

// set assigns what a statement says.
func (m *mutating) set(w *written, s *query.Statement) error {
	for _, x := range s.Set {
		i := slices.IndexFunc(s.Type.Properties, func(p schema.Property) bool { return p.Name == x.Property.Name })
		v, err := value.Of(x.Property.Type, x.Value)
		if err != nil {
			return err
		}
		if v.Kind() == value.BlobURI {
			if err := m.allowed(v.Text()); err != nil {
				return fmt.Errorf("external blob URI '%s' is not allowed: %w", v.Text(), err)
			}
		}
		w.row.Values[i], w.given[i] = v, true
	}
	return nil
}

func (m *mutating) allowed(uri string) error {
	if m.o.AllowURI == nil {
		return fmt.Errorf("bring the bytes as base64: text (%w)", txn.ErrCaller)
	}
	return m.o.AllowURI(uri)
}

// where finds the rows of the base that a statement is about.
func (m *mutating) where(ctx context.Context, s *query.Statement) (c *test, snap *lance.Snapshot, addrs []uint64, err error) {
	if c, err = newTest(s.Type, s.Where); err != nil {
		return nil, nil, nil, err
	}
	if snap, err = m.t.Table(ctx, s.Type.Alias()); err != nil {
		return nil, nil, nil, err
	}
	addrs, err = c.find(ctx, s.Type, snap)
	return c, snap, addrs, err
}

func (m *mutating) update(ctx context.Context, s *query.Statement) error {
	c, snap, addrs, err := m.where(ctx, s)
	if err != nil {
		return err
	}
	p := m.pending(s.Type)
	if n := int64(len(addrs)); n > validate.MaxRows+int64(len(p.rows)) {
		return &validate.LimitError{Resource: validate.ResourceRows, Of: s.Type.Alias(), Limit: validate.MaxRows, Actual: n, Advice: advice}
	}
	var next []*written
	if len(addrs) > 0 {
		rows, err := rowsAt(ctx, s.Type, snap, addrs)
		if err != nil {
			return err
		}
		for i := range rows {
			if p.at[rows[i].ID] == nil { // else what was written since counts
				next = append(next, &written{row: rows[i], addr: addrs[i], based: true, given: make([]bool, len(s.Type.Properties))})
			}
		}
	}
	for _, w := range p.rows {
		if c.row(&w.row) {
			again := *w
			again.row.Values, again.given = slices.Clone(w.row.Values), slices.Clone(w.given)
			next = append(next, &again)
		}
	}
	if len(next) == 0 {
		if len(p.batches) == 0 {
			delete(m.of, s.Type)
		}
		return nil
	}
	b := validate.Batch{Kind: validate.Update}
	for _, w := range next {
		if err := m.set(w, s); err != nil {
			return err
		}
		if err := p.add(w); err != nil {
			return err
		}
		b.Rows = append(b.Rows, w.row)
	}
	p.batches = append(p.batches, b)
	m.count(s.Type, len(next))
	return nil
}
