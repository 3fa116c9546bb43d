package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/format"
)

// WriteOptions of NewWriter. The zero value is useful.
type WriteOptions struct {
	Allocator    memory.Allocator  // of Arrow buffers made on the way; nil = memory.DefaultAllocator
	Parallelism  int               // pages encoded at the same time; 0 = GOMAXPROCS
	PageBytes    int64             // Arrow bytes of a page; 0 = 8 MiB
	PackBytes    int64             // of a side-car for several blobs; 0 = 1 GiB
	Metadata     map[string]string // of the schema that the file itself carries
	Name         string            // for error messages: the object's key
	maxPageRows  int64             // for tests; 0 = 4 Mi
	piecesToJoin int               // for tests; 0 = 256
}

func (o WriteOptions) withDefaults() WriteOptions {
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	if o.Parallelism <= 0 {
		o.Parallelism = runtime.GOMAXPROCS(0)
	}
	for _, d := range []struct {
		v  *int64
		or int64
	}{{&o.PageBytes, 8 << 20}, {&o.PackBytes, 1 << 30}, {&o.maxPageRows, 4 << 20}} {
		if *d.v <= 0 {
			*d.v = d.or
		}
	}
	if o.piecesToJoin <= 0 {
		o.piecesToJoin = 256
	}
	return o
}

// ErrInput is the class of errors about rows that do not fit the schema: a
// column of another type, a null where there may be none.
var ErrInput = errors.New("rows do not fit the schema")

// WriteError says which column of a file could not be written. It is a
// format.ErrUnsupported or an ErrInput if its cause is one.
type WriteError struct {
	File, Column string // "" = not known, or all of it
	Err          error
}

func (e *WriteError) Error() string {
	text := "write data file"
	if e.File != "" {
		text += " " + e.File
	}
	if e.Column != "" {
		text += fmt.Sprintf(", column %q", e.Column)
	}
	return text + ": " + e.Err.Error()
}

func (e *WriteError) Unwrap() error { return e.Err }

// Writer makes one data file of format 2.2 in memory. It is used by one
// goroutine at a time. Whoever does not get to Finish calls Abort.
//
// The same batches make the same bytes, whatever Parallelism is.
type Writer struct {
	opts    WriteOptions
	fields  []*format.Field
	cols    []writeColumn
	streams []*stream
	out     output
	cars    sidecars
	queue   []*job
	free    chan struct{} // a token for each page that may be encoded now
	rows    int64
	err     error
}

// writeColumn is a top-level field and its physical columns.
type writeColumn struct {
	field   *format.Field
	root    *node
	streams []*stream
	blob    bool
}

// NewWriter begins a file with the given top-level fields of a schema. A type
// that cannot be written is a format.ErrUnsupported.
func NewWriter(fields []*format.Field, opts WriteOptions) (*Writer, error) {
	w := &Writer{opts: opts.withDefaults(), fields: fields}
	w.free = make(chan struct{}, w.opts.Parallelism)
	if one := uint16(1); *(*byte)(unsafe.Pointer(&one)) != 1 {
		return nil, w.fail("", format.Unsupportedf("writing on a machine that keeps the highest byte first"))
	}
	for _, f := range fields {
		c := writeColumn{field: f, blob: f.Blob() == format.BlobV2}
		if f.Blob() == format.BlobV1 {
			return nil, w.fail(f.Name, format.Unsupportedf("blobs of the first form in a file of format 2.2"))
		}
		af, err := f.ArrowField()
		if err != nil {
			return nil, w.fail(f.Name, err)
		}
		next := 0
		if c.root, err = tree(f, af.Type, nil, &next); err != nil {
			return nil, w.fail(f.Name, err)
		}
		if c.streams, err = streamsOf(f, c.root, nil); err != nil {
			return nil, w.fail(f.Name, err)
		}
		w.streams = append(w.streams, c.streams...)
		w.cols = append(w.cols, c)
	}
	return w, nil
}

// Write appends rows: the columns of a batch are the fields in their order. A
// blob column is a struct of data (binary or large binary) and uri (text), and
// maybe position and size of a uri's part (64-bit unsigned).
//
// The batch is retained until its pages are encoded, and must not change. An
// error may be about rows of an earlier batch; after one all calls fail.
func (w *Writer) Write(batch arrow.RecordBatch) error {
	if w.err != nil {
		return w.err
	}
	if err := w.write(batch); err != nil {
		w.end(err)
	}
	return w.err
}

func (w *Writer) write(batch arrow.RecordBatch) error {
	if int(batch.NumCols()) != len(w.cols) {
		return w.fail("", fmt.Errorf("%w: a batch of %d columns, the schema has %d", ErrInput, batch.NumCols(), len(w.cols)))
	}
	if w.rows+batch.NumRows() > maxRows {
		return w.fail("", format.Unsupportedf("more than %d rows in one file", uint64(maxRows)))
	}
	for i, c := range w.cols {
		arr := batch.Column(i)
		if !c.blob {
			if err := fits(c.root.dt, arr.DataType()); err != nil {
				return w.fail(c.field.Name, err)
			}
		}
	}
	for i, c := range w.cols {
		d := batch.Column(i).Data()
		d.Retain()
		if c.blob {
			d.Release()
			described, err := w.describe(c.field, batch.Column(i))
			if err != nil {
				return w.fail(c.field.Name, err)
			}
			d = described
		}
		err := w.add(c, d, int(batch.NumRows()))
		d.Release()
		if err != nil {
			return err
		}
	}
	w.rows += batch.NumRows()
	return nil
}

