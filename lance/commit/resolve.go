package commit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// What a manifest of ours says about its writer. Any library but "lance" tells
// Lance that the faults of its own old versions need no repair here.
const (
	WriterLibrary = "omnideck"
	WriterVersion = "1.0.0"
)

// FileVersion is the data format of a dataset that is created without files.
const FileVersion = "2.2"

// Params is what a transaction leaves open.
type Params struct {
	Now        time.Time
	Restored   *format.Manifest // of a Restore: the version that it names
	AddressIDs bool             // of a create: without stable row ids
}

// Next is a version to be: what format.EncodeManifest wants. Messages may be
// shared with the parent's and must not be changed.
type Next struct {
	Manifest *tablepb.Manifest
	Indexes  *tablepb.IndexSection // nil: none
}

// Resolve applies a transaction to the version that it shall follow. A nil
// parent creates the dataset, by an Overwrite; for a Clone the parent is the
// version cloned. Neither argument is changed.
//
// Errors: InvalidError; one wrapping format.ErrUnsupported for a table or an
// operation that this program does not know how to continue; one wrapping
// format.ErrCorrupt for a damaged parent.
func Resolve(parent *format.Manifest, tx *tablepb.Transaction, p Params) (*Next, error) {
	b, err := begin(parent, tx, p)
	if err != nil {
		return nil, err
	}
	if err := b.apply(); err != nil {
		return nil, err
	}
	if err := b.finish(); err != nil {
		return nil, err
	}
	next := &Next{Manifest: b.m}
	if len(b.indexes) > 0 {
		next.Indexes = &tablepb.IndexSection{Indices: b.indexes}
	}
	return next, nil
}

// builder is a version in the making.
type builder struct {
	parent  *format.Manifest // nil: create
	tx      *tablepb.Transaction
	op      string
	p       Params
	m       *tablepb.Manifest
	frags   []*tablepb.DataFragment
	indexes []*tablepb.IndexMetadata
	nextID  uint64 // fragment id
	nextRow uint64
	stable  bool
	fresh   map[uint64]bool // fragments that came from the transaction
}

func (b *builder) invalid(msg string, args ...any) error {
	e := &InvalidError{Operation: b.op, Why: fmt.Sprintf(msg, args...)}
	if b.parent != nil {
		e.Parent = b.parent.Version
	}
	return e
}

func begin(parent *format.Manifest, tx *tablepb.Transaction, p Params) (*builder, error) {
	b := &builder{parent: parent, tx: tx, op: KindOf(tx).String(), p: p, fresh: map[uint64]bool{}}
	if parent == nil {
		if tx.GetOverwrite() == nil {
			return nil, b.invalid("there is no dataset yet, and only an Overwrite makes one")
		}
		b.stable = !p.AddressIDs
		b.m = &tablepb.Manifest{Version: 1}
		b.always()
		return b, nil
	}
	if err := b.checkParent(); err != nil {
		return nil, err
	}
	old := parent.Proto
	b.stable, b.nextRow = parent.StableRowIDs(), parent.NextRowID
	b.frags = slices.Clone(old.GetFragments())
	if old.MaxFragmentId != nil {
		b.nextID = uint64(old.GetMaxFragmentId()) + 1
	}
	for _, f := range old.GetFragments() {
		b.nextID = max(b.nextID, f.GetId()+1)
	}
	indexes, err := parent.Indexes()
	if err != nil {
		return nil, err
	}
	for _, x := range indexes {
		b.indexes = append(b.indexes, x.Proto)
	}
	b.m = carried(old)
	b.m.Version = old.GetVersion() + 1
	b.always()
	return b, nil
}

// carried is what goes from version to version unless an operation says
// otherwise.
func carried(old *tablepb.Manifest) *tablepb.Manifest {
	m := &tablepb.Manifest{
		Fields: old.Fields, SchemaMetadata: maps.Clone(old.SchemaMetadata), VersionAuxData: old.VersionAuxData,
		DataFormat: old.DataFormat, Config: maps.Clone(old.Config), TableMetadata: maps.Clone(old.TableMetadata),
		BasePaths: slices.Clone(old.BasePaths), NextRowId: old.NextRowId,
	}
	if old.MaxFragmentId != nil {
		m.MaxFragmentId = proto.Uint32(old.GetMaxFragmentId())
	}
	if old.Branch != nil {
		m.Branch = proto.String(old.GetBranch())
	}
	m.ProtoReflect().SetUnknown(old.ProtoReflect().GetUnknown())
	return m
}

