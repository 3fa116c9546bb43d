package exec

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/query"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/validate"
)

// text is the type of the columns id, src and dst.
var text = schema.PropType{Scalar: schema.Scalar{Name: "String"}}

// test is a predicate with its value made ready.
type test struct {
	query.Predicate
	typ  schema.PropType
	prop int // index into Type.Properties; -1 = an end
	want value.Value
}

func newTest(t *schema.Type, p query.Predicate) (*test, error) {
	out := &test{Predicate: p, typ: text, prop: -1}
	for i := range t.Properties {
		if t.Properties[i].Name == p.Column {
			out.typ, out.prop = t.Properties[i].Type, i
		}
	}
	if out.prop < 0 && p.Column != "src" && p.Column != "dst" {
		return nil, fmt.Errorf("reading %s: it has no column %q", t.Alias(), p.Column)
	}
	if p.Value == nil {
		return out, nil
	}
	var err error
	if out.want, err = value.Of(out.typ, p.Value); err != nil {
		return nil, err
	}
	switch out.want.Kind() {
	case value.Text, value.Bool, value.Int, value.Uint, value.Float32, value.Float64, value.Date, value.DateTime:
		return out, nil
	}
	return nil, fmt.Errorf("reading %s of %s: it is %s, whose values have no order: %w", p.Column, t.Alias(), out.typ.Spell(), txn.ErrCaller)
}

// row asks the test of a row in memory.
func (c *test) row(r *validate.Row) bool {
	switch {
	case c.prop >= 0:
		return c.holds(r.Values[c.prop])
	case c.Column == "src":
		return c.holds(value.String(r.Src))
	}
	return c.holds(value.String(r.Dst))
}

// holds asks it of a value. Nothing holds of null.
func (c *test) holds(v value.Value) bool {
	switch {
	case v.Kind() == value.Null || c.Test == query.Never:
		return false
	case c.Test == query.Present:
		return true
	}
	if v.Kind() == value.Float32 || v.Kind() == value.Float64 {
		x, _ := v.Number()
		y, _ := c.want.Number()
		return c.ordered(cmp.Compare(x, y))
	}
	return c.ordered(compare(v, c.want))
}

func (c *test) ordered(order int) bool {
	switch c.Test {
	case query.Equal:
		return order == 0
	case query.Unequal:
		return order != 0
	case query.Less:
		return order < 0
	case query.AtMost:
		return order <= 0
	case query.Greater:
		return order > 0
	case query.AtLeast:
		return order >= 0
	}
	return false
}

// compare orders two values of one kind.
func compare(a, b value.Value) int {
	switch a.Kind() {
	case value.Text:
		return strings.Compare(a.Text(), b.Text())
	case value.Bool:
		switch {
		case a.Bool() == b.Bool():
			return 0
		case b.Bool():
			return -1
		}
		return 1
	case value.Uint:
		return cmp.Compare(a.Uint(), b.Uint())
	}
	return cmp.Compare(a.Int(), b.Int())
}

// find are the addresses of the rows of the base that meet a test, in physical
// order.
func (c *test) find(ctx context.Context, t *schema.Type, s *lance.Snapshot) ([]uint64, error) {
	if c.Test == query.Never {
		return nil, nil
	}
	if column, key, ok := c.exact(t); ok {
		return findText(ctx, s, map[string][]string{column: {key}})
	}
	var out []uint64
	for batch, err := range s.Scan(ctx, lance.ScanOptions{Columns: []string{c.Column}, WithRowAddress: true}) {
		if err != nil {
			return nil, err
		}
		out, err = c.scan(batch, out)
		batch.Release()
		if err != nil {
			return nil, fmt.Errorf("reading %s of %s: %w", c.Column, t.Alias(), err)
		}
	}
	return out, nil
}

func (c *test) scan(batch arrow.RecordBatch, out []uint64) ([]uint64, error) {
	column, addrs := batch.Column(0), batch.Column(1).(*array.Uint64)
	for i := range int(batch.NumRows()) {
		if column.IsNull(i) {
			continue
		}
		if c.Test == query.Present {
			out = append(out, addrs.Value(i))
			continue
		}
		v, err := value.At(c.typ, column, i)
		if err != nil {
			return nil, err
		}
		if c.holds(v) {
			out = append(out, addrs.Value(i))
		}
	}
	return out, nil
}

// exact is the column of text, and the text in it, that a test for equality
// comes to: of a key of one property that is the id.
func (c *test) exact(t *schema.Type) (column, key string, ok bool) {
	if c.Test != query.Equal {
		return "", "", false
	}
	if k := t.Key(); len(k) == 1 && k[0].Name == c.Column {
		if id, err := value.ID([]value.Value{c.want}); err == nil {
			return "id", id, true
		}
	}
	if c.typ.Scalar.Name == "String" && !c.typ.List {
		return c.Column, c.want.Text(), true
	}
	return "", "", false
}

// findText are the addresses of the rows that have one of the texts in one of the
// columns, each once and in physical order.
func findText(ctx context.Context, s *lance.Snapshot, by map[string][]string) ([]uint64, error) {
	var out []uint64
	for _, column := range slices.Sorted(maps.Keys(by)) {
		if len(by[column]) == 0 {
			continue
		}
		found, err := s.FindText(ctx, column, by[column], lance.LookUpByCost)
		if err != nil {
			return nil, err
		}
		for _, at := range found.Rows {
			out = append(out, at...)
		}
	}
	s.Sort(out)
	return slices.Compact(out), nil
}

// idsAt are the ids of the rows at addresses.
func idsAt(ctx context.Context, s *lance.Snapshot, addrs []uint64) ([]string, error) {
	if len(addrs) == 0 {
		return nil, nil
	}
	batch, err := s.Take(ctx, []string{"id"}, addrs)
	if err != nil {
		return nil, err
	}
	defer batch.Release()
	ids, ok := batch.Column(0).(*array.String)
	if !ok {
		return nil, fmt.Errorf("column id is %s, expected text", batch.Column(0).DataType())
	}
	out := make([]string, ids.Len())
	for i := range out {
		out[i] = strings.Clone(ids.Value(i))
	}
	return out, nil
}

// rowsAt are the rows at addresses. Blobs stand as empty ones.
func rowsAt(ctx context.Context, t *schema.Type, s *lance.Snapshot, addrs []uint64) ([]validate.Row, error) {
	batch, err := s.Take(ctx, nil, addrs)
	if err != nil {
		return nil, err
	}
	defer batch.Release()
	scan, err := validate.NewScan(t, batch)
	if err != nil {
		return nil, err
	}
	out := make([]validate.Row, len(addrs))
	for i := range out {
		if err := scan.Row(i, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
