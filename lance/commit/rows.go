package commit

import (
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/lance/rowid"
)

// rowIDs decodes the row ids of a fragment; none are an empty sequence.
func rowIDs(f *tablepb.DataFragment) (*rowid.Sequence, error) {
	if f.GetExternalRowIds() != nil {
		return nil, format.Unsupportedf("the row ids of fragment %d lie in a file of their own, which no program writes", f.GetId())
	}
	return rowid.Decode(f.GetInlineRowIds())
}

// assignRows completes the row ids of a new fragment: those that it brings,
// then fresh ones for the rest. It returns the number that it brought.
func (b *builder) assignRows(f *tablepb.DataFragment) (kept uint64, err error) {
	seq, err := rowIDs(f)
	if err != nil {
		return 0, err
	}
	kept = seq.Len()
	switch rest := f.GetPhysicalRows() - kept; {
	case kept > f.GetPhysicalRows():
		return 0, b.invalid("fragment %d brings %d row ids for %d rows", f.GetId(), kept, f.GetPhysicalRows())
	case rest == 0:
		return kept, nil
	case rest > math.MaxUint64-b.nextRow:
		return 0, b.invalid("the row ids of the table are used up")
	default:
		var ids rowid.Builder
		ids.Sequence(seq)
		ids.Range(b.nextRow, b.nextRow+rest)
		b.nextRow += rest
		bytes, err := ids.Encode()
		if err != nil {
			return 0, err
		}
		f.RowIdSequence = &tablepb.DataFragment_InlineRowIds{InlineRowIds: bytes}
	}
	return kept, nil
}

// uniform is a sequence of one version.
func uniform(rows, version uint64) []byte {
	var v rowid.VersionsBuilder
	v.Add(rows, version)
	return v.Encode()
}

func setUpdated(f *tablepb.DataFragment, seq []byte) {
	f.LastUpdatedAtVersionSequence = &tablepb.DataFragment_InlineLastUpdatedAtVersions{InlineLastUpdatedAtVersions: seq}
}

func setCreated(f *tablepb.DataFragment, seq []byte) {
	f.CreatedAtVersionSequence = &tablepb.DataFragment_InlineCreatedAtVersions{InlineCreatedAtVersions: seq}
}

// setVersions says that all rows of a fragment were made in this version.
func (b *builder) setVersions(f *tablepb.DataFragment) {
	seq := uniform(f.GetPhysicalRows(), b.m.GetVersion())
	setUpdated(f, seq)
	setCreated(f, seq)
}

func (b *builder) delete(o *tablepb.Delete) error {
	if _, err := b.mask(o.GetUpdatedFragments(), o.GetDeletedFragmentIds(), true); err != nil {
		return err
	}
	return b.retainRelevant()
}

// mask replaces fragments by the same with more rows deleted, and drops
// others. It returns the touched fragments as the parent has them. sameFiles:
// nothing but the deletions may differ.
func (b *builder) mask(updated []*tablepb.DataFragment, removed []uint64, sameFiles bool) ([]*tablepb.DataFragment, error) {
	at := make(map[uint64]int, len(b.frags))
	for i, f := range b.frags {
		at[f.GetId()] = i
	}
	var touched []*tablepb.DataFragment
	gone := map[uint64]bool{}
	for _, id := range removed {
		i, ok := at[id]
		switch {
		case !ok:
			return nil, b.invalid("it removes fragment %d, which is not there", id)
		case gone[id]:
			return nil, b.invalid("it removes fragment %d twice", id)
		}
		gone[id] = true
		touched = append(touched, b.frags[i])
	}
	next := slices.Clone(b.frags)
	done := map[uint64]bool{}
	for _, f := range updated {
		i, ok := at[f.GetId()]
		switch {
		case !ok:
			return nil, b.invalid("it updates fragment %d, which is not there", f.GetId())
		case done[f.GetId()]:
			return nil, b.invalid("it updates fragment %d twice", f.GetId())
		}
		done[f.GetId()] = true
		if gone[f.GetId()] {
			continue // all of its rows went, as a rebase may find
		}
		if err := b.checkMasked(b.frags[i], f, sameFiles); err != nil {
			return nil, err
		}
		touched = append(touched, b.frags[i])
		next[i] = proto.CloneOf(f)
		if sameFiles {
			next[i].Files = b.frags[i].GetFiles()
		}
		b.fresh[f.GetId()] = true
	}
	b.frags = slices.DeleteFunc(next, func(f *tablepb.DataFragment) bool { return gone[f.GetId()] })
	return touched, nil
}

// checkMasked refuses an updated fragment that is not the one it replaces.
func (b *builder) checkMasked(old, f *tablepb.DataFragment, sameFiles bool) error {
	id := f.GetId()
	switch {
	case f.GetPhysicalRows() != old.GetPhysicalRows():
		return b.invalid("fragment %d has %d rows and would have %d", id, old.GetPhysicalRows(), f.GetPhysicalRows())
	case !slices.Equal(f.GetInlineRowIds(), old.GetInlineRowIds()):
		return b.invalid("fragment %d would get other row ids", id)
	case deleted(f) < deleted(old):
		return b.invalid("fragment %d has %d rows deleted and would have %d: a deletion file holds the complete set", id, deleted(old), deleted(f))
	case sameFiles && slices.ContainsFunc(old.GetFiles(), func(d *tablepb.DataFile) bool { return !slices.ContainsFunc(f.GetFiles(), alike(d)) }):
		return b.invalid("fragment %d would get other data files: it was planned on another version of it", id)
	}
	return nil
}