// always sets what every commit sets anew.
func (b *builder) always() {
	b.m.Tag = b.tx.GetTag()
	b.m.Timestamp = timestamppb.New(b.p.Now)
	b.m.TransactionFile = format.TransactionName(b.tx)
	b.m.WriterVersion = &tablepb.WriterVersion{Library: WriterLibrary, Version: WriterVersion}
}

// checkParent refuses a table that promises what this program does not know.
func (b *builder) checkParent() error {
	m := b.parent
	if err := m.ReaderFlags.CheckReadable(); err != nil {
		return err
	}
	if err := m.WriterFlags.CheckWritable(); err != nil {
		return err
	}
	if m.Version == math.MaxUint64 || m.Version>>63 != 0 {
		return format.Unsupportedf("version %d is detached or the last there can be: nothing can follow it", m.Version)
	}
	if m.FileFormat != "lance" || !slices.Contains([]string{"2.0", "2.1", "2.2"}, m.FileVersion) {
		return format.Unsupportedf("the table's data format is %q %q; written are lance 2.0, 2.1 and 2.2", m.FileFormat, m.FileVersion)
	}
	return nil
}

// apply carries the operation out.
func (b *builder) apply() error {
	switch o := b.tx.GetOperation().(type) {
	case *tablepb.Transaction_Append:
		return b.add(o.Append.GetFragments())
	case *tablepb.Transaction_Delete:
		return b.delete(o.Delete)
	case *tablepb.Transaction_Overwrite:
		return b.overwrite(o.Overwrite)
	case *tablepb.Transaction_CreateIndex:
		return b.createIndex(o.CreateIndex)
	case *tablepb.Transaction_Rewrite:
		return b.rewrite(o.Rewrite)
	case *tablepb.Transaction_Merge:
		return b.merge(o.Merge)
	case *tablepb.Transaction_Restore:
		return b.restore(o.Restore)
	case *tablepb.Transaction_ReserveFragments:
		return b.reserve(o.ReserveFragments)
	case *tablepb.Transaction_Update:
		return b.update(o.Update)
	case *tablepb.Transaction_Project:
		return b.project(o.Project)
	case *tablepb.Transaction_UpdateConfig:
		return b.updateConfig(o.UpdateConfig)
	case *tablepb.Transaction_DataReplacement:
		return b.replaceData(o.DataReplacement)
	case *tablepb.Transaction_Clone:
		return b.clone(o.Clone)
	case *tablepb.Transaction_UpdateBases:
		return b.updateBases(o.UpdateBases)
	}
	return format.Unsupportedf("a transaction with the operation %s cannot be committed by this program", b.op)
}

// take gives new fragments their ids. The messages are copies.
func (b *builder) take(frags []*tablepb.DataFragment) ([]*tablepb.DataFragment, error) {
	out := make([]*tablepb.DataFragment, len(frags))
	for i, f := range frags {
		f = proto.CloneOf(f)
		if f.GetId() == 0 {
			f.Id = b.nextID
			b.nextID++
		}
		if f.GetId() > math.MaxUint32 {
			return nil, b.invalid("fragment id %d does not fit 32 bits: the table's ids are used up", f.GetId())
		}
		if len(f.GetFiles()) == 0 || f.GetPhysicalRows() == 0 {
			return nil, b.invalid("new fragment %d has %d files and %d rows", i, len(f.GetFiles()), f.GetPhysicalRows())
		}
		b.fresh[f.GetId()] = true
		out[i] = f
	}
	return out, nil
}

// add appends new rows in new fragments.
func (b *builder) add(frags []*tablepb.DataFragment) error {
	added, err := b.take(frags)
	if err != nil {
		return err
	}
	if b.stable {
		for _, f := range added {
			if _, err := b.assignRows(f); err != nil {
				return err
			}
			b.setVersions(f)
		}
	}
	b.frags = append(b.frags, added...)
	return nil
}

func (b *builder) overwrite(o *tablepb.Overwrite) error {
	b.m.Fields = o.GetSchema()
	b.m.SchemaMetadata = maps.Clone(o.GetSchemaMetadata())
	b.frags, b.indexes = nil, nil
	switch {
	case b.parent == nil:
		b.m.BasePaths = slices.Clone(o.GetInitialBases())
		b.m.DataFormat = &tablepb.DataStorageFormat{FileFormat: "lance", Version: versionOf(o.GetFragments())}
	case len(o.GetInitialBases()) > 0:
		return b.invalid("an Overwrite of a dataset cannot name bases")
	}
	if len(o.GetConfigUpsertValues()) > 0 {
		if b.m.Config == nil {
			b.m.Config = map[string]string{}
		}
		maps.Copy(b.m.Config, o.GetConfigUpsertValues())
	}
	return b.add(o.GetFragments())
}

