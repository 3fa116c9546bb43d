package format

import (
	"math"

	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// Fragment is a horizontal slice of a table: data files that hold disjoint
// columns of the same rows, and the set of rows deleted since.
type Fragment struct {
	ID           uint64 // fits 32 bits
	Files        []DataFile
	Deletion     *DeletionFile // nil: nothing deleted
	PhysicalRows uint64        // rows in the files, deleted ones included; 0 = not recorded
	RowIDs       Sequence      // stable row ids in physical order; absent in address mode
	LastUpdated  Sequence      // versions in which rows were last written
	CreatedAt    Sequence      // versions in which rows were first written
}

// Sequence is an encoded per-row sequence of a fragment: the bytes themselves,
// or where they lie. Decode the bytes with package rowid.
type Sequence struct {
	Present  bool
	Inline   []byte        // when External is nil
	External *ExternalFile //
}

// ExternalFile is a part of a file beside the manifest.
type ExternalFile struct {
	Path         string // relative to the dataset's root
	Offset, Size uint64 // bytes
}

// Superseded is the id in DataFile.Fields of a column that another file of the
// fragment has replaced.
const Superseded int32 = -2

// DataFile is one file of a fragment.
type DataFile struct {
	Path          string  // relative to data/ of its base
	Fields        []int32 // ids of the fields that own a column in it, or Superseded
	ColumnIndices []int32 // parallel to Fields
	Major, Minor  uint32  // file format version as the manifest records it
	Size          uint64  // bytes; 0 = not recorded
	Base          BaseRef // where it lies
}

// BaseRef names an entry of Manifest.BasePaths, or the table's own folder.
// Presence counts: entry 0 is an entry.
type BaseRef struct {
	Set bool
	ID  uint32
}

// DeletionKind is the form of a deletion file.
type DeletionKind uint8

// The two forms.
const (
	DeletionArrow  DeletionKind = iota // Arrow IPC file, one column of offsets
	DeletionBitmap                     // portable roaring bitmap of offsets
)

// DeletionFile describes the file with the deleted offsets of one fragment.
// Its name is derived, not stored: see DeletionPath.
type DeletionFile struct {
	Kind        DeletionKind
	ReadVersion uint64
	ID          uint64
	Rows        uint64 // rows deleted; 0 = not recorded
	Base        BaseRef
}

// LiveRows is the number of rows that are not deleted. known is false when the
// manifest does not record enough to say.
func (f *Fragment) LiveRows() (rows uint64, known bool) {
	switch {
	case f.PhysicalRows == 0:
		return 0, false
	case f.Deletion == nil:
		return f.PhysicalRows, true
	case f.Deletion.Rows == 0 || f.Deletion.Rows > f.PhysicalRows:
		return 0, false
	}
	return f.PhysicalRows - f.Deletion.Rows, true
}

// fragments converts all fragments of a manifest.
func fragments(msgs []*tablepb.DataFragment) ([]Fragment, error) {
	out := make([]Fragment, len(msgs))
	for i, p := range msgs {
		if err := out[i].fromProto(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (f *Fragment) fromProto(p *tablepb.DataFragment) error {
	f.ID, f.PhysicalRows = p.GetId(), p.GetPhysicalRows()
	switch {
	case f.ID > math.MaxUint32:
		return Corruptf("fragment id %d does not fit 32 bits: row addresses would not either", f.ID)
	case f.PhysicalRows > math.MaxUint32:
		return Corruptf("fragment %d says %d physical rows, more than a row address can count", f.ID, f.PhysicalRows)
	case len(p.GetOverlays()) > 0:
		return Unsupportedf("fragment %d has %d data overlay files (feature bit 6), an unstable format; reading on would show superseded values", f.ID, len(p.GetOverlays()))
	}
	f.Files = make([]DataFile, len(p.GetFiles()))
	for i, d := range p.GetFiles() {
		if len(d.GetFields()) != len(d.GetColumnIndices()) && len(d.GetColumnIndices()) != 0 {
			return Corruptf("data file %q of fragment %d lists %d fields and %d column indices", d.GetPath(), f.ID, len(d.GetFields()), len(d.GetColumnIndices()))
		}
		f.Files[i] = DataFile{d.GetPath(), d.GetFields(), d.GetColumnIndices(), d.GetFileMajorVersion(), d.GetFileMinorVersion(), d.GetFileSizeBytes(), baseRef(d.BaseId)}
	}
	if d := p.GetDeletionFile(); d != nil {
		if t := d.GetFileType(); t != tablepb.DeletionFileType_ARROW_ARRAY && t != tablepb.DeletionFileType_BITMAP {
			return Unsupportedf("the deletion file of fragment %d is of type %d, known are 0 (arrow) and 1 (bitmap)", f.ID, t)
		}
		f.Deletion = &DeletionFile{DeletionKind(d.GetFileType()), d.GetReadVersion(), d.GetId(), d.GetNumDeletedRows(), baseRef(d.BaseId)}
	}
	f.sequences(p)
	return nil
}

func (f *Fragment) sequences(p *tablepb.DataFragment) {
	switch v := p.GetRowIdSequence().(type) {
	case *tablepb.DataFragment_InlineRowIds:
		f.RowIDs = Sequence{Present: true, Inline: v.InlineRowIds}
	case *tablepb.DataFragment_ExternalRowIds:
		f.RowIDs = external(v.ExternalRowIds)
	}
	switch v := p.GetLastUpdatedAtVersionSequence().(type) {
	case *tablepb.DataFragment_InlineLastUpdatedAtVersions:
		f.LastUpdated = Sequence{Present: true, Inline: v.InlineLastUpdatedAtVersions}
	case *tablepb.DataFragment_ExternalLastUpdatedAtVersions:
		f.LastUpdated = external(v.ExternalLastUpdatedAtVersions)
	}
	switch v := p.GetCreatedAtVersionSequence().(type) {
	case *tablepb.DataFragment_InlineCreatedAtVersions:
		f.CreatedAt = Sequence{Present: true, Inline: v.InlineCreatedAtVersions}
	case *tablepb.DataFragment_ExternalCreatedAtVersions:
		f.CreatedAt = external(v.ExternalCreatedAtVersions)
	}
}

func external(p *tablepb.ExternalFile) Sequence {
	return Sequence{Present: true, External: &ExternalFile{p.GetPath(), p.GetOffset(), p.GetSize()}}
}

func baseRef(id *uint32) BaseRef {
	if id == nil {
		return BaseRef{}
	}
	return BaseRef{true, *id}
}
