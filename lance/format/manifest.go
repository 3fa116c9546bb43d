package format

import "time"

// Manifest is one version of a table.
type Manifest struct {
	Version       uint64
	Branch        string    // "" on main
	Timestamp     time.Time // zero when not recorded
	Schema        *Schema
	Fragments     []Fragment // as stored; ascending ids in a sound manifest
	ReaderFlags   Flags
	WriterFlags   Flags
	MaxFragmentID *uint32 // nil: no fragment was ever made
	NextRowID     uint64
	FileFormat    string // "lance"
	FileVersion   string // "2.0", "2.1", "2.2"
	Writer        WriterVersion
	Config        map[string]string
	TableMetadata map[string]string
	BasePaths     []BasePath
	// TransactionFile is the bare name in _transactions/, or "".
	TransactionFile string
}

// WriterVersion says which program wrote a manifest.
type WriterVersion struct{ Library, Version string }

// BasePath is another folder in which files of the table lie.
type BasePath struct {
	ID            uint32
	Name          string // branch of this table; "" = its main root
	IsDatasetRoot bool   // data/ and _deletions/ lie below Path; else Path holds data files directly
	Path          string // as spelled by whoever recorded it
}

// Rows is the number of rows that are not deleted in all fragments. known is
// false when some fragment does not record enough to say.
func (m *Manifest) Rows() (rows uint64, known bool) {
	known = true
	for i := range m.Fragments {
		n, ok := m.Fragments[i].LiveRows()
		rows += n
		known = known && ok
	}
	return rows, known
}

// StableRowIDs reports whether row ids are stable, not addresses.
func (m *Manifest) StableRowIDs() bool { return m.ReaderFlags&FlagStableRowIDs != 0 }
