package file

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/file/layout"
	"github.com/omnideck/omnideck/lance/format"
	filepb "github.com/omnideck/omnideck/lance/pb/file"
)

// Options of Open. The zero value is useful.
type Options struct {
	Allocator   memory.Allocator // of Arrow buffers; nil = memory.DefaultAllocator
	Parallelism int              // decoding goroutines; 0 = GOMAXPROCS
	TailBytes   int64            // size of the first read; 0 = 64 KiB
	Name        string           // for error messages: the object's key
	Coalesce    int64            // reads closer than so many bytes are one; 0 = 4 KiB for an IntoReader, else 16 KiB
	ReadBytes   int64            // largest single read of a scan; 0 = 8 MiB
	BatchBytes  int64            // most memory of one batch; 0 = 1 GiB
	CacheBytes  int64            // most memory of what is kept to find rows in pages; 0 = 64 MiB
}

func (o Options) withDefaults() Options {
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	if o.Parallelism <= 0 {
		o.Parallelism = runtime.GOMAXPROCS(0)
	}
	for _, d := range []struct {
		v  *int64
		or int64
	}{{&o.TailBytes, 64 << 10}, {&o.ReadBytes, 8 << 20}, {&o.BatchBytes, 1 << 30}, {&o.CacheBytes, 64 << 20}} {
		if *d.v <= 0 {
			*d.v = d.or
		}
	}
	return o
}

// Reader reads one data file. It is safe for concurrent use and holds nothing
// that has to be closed.
type Reader struct {
	src    Source
	opts   Options
	foot   *footer
	ends   []block // the end of the file, and what else Open read
	cmo    []layout.Range
	gbo    []layout.Range
	rows   int64
	desc   *filepb.FileDescriptor
	schema func() (*format.Schema, error)
	heads  headCache

	mu      sync.Mutex
	columns []*columnSlot
	plans   map[*format.Field]*column
}

// Open reads the end of the object and checks what every later read relies on:
// one read, or two if the metadata are longer than TailBytes.
func Open(ctx context.Context, src Source, opts Options) (*Reader, error) {
	r := &Reader{src: src, opts: opts.withDefaults(), plans: map[*format.Field]*column{}}
	if _, cheap := src.(IntoReader); r.opts.Coalesce <= 0 && cheap {
		r.opts.Coalesce = 4 << 10
	} else if r.opts.Coalesce <= 0 {
		r.opts.Coalesce = 16 << 10
	}
	r.heads.limit = r.opts.CacheBytes
	if err := r.open(ctx); err != nil {
		return nil, r.fail("", -1, err)
	}
	return r, nil
}

func (r *Reader) open(ctx context.Context) error {
	size := r.src.Size()
	first := min(size, max(r.opts.TailBytes, footerSize))
	if m, ok := r.src.(memorySource); ok {
		first = int64(len(m))
	}
	if size < footerSize {
		return format.Corruptf("a data file of %d bytes is shorter than its footer of %d", size, footerSize)
	}
	tail, err := r.readRange(ctx, layout.Range{Off: size - first, Len: first})
	if err != nil {
		return err
	}
	r.ends = []block{{off: size - first, buf: tail}}
	if r.foot, err = parseFooter(tail, size); err != nil {
		return err
	}
	if err := r.readTables(ctx, size); err != nil {
		return err
	}
	return r.readDescriptor()
}

// readTables reads what Open needs besides the tail, and the two tables.
func (r *Reader) readTables(ctx context.Context, size int64) error {
	f := r.foot
	gbo := layout.Range{Off: f.gboStart, Len: entrySize * f.globals}
	cmo := layout.Range{Off: f.cmoStart, Len: entrySize * f.columns}
	meta := layout.Range{Off: f.metaStart, Len: size - footerSize - f.metaStart}
	missing := []layout.Range{}
	if !r.have(meta) {
		missing = append(missing, layout.Range{Off: meta.Off, Len: r.ends[0].off - meta.Off})
	}
	if r.have(gbo) { // the schema's place is known already
		p, _ := r.held(gbo)
		schema := parseTable(p)[0]
		if err := r.checkSchema(schema); err != nil {
			return err
		}
		if !r.have(schema) {
			missing = append(missing, schema)
		}
	}
	if err := r.hold(ctx, missing); err != nil {
		return err
	}
	p, err := r.held(gbo)
	if err != nil {
		return err
	}
	r.gbo = parseTable(p)
	if p, err = r.held(cmo); err != nil {
		return err
	}
	r.cmo = parseTable(p)
	r.columns = make([]*columnSlot, len(r.cmo))
	if err := r.checkSchema(r.gbo[0]); err != nil {
		return err
	}
	if !r.have(r.gbo[0]) {
		return r.hold(ctx, r.gbo[:1])
	}
	return nil
}

