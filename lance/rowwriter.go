package lance

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/lance/rowid"
)

// rowWriter puts rows into new fragments, one data file each.
type rowWriter struct {
	st    *staging
	w     *file.Writer // nil between fragments
	name  string
	rows  int64         // of the fragment
	moved rowid.Builder // the ids that its first rows bring
	frags []*tablepb.DataFragment
}

// write appends rows whose columns are the fields of the schema in order. ids
// are those that the rows bring, none for new rows. It releases nothing.
func (w *rowWriter) write(cols []arrow.Array, n int64, ids []uint64) error {
	schema, err := w.st.writtenSchema(cols)
	if err != nil {
		return err
	}
	batch := array.NewRecordBatch(schema, cols, n)
	defer batch.Release()
	for from := int64(0); from < n; {
		if w.w == nil {
			if err := w.begin(); err != nil {
				return err
			}
		}
		k := min(n-from, w.st.o.FragmentRows-w.rows)
		part := batch.NewSlice(from, from+k)
		err := w.w.Write(part)
		part.Release()
		if err != nil {
			return err
		}
		if ids != nil {
			for _, id := range ids[from : from+k] {
				w.moved.Add(id)
			}
		}
		w.rows += k
		from += k
		if w.rows == w.st.o.FragmentRows || w.w.Size() >= w.st.o.FragmentBytes {
			if err := w.end(); err != nil {
				return err
			}
		}
	}
	return nil
}

// writtenSchema describes arrays as they are: what fits is the file writer's
// affair.
func (st *staging) writtenSchema(cols []arrow.Array) (*arrow.Schema, error) {
	fields := make([]arrow.Field, len(cols))
	for i, c := range cols {
		fields[i] = arrow.Field{Name: st.schema.Fields[i].Name, Type: c.DataType(), Nullable: true}
	}
	return arrow.NewSchema(fields, nil), nil
}

func (w *rowWriter) begin() (err error) {
	w.name = w.st.out.ids.dataFile()
	w.w, err = file.NewWriter(w.st.schema.Fields, file.WriteOptions{
		Allocator: w.st.out.env.opts.Allocator, Parallelism: w.st.out.env.opts.Decoders,
		Name: format.Join(w.st.out.dir, format.DataDir, w.name),
	})
	w.rows, w.moved = 0, rowid.Builder{}
	return err
}

// end finishes the fragment that was begun, if any, and sends its files off.
func (w *rowWriter) end() error {
	if w.w == nil {
		return nil
	}
	done, err := w.w.Finish()
	w.w = nil
	if err != nil {
		return err
	}
	f := &tablepb.DataFragment{PhysicalRows: uint64(done.Rows), Files: []*tablepb.DataFile{{
		Path: w.name, Fields: done.Fields, ColumnIndices: done.Columns,
		FileMajorVersion: 2, FileMinorVersion: 2, FileSizeBytes: uint64(done.Size),
	}}}
	if w.moved.Len() > 0 {
		ids, err := w.moved.Encode()
		if err != nil {
			return err
		}
		f.RowIdSequence = &tablepb.DataFragment_InlineRowIds{InlineRowIds: ids}
	}
	w.frags = append(w.frags, f)
	return w.st.up.data(w.name, done)
}

// abort gives up a fragment that was begun.
func (w *rowWriter) abort() {
	if w.w != nil {
		w.w.Abort()
		w.w = nil
	}
}

// all writes rows as they come. visit sees every batch before.
func (w *rowWriter) all(rows Rows, visit func(arrow.RecordBatch) error) (n uint64, err error) {
	defer w.abort()
	one := func(batch arrow.RecordBatch) error {
		defer batch.Release()
		cols, err := w.st.columns(batch, false)
		if err == nil && visit != nil {
			err = visit(batch)
		}
		if err != nil {
			return err
		}
		n += uint64(batch.NumRows())
		return w.write(cols, batch.NumRows(), nil)
	}
	for batch, err := range rows {
		if err == nil {
			err = one(batch)
		}
		if err != nil {
			return n, err
		}
	}
	return n, w.end()
}

// columns are the columns of a batch in the order of the schema; the batch
// keeps them. A blob column that may be left out is nil then.
func (st *staging) columns(batch arrow.RecordBatch, blobsMayLack bool) ([]arrow.Array, error) {
	have := batch.Schema()
	out := make([]arrow.Array, len(st.schema.Fields))
	for i, f := range st.schema.Fields {
		at := have.FieldIndices(f.Name)
		switch {
		case len(at) > 1:
			return nil, st.wrong("a batch has the column %q %d times", f.Name, len(at))
		case len(at) == 1:
			out[i] = batch.Column(at[0])
			if e, ok := out[i].(array.ExtensionArray); ok {
				out[i] = e.Storage()
			}
		case !blobsMayLack || f.Blob() != format.BlobV2:
			return nil, st.wrong("a batch has no column %q", f.Name)
		}
	}
	for _, f := range have.Fields() {
		if !slices.ContainsFunc(st.schema.Fields, func(s *format.Field) bool { return s.Name == f.Name }) {
			return nil, st.wrong("a batch has the column %q, which the table has not", f.Name)
		}
	}
	return out, nil
}
