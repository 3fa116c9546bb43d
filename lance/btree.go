package lance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/index"
)

// Files of a segment of a BTREE index. page_data holds every indexed value and
// the id of its row, sorted, null first; page_lookup the first and the last
// value of each page, a page being so many rows as its metadata say.
const (
	btreeLookup = "page_lookup.lance"
	btreeData   = "page_data.lance"

	defaultPageRows = 4096
	maxPages        = 1 << 20 // of one segment that are looked through
)

// btree is one segment of a BTREE index on a column of text. Its files are
// opened when it is first asked.
type btree struct {
	s     *Snapshot
	seg   *index.Segment
	frags map[int]bool                                  // positions of the fragments that it covers and that exist
	ahead func(ctx context.Context, frags map[int]bool) // when set, called with those in which rows were found

	mu    sync.Mutex
	ready bool
	pages []textPage
	rows  int64 // of a page
	data  *file.Reader
}

// textPage is the first and the last value of a page; a null is less than all.
type textPage struct{ first, last textValue }

type textValue struct {
	text string
	null bool
}

// clone is the value without the column that it was read from.
func (a textValue) clone() textValue { return textValue{strings.Clone(a.text), a.null} }

func (a textValue) compare(b textValue) int {
	switch {
	case a.null && b.null:
		return 0
	case a.null:
		return -1
	case b.null:
		return 1
	}
	return cmp.Compare(a.text, b.text)
}

// open reads the pages' ends and the head of the data, side by side, once.
func (t *btree) open(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ready {
		return nil
	}
	var lookup *file.Reader
	err := together([]func() error{
		func() (err error) { t.data, err = t.file(ctx, btreeData); return err },
		func() (err error) { lookup, err = t.file(ctx, btreeLookup); return err },
	})
	if err != nil {
		return err
	}
	if err := t.readLookup(ctx, lookup); err != nil {
		return fmt.Errorf("%s of index %q, segment %s: %w", btreeLookup, t.seg.Name, t.seg.UUID, err)
	}
	t.ready = true
	return nil
}

// file opens a file of the segment's folder.
func (t *btree) file(ctx context.Context, name string) (r *file.Reader, err error) {
	size := uint64(0)
	for _, f := range t.seg.Files {
		if f.Path == name {
			size = f.Size
		}
	}
	s := t.s
	err = s.bases.try(ctx, t.seg.Base, func(p place) error {
		key := format.Join(p.dir, format.IndexDir(t.seg.UUID), name)
		src, err := s.source(ctx, p.store, key, size, true)
		if err != nil {
			return err
		}
		r, err = file.Open(ctx, src, file.Options{Allocator: s.env.opts.Allocator, Parallelism: 1, Name: key, Coalesce: s.env.merge})
		return err
	})
	return r, err
}