// alike tells whether a file is d. Files that are no longer there, because
// their columns were dropped meanwhile, are not missed.
func alike(d *tablepb.DataFile) func(*tablepb.DataFile) bool {
	return func(o *tablepb.DataFile) bool { return proto.Equal(o, d) }
}

func deleted(f *tablepb.DataFragment) uint64 { return f.GetDeletionFile().GetNumDeletedRows() }

// live is the number of rows that are not deleted.
func live(f *tablepb.DataFragment) uint64 {
	return f.GetPhysicalRows() - min(f.GetPhysicalRows(), deleted(f))
}

func (b *builder) update(o *tablepb.Update) error {
	if len(o.GetCompactedSstables()) > 0 {
		return format.Unsupportedf("the Update belongs to a write-ahead log, which this program does not keep")
	}
	columns := o.GetUpdateMode() == tablepb.UpdateMode_REWRITE_COLUMNS
	touched, err := b.mask(o.GetUpdatedFragments(), o.GetRemovedFragmentIds(), !columns)
	if err != nil {
		return err
	}
	if b.stable && columns {
		if err := b.refreshOffsets(o); err != nil {
			return err
		}
	}
	if err := b.prune(ids(o.GetUpdatedFragments()), o.GetFieldsModified()); err != nil {
		return err
	}
	added, err := b.take(o.GetNewFragments())
	if err != nil {
		return err
	}
	if b.stable {
		moved, err := b.movedRows(added, touched, freed(o, touched))
		if err != nil {
			return err
		}
		if !columns {
			if err := b.extend(moved, o); err != nil {
				return err
			}
		}
	}
	b.frags = append(b.frags, added...)
	return b.retainRelevant()
}

func ids(frags []*tablepb.DataFragment) []uint64 {
	out := make([]uint64, len(frags))
	for i, f := range frags {
		out[i] = f.GetId()
	}
	return out
}

// freed is the number of rows that were live and no longer are.
func freed(o *tablepb.Update, touched []*tablepb.DataFragment) uint64 {
	after := map[uint64]uint64{}
	for _, f := range o.GetUpdatedFragments() {
		after[f.GetId()] = live(f)
	}
	for _, id := range o.GetRemovedFragmentIds() {
		after[id] = 0
	}
	n := uint64(0)
	for _, f := range touched {
		n += live(f) - min(live(f), after[f.GetId()])
	}
	return n
}

// movedRows completes the sequences of the fragments of an Update. Rows that
// bring their id keep the version that they were made in, all are last updated
// in this one. It returns the fragments that hold nothing but moved rows.
func (b *builder) movedRows(added, touched []*tablepb.DataFragment, freed uint64) (pure []uint64, err error) {
	var moved []stretch
	kept := make([]uint64, len(added))
	for i, f := range added {
		seq, err := rowIDs(f)
		if err != nil {
			return nil, err
		}
		if n := seq.Len(); n > f.GetPhysicalRows() || n > freed {
			return nil, b.invalid("new fragments bring the row ids of more rows than were deleted: the same row would be there twice")
		}
		freed -= seq.Len()
		at := uint64(0)
		for from, to := range seq.Runs() {
			moved = append(moved, stretch{from: from, to: to, frag: i, at: at})
			at += to - from
		}
		if kept[i], err = b.assignRows(f); err != nil {
			return nil, err
		}
		if kept[i] == f.GetPhysicalRows() {
			pure = append(pure, f.GetId())
		}
	}
	origins, err := b.origins(moved, touched)
	if err != nil {
		return nil, err
	}
	for i, f := range added {
		var created rowid.VersionsBuilder
		for len(origins) > 0 && origins[0].frag == i {
			origins[0].addTo(&created)
			origins = origins[1:]
		}
		created.Add(f.GetPhysicalRows()-kept[i], b.m.GetVersion())
		setCreated(f, created.Encode())
		setUpdated(f, uniform(f.GetPhysicalRows(), b.m.GetVersion()))
	}
	return pure, nil
}

// refreshOffsets marks the rows whose columns were rewritten in place.
func (b *builder) refreshOffsets(o *tablepb.Update) error {
	for _, f := range b.frags {
		offsets := slices.Sorted(slices.Values(o.GetUpdatedFragmentOffsets()[f.GetId()].GetValues()))
		if len(offsets) == 0 || f.GetLastUpdatedAtVersionSequence() == nil {
			continue
		}
		if !b.fresh[f.GetId()] {
			return b.invalid("it names rows of fragment %d, which it does not update", f.GetId())
		}
		old, err := rowid.DecodeVersions(f.GetInlineLastUpdatedAtVersions())
		if err != nil {
			return err
		}
		var next rowid.VersionsBuilder
		copyTo := func(to uint64) {
			next.Versions(old, min(next.Len(), old.Len()), min(to, old.Len()))
			next.Add(to-next.Len(), b.parent.Version)
		}
		for _, x := range slices.Compact(offsets) {
			if uint64(x) >= f.GetPhysicalRows() {
				break
			}
			copyTo(uint64(x))
			next.Add(1, b.m.GetVersion())
		}
		copyTo(f.GetPhysicalRows())
		setUpdated(f, next.Encode())
	}
	return nil
}
