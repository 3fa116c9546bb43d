package commit

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// Names of indexes that are no indexes of columns.
const (
	fragReuseIndex = "__lance_frag_reuse"
	memWalIndex    = "__lance_mem_wal"
)

func system(x *tablepb.IndexMetadata) bool {
	return x.GetName() == fragReuseIndex || x.GetName() == memWalIndex
}

// covers decodes the fragments of a segment; nil when it does not say.
func covers(x *tablepb.IndexMetadata) (bits *roaring.Bitmap, err error) {
	if len(x.GetFragmentBitmap()) == 0 {
		return nil, nil
	}
	defer func() {
		if p := recover(); p != nil { // the library met malformed bytes
			bits, err = nil, format.Corruptf("index %q: its set of fragments is malformed: %v", x.GetName(), p)
		}
	}()
	bits = roaring.New()
	n, err := bits.ReadFrom(bytes.NewReader(x.GetFragmentBitmap()))
	if err == nil {
		err = bits.Validate()
	}
	if err != nil || n != int64(len(x.GetFragmentBitmap())) {
		return nil, format.Corruptf("index %q: its set of fragments (%d bytes) cannot be read: %w", x.GetName(), len(x.GetFragmentBitmap()), err)
	}
	return bits, nil
}

// withCover is a segment with another set of fragments.
func withCover(x *tablepb.IndexMetadata, bits *roaring.Bitmap) (*tablepb.IndexMetadata, error) {
	b, err := bits.ToBytes()
	if err != nil {
		return nil, format.Corruptf("index %q: %w", x.GetName(), err)
	}
	x = proto.CloneOf(x)
	x.FragmentBitmap = b
	return x, nil
}

// cover changes the set of fragments of those segments that change says so of.
func (b *builder) cover(change func(x *tablepb.IndexMetadata, bits *roaring.Bitmap) bool) (err error) {
	b.indexes, err = coverAll(b.indexes, change)
	return err
}

