package lance

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
)

// stream is one data file of several that are read in step.
type stream struct {
	part *part
	next func() (arrow.RecordBatch, error, bool)
	stop func()
	rec  arrow.RecordBatch // current batch, nil before the first and after the last
	at   int64             // first row of rec that was not handed out
}

// fill makes sure that there is a row to hand out; ok is false at the end.
func (t *stream) fill() (ok bool, err error) {
	for t.rec == nil || t.at == t.rec.NumRows() {
		t.drop()
		rec, err, more := t.next()
		if err != nil || !more {
			return false, err
		}
		t.rec, t.at = rec, 0
	}
	return true, nil
}

func (t *stream) drop() {
	if t.rec != nil {
		t.rec.Release()
		t.rec = nil
	}
}

// zip reads the data files of one fragment in step, each for its own columns:
// their batches need not end at the same rows.
func zip(ctx context.Context, parts []part, fields int, opts file.ScanOptions, mem memory.Allocator) iter.Seq2[piece, error] {
	return func(yield func(piece, error) bool) {
		streams := make([]stream, len(parts))
		for i := range parts {
			t := &streams[i]
			t.part = &parts[i]
			t.next, t.stop = iter.Pull2(parts[i].r.Scan(ctx, parts[i].cols, opts))
			defer t.stop()
			defer t.drop()
		}
		for at := uint64(opts.From); at < uint64(opts.To); {
			n := int64(-1)
			for i := range streams {
				t := &streams[i]
				ok, err := t.fill()
				if err == nil && !ok {
					err = format.Corruptf("%s ends after %d of %d rows", t.part.key, at, opts.To)
				}
				if err != nil {
					yield(piece{}, err)
					return
				}
				if left := t.rec.NumRows() - t.at; n < 0 || left < n {
					n = left
				}
			}
			cols, err := step(streams, parts, fields, n, mem)
			if !yield(piece{at: at, n: uint64(n), cols: cols}, err) || err != nil {
				return
			}
			at += uint64(n)
		}
	}
}

// step takes the next n rows of every stream.
func step(streams []stream, parts []part, fields int, n int64, mem memory.Allocator) ([]arrow.Array, error) {
	var slices []arrow.Array
	defer func() {
		for _, c := range slices {
			c.Release()
		}
	}()
	cols, err := columnsOf(parts, fields, mem, func(part, column int) arrow.Array {
		t := &streams[part]
		c := array.NewSlice(t.rec.Column(column), t.at, t.at+n)
		slices = append(slices, c)
		return c
	})
	for i := range streams {
		streams[i].at += n
	}
	return cols, err
}
