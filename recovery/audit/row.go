package audit

import (
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// columns of the dataset, in its order.
var columns = arrow.NewSchema([]arrow.Field{
	{Name: "graph_commit_id", Type: arrow.BinaryTypes.String},
	{Name: "recovery_kind", Type: arrow.BinaryTypes.String},
	{Name: "recovery_for_actor", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "operation_id", Type: arrow.BinaryTypes.String},
	{Name: "sidecar_writer_kind", Type: arrow.BinaryTypes.String},
	{Name: "per_table_outcomes_json", Type: arrow.BinaryTypes.String},
	{Name: "created_at", Type: &arrow.TimestampType{Unit: arrow.Microsecond}},
}, nil)

// fits refuses a dataset that has other columns.
func fits(s *lance.Snapshot) error {
	found, err := s.ArrowSchema(nil)
	if err != nil {
		return err
	}
	for _, want := range columns.Fields() {
		at := found.FieldIndices(want.Name)
		if len(at) != 1 || !arrow.TypeEqual(found.Field(at[0]).Type, want.Type) {
			return format.Corruptf("version %d has no column %q of type %s", s.Version(), want.Name, want.Type)
		}
	}
	return nil
}

// batchOf is one row as a batch.
func batchOf(r *Row, mem memory.Allocator) arrow.RecordBatch {
	b := array.NewRecordBuilder(mem, columns)
	defer b.Release()
	outcomes := string(outcomesJSON(r.Outcomes))
	for i, text := range []*string{&r.Commit, (*string)(&r.Kind), r.Actor, &r.Operation, (*string)(&r.Writer), &outcomes} {
		if col := b.Field(i).(*array.StringBuilder); text == nil {
			col.AppendNull()
		} else {
			col.Append(*text)
		}
	}
	b.Field(6).(*array.TimestampBuilder).Append(arrow.Timestamp(r.At.UnixMicro()))
	return b.NewRecordBatch()
}

func outcomesJSON(all []sidecar.Outcome) []byte {
	items := make([]ojson.Value, len(all))
	for i, o := range all {
		items[i] = ojson.Obj(
			ojson.Member{Name: "table_key", Value: ojson.Str(o.Alias)},
			ojson.Member{Name: "from_version", Value: ojson.Uint(o.From)},
			ojson.Member{Name: "to_version", Value: ojson.Uint(o.To)},
		)
	}
	return ojson.Arr(items...).Append(nil)
}

func parseOutcomes(text string) ([]sidecar.Outcome, error) {
	v, err := ojson.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	if v.Kind() != ojson.Array {
		return nil, format.Corruptf("a list was expected")
	}
	r := new(ojson.Reader)
	out := []sidecar.Outcome{}
	for _, item := range v.Items() {
		f := r.Open(item, "")
		out = append(out, sidecar.Outcome{Alias: f.Str("table_key"), From: f.Uint("from_version", 64), To: f.Uint("to_version", 64)})
	}
	return out, r.Err()
}

// texts are the values of a column of text that has no nulls.
func texts(batch arrow.RecordBatch, name string) ([]string, error) {
	c, err := column(batch, name)
	if err != nil {
		return nil, err
	}
	out := make([]string, c.Len())
	for i := range out {
		if c.IsNull(i) {
			return nil, format.Corruptf("a row has no %s", name)
		}
		out[i] = string([]byte(c.Value(i))) // the batch goes
	}
	return out, nil
}

func column(batch arrow.RecordBatch, name string) (*array.String, error) {
	for _, i := range batch.Schema().FieldIndices(name) {
		if c, ok := batch.Column(i).(*array.String); ok {
			return c, nil
		}
	}
	return nil, format.Corruptf("there is no column %q of text", name)
}

// rowsOf reads a batch of all columns.
func rowsOf(batch arrow.RecordBatch) ([]Row, error) {
	out := make([]Row, batch.NumRows())
	outcomes := make([]string, len(out))
	for name, set := range map[string]func(r *Row, i int, v string){
		"graph_commit_id":         func(r *Row, _ int, v string) { r.Commit = v },
		"recovery_kind":           func(r *Row, _ int, v string) { r.Kind = Kind(v) },
		"operation_id":            func(r *Row, _ int, v string) { r.Operation = v },
		"sidecar_writer_kind":     func(r *Row, _ int, v string) { r.Writer = sidecar.Kind(v) },
		"per_table_outcomes_json": func(_ *Row, i int, v string) { outcomes[i] = v },
	} {
		all, err := texts(batch, name)
		if err != nil {
			return nil, err
		}
		for i, v := range all {
			set(&out[i], i, v)
		}
	}
	actors, err := column(batch, "recovery_for_actor")
	if err != nil {
		return nil, err
	}
	at, ok := batch.Column(batch.Schema().FieldIndices("created_at")[0]).(*array.Timestamp)
	if !ok {
		return nil, format.Corruptf("created_at is no timestamp")
	}
	for i := range out {
		r := &out[i]
		if !actors.IsNull(i) {
			actor := string([]byte(actors.Value(i)))
			r.Actor = &actor
		}
		if !r.Kind.known() || at.IsNull(i) {
			return nil, format.Corruptf("operation %s has the kind %q, or no time", r.Operation, r.Kind)
		}
		r.At = time.UnixMicro(int64(at.Value(i))).UTC()
		if r.Outcomes, err = parseOutcomes(outcomes[i]); err != nil {
			return nil, format.Corruptf("the outcomes of operation %s: %w", r.Operation, err)
		}
	}
	return out, nil
}
