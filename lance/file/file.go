package file

import (
	"context"
	"errors"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/format"
)

// Options of Open. The zero value is useful.
type Options struct {
	Allocator   memory.Allocator // of Arrow buffers; nil = memory.DefaultAllocator
	Parallelism int              // decoding goroutines; 0 = GOMAXPROCS
	TailBytes   int64            // size of the first read; 0 = 64 KiB
	Name        string           // for error messages: the object's key
	Coalesce    int64            // reads closer than so many bytes are one; 0 = 4 KiB
	ReadBytes   int64            // largest single read of a scan; 0 = 8 MiB
}

// Reader reads one data file. It is safe for concurrent use.
type Reader struct{ opts Options }

var errNotBuilt = errors.New("not built yet")

// Open reads the end of the object and checks what every later read relies on.
func Open(ctx context.Context, src Source, opts Options) (*Reader, error) { return nil, errNotBuilt }

// Version is the format of the file: (2, 0), (2, 1) or (2, 2).
func (r *Reader) Version() (major, minor int) { return 0, 0 }

// NumRows is the number of physical rows.
func (r *Reader) NumRows() int64 { return 0 }

// FileSchema is the schema that the file itself carries. It is informative:
// a table's manifest decides.
func (r *Reader) FileSchema() (*format.Schema, error) { return nil, errNotBuilt }

// BindAll binds the file's own schema, for loose files and index files.
func (r *Reader) BindAll() ([]Column, error) { return nil, errNotBuilt }

// GlobalBuffer returns the bytes of global buffer i; 0 is the schema's.
func (r *Reader) GlobalBuffer(ctx context.Context, i int) ([]byte, error) { return nil, errNotBuilt }

// Column binds a top-level field of a schema to the file.
type Column struct {
	Field  *format.Field // with children
	Leaves []int         // physical column of each owning leaf in depth-first order; -1 = not in this file, reads as null
}

// BindByID makes the columns of fields from a manifest DataFile's fields and
// column_indices. In 2.1 and later leaves, packed structs and blobs own
// columns; in 2.0 every field does.
func BindByID(fields []*format.Field, ids, columnIndices []int32, major, minor int) []Column {
	return nil
}

// ScanOptions say which rows to scan.
type ScanOptions struct {
	From, To  int64 // physical rows [From, To); To < 0 = to the end
	BatchRows int   // at most so many rows a batch; 0 = as many as are convenient
}

// Scan yields the rows in order. The consumer releases each batch.
func (r *Reader) Scan(ctx context.Context, cols []Column, o ScanOptions) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) { yield(nil, errNotBuilt) }
}

// Take returns the given rows, in that order, duplicates allowed.
func (r *Reader) Take(ctx context.Context, cols []Column, rows []int64) (arrow.RecordBatch, error) {
	return nil, errNotBuilt
}

// PageInfo describes a page of a physical column for people.
type PageInfo struct {
	Column   int    // physical column
	Page     int    // counted from 0 in the column
	FirstRow int64  // of the file
	Rows     int64  // as the page says; below a fixed-size list of structs rows × dimension
	Layout   string // "miniblock", "fullzip", "constant", "blob"; the root node's name in 2.0
	Encoding string // the encoding tree as text
	Layers   []string
	Buffers  []BufferInfo
}

// BufferInfo is where a page's buffer lies in the file.
type BufferInfo struct{ Offset, Size int64 }

// Pages describes every page, column by column. It decodes no data.
func (r *Reader) Pages() ([]PageInfo, error) { return nil, errNotBuilt }

// Nulls yields what Scan yields when no file holds any of the columns: rows
// of nulls, as in a fragment without data files.
func Nulls(ctx context.Context, cols []Column, rows int64, batchRows int, alloc memory.Allocator) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) { yield(nil, errNotBuilt) }
}
