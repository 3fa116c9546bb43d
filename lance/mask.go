package lance

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// masked is what becomes of the fragments of rows that are deleted or moved.
type masked struct {
	updated []*tablepb.DataFragment // with a deletion file that holds the complete set
	removed []uint64                // that lose their last row
}

// StageDelete deletes the rows at addresses. predicate is recorded in the
// transaction as what chose them, for people: nobody evaluates it. Addresses
// that hold no live row are a RowsMissingError, one that comes twice an
// InputError.
func (s *Snapshot) StageDelete(ctx context.Context, addrs []uint64, predicate string, o StageOptions) (*Staged, error) {
	st, err := s.stage(ctx, o)
	if err != nil {
		return nil, err
	}
	if len(addrs) == 0 {
		return nil, st.up.wait(st.wrong("there are no rows to delete"))
	}
	var m masked
	order, err := st.mask(ctx, addrs)
	if err == nil {
		m, err = st.putMasks(order)
	}
	st.out.Deleted = uint64(len(addrs))
	st.out.Txn.Operation = &tablepb.Transaction_Delete{Delete: &tablepb.Delete{
		UpdatedFragments: m.updated, DeletedFragmentIds: m.removed, Predicate: predicate,
	}}
	return st.done(err)
}

// mask finds out what remains of the fragments when the rows at addresses are
// taken out: the positions of those fragments, by their ids. The deletion files
// of those that have one are read.
func (st *staging) mask(ctx context.Context, addrs []uint64) (order []int, err error) {
	s := st.base
	gone := map[int][]uint32{}
	touched := map[int]bool{}
	var missing []uint64
	for _, addr := range addrs {
		at, ok := s.byID[addr>>32]
		if !ok || addr&(1<<32-1) >= s.frags[at].f.PhysicalRows {
			missing = append(missing, addr)
			continue
		}
		gone[at] = append(gone[at], uint32(addr))
		touched[at] = true
	}
	if err := s.readAllDeletions(ctx, touched); err != nil {
		return nil, err
	}
	st.out.Affected, st.out.masks = map[uint64]*deletion.Set{}, map[uint64]*deletion.Set{}
	for _, at := range slices.Sorted(maps.Keys(gone)) {
		f, offsets := &s.frags[at], gone[at]
		set := deletion.New(offsets)
		if set.Len() != uint64(len(offsets)) {
			return nil, st.wrong("a row of fragment %d is named twice", f.f.ID)
		}
		old, err := s.deletionsOf(ctx, f)
		if err != nil {
			return nil, err
		}
		for x := range set.Intersect(old).All() {
			missing = append(missing, f.f.ID<<32|uint64(x))
		}
		st.out.Affected[f.f.ID], st.out.masks[f.f.ID] = set, set.Union(old)
		order = append(order, at)
	}
	if missing != nil {
		slices.Sort(missing)
		return nil, &RowsMissingError{Missing: missing}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.frags[a].f.ID, s.frags[b].f.ID) })
	return order, nil
}

// putMasks writes the deletion files of fragments.
func (st *staging) putMasks(order []int) (m masked, err error) {
	for _, at := range order {
		if err := st.maskFragment(&m, at); err != nil {
			return m, err
		}
	}
	return m, nil
}

// maskFragment writes the deletion file of one fragment, or removes the
// fragment.
func (st *staging) maskFragment(m *masked, at int) error {
	f := st.base.frags[at].f
	set := st.out.masks[f.ID]
	if set.Len() == f.PhysicalRows {
		m.removed = append(m.removed, f.ID)
		return nil
	}
	d := format.DeletionFile{ReadVersion: st.base.Version(), ID: st.out.ids.deletion(), Rows: set.Len()}
	var body []byte
	if set.Len() >= deletion.BitmapFrom || f.Deletion != nil && f.Deletion.Kind == format.DeletionBitmap {
		d.Kind = format.DeletionBitmap
		var err error
		if body, err = set.EncodeBitmap(); err != nil {
			return err
		}
	} else {
		body = set.EncodeArrow()
	}
	next := proto.CloneOf(st.base.manifest.Proto.GetFragments()[at])
	next.DeletionFile = &tablepb.DeletionFile{
		FileType: tablepb.DeletionFileType(d.Kind), ReadVersion: d.ReadVersion, Id: d.ID, NumDeletedRows: d.Rows,
	}
	m.updated = append(m.updated, next)
	return st.up.put(format.Join(st.out.dir, format.DeletionPath(f.ID, &d)), body)
}

// idsAt are the row ids at addresses of live rows; nil without stable row ids.
func (s *Snapshot) idsAt(ctx context.Context, addrs []uint64) ([]uint64, error) {
	if !s.manifest.StableRowIDs() {
		return nil, nil
	}
	out := make([]uint64, len(addrs))
	for i, addr := range addrs {
		st, err := s.fragment(addr >> 32)
		if err != nil {
			return nil, &RowsMissingError{Missing: []uint64{addr}}
		}
		seq, err := s.rowIDs(ctx, st, st.f.PhysicalRows)
		if err != nil {
			return nil, s.damage(ctx, st.f, s.object.Key, err)
		}
		if off := addr & (1<<32 - 1); off < seq.Len() {
			out[i] = seq.At(off)
		} else {
			return nil, &RowsMissingError{Missing: []uint64{addr}}
		}
	}
	return out, nil
}
