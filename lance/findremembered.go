package lance

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/lance/deletion"
)

// recall is scan for a caller that remembers columns: what is not known is read
// whole, deleted rows too, and the rows that are wanted are picked afterwards.
func (x *finding) recall(ctx context.Context, t *textTable, fragments []uint64) error {
	frags, err := x.s.choose(fragments)
	if err != nil {
		return err
	}
	known := map[int]*fragState{} // by the number of its file
	files := map[uint64]textFile{}
	unknown := []uint64{}
	for _, st := range frags {
		f, ok, err := x.file(st)
		switch n, there := t.number(f); {
		case err != nil || !ok || there && known[n] != nil:
			unknown = append(unknown, st.f.ID)
		case there:
			known[n] = st
		default:
			unknown, files[st.f.ID] = append(unknown, st.f.ID), f
		}
	}
	if err := x.learn(ctx, t, unknown, files); err != nil {
		return err
	}
	return x.known(ctx, t, known)
}

// file names the column of a fragment; ok is false when no file holds it, or
// what is there cannot be told from another.
func (x *finding) file(st *fragState) (f textFile, ok bool, err error) {
	p, err := x.s.project([]string{x.column}, nil)
	if err != nil {
		return f, false, err
	}
	bind := binder{p: p}
	plans, err := bind.bind(st.f)
	if err != nil || len(plans) != 1 || len(plans[0].cols) != 1 || len(plans[0].cols[0].Leaves) != 1 {
		return f, false, err
	}
	d := &st.f.Files[plans[0].file]
	if d.Size == 0 || st.f.PhysicalRows == 0 {
		return f, false, nil
	}
	folder, err := x.s.FolderOf(d.Base)
	return textFile{folder, d.Path, d.Size, st.f.PhysicalRows, plans[0].cols[0].Leaves[0]}, err == nil, err
}

// known picks rows of remembered files.
func (x *finding) known(ctx context.Context, t *textTable, known map[int]*fragState) error {
	type hit struct {
		st   *fragState
		text string
		row  uint32
	}
	var hits []hit
	t.find(x.want, func(text string, file int, row uint32) {
		if st := known[file]; st != nil {
			hits = append(hits, hit{st, text, row})
		}
	})
	for _, h := range hits {
		gone, err := x.s.deletionsOf(ctx, h.st)
		if err != nil {
			return err
		}
		if !gone.Contains(h.row) {
			x.out.Rows[h.text] = append(x.out.Rows[h.text], h.st.f.ID<<32|uint64(h.row))
		}
	}
	return nil
}

// learn reads the column of fragments, picks rows, and remembers it where it has
// a name.
func (x *finding) learn(ctx context.Context, t *textTable, fragments []uint64, files map[uint64]textFile) error {
	if len(fragments) == 0 {
		return nil
	}
	var parts []arrow.Array // of the fragment at hand
	drop := func() {
		for _, p := range parts {
			p.Release()
		}
		parts = nil
	}
	defer drop()
	at := uint64(0)
	keep := func() error {
		defer drop()
		if f, ok := files[at]; ok && len(parts) > 0 {
			return t.add(f, parts)
		}
		return nil
	}
	for batch, err := range x.s.Scan(ctx, ScanOptions{Columns: []string{x.column}, WithRowAddress: true, Fragments: fragments, WithDeleted: true}) {
		if err != nil {
			return err
		}
		if id := batch.Column(1).(*array.Uint64).Value(0) >> 32; id != at {
			err, at = keep(), id
		}
		if err == nil {
			batch.Column(0).Retain()
			parts = append(parts, batch.Column(0))
			err = x.pick(ctx, batch)
		}
		batch.Release()
		if err != nil {
			return err
		}
	}
	return keep()
}

// pick takes the rows that are wanted of a batch that has deleted ones too.
func (x *finding) pick(ctx context.Context, batch arrow.RecordBatch) error {
	st, err := x.s.fragment(batch.Column(1).(*array.Uint64).Value(0) >> 32)
	if err != nil {
		return err
	}
	var gone *deletion.Set
	if gone, err = x.s.deletionsOf(ctx, st); err != nil {
		return err
	}
	return x.match(batch, gone)
}
