package commit

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/lance/rowid"
)

// finish orders the fragments, checks what the transaction brought, and counts
// what follows from the rest.
func (b *builder) finish() error {
	slices.SortFunc(b.frags, func(x, y *tablepb.DataFragment) int { return cmp.Compare(x.GetId(), y.GetId()) })
	kept := b.frags[:0:0]
	for i, f := range b.frags {
		if i > 0 && f.GetId() == b.frags[i-1].GetId() {
			return b.invalid("fragment id %d would be there twice", f.GetId())
		}
		f = withoutSuperseded(f)
		if f.GetPhysicalRows() > 0 && live(f) == 0 {
			continue // Lance would drop it at the next commit
		}
		kept = append(kept, f)
	}
	b.frags = kept
	schema, err := format.SchemaFromProto(b.m.GetFields(), nil)
	if err != nil {
		return b.invalid("its schema: %v", err)
	}
	for _, f := range b.frags {
		if err := b.checkFragment(f, schema); err != nil {
			return err
		}
	}
	if err := b.checkFresh(); err != nil {
		return err
	}
	b.m.Fragments = b.frags
	b.m.NextRowId = 0
	if b.stable {
		b.m.NextRowId = b.nextRow
	}
	if n := len(b.frags); n > 0 {
		b.m.MaxFragmentId = proto.Uint32(max(b.m.GetMaxFragmentId(), uint32(b.frags[n-1].GetId())))
	}
	b.m.ReaderFeatureFlags, b.m.WriterFeatureFlags = b.flags()
	return nil
}

// withoutSuperseded drops files of which every column lies in another.
func withoutSuperseded(f *tablepb.DataFragment) *tablepb.DataFragment {
	dead := func(d *tablepb.DataFile) bool {
		return len(d.GetFields()) > 0 && !slices.ContainsFunc(d.GetFields(), func(id int32) bool { return id != format.Superseded })
	}
	if slices.ContainsFunc(f.GetFiles(), dead) {
		f = proto.CloneOf(f)
		f.Files = slices.DeleteFunc(f.Files, dead)
	}
	return f
}

// flags counts the feature flags anew.
func (b *builder) flags() (reader, writer uint64) {
	var f format.Flags
	if slices.ContainsFunc(b.frags, func(f *tablepb.DataFragment) bool { return f.GetDeletionFile() != nil }) {
		f |= format.FlagDeletionFiles
	}
	if b.stable {
		f |= format.FlagStableRowIDs
	}
	if len(b.m.GetBasePaths()) > 0 {
		f |= format.FlagBasePaths
	}
	w := f
	if len(b.m.GetConfig()) > 0 {
		w |= format.FlagTableConfig
	}
	return uint64(f), uint64(w)
}

// checkFragment refuses what Lance would refuse, or misread. Files and
// sequences are looked into where the transaction brought them.
func (b *builder) checkFragment(f *tablepb.DataFragment, schema *format.Schema) error {
	id := f.GetId()
	switch {
	case len(f.GetOverlays()) > 0:
		return format.Unsupportedf("fragment %d has data overlay files, an unstable format", id)
	case b.stable && f.GetRowIdSequence() == nil:
		return b.invalid("fragment %d has no row ids, in a table of stable row ids", id)
	case !b.stable && f.GetRowIdSequence() != nil:
		return b.invalid("fragment %d has row ids, in a table without stable row ids", id)
	}
	var seen map[int32]bool
	if b.fresh[id] {
		seen = map[int32]bool{}
	}
	for _, d := range f.GetFiles() {
		if v := fileVersion(d); v != b.m.GetDataFormat().GetVersion() {
			return b.invalid("file %s of fragment %d is of format %s, the table of %s", d.GetPath(), id, v, b.m.GetDataFormat().GetVersion())
		}
		if !b.fresh[id] {
			continue
		}
		if err := b.checkFile(id, d, schema, seen); err != nil {
			return err
		}
	}
	if !b.fresh[id] {
		return nil
	}
	return b.checkSequences(f)
}

