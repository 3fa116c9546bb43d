package txn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn/validate"
)

// Reader is the base as validation asks it: every table at its pin. Rows are
// found by an index where there is one that can be believed, or in what is
// remembered (lance.TextMemory), else the columns asked about are scanned.
type Reader struct {
	t   *Txn
	how lance.LookUpMode
}

var _ validate.Reader = Reader{}

// Reader reads the base.
func (t *Txn) Reader() Reader { return Reader{t: t} }

// Pin is the version and the branch that are read of a type.
func (r Reader) Pin(t *schema.Type) validate.Pin {
	e, _ := r.t.View.Table(t.Alias())
	return validate.Pin{Version: e.Version, Branch: e.Owner}
}

// Existing tells which ids stand in a table.
func (r Reader) Existing(ctx context.Context, t *schema.Type, ids []string, found func(id string)) error {
	return r.places(ctx, t, "id", ids, func(id string, _ uint64) { found(id) })
}

// places tells the values that stand in a column of text, and in how many rows.
func (r Reader) places(ctx context.Context, t *schema.Type, column string, values []string, found func(value string, rows uint64)) error {
	snap, err := r.t.Table(ctx, t.Alias())
	if err != nil {
		return err
	}
	there, err := snap.FindText(ctx, column, values, r.how)
	if err != nil {
		return err
	}
	for _, v := range values {
		if n := len(there.Rows[v]); n > 0 {
			found(v, uint64(n))
		}
	}
	return nil
}

// Edges tells the edges of some ids.
func (r Reader) Edges(ctx context.Context, t *schema.Type, ids []string, found func(validate.Edge)) error {
	return r.rows(ctx, t, edgeColumns, []wanted{{"id", ids}}, edge(found))
}

// Incident tells the edges at some ends.
func (r Reader) Incident(ctx context.Context, t *schema.Type, srcs, dsts []string, found func(validate.Edge)) error {
	return r.rows(ctx, t, edgeColumns, []wanted{{"src", srcs}, {"dst", dsts}}, edge(found))
}

// Counts tells how many edges sources have.
func (r Reader) Counts(ctx context.Context, t *schema.Type, srcs []string, found func(src string, n uint64)) error {
	return r.places(ctx, t, "src", srcs, found)
}

// IDs tells all ids of a table.
func (r Reader) IDs(ctx context.Context, t *schema.Type, found func(id string)) error {
	return r.rows(ctx, t, []string{"id"}, nil, func(c []arrow.Array, i int) error {
		found(strings.Clone(c[0].(*array.String).Value(i)))
		return nil
	})
}

// Holders tells rows that may have one of the tuples in some columns: those
// whose first column that is text has one of its texts.
func (r Reader) Holders(ctx context.Context, t *schema.Type, columns []string, tuples [][]value.Value, found func(id string, values []value.Value)) error {
	types := make([]schema.PropType, len(columns))
	var by []wanted
	for i, name := range columns {
		switch p, ok := t.Property(name); {
		case ok:
			types[i] = p.Type
		case name == "id" || name == "src" || name == "dst":
			types[i] = schema.PropType{Scalar: schema.Scalar{Name: "String"}}
		default:
			return fmt.Errorf("reading %s: it has no column %q", t.Alias(), name)
		}
		if by != nil || types[i].Scalar.Name != "String" || types[i].List {
			continue
		}
		w := wanted{column: name}
		for _, tuple := range tuples {
			key, err := tuple[i].Key()
			if err != nil {
				return err
			}
			w.values = append(w.values, key)
		}
		by = []wanted{w}
	}
	return r.rows(ctx, t, append([]string{"id"}, columns...), by, func(c []arrow.Array, i int) error {
		values := make([]value.Value, len(columns))
		for n := range columns {
			v, err := value.At(types[n], c[n+1], i)
			if err != nil {
				return err
			}
			values[n] = v
		}
		found(strings.Clone(c[0].(*array.String).Value(i)), values)
		return nil
	})
}

