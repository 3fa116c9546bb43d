package lance

import (
	"context"
	"sort"
	"sync"

	"github.com/omnideck/omnideck/lance/format"
)

// rowIndex finds row ids: the runs of consecutive ids of all fragments, by
// their first id. An id may be in several runs, because the old copy of an
// updated row keeps its id and is deleted; of those at most one is live.
type rowIndex struct {
	mu   sync.Mutex
	done bool
	runs []idRun
	tops []uint64 // greatest end among runs[:i+1]
}

// idRun is ids from..to, to excluded, of a fragment's rows from offset on.
type idRun struct {
	from, to uint64
	offset   uint64
	frag     int // position in frags
}

// build makes the index once. It reads no deletion file.
func (x *rowIndex) build(ctx context.Context, s *Snapshot) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.done {
		return nil
	}
	var runs []idRun
	for i := range s.frags {
		st := &s.frags[i]
		rows := st.f.PhysicalRows
		if rows == 0 {
			ld, err := s.load(ctx, &projection{}, st, nil, nil, true)
			if err != nil {
				return err
			}
			rows = ld.rows
		}
		seq, err := s.rowIDs(ctx, st, rows)
		if err != nil {
			return s.damage(ctx, st.f, s.object.Key, err)
		}
		at := uint64(0)
		for from, to := range seq.Runs() {
			runs = append(runs, idRun{from, to, at, i})
			at += to - from
		}
	}
	sortRuns(runs)
	tops := make([]uint64, len(runs))
	top := uint64(0)
	for i, r := range runs {
		top = max(top, r.to)
		tops[i] = top
	}
	x.runs, x.tops, x.done = runs, tops, true
	return nil
}

// candidates calls f with the position and offset of every row of that id,
// deleted ones included.
func (x *rowIndex) candidates(id uint64, f func(frag int, offset uint64) error) error {
	i := sort.Search(len(x.runs), func(i int) bool { return x.runs[i].from > id })
	for i--; i >= 0 && x.tops[i] > id; i-- {
		if r := x.runs[i]; id < r.to {
			if err := f(r.frag, r.offset+id-r.from); err != nil {
				return err
			}
		}
	}
	return nil
}

// Addresses finds the address of each row id; ok[i] is false when no live row
// has the id. The deletion files of fragments that hold an id are read. Two
// live rows of one id are an error that wraps format.ErrCorrupt.
func (s *Snapshot) Addresses(ctx context.Context, ids []uint64) (addrs []uint64, ok []bool, err error) {
	addrs, ok = make([]uint64, len(ids)), make([]bool, len(ids))
	if !s.manifest.StableRowIDs() {
		for i, id := range ids {
			addrs[i] = id
			if ok[i], err = s.exists(ctx, id); err != nil {
				return nil, nil, err
			}
		}
		return addrs, ok, nil
	}
	if err := s.rowIndex.build(ctx, s); err != nil {
		return nil, nil, err
	}
	for i, id := range ids {
		err := s.rowIndex.candidates(id, func(frag int, offset uint64) error {
			st := &s.frags[frag]
			set, err := s.deletionsOf(ctx, st)
			if err != nil || set.Contains(uint32(offset)) {
				return err
			}
			addr := st.f.ID<<32 | offset
			if ok[i] {
				return format.Corruptf("row id %d belongs to two live rows, at addresses %d and %d", id, addrs[i], addr)
			}
			addrs[i], ok[i] = addr, true
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return addrs, ok, nil
}

// exists reports whether there is a live row at an address.
func (s *Snapshot) exists(ctx context.Context, addr uint64) (bool, error) {
	st, err := s.fragment(addr >> 32)
	if err != nil {
		return false, nil
	}
	rows, off := st.f.PhysicalRows, addr&(1<<32-1)
	if rows == 0 {
		ld, err := s.load(ctx, &projection{}, st, nil, nil, true)
		if err != nil {
			return false, err
		}
		rows = ld.rows
	}
	if off >= rows {
		return false, nil
	}
	set, err := s.deletionsOf(ctx, st)
	return err == nil && !set.Contains(uint32(off)), err
}
