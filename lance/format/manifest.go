package format

import (
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// Manifest is one version of a table. It is immutable.
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
	// Proto is the message itself, with the fields that this program does not
	// know: what a writer carries forward.
	Proto *tablepb.Manifest

	index       []byte // IndexSection; nil when there is none
	transaction []byte // Transaction; nil when there is none
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

// ParseManifest reads a whole manifest file. It refuses tables whose reader
// flags it does not know, and checks everything that locating rows rests on;
// row-id sequences, the index section and the transaction stay encoded.
func ParseManifest(file []byte) (*Manifest, error) {
	block, head, err := manifestBlock(file)
	if err != nil {
		return nil, err
	}
	msg := new(tablepb.Manifest)
	if err := proto.Unmarshal(block, msg); err != nil {
		return nil, Corruptf("the manifest block of %d bytes is no message: %w", len(block), err)
	}
	if err := Flags(msg.GetReaderFeatureFlags()).CheckReadable(); err != nil {
		return nil, err
	}
	m := &Manifest{Proto: msg}
	if msg.IndexSection != nil {
		if m.index, err = section(head, msg.GetIndexSection(), "index"); err != nil {
			return nil, err
		}
	}
	if msg.TransactionSection != nil {
		if m.transaction, err = section(head, msg.GetTransactionSection(), "transaction"); err != nil {
			return nil, err
		}
	}
	m.scalars(msg)
	if m.Schema, err = SchemaFromProto(msg.GetFields(), msg.GetSchemaMetadata()); err != nil {
		return nil, err
	}
	m.Fragments, err = fragments(msg.GetFragments())
	return m, err
}

// scalars copies what needs no check.
func (m *Manifest) scalars(msg *tablepb.Manifest) {
	m.Version, m.Branch = msg.GetVersion(), msg.GetBranch()
	if ts := msg.GetTimestamp(); ts.IsValid() {
		m.Timestamp = ts.AsTime()
	}
	m.ReaderFlags, m.WriterFlags = Flags(msg.GetReaderFeatureFlags()), Flags(msg.GetWriterFeatureFlags())
	m.MaxFragmentID, m.NextRowID = msg.MaxFragmentId, msg.GetNextRowId()
	m.FileFormat, m.FileVersion = msg.GetDataFormat().GetFileFormat(), msg.GetDataFormat().GetVersion()
	m.Writer = WriterVersion{msg.GetWriterVersion().GetLibrary(), msg.GetWriterVersion().GetVersion()}
	m.Config, m.TableMetadata = msg.GetConfig(), msg.GetTableMetadata()
	m.TransactionFile = msg.GetTransactionFile()
	for _, b := range msg.GetBasePaths() {
		m.BasePaths = append(m.BasePaths, BasePath{b.GetId(), b.GetName(), b.GetIsDatasetRoot(), b.GetPath()})
	}
}

// Rows is the number of rows that are not deleted in all fragments. known is
// false when some fragment does not record enough to say.
func (m *Manifest) Rows() (rows uint64, known bool) {
	known = true
	for i := range m.Fragments {
		n, ok := m.Fragments[i].LiveRows()
		if rows > math.MaxUint64-n {
			return 0, false
		}
		rows += n
		known = known && ok
	}
	return rows, known
}

// StableRowIDs reports whether row ids are stable, not addresses.
func (m *Manifest) StableRowIDs() bool { return m.ReaderFlags&FlagStableRowIDs != 0 }

// Base finds a base path by its id.
func (m *Manifest) Base(id uint32) (BasePath, bool) {
	for _, b := range m.BasePaths {
		if b.ID == id {
			return b, true
		}
	}
	return BasePath{}, false
}

// Indexes decodes the index section; none when there is no section.
func (m *Manifest) Indexes() ([]Index, error) {
	if m.index == nil {
		return nil, nil
	}
	msg := new(tablepb.IndexSection)
	if err := proto.Unmarshal(m.index, msg); err != nil {
		return nil, Corruptf("the index section of %d bytes is no message: %w", len(m.index), err)
	}
	out := make([]Index, 0, len(msg.GetIndices()))
	for _, p := range msg.GetIndices() {
		x, err := indexFromProto(p)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// Transaction decodes the copy of the transaction in the manifest; nil when
// there is none and TransactionFile names the only one.
func (m *Manifest) Transaction() (*Transaction, error) {
	if m.transaction == nil {
		return nil, nil
	}
	tx, err := ParseTransaction(m.transaction)
	if err != nil {
		return nil, err
	}
	tx.Inline = true
	return tx, nil
}
