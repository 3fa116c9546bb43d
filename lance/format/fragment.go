package format

// Fragment is a horizontal slice of a table: data files that hold disjoint
// columns of the same rows, and the set of rows deleted since.
type Fragment struct {
	ID           uint64
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

// DataFile is one file of a fragment.
type DataFile struct {
	Path          string  // relative to data/ of its base
	Fields        []int32 // ids of the fields that own a column in it; -2 = superseded
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
