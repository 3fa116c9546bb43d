package lance

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/index"
)

// TextIndex finds rows by the value of a column of text, through a BTREE index
// of the version. It is safe for concurrent use.
type TextIndex struct {
	s        *Snapshot
	name     string
	covered  []uint64
	segments []*btree
}

// TextIndex is the index on a top-level column of text that covers most rows;
// nil when there is none that can be used. No request.
//
// An index is left alone when the manifest leaves open what it covers or how
// long its files are, when its segments overlap, or when a fragment does not
// record its rows: then only a scan tells what is there.
func (s *Snapshot) TextIndex(column string) *TextIndex {
	list, err := index.Describe(s.manifest)
	if err != nil || !s.indexable(column, list) {
		return nil
	}
	var best *index.Index
	for i := range list {
		if x := &list[i]; usable(x, column) && (best == nil || x.CoveredRows > best.CoveredRows) {
			best = x
		}
	}
	if best == nil || len(best.Covered) == 0 {
		return nil
	}
	out := &TextIndex{s: s, name: best.Name, covered: best.Covered}
	for i := range best.Segments {
		t := &btree{s: s, seg: &best.Segments[i], frags: map[int]bool{}}
		for _, f := range t.seg.Fragments {
			if at, ok := s.byID[uint64(f)]; ok {
				t.frags[at] = true
			}
		}
		if len(t.frags) > 0 {
			out.segments = append(out.segments, t)
		}
	}
	return out
}

// indexable reports whether rows of the version can be found by any index on
// the column.
func (s *Snapshot) indexable(column string, list []index.Index) bool {
	f := s.Schema().Lookup(column)
	if f == nil || len(s.byID) != len(s.frags) {
		return false
	}
	a, err := f.ArrowField()
	if err != nil || a.Type.ID() != arrow.STRING && a.Type.ID() != arrow.LARGE_STRING {
		return false
	}
	for i := range s.frags {
		if s.frags[i].f.PhysicalRows == 0 {
			return false
		}
	}
	moved := slices.ContainsFunc(list, func(x index.Index) bool { return x.Kind == index.Reuse })
	return s.manifest.StableRowIDs() || !moved
}

// usable reports whether everything that a look-up relies on is recorded.
func usable(x *index.Index, column string) bool {
	if x.Kind != index.BTree || !x.Known || len(x.Problems) > 0 || !slices.Equal(x.Columns, []string{column}) {
		return false
	}
	for i := range x.Segments {
		seg := &x.Segments[i]
		if seg.IndexVersion != nil && *seg.IndexVersion != 0 {
			return false
		}
		for _, name := range []string{btreeLookup, btreeData} {
			if !slices.ContainsFunc(seg.Files, func(f format.IndexFile) bool { return f.Path == name && f.Size > 0 }) {
				return false
			}
		}
	}
	return true
}

// Covered are the fragments whose rows the index finds, by id in manifest
// order. Rows of the others have to be scanned. It must not be changed.
func (x *TextIndex) Covered() []uint64 { return x.covered }

// Find returns the addresses of the live rows of covered fragments whose value
// is one of keys, in physical order. It costs two requests a segment to open
// it, once, then those for the pages that may hold a key, and the deletion
// files of fragments in which rows were found.
//
// An index that cannot be relied upon is an error for which Unusable is true: a
// scan of the fragments still tells what is there.
func (x *TextIndex) Find(ctx context.Context, keys ...string) ([]uint64, error) {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	if len(keys) == 0 {
		return nil, nil
	}
	found := make([][]uint64, len(x.segments))
	g := beside.New(ctx, 0)
	for i, t := range x.segments {
		g.Go(func(inner context.Context) error {
			ids, err := t.find(inner, keys)
			if err == nil {
				found[i], err = t.addresses(inner, ids)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	all := slices.Concat(found...)
	x.s.Sort(all)
	return slices.Compact(all), nil
}

// Unusable reports an error that says something about an index and nothing
// about the rows.
func Unusable(err error) bool {
	var rows *FragmentError
	if errors.As(err, &rows) {
		return false
	}
	return errors.Is(err, format.ErrCorrupt) || errors.Is(err, format.ErrUnsupported) || errors.Is(err, blob.ErrNotExist) ||
		errors.Is(err, ErrExternal) || errors.Is(err, ErrChanged)
}

// Sort puts addresses into physical order.
func (s *Snapshot) Sort(addrs []uint64) {
	slices.SortFunc(addrs, s.Compare)
}

// Compare orders two addresses of the version as a scan meets them.
func (s *Snapshot) Compare(a, b uint64) int {
	if fa, fb := s.byID[a>>32], s.byID[b>>32]; fa != fb {
		return fa - fb
	}
	return int(a&(1<<32-1)) - int(b&(1<<32-1))
}

// addresses turns what the segment stores into addresses of live rows of the
// fragments that it covers: a row that was rewritten since is another segment's,
// or nobody's.
func (t *btree) addresses(ctx context.Context, ids []uint64) ([]uint64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	type place struct {
		frag   int
		offset uint64
	}
	var places []place
	s := t.s
	visit := func(frag int, offset uint64) error {
		if t.frags[frag] && offset < s.frags[frag].f.PhysicalRows {
			places = append(places, place{frag, offset})
		}
		return nil
	}
	if s.manifest.StableRowIDs() {
		if err := s.rowIndex.build(ctx, s); err != nil {
			return nil, err
		}
	}
	touched := map[int]bool{}
	for _, id := range ids {
		if s.manifest.StableRowIDs() {
			_ = s.rowIndex.candidates(id, visit)
		} else if frag, ok := s.byID[id>>32]; ok {
			_ = visit(frag, id&(1<<32-1))
		}
	}
	for _, p := range places {
		touched[p.frag] = true
	}
	steps := []func() error{func() error { return s.readAllDeletions(ctx, touched) }}
	if t.ahead != nil {
		steps = append(steps, func() error { t.ahead(ctx, touched); return nil })
	}
	if err := together(steps); err != nil {
		return nil, err
	}
	out := make([]uint64, 0, len(places))
	for _, p := range places {
		st := &s.frags[p.frag]
		set, err := s.deletionsOf(ctx, st)
		if err != nil {
			return nil, err
		}
		if !set.Contains(uint32(p.offset)) {
			out = append(out, st.f.ID<<32|p.offset)
		}
	}
	return out, nil
}

// readAllDeletions reads the deletion files of fragments side by side.
func (s *Snapshot) readAllDeletions(ctx context.Context, frags map[int]bool) error {
	g := beside.New(ctx, s.env.opts.Parallelism)
	for _, i := range slices.Sorted(maps.Keys(frags)) {
		g.Go(func(ctx context.Context) error { _, err := s.deletionsOf(ctx, &s.frags[i]); return err })
	}
	return g.Wait()
}
