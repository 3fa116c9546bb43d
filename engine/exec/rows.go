package exec

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/validate"
)

// allocator makes the batches that are written.
var allocator memory.Allocator = memory.DefaultAllocator

// perBatch is how many rows are made a batch at once.
const perBatch = 8192

// write stages rows by one of the ways of a Txn.
func write(ctx context.Context, t *schema.Type, rows []validate.Row, without []bool, stage func(lance.Rows) error) error {
	return stage(func(yield func(arrow.RecordBatch, error) bool) {
		for from := 0; from < len(rows); from += perBatch {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			batch, err := validate.Record(allocator, t, rows[from:min(from+perBatch, len(rows))])
			if err == nil {
				batch = cut(batch, t, without)
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
	})
}

// cut leaves columns of properties out of a batch, and releases it.
func cut(batch arrow.RecordBatch, t *schema.Type, without []bool) arrow.RecordBatch {
	first := int(batch.NumCols()) - len(t.Properties)
	var fields []arrow.Field
	var cols []arrow.Array
	for i, f := range batch.Schema().Fields() {
		if i >= first && without != nil && without[i-first] {
			continue
		}
		fields, cols = append(fields, f), append(cols, batch.Column(i))
	}
	if len(cols) == int(batch.NumCols()) {
		return batch
	}
	defer batch.Release()
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, batch.NumRows())
}

// why says which statements wrote the rows.
func (p *pending) why() string {
	inserts, updates := 0, 0
	for _, b := range p.batches {
		if b.Kind == validate.Update {
			updates++
		} else {
			inserts++
		}
	}
	switch {
	case updates == 0:
		return "rows that statements insert"
	case inserts == 0:
		return "rows that statements update"
	}
	return "rows that statements insert and update"
}

// table stages the pending rows of a type.
func (p *pending) table() *table {
	return &table{typ: p.typ, rows: len(p.rows), why: p.why(), stage: func(ctx context.Context, t *txn.Txn) error {
		based, rest := []*written{}, []*written{}
		for _, w := range p.rows {
			if w.based {
				based = append(based, w)
			} else {
				rest = append(rest, w)
			}
		}
		alias := p.typ.Alias()
		snap, err := t.Table(ctx, alias)
		if err != nil {
			return err
		}
		all := append(based, rest...)
		without, err := p.blobs(ctx, snap, all)
		if err != nil {
			return err
		}
		rows, addrs := make([]validate.Row, len(all)), []uint64{}
		for i, w := range all {
			rows[i] = w.row
			if w.based {
				addrs = append(addrs, w.addr)
			}
		}
		return write(ctx, p.typ, rows, without, func(r lance.Rows) (err error) {
			switch {
			case len(rest) == 0:
				_, err = t.Update(ctx, alias, addrs, r)
			case p.keyed:
				_, err = t.Upsert(ctx, alias, r)
			case len(based) == 0:
				_, err = t.Insert(ctx, alias, r)
			default:
				_, err = t.Merge(ctx, alias, addrs, r)
			}
			return err
		})
	}}
}

// blobs makes the blobs of rows complete that keep what the base has: a column
// that every row keeps is left out, and of others the bytes are read.
func (p *pending) blobs(ctx context.Context, s *lance.Snapshot, rows []*written) (without []bool, err error) {
	without = make([]bool, len(p.typ.Properties))
	for i := range p.typ.Properties {
		prop := &p.typ.Properties[i]
		if prop.Type.Scalar.Name != "Blob" {
			continue
		}
		var keep []*written
		for _, w := range rows {
			if w.based && !w.given[i] {
				keep = append(keep, w)
			}
		}
		if len(keep) == len(rows) {
			without[i] = true
			continue
		}
		if err := p.carry(ctx, s, i, keep); err != nil {
			return nil, fmt.Errorf("reading %s of %s, which an update keeps: %w", prop.Name, p.typ.Alias(), err)
		}
	}
	return without, nil
}

// carry reads the bytes of a blob property into rows, side by side, and none when
// together they are beyond the limit of one write.
func (p *pending) carry(ctx context.Context, s *lance.Snapshot, i int, rows []*written) error {
	if len(rows) == 0 {
		return nil
	}
	addrs := make([]uint64, len(rows))
	for n, w := range rows {
		addrs[n] = w.addr
	}
	blobs, err := s.Blobs(ctx, p.typ.Properties[i].Name, addrs)
	if err != nil {
		return err
	}
	typ := p.typ.Properties[i].Type
	var read []int // of rows, whose bytes are in the store
	for n, b := range blobs {
		switch {
		case b == nil || b.Null:
			rows[n].row.Values[i] = value.Value{}
		case b.Kind == lance.BlobExternal:
			if rows[n].row.Values[i], err = value.Of(typ, b.URI); err != nil {
				return err
			}
		default:
			if err := p.meter.More(int64(min(b.Size, validate.MaxBytes+1))); err != nil {
				return limited(err)
			}
			read = append(read, n)
		}
	}
	return txn.Beside(len(read), func(k int) error {
		n := read[k]
		data, err := blobs[n].Read(ctx, 0, int64(blobs[n].Size))
		if err == nil {
			rows[n].row.Values[i], err = value.Of(typ, "base64:"+encode(data))
		}
		return err
	})
}

func encode(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
