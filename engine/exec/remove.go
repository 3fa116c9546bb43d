package exec

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnideck/omnideck/query"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/validate"
)

// removal is what statements take away of one type.
type removal struct {
	typ   *schema.Type
	ids   []string
	addrs []uint64
	has   map[uint64]bool
	texts []string
	whys  []string // each once
}

// byStatement is why rows go that a statement finds.
const byStatement = "rows that statements remove"

// remove takes rows away that are not gone already, and says how many.
func (m *mutating) remove(t *schema.Type, addrs []uint64, ids []string, text, why string) (n int) {
	if len(addrs) == 0 {
		return 0
	}
	r := m.cut[t]
	if r == nil {
		r = &removal{typ: t, has: map[uint64]bool{}}
		m.cut[t] = r
	}
	r.texts = append(r.texts, text)
	if !slices.Contains(r.whys, why) {
		r.whys = append(r.whys, why)
	}
	for i, a := range addrs {
		if !r.has[a] {
			r.has[a] = true
			r.addrs, r.ids = append(r.addrs, a), append(r.ids, ids[i])
			n++
		}
	}
	m.count(t, n)
	return n
}

func (m *mutating) delete(ctx context.Context, s *query.Statement) error {
	c, snap, addrs, err := m.where(ctx, s)
	if err != nil {
		return err
	}
	ids, err := idsAt(ctx, snap, addrs)
	if err != nil {
		return err
	}
	if m.remove(s.Type, addrs, ids, c.spell(), byStatement) == 0 || s.Type.Kind == schema.KindEdge {
		return nil
	}
	edges := m.t.Contract.IR.Edges
	gone := make([]edgesGone, len(edges))
	err = txn.Beside(len(edges), func(i int) (err error) { gone[i], err = m.cascade(ctx, &edges[i], s.Type, ids); return err })
	for i := range edges {
		m.remove(&edges[i], gone[i].addrs, gone[i].ids, gone[i].text, "edges at removed "+s.Type.Name+" nodes")
	}
	return err
}

// edgesGone are edges of one type that go with nodes.
type edgesGone struct {
	addrs []uint64
	ids   []string
	text  string
}

// cascade finds the edges of a type that have one of the nodes at an end.
func (m *mutating) cascade(ctx context.Context, e, node *schema.Type, ids []string) (out edgesGone, err error) {
	var ends []string
	if e.From.Name == node.Name {
		ends = append(ends, "src")
	}
	if e.To.Name == node.Name {
		ends = append(ends, "dst")
	}
	if len(ends) == 0 {
		return out, nil
	}
	snap, err := m.t.Table(ctx, e.Alias())
	if err != nil {
		return out, err
	}
	for some := range slices.Chunk(ids, validate.MaxProbe) {
		by := map[string][]string{}
		for _, end := range ends {
			by[end] = some
		}
		found, err := findText(ctx, snap, by)
		if err != nil {
			return out, err
		}
		out.addrs = append(out.addrs, found...)
	}
	snap.Sort(out.addrs)
	out.addrs = slices.Compact(out.addrs)
	if out.ids, err = idsAt(ctx, snap, out.addrs); err != nil {
		return out, err
	}
	texts := make([]string, len(ends))
	for i, end := range ends {
		texts[i] = end + " IN (" + quoted(ids) + ")"
	}
	out.text = strings.Join(texts, " OR ")
	return out, nil
}

func quoted(ids []string) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = quote(id)
	}
	return strings.Join(out, ", ")
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// spell is the test as the text of a deletion: numbers plainly, everything that is
// written as a text in quotes.
func (c *test) spell() string {
	if c.Test == query.Present {
		return c.Column + " IS NOT NULL"
	}
	return c.Column + " " + string(c.Test) + " " + spelled(c.want)
}

const secondsOfDay = 24 * 60 * 60

func spelled(v value.Value) string {
	switch v.Kind() {
	case value.Text:
		return quote(v.Text())
	case value.Date:
		return quote(time.Unix(v.Int()*secondsOfDay, 0).UTC().Format(time.DateOnly))
	case value.DateTime:
		return quote(time.UnixMilli(v.Int()).UTC().Format("2006-01-02T15:04:05.000Z"))
	case value.Float32, value.Float64:
		bits := 64
		if v.Kind() == value.Float32 {
			bits = 32
		}
		x, _ := v.Number()
		return strconv.FormatFloat(x, 'f', -1, bits)
	}
	return string(v.JSON().Append(nil))
}

// table stages the removal.
func (r *removal) table() *table {
	text := r.texts[0]
	if len(r.texts) > 1 {
		text = "(" + strings.Join(r.texts, ") OR (") + ")"
	}
	return &table{typ: r.typ, gone: len(r.addrs), text: text, why: strings.Join(r.whys, ", "), stage: func(ctx context.Context, t *txn.Txn) error {
		snap, err := t.Table(ctx, r.typ.Alias())
		if err != nil {
			return err
		}
		snap.Sort(r.addrs)
		_, err = t.Delete(ctx, r.typ.Alias(), r.addrs, text)
		return err
	}}
}