func coverAll(indexes []*tablepb.IndexMetadata, change func(x *tablepb.IndexMetadata, bits *roaring.Bitmap) bool) ([]*tablepb.IndexMetadata, error) {
	out := slices.Clone(indexes)
	for i, x := range out {
		bits, err := covers(x)
		if err != nil {
			return nil, err
		}
		if bits == nil || !change(x, bits) {
			continue
		}
		if out[i], err = withCover(x, bits); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// prune takes fragments out of the segments on fields whose values changed
// there.
func (b *builder) prune(frags []uint64, fields []uint32) (err error) {
	b.indexes, err = pruned(b.indexes, frags, fields)
	return err
}

func pruned(indexes []*tablepb.IndexMetadata, frags []uint64, fields []uint32) ([]*tablepb.IndexMetadata, error) {
	if len(frags) == 0 || len(fields) == 0 {
		return indexes, nil
	}
	return coverAll(indexes, func(x *tablepb.IndexMetadata, bits *roaring.Bitmap) bool {
		changed := false
		if touches(x, fields) {
			for _, id := range frags {
				changed = bits.CheckedRemove(uint32(id)) || changed
			}
		}
		return changed
	})
}

func touches(x *tablepb.IndexMetadata, fields []uint32) bool {
	return slices.ContainsFunc(x.GetFields(), func(id int32) bool { return id >= 0 && slices.Contains(fields, uint32(id)) })
}

// extend adds fragments of nothing but moved rows to the segments that cover
// every fragment that the rows came from and index no field that may have
// changed.
func (b *builder) extend(pure []uint64, o *tablepb.Update) error {
	from := append(slices.Clone(o.GetRemovedFragmentIds()), ids(o.GetUpdatedFragments())...)
	if len(pure) == 0 || len(from) == 0 {
		return nil
	}
	changed := b.withParents(o.GetFieldsForPreservingFragBitmap())
	return b.cover(func(x *tablepb.IndexMetadata, bits *roaring.Bitmap) bool {
		if system(x) || touches(x, changed) || !containsAll(bits, from) {
			return false
		}
		for _, id := range pure {
			bits.Add(uint32(id))
		}
		return true
	})
}

// withParents adds the fields that fields lie in, on which an index may be.
func (b *builder) withParents(fields []uint32) []uint32 {
	parent := map[int32]int32{}
	for _, f := range b.m.GetFields() {
		parent[f.GetId()] = f.GetParentId()
	}
	out := slices.Clone(fields)
	for _, id := range fields {
		for p, steps := parent[int32(id)], 0; p >= 0 && steps < len(parent); steps++ {
			out = append(out, uint32(p))
			up, ok := parent[p]
			if !ok {
				break
			}
			p = up
		}
	}
	return out
}

func containsAll(bits *roaring.Bitmap, ids []uint64) bool {
	return !slices.ContainsFunc(ids, func(id uint64) bool { return !bits.Contains(uint32(id)) })
}

// remap carries coverage over to rewritten fragments. rewritten are the
// segments that were made anew, in tables without stable row ids.
func (b *builder) remap(moves []move, rewritten []*tablepb.RewrittenIndex) error {
	if !b.stable {
		return b.remapRewritten(moves, rewritten)
	}
	return b.cover(func(_ *tablepb.IndexMetadata, bits *roaring.Bitmap) bool { return remapped(bits, moves) })
}

func remapped(bits *roaring.Bitmap, moves []move) bool {
	changed := false
	for _, m := range moves {
		all := containsAll(bits, m.from)
		for _, id := range m.from {
			changed = bits.CheckedRemove(uint32(id)) || changed
		}
		if all {
			for _, id := range m.to {
				bits.Add(uint32(id))
				changed = true
			}
		}
	}
	return changed
}

func (b *builder) remapRewritten(moves []move, rewritten []*tablepb.RewrittenIndex) error {
	for _, r := range rewritten {
		at := slices.IndexFunc(b.indexes, func(x *tablepb.IndexMetadata) bool {
			return bytes.Equal(x.GetUuid().GetUuid(), r.GetOldId().GetUuid())
		})
		if at < 0 {
			continue // it was removed meanwhile
		}
		bits, err := covers(b.indexes[at])
		if err != nil {
			return err
		}
		if bits == nil {
			return b.invalid("it rewrites index %q, which does not say what it covers", b.indexes[at].GetName())
		}
		remapped(bits, moves)
		x, err := withCover(b.indexes[at], bits)
		if err != nil {
			return err
		}
		x.Uuid, x.Files = r.GetNewId(), r.GetNewIndexFiles()
		b.indexes[at] = x
	}
	return nil
}

func (b *builder) createIndex(o *tablepb.CreateIndex) error {
	gone := map[string]bool{}
	fields := fieldIDs(b.m.GetFields())
	for _, x := range o.GetRemovedIndices() {
		gone[string(x.GetUuid().GetUuid())] = true
	}
	for _, x := range o.GetNewIndices() {
		if len(x.GetUuid().GetUuid()) != 16 {
			return b.invalid("index %q has a uuid of %d bytes, not 16", x.GetName(), len(x.GetUuid().GetUuid()))
		}
		if !system(x) && slices.ContainsFunc(x.GetFields(), func(id int32) bool { return !fields[id] }) {
			return b.invalid("index %q is on fields %v, not all of which the table has", x.GetName(), x.GetFields())
		}
		if _, err := covers(x); err != nil {
			return err
		}
		gone[string(x.GetUuid().GetUuid())] = true
	}
	b.indexes = slices.DeleteFunc(slices.Clone(b.indexes), func(x *tablepb.IndexMetadata) bool { return gone[string(x.GetUuid().GetUuid())] })
	b.indexes = append(b.indexes, o.GetNewIndices()...)
	return nil
}

// retainRelevant drops segments on fields that are no more, and such as cover
// nothing: of a name with several those that are empty (if all are, the oldest
// stays), of one alone a vector index.
func (b *builder) retainRelevant() error {
	fields := fieldIDs(b.m.GetFields())
	there := roaring.New()
	for _, f := range b.frags {
		there.Add(uint32(f.GetId()))
	}
	type segment struct {
		x     *tablepb.IndexMetadata
		empty bool
	}
	byName := map[string][]segment{}
	for _, x := range b.indexes {
		if !system(x) && slices.ContainsFunc(x.GetFields(), func(id int32) bool { return !fields[id] }) {
			continue
		}
		bits, err := covers(x)
		if err != nil {
			return err
		}
		byName[x.GetName()] = append(byName[x.GetName()], segment{x, bits == nil || !bits.Intersects(there)})
	}
	keep := map[*tablepb.IndexMetadata]bool{}
	for name, segs := range byName {
		full := slices.DeleteFunc(slices.Clone(segs), func(s segment) bool { return s.empty })
		switch {
		case name == fragReuseIndex:
			full = segs
		case len(full) == 0:
			oldest := slices.MinFunc(segs, func(a, b segment) int { return cmp.Compare(a.x.GetDatasetVersion(), b.x.GetDatasetVersion()) })
			if !vector(oldest.x) {
				full = []segment{oldest}
			}
		}
		for _, s := range full {
			keep[s.x] = true
		}
	}
	b.indexes = slices.DeleteFunc(slices.Clone(b.indexes), func(x *tablepb.IndexMetadata) bool { return !keep[x] })
	return nil
}

func vector(x *tablepb.IndexMetadata) bool {
	return strings.HasSuffix(x.GetIndexDetails().GetTypeUrl(), "VectorIndexDetails")
}