func (b *builder) checkFile(id uint64, d *tablepb.DataFile, schema *format.Schema, seen map[int32]bool) error {
	columns := d.GetColumnIndices()
	switch {
	case d.GetPath() == "" || strings.HasPrefix(d.GetPath(), "/") || slices.Contains(strings.Split(d.GetPath(), "/"), ".."):
		return b.invalid("a file of fragment %d is called %q", id, d.GetPath())
	case len(d.GetFields()) == 0:
		return b.invalid("file %s of fragment %d has no columns", d.GetPath(), id)
	case len(columns) != len(d.GetFields()) && len(columns) != 0:
		return b.invalid("file %s of fragment %d has %d fields and %d column indices", d.GetPath(), id, len(d.GetFields()), len(columns))
	}
	for i, field := range d.GetFields() {
		if field == format.Superseded {
			continue
		}
		if field < 0 || seen[field] {
			return b.invalid("file %s of fragment %d holds field %d, which is no field or stands in the fragment twice", d.GetPath(), id, field)
		}
		seen[field] = true
		f := schema.ByID(field)
		if f == nil || len(columns) == 0 || b.m.GetDataFormat().GetVersion() == "2.0" {
			continue
		}
		if owns := len(f.Children) == 0 || f.Packed() || f.Blob() != format.NoBlob; owns != (columns[i] >= 0) {
			return b.invalid("field %d (%s) has the column %d in file %s of fragment %d: leaves, packed structs and blobs own a column, and nothing else", field, f.Name, columns[i], d.GetPath(), id)
		}
	}
	return nil
}

func (b *builder) checkSequences(f *tablepb.DataFragment) error {
	if !b.stable {
		return nil
	}
	seq, err := rowIDs(f)
	if err != nil {
		return err
	}
	if seq.Len() != f.GetPhysicalRows() {
		return b.invalid("fragment %d has %d row ids for %d rows", f.GetId(), seq.Len(), f.GetPhysicalRows())
	}
	for _, to := range seq.Runs() {
		if to > b.nextRow {
			return b.invalid("fragment %d has the row id %d, but the next unused one is %d", f.GetId(), to-1, b.nextRow)
		}
	}
	if err := b.checkVersions(f, "last updates", f.GetInlineLastUpdatedAtVersions()); err != nil {
		return err
	}
	return b.checkVersions(f, "creations", f.GetInlineCreatedAtVersions())
}

func (b *builder) checkVersions(f *tablepb.DataFragment, what string, bytes []byte) error {
	v, err := rowid.DecodeVersions(bytes)
	if err != nil {
		return err
	}
	if n := v.Len(); n != 0 && n != f.GetPhysicalRows() {
		return b.invalid("fragment %d has the versions of %d %s for %d rows", f.GetId(), n, what, f.GetPhysicalRows())
	}
	if _, highest := v.Bounds(); highest > b.m.GetVersion() {
		return b.invalid("fragment %d has %s in version %d, which is yet to come", f.GetId(), what, highest)
	}
	return nil
}

// checkFresh refuses to hand out row ids that the parent's fragments have
// already, as its own high-water mark may allow when it is damaged.
func (b *builder) checkFresh() error {
	if b.parent == nil || !b.stable || b.nextRow == b.parent.NextRowID || b.tx.GetRestore() != nil {
		return nil
	}
	for _, f := range b.frags {
		if b.fresh[f.GetId()] || f.GetExternalRowIds() != nil {
			continue
		}
		seq, err := rowIDs(f)
		if err != nil {
			return err
		}
		for _, to := range seq.Runs() {
			if to > b.parent.NextRowID {
				return format.Corruptf("version %d says that row id %d is the next unused one, but fragment %d has row id %d: new rows would share ids with old ones", b.parent.Version, b.parent.NextRowID, f.GetId(), to-1)
			}
		}
	}
	if b.nextRow == math.MaxUint64 {
		return b.invalid("the row ids of the table are used up")
	}
	return nil
}