// readLookup reads the ends of all pages and checks that they follow each other
// and make up the data.
func (t *btree) readLookup(ctx context.Context, r *file.Reader) error {
	var err error
	if t.rows, err = pageRows(r); err != nil {
		return err
	}
	if n, rows := r.NumRows(), t.data.NumRows(); n > maxPages || n != (rows+t.rows-1)/t.rows {
		return format.Corruptf("%d pages of %d rows for %d values", n, t.rows, rows)
	}
	cols, err := columnsNamed(r, "min", "max", "page_idx")
	if err != nil {
		return err
	}
	t.pages = make([]textPage, 0, r.NumRows())
	for batch, err := range r.Scan(ctx, cols, file.ScanOptions{To: -1}) {
		if err != nil {
			return err
		}
		err = t.addPages(batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *btree) addPages(batch arrow.RecordBatch) error {
	first, err := textsOf(batch.Column(0))
	if err != nil {
		return err
	}
	last, err := textsOf(batch.Column(1))
	if err != nil {
		return err
	}
	number, ok := batch.Column(2).(*array.Uint32)
	if !ok {
		return format.Corruptf("page numbers of type %s", batch.Column(2).DataType())
	}
	for i := range int(batch.NumRows()) {
		p := textPage{first(i).clone(), last(i).clone()}
		n := len(t.pages)
		if int(number.Value(i)) != n || p.first.compare(p.last) > 0 || n > 0 && t.pages[n-1].last.compare(p.first) > 0 {
			return format.Corruptf("page %d does not follow the one before it", n)
		}
		t.pages = append(t.pages, p)
	}
	return nil
}

// pageRows is the number of rows of a page by the metadata of the lookup file.
func pageRows(r *file.Reader) (int64, error) {
	s, err := r.FileSchema()
	if err != nil {
		return 0, err
	}
	if v := s.Metadata["range_partitioned"]; v != "" && v != "false" {
		return 0, format.Unsupportedf("a BTREE index in partitions")
	}
	if n, err := strconv.ParseUint(s.Metadata["batch_size"], 10, 32); err == nil && n > 0 {
		return int64(n), nil
	}
	return defaultPageRows, nil
}

// columnsNamed binds columns of an index file by their names.
func columnsNamed(r *file.Reader, names ...string) ([]file.Column, error) {
	all, err := r.BindAll()
	if err != nil {
		return nil, err
	}
	out := make([]file.Column, len(names))
	for i, name := range names {
		k := slices.IndexFunc(all, func(c file.Column) bool { return c.Field.Name == name })
		if k < 0 {
			return nil, format.Corruptf("it has no column %q", name)
		}
		out[i] = all[k]
	}
	return out, nil
}

// textsOf reads a column of text. The values live as long as the column.
func textsOf(c arrow.Array) (func(i int) textValue, error) {
	t, ok := c.(interface{ Value(int) string })
	switch c.DataType().ID() {
	case arrow.STRING, arrow.LARGE_STRING:
	default:
		ok = false
	}
	if !ok {
		return nil, format.Corruptf("values of type %s in an index on text", c.DataType())
	}
	return func(i int) textValue {
		if c.IsNull(i) {
			return textValue{null: true}
		}
		return textValue{text: t.Value(i)}
	}, nil
}

// find returns the ids of all rows with one of the keys, which are sorted.
// What the index says is not filtered: rows may be gone or belong to another
// segment by now.
func (t *btree) find(ctx context.Context, keys []string) ([]uint64, error) {
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	runs := t.choose(keys)
	found := make([][]uint64, len(runs))
	g := beside.New(ctx, t.s.env.opts.Parallelism)
	for i, run := range runs {
		g.Go(func(ctx context.Context) (err error) {
			found[i], err = t.readPages(ctx, run, keys)
			if err != nil {
				err = fmt.Errorf("%s of index %q, segment %s: %w", btreeData, t.seg.Name, t.seg.UUID, err)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}

// choose finds the pages that may hold a key, runs of neighbours together.
func (t *btree) choose(keys []string) []span {
	var runs []span
	for n, p := range t.pages {
		i := 0
		if !p.first.null {
			i, _ = slices.BinarySearch(keys, p.first.text)
		}
		if p.last.null || i == len(keys) || keys[i] > p.last.text {
			continue
		}
		at := uint64(n)
		if k := len(runs) - 1; k >= 0 && runs[k].to == at {
			runs[k].to++
		} else {
			runs = append(runs, span{at, at + 1})
		}
	}
	return runs
}

// readPages reads a run of pages and picks the rows with a key. Values must be
// in order and within the ends of their page.
func (t *btree) readPages(ctx context.Context, run span, keys []string) ([]uint64, error) {
	cols, err := columnsNamed(t.data, "values", "ids")
	if err != nil {
		return nil, err
	}
	at := int64(run.from) * t.rows
	o := file.ScanOptions{From: at, To: min(int64(run.to)*t.rows, t.data.NumRows())}
	var out []uint64
	for batch, err := range t.data.Scan(ctx, cols, o) {
		if err != nil {
			return nil, err
		}
		out, err = t.pick(out, batch, at, keys)
		at += batch.NumRows()
		batch.Release()
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pick appends the ids of the rows of a batch that have a key; at is the number
// of its first row.
func (t *btree) pick(out []uint64, batch arrow.RecordBatch, at int64, keys []string) ([]uint64, error) {
	value, err := textsOf(batch.Column(0))
	if err != nil {
		return nil, err
	}
	ids, ok := batch.Column(1).(*array.Uint64)
	if !ok {
		return nil, format.Corruptf("row ids of type %s", batch.Column(1).DataType())
	}
	var before textValue
	for i := range int(batch.NumRows()) {
		v := value(i)
		page := t.pages[(at+int64(i))/t.rows]
		if i > 0 && before.compare(v) > 0 || v.compare(page.first) < 0 || v.compare(page.last) > 0 {
			return nil, format.Corruptf("value %d is out of order", at+int64(i))
		}
		before = v
		if v.null {
			continue
		}
		if _, ok := slices.BinarySearch(keys, v.text); ok {
			out = append(out, ids.Value(i))
		}
	}
	return out, nil
}
