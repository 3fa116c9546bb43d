package lance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"golang.org/x/sync/errgroup"

	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/lance/format"
)

// FoundText is where values of a column of text stand.
type FoundText struct {
	// Rows are the addresses of the live rows of each value, in physical order.
	// A value that stands nowhere is no key.
	Rows map[string][]uint64
	// Indexed and Scanned are the numbers of fragments that were looked through
	// by a BTREE index, and by reading the column (or what a TextMemory knows of it).
	Indexed, Scanned int
	// Doubt is why an index that there is was not believed; "" = it was, or
	// there was no need to ask it.
	Doubt string
}

// FindText finds the rows whose value in a top-level column of text is one of
// values. The answer is one to write by, also where it says that there is no
// row:
//
// Fragments that a BTREE index covers are looked up in it, the others have
// their column scanned. What the index finds is compared with the rows. When a
// row has another value, when the index is damaged, or when it holds fewer
// entries than the fragments that it covers have live rows (every live row has
// an entry), the column is scanned whole. So it is when that is no more work:
// small tables, and so many values that most of the index would be read.
//
// An index whose every entry can be read, in order, as many as there must be,
// is believed: an entry that another program put under a wrong value is not
// noticed. LookUpByScan makes sure.
func (s *Snapshot) FindText(ctx context.Context, column string, values []string, how LookUpMode) (*FoundText, error) {
	f := s.Schema().Lookup(column)
	if f == nil {
		return nil, fmt.Errorf("looking up rows of %s: %w", s.env.at(), &NoColumnError{column, s.columnNames()})
	}
	if !isText(f) {
		return nil, fmt.Errorf("looking up rows of %s: column %q is of type %s, not text", s.env.at(), column, f.LogicalType)
	}
	find := &finding{s: s, column: column, field: f, want: make(map[string]bool, len(values)), out: &FoundText{Rows: map[string][]uint64{}}}
	for _, v := range values {
		find.want[v] = true
	}
	if len(values) == 0 {
		return find.out, nil
	}
	if err := find.run(ctx, how); err != nil {
		return nil, fmt.Errorf("looking up rows of %s by %s: %w", s.env.at(), column, err)
	}
	for _, addrs := range find.out.Rows {
		s.Sort(addrs)
	}
	return find.out, nil
}

// finding is one running FindText.
type finding struct {
	s      *Snapshot
	column string
	field  *format.Field
	want   map[string]bool
	out    *FoundText
}

func (x *finding) run(ctx context.Context, how LookUpMode) error {
	l := x.s.LookUp(how, x.column)
	if l == nil || how == LookUpByCost && uint64(len(x.want))*defaultPageRows >= l.rows {
		return x.scan(ctx, nil)
	}
	var indexed map[string][]uint64
	err := together([]func() error{
		func() (err error) { indexed, err = x.look(ctx, l); return err },
		func() error {
			if len(l.Rest) == 0 {
				return nil
			}
			return x.scan(ctx, l.Rest)
		},
	})
	switch {
	case err != nil && (ctx.Err() != nil || !Unusable(err)):
		return err
	case err != nil:
		x.out.Doubt = err.Error()
	}
	if x.out.Doubt != "" {
		x.out.Rows, x.out.Scanned = map[string][]uint64{}, 0
		return x.scan(ctx, nil)
	}
	x.out.Indexed = len(l.covered)
	for v, addrs := range indexed {
		x.out.Rows[v] = append(x.out.Rows[v], addrs...)
	}
	return nil
}

// open opens the files that hold the column in some fragments, for the rows to
// be compared. What goes wrong is told by whoever reads them.
func (x *finding) open(ctx context.Context, frags map[int]bool) {
	p, err := x.s.project([]string{x.column}, nil)
	if err != nil {
		return
	}
	bind := binder{p: p}
	var g errgroup.Group
	g.SetLimit(x.s.env.opts.Parallelism)
	for _, at := range slices.Sorted(maps.Keys(frags)) {
		f := x.s.frags[at].f
		plans, err := bind.bind(f)
		if err != nil {
			continue
		}
		for _, plan := range plans {
			g.Go(func() error {
				_, _, err := x.s.readers.open(ctx, x.s, &f.Files[plan.file])
				return err
			})
		}
	}
	_ = g.Wait()
}

// look asks the index, and compares what it says with the rows.
func (x *finding) look(ctx context.Context, l *LookUp) (map[string][]uint64, error) {
	for _, t := range l.indexes[0].segments {
		t.ahead = x.open
	}
	keys := make([]string, 0, len(x.want))
	for v := range x.want {
		keys = append(keys, v)
	}
	addrs, err := l.Find(ctx, keys)
	if err != nil {
		return nil, err
	}
	if x.out.Doubt = l.indexes[0].doubt(); x.out.Doubt != "" || len(addrs) == 0 {
		return nil, nil
	}
	batch, err := x.s.Take(ctx, []string{x.column}, addrs)
	if err != nil {
		return nil, err
	}
	defer batch.Release()
	value, err := textsOf(batch.Column(0))
	if err != nil {
		return nil, err
	}
	found := map[string][]uint64{}
	for i, addr := range addrs {
		v := value(i)
		if v.null || !x.want[v.text] {
			x.out.Doubt = fmt.Sprintf("index %q names the row at address %d, which has another value", l.indexes[0].name, addr)
			return nil, nil
		}
		found[strings.Clone(v.text)] = append(found[strings.Clone(v.text)], addr)
	}
	return found, nil
}