// add appends rows of a column to its streams.
func (w *Writer) add(c writeColumn, d arrow.ArrayData, n int) error {
	for _, s := range c.streams {
		for from := 0; from < n; {
			k := s.fit(d, from, n, w.opts)
			if k == 0 {
				if err := w.cut(s); err != nil {
					return err
				}
				continue
			}
			if err := s.keep(piece{d, from, from + k}, w.opts); err != nil {
				return w.fail(c.field.Name, err)
			}
			from += k
		}
	}
	return nil
}

// cut makes a page of what a stream has kept.
func (w *Writer) cut(s *stream) error {
	if s.rows == 0 {
		return nil
	}
	j := &job{s: s, pieces: s.pieces, bytes: s.bytes, done: make(chan struct{})}
	s.pieces, s.rows, s.bytes, s.joined = nil, 0, 0, 0
	w.queue = append(w.queue, j)
	go func() {
		defer close(j.done)
		w.free <- struct{}{}
		defer func() { <-w.free }()
		j.run()
	}()
	if len(w.queue) > 2*w.opts.Parallelism {
		return w.emit()
	}
	return nil
}

// emit waits for the oldest page and puts it in the file.
func (w *Writer) emit() error {
	j := w.queue[0]
	w.queue = w.queue[1:]
	<-j.done
	if j.err != nil {
		return w.fail(j.s.name, j.err)
	}
	for _, p := range j.pages {
		if err := j.s.place(&w.out, p); err != nil {
			return w.fail(j.s.name, err)
		}
	}
	return nil
}

// Size is about the bytes of the file so far, side-cars included: of pages that
// are not encoded the Arrow bytes.
func (w *Writer) Size() int64 {
	n := w.out.size
	for _, j := range w.queue {
		n += j.bytes
	}
	for _, s := range w.streams {
		n += s.bytes
	}
	for _, car := range w.cars.all {
		n += int64(len(car.Data))
	}
	return n
}

// Abort gives up what was not finished.
func (w *Writer) Abort() { w.end(w.fail("", errors.New("given up"))) }

// end waits for what is going on and releases what is kept.
func (w *Writer) end(err error) {
	if w.err == nil {
		w.err = err
	}
	for _, j := range w.queue {
		<-j.done
	}
	w.queue = nil
	for _, s := range w.streams {
		release(s.pieces)
		s.pieces, s.rows = nil, 0
	}
}

// Finish ends the file. The Writer is of no use afterwards.
func (w *Writer) Finish() (*Written, error) {
	if w.err != nil {
		return nil, w.err
	}
	out, err := w.finish()
	if err == nil {
		err = w.fail("", errors.New("the file is finished"))
	} else {
		out = nil
	}
	w.end(err)
	if out == nil {
		return nil, w.err
	}
	return out, nil
}

func (w *Writer) finish() (*Written, error) {
	for _, s := range w.streams {
		if err := w.cut(s); err != nil {
			return nil, err
		}
	}
	for len(w.queue) > 0 {
		if err := w.emit(); err != nil {
			return nil, err
		}
	}
	out := &Written{Rows: w.rows, Sidecars: w.cars.all}
	next := int32(0)
	for _, c := range w.cols {
		for _, owner := range owners(nil, c.field, false) {
			out.Fields, out.Columns = append(out.Fields, owner.ID), append(out.Columns, next)
			next++
		}
	}
	if err := w.tail(); err != nil {
		return nil, w.fail("", err)
	}
	out.Segments, out.Size = w.out.all(), w.out.size
	return out, nil
}

// tail writes what follows the pages.
func (w *Writer) tail() error {
	desc, err := describeFile(w.fields, w.opts.Metadata, w.rows)
	if err != nil {
		return err
	}
	globals := []uint64{uint64(w.out.put(desc)), uint64(len(desc))}
	var cmo []uint64
	start := w.out.size
	for _, s := range w.streams {
		meta, err := s.describe()
		if err != nil {
			return err
		}
		cmo = append(cmo, uint64(w.out.size), uint64(len(meta)))
		w.out.write(meta)
	}
	foot := slices.Concat([]uint64{uint64(start), uint64(w.out.size), uint64(w.out.size) + 8*uint64(len(cmo))})
	var tail []byte
	for _, words := range [][]uint64{cmo, globals, foot} {
		for _, word := range words {
			tail = binary.LittleEndian.AppendUint64(tail, word)
		}
	}
	tail = binary.LittleEndian.AppendUint32(tail, 1)
	tail = binary.LittleEndian.AppendUint32(tail, uint32(len(w.streams)))
	tail = binary.LittleEndian.AppendUint16(tail, 2)
	tail = binary.LittleEndian.AppendUint16(tail, 2)
	w.out.write(append(tail, magic...))
	return nil
}

// fail wraps an error once.
func (w *Writer) fail(column string, err error) error {
	var e *WriteError
	if errors.As(err, &e) {
		return err
	}
	return &WriteError{File: w.opts.Name, Column: column, Err: err}
}
