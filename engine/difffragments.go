package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/lance/format"
)

// fragmentPair is a fragment of two versions: the same files.
type fragmentPair struct {
	a, b *format.Fragment
	kept bool // and the same deletions
}

// fragmentsDiff compares the fragments of two versions of a dataset.
type fragmentsDiff struct {
	both         []fragmentPair
	onlyA, onlyB []*format.Fragment
}

// diffFragments compares what two manifests say. No request.
func diffFragments(a, b *lance.Snapshot) (*fragmentsDiff, error) {
	out := &fragmentsDiff{}
	old := map[string]*format.Fragment{}
	for i := range a.Fragments() {
		f := &a.Fragments()[i]
		key, err := filesKey(a, f)
		if err != nil {
			return nil, err
		}
		old[key] = f
	}
	met := map[*format.Fragment]bool{}
	for i := range b.Fragments() {
		f := &b.Fragments()[i]
		key, err := filesKey(b, f)
		if err != nil {
			return nil, err
		}
		was := old[key]
		if was == nil || met[was] {
			out.onlyB = append(out.onlyB, f)
			continue
		}
		met[was] = true
		before, errA := deletionKey(a, was)
		after, errB := deletionKey(b, f)
		if errA != nil || errB != nil {
			return nil, cmpErr(errA, errB)
		}
		out.both = append(out.both, fragmentPair{was, f, before == after})
	}
	for i := range a.Fragments() {
		if f := &a.Fragments()[i]; !met[f] {
			out.onlyA = append(out.onlyA, f)
		}
	}
	return out, nil
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// filesKey names the rows that a fragment had before any was deleted: its id and
// its data files, which are written once.
func filesKey(s *lance.Snapshot, f *format.Fragment) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d", f.ID, f.PhysicalRows)
	for i := range f.Files {
		d := &f.Files[i]
		folder, err := s.FolderOf(d.Base)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\x00%q %q %v %v", folder, d.Path, d.Fields, d.ColumnIndices)
	}
	return b.String(), nil
}

// deletionKey names a fragment's deletion file; "" when it has none.
func deletionKey(s *lance.Snapshot, f *format.Fragment) (string, error) {
	if f.Deletion == nil {
		return "", nil
	}
	folder, err := s.FolderOf(f.Deletion.Base)
	return folder + "\x00" + format.DeletionPath(f.ID, f.Deletion), err
}

// sameFields: both versions read the same columns out of the same files, in the
// same order.
func sameFields(a, b *lance.Snapshot) bool {
	return slices.EqualFunc(a.Schema().Fields, b.Schema().Fields, sameField)
}

func sameField(a, b *format.Field) bool {
	return a.ID == b.ID && a.Name == b.Name && a.LogicalType == b.LogicalType && slices.EqualFunc(a.Children, b.Children, sameField)
}

// divide says which rows of each side must be read.
func (d *tableDiff) divide(ctx context.Context) error {
	if d.a == nil || d.b == nil || d.remade || !sameFields(d.a.snap, d.b.snap) {
		for _, s := range []*diffSide{d.a, d.b} {
			if s != nil {
				s.everything()
			}
		}
		return nil
	}
	fragments, err := diffFragments(d.a.snap, d.b.snap)
	if err != nil {
		return fmt.Errorf("comparing versions %d and %d of %s: %w", d.count.From, d.count.To, d.count.Table, err)
	}
	for _, f := range fragments.onlyA {
		d.a.fragment(f)
	}
	for _, f := range fragments.onlyB {
		d.b.fragment(f)
	}
	var touched []fragmentPair
	for _, p := range fragments.both {
		switch {
		case p.kept:
		case p.a.PhysicalRows == 0: // how many rows there are is not recorded
			d.a.fragment(p.a)
			d.b.fragment(p.b)
		default:
			touched = append(touched, p)
		}
	}
	return d.touched(ctx, touched)
}

// touched reads the deletions of fragments that have others in the two versions.
// What is deleted in both or in neither is the same.
func (d *tableDiff) touched(ctx context.Context, pairs []fragmentPair) error {
	before := make([]*deletion.Set, len(pairs))
	after := make([]*deletion.Set, len(pairs))
	err := d.each(2*len(pairs), func(i int) (err error) {
		p := pairs[i/2]
		if i%2 == 0 {
			before[i/2], err = d.a.snap.Deletions(ctx, p.a.ID)
			return d.rowsError(ctx, err, d.a.cols.entry)
		}
		after[i/2], err = d.b.snap.Deletions(ctx, p.b.ID)
		return d.rowsError(ctx, err, d.b.cols.entry)
	})
	if err != nil {
		return err
	}
	for i, p := range pairs {
		d.a.sift(p.a, before[i], after[i])
		d.b.sift(p.b, after[i], before[i])
	}
	return nil
}

// everything reads every row.
func (s *diffSide) everything() {
	for i := range s.snap.Fragments() {
		s.fragment(&s.snap.Fragments()[i])
	}
}

// fragment reads every row of a fragment.
func (s *diffSide) fragment(f *format.Fragment) {
	n, known := f.LiveRows()
	if !known {
		n = max(f.PhysicalRows, diffUnknown)
	}
	s.scanned(f)
	s.rows += n
}

func (s *diffSide) scanned(f *format.Fragment) {
	s.whole = append(s.whole, f.ID)
	for i := range f.Files {
		if n := f.Files[i].Size; n > 0 {
			s.bytes += min(n, diffScan)
		} else {
			s.bytes += diffScan / 64 // not recorded
		}
	}
}

// sift reads the rows of a fragment that live here and are deleted there: a few
// are taken, of many the fragment is scanned.
func (s *diffSide) sift(f *format.Fragment, here, there *deletion.Set) {
	var addrs []uint64
	n, few := uint64(0), min(f.PhysicalRows/diffSieve, diffPicked)
	at := uint64(0)
	gap := func(to uint64) {
		for ; at < to; at++ {
			if here.Contains(uint32(at)) {
				continue
			}
			if n++; n <= few {
				addrs = append(addrs, f.ID<<32|at)
			}
		}
	}
	for from, to := range there.Live(0, f.PhysicalRows) {
		gap(from)
		at = to
	}
	gap(f.PhysicalRows)
	s.rows += n
	switch {
	case n == 0:
	case n > few:
		s.scanned(f)
		s.sieve[f.ID] = there
	default:
		s.picked = append(s.picked, addrs...)
	}
}