// scan reads the column of fragments, nil = all.
func (x *finding) scan(ctx context.Context, fragments []uint64) error {
	x.out.Scanned = len(fragments)
	if fragments == nil {
		x.out.Scanned = len(x.s.frags)
	}
	if t := x.s.env.opts.Texts.table(textColumn{x.s.env.store, x.s.env.root, x.field.ID}); t != nil && len(x.s.byID) == len(x.s.frags) {
		return x.recall(ctx, t, fragments)
	}
	o := ScanOptions{Columns: []string{x.column}, WithRowAddress: true, Fragments: fragments}
	for batch, err := range x.s.Scan(ctx, o) {
		if err != nil {
			return err
		}
		err = x.match(batch, nil)
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// match takes the rows of a batch that are wanted and not gone.
func (x *finding) match(batch arrow.RecordBatch, gone *deletion.Set) error {
	value, err := textsOf(batch.Column(0))
	if err != nil {
		return err
	}
	addrs := batch.Column(1).(*array.Uint64)
	for i := range int(batch.NumRows()) {
		if v := value(i); !v.null && x.want[v.text] && !gone.Contains(uint32(addrs.Value(i))) {
			text := strings.Clone(v.text)
			x.out.Rows[text] = append(x.out.Rows[text], addrs.Value(i))
		}
	}
	return nil
}

// doubt says why an opened index cannot hold all that it claims to, or "".
func (x *TextIndex) doubt() string {
	for _, t := range x.segments {
		live := uint64(0)
		for at := range t.frags {
			f := x.s.frags[at].f
			if n, known := f.LiveRows(); known {
				live += n
			} else {
				live += f.PhysicalRows
			}
		}
		if t.data != nil && uint64(t.data.NumRows()) < live {
			return fmt.Sprintf("index %q holds %d entries, the fragments that it covers have %d rows", x.name, t.data.NumRows(), live)
		}
	}
	return ""
}

// Covered fragments that are as small as this together are scanned rather than
// looked up: that is one step and not three.
const (
	scanBytes     uint64 = 1 << 20
	scanFragments        = 8
)

// LookUpMode says when indexes are asked.
type LookUpMode uint8

// The modes.
const (
	LookUpByCost  LookUpMode = iota // when that is less work than a scan
	LookUpByIndex                   // whenever there is one that can be used
	LookUpByScan                    // never
)

// LookUp is a plan to find rows by values of columns of text: in the fragments
// that a BTREE index on each of the columns covers through the indexes, in the
// others (Rest) by a scan.
type LookUp struct {
	Rest    []uint64 // fragments to be scanned, in manifest order
	s       *Snapshot
	indexes []*TextIndex
	covered map[uint64]bool
	rows    uint64 // live ones of the covered
}

// LookUp plans a look-up; nil when everything had better be scanned. No
// request.
func (s *Snapshot) LookUp(how LookUpMode, columns ...string) *LookUp {
	if how == LookUpByScan {
		return nil
	}
	l := &LookUp{s: s, covered: map[uint64]bool{}}
	times := map[uint64]int{}
	for _, name := range columns {
		x := s.TextIndex(name)
		if x == nil {
			return nil
		}
		l.indexes = append(l.indexes, x)
		for _, f := range x.Covered() {
			times[f]++
		}
	}
	var bytes uint64
	for i := range s.frags {
		f := s.frags[i].f
		if times[f.ID] < len(columns) {
			l.Rest = append(l.Rest, f.ID)
			continue
		}
		l.covered[f.ID] = true
		n, _ := f.LiveRows()
		l.rows += n
		for k := range f.Files {
			bytes += f.Files[k].Size
		}
	}
	if how == LookUpByCost && bytes <= scanBytes && len(l.covered) <= scanFragments {
		return nil
	}
	return l
}

// Find gives the addresses, in physical order, of the rows of covered fragments
// with one of the keys of some column; keys are aligned with the columns.
func (l *LookUp) Find(ctx context.Context, keys ...[]string) ([]uint64, error) {
	found := make([][]uint64, len(l.indexes))
	steps := make([]func() error, len(l.indexes))
	for i, x := range l.indexes {
		steps[i] = func() (err error) { found[i], err = x.Find(ctx, keys[i]...); return err }
	}
	if err := together(steps); err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(slices.Concat(found...), func(addr uint64) bool { return !l.covered[addr>>32] })
	l.s.Sort(all)
	return slices.Compact(all), nil
}