// checkSchema checks the place of global buffer 0.
func (r *Reader) checkSchema(schema layout.Range) error {
	if err := checkRange(schema, 0, r.foot.metaStart, "the schema"); err != nil {
		return err
	}
	return r.foot.checkAligned(schema, "the schema")
}

// hold reads ranges and keeps them.
func (r *Reader) hold(ctx context.Context, missing []layout.Range) error {
	if len(missing) == 0 {
		return nil
	}
	got, err := r.fetch(ctx, missing, false)
	if err != nil {
		return err
	}
	for _, rg := range missing {
		p, err := got.get(rg)
		if err != nil {
			return err
		}
		// The metadata go on in the tail: join them, so that they can be cut.
		if tail := r.ends[0]; rg.End() == tail.off {
			r.ends[0] = block{rg.Off, append(p[:len(p):len(p)], tail.buf...)}
		} else {
			r.ends = append(r.ends, block{rg.Off, p})
		}
	}
	return nil
}

// held is a part of what Open read.
func (r *Reader) held(rg layout.Range) ([]byte, error) {
	for _, b := range r.ends {
		if p, ok := b.cut(rg); ok {
			return p, nil
		}
	}
	return nil, format.Corruptf("%d bytes at %d are not among the metadata", rg.Len, rg.Off)
}

// have tells whether Open read a range.
func (r *Reader) have(rg layout.Range) bool {
	for _, b := range r.ends {
		if _, ok := b.cut(rg); ok {
			return true
		}
	}
	return false
}

func (r *Reader) readDescriptor() error {
	p, err := r.held(r.gbo[0])
	if err != nil {
		return err
	}
	if r.desc, err = descriptor(p); err != nil {
		return err
	}
	if n := r.desc.GetLength(); n > maxRows {
		return format.Corruptf("a data file of %d rows; row addresses count only %d", n, uint64(maxRows))
	}
	r.rows = int64(r.desc.GetLength())
	r.schema = sync.OnceValues(func() (*format.Schema, error) {
		s, err := format.SchemaFromProto(r.desc.GetSchema().GetFields(), r.desc.GetSchema().GetMetadata())
		return s, r.fail("", -1, err)
	})
	return nil
}

// Version is the format of the file: (2, 0), (2, 1) or (2, 2).
func (r *Reader) Version() (major, minor int) { return r.foot.major, r.foot.minor }

// NumRows is the number of physical rows.
func (r *Reader) NumRows() int64 { return r.rows }

// NumColumns is the number of physical columns.
func (r *Reader) NumColumns() int { return len(r.cmo) }

// FileSchema is the schema that the file itself carries. It is informative:
// a table's manifest decides.
func (r *Reader) FileSchema() (*format.Schema, error) { return r.schema() }

// GlobalBuffer returns the bytes of global buffer i; 0 is the schema's. They
// are not to be written to.
func (r *Reader) GlobalBuffer(ctx context.Context, i int) ([]byte, error) {
	if i < 0 || i >= len(r.gbo) {
		return nil, r.fail("", -1, fmt.Errorf("global buffer %d was asked of %d", i, len(r.gbo)))
	}
	g := r.gbo[i]
	if err := checkRange(g, 0, r.src.Size()-footerSize, "a global buffer"); err != nil {
		return nil, r.fail("", -1, err)
	}
	if err := r.foot.checkAligned(g, "a global buffer"); err != nil {
		return nil, r.fail("", -1, err)
	}
	got, err := r.fetch(ctx, []layout.Range{g}, false)
	if err != nil {
		return nil, r.fail("", -1, err)
	}
	p, err := got.get(g)
	return p, r.fail("", -1, err)
}

// NumGlobalBuffers is the number of global buffers, the schema's included.
func (r *Reader) NumGlobalBuffers() int { return len(r.gbo) }