var edgeColumns = []string{"id", "src", "dst"}

func edge(found func(validate.Edge)) func([]arrow.Array, int) error {
	return func(c []arrow.Array, i int) error {
		at := func(n int) string { return strings.Clone(c[n].(*array.String).Value(i)) }
		found(validate.Edge{ID: at(0), Src: at(1), Dst: at(2)})
		return nil
	}
}

// wanted are values of a column of text; a row with one of them in one of the
// columns is meant.
type wanted struct {
	column string
	values []string
}

// rows tells the rows that are wanted, each once; by nil = all. Texts of the
// arrays live as long as the call.
func (r Reader) rows(ctx context.Context, t *schema.Type, columns []string, by []wanted, tell func(c []arrow.Array, i int) error) error {
	snap, err := r.t.Table(ctx, t.Alias())
	if err != nil {
		return err
	}
	names := make([]string, len(by))
	sets := make([]map[string]bool, len(by))
	for n, w := range by {
		names[n], sets[n] = w.column, map[string]bool{}
		for _, v := range w.values {
			sets[n][v] = true
		}
	}
	if by != nil && (r.t.o.Open.Texts != nil || snap.LookUp(r.how, names...) != nil) {
		return r.looked(ctx, snap, columns, by, tell)
	}
	read := slices.Clone(columns)
	for _, name := range names {
		if !slices.Contains(read, name) {
			read = append(read, name)
		}
	}
	for batch, err := range snap.Scan(ctx, lance.ScanOptions{Columns: read}) {
		if err != nil {
			return err
		}
		if err := tellBatch(batch, read, names, sets, tell); err != nil {
			return err
		}
	}
	return nil
}

// tellBatch tells the rows of a batch that are wanted, and releases it.
func tellBatch(batch arrow.RecordBatch, read, names []string, sets []map[string]bool, tell func(c []arrow.Array, i int) error) error {
	defer batch.Release()
	cols, err := inOrder(batch, read)
	if err != nil {
		return err
	}
	for i := range int(batch.NumRows()) {
		want := len(names) == 0
		for n, name := range names {
			text, ok := cols[slices.Index(read, name)].(*array.String)
			want = want || ok && !text.IsNull(i) && sets[n][text.Value(i)]
		}
		if !want {
			continue
		}
		if err := tell(cols, i); err != nil {
			return err
		}
	}
	return nil
}

// inOrder are the columns of a batch in the order that they were asked for;
// id, src and dst must be text.
func inOrder(batch arrow.RecordBatch, names []string) ([]arrow.Array, error) {
	out := make([]arrow.Array, len(names))
	for n, name := range names {
		at := batch.Schema().FieldIndices(name)
		if len(at) != 1 {
			return nil, fmt.Errorf("reading rows: %d columns are called %q, expected one", len(at), name)
		}
		out[n] = batch.Column(at[0])
		if _, text := out[n].(*array.String); !text && slices.Contains(edgeColumns, name) {
			return nil, fmt.Errorf("reading rows: column %q is of type %s, expected text", name, out[n].DataType())
		}
	}
	return out, nil
}

// looked finds the rows by indexes.
func (r Reader) looked(ctx context.Context, snap *lance.Snapshot, columns []string, by []wanted, tell func(c []arrow.Array, i int) error) error {
	var addrs []uint64
	for _, w := range by {
		found, err := snap.FindText(ctx, w.column, w.values, r.how)
		if err != nil {
			return err
		}
		for _, at := range found.Rows {
			addrs = append(addrs, at...)
		}
	}
	if len(addrs) == 0 {
		return nil
	}
	snap.Sort(addrs)
	batch, err := snap.Take(ctx, columns, slices.Compact(addrs))
	if err != nil {
		return err
	}
	return tellBatch(batch, columns, nil, nil, tell)
}