// versionOf is the data format of the first file, or that of new datasets.
func versionOf(frags []*tablepb.DataFragment) string {
	for _, f := range frags {
		for _, d := range f.GetFiles() {
			return fileVersion(d)
		}
	}
	return FileVersion
}

// fileVersion spells a file's format as a manifest does.
func fileVersion(d *tablepb.DataFile) string {
	switch [2]uint32{d.GetFileMajorVersion(), d.GetFileMinorVersion()} {
	case [2]uint32{0, 3}, [2]uint32{2, 0}:
		return "2.0"
	case [2]uint32{2, 1}:
		return "2.1"
	case [2]uint32{2, 2}:
		return "2.2"
	}
	return fmt.Sprintf("%d.%d", d.GetFileMajorVersion(), d.GetFileMinorVersion())
}

func (b *builder) reserve(o *tablepb.ReserveFragments) error {
	highest := uint64(b.m.GetMaxFragmentId())
	if b.nextID > 0 {
		highest = b.nextID - 1
	}
	highest += uint64(o.GetNumFragments())
	if highest > math.MaxUint32 {
		return b.invalid("%d more fragment ids do not fit 32 bits", o.GetNumFragments())
	}
	b.m.MaxFragmentId = proto.Uint32(uint32(highest))
	return nil
}

func (b *builder) restore(o *tablepb.Restore) error {
	old := b.p.Restored
	switch {
	case old == nil || old.Version != o.GetVersion():
		return b.invalid("the version to restore, %d, was not given", o.GetVersion())
	case old.Branch != b.parent.Branch:
		return b.invalid("version %d belongs to branch %q, not %q", old.Version, old.Branch, b.parent.Branch)
	}
	restored, err := begin(old, b.tx, b.p)
	if err != nil {
		return err
	}
	m := restored.m
	m.Version, m.Tag = b.m.Version, old.Proto.GetTag()
	if highest := max(restored.nextID, b.nextID); highest > 0 {
		m.MaxFragmentId = proto.Uint32(uint32(highest - 1))
	}
	b.nextID, b.nextRow = max(restored.nextID, b.nextID), max(restored.nextRow, b.nextRow)
	b.m, b.frags, b.indexes, b.stable = m, restored.frags, restored.indexes, restored.stable
	return nil
}

func (b *builder) clone(o *tablepb.Clone) error {
	switch {
	case o.GetBranchName() == "" || o.GetBranchName() == "main":
		return b.invalid("a clone needs a branch name other than main")
	case o.GetRefVersion() != b.parent.Version || o.GetRefName() != b.parent.Branch:
		return b.invalid("it clones version %d of branch %q, but the parent is version %d of branch %q", o.GetRefVersion(), o.GetRefName(), b.parent.Version, b.parent.Branch)
	case !o.GetIsShallow():
		return format.Unsupportedf("a deep clone is no commit: it copies files")
	}
	b.m.Version, b.m.Branch, b.m.Tag = b.parent.Version, proto.String(o.GetBranchName()), ""
	base := uint32(0)
	for _, p := range b.m.GetBasePaths() {
		if p.GetId() == math.MaxUint32 {
			return b.invalid("there is no base id above %d", p.GetId())
		}
		base = max(base, p.GetId()+1)
	}
	b.m.BasePaths = append(b.m.BasePaths, &tablepb.BasePath{Id: base, Name: o.RefName, IsDatasetRoot: true, Path: o.GetRefPath()})
	for i, f := range b.frags {
		f = proto.CloneOf(f)
		for _, d := range f.GetFiles() {
			if d.BaseId == nil {
				d.BaseId = proto.Uint32(base)
			}
		}
		if d := f.GetDeletionFile(); d != nil && d.BaseId == nil {
			d.BaseId = proto.Uint32(base)
		}
		b.frags[i] = f
	}
	for i, x := range b.indexes {
		if x.BaseId == nil {
			x = proto.CloneOf(x)
			x.BaseId = proto.Uint32(base)
			b.indexes[i] = x
		}
	}
	return nil
}
