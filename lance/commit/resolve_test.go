package commit_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	filepb "github.com/omnideck/omnideck/lance/pb/file"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/lance/rowid"
)

// moved is an Update that masks rows of fragment 0 and moves them, by their
// ids, to a new fragment with some fresh rows.
func moved(m *format.Manifest, masks uint64, fresh uint64, ids ...uint64) *tablepb.Update {
	f := proto.CloneOf(m.Proto.Fragments[0])
	f.DeletionFile = &tablepb.DeletionFile{ReadVersion: m.Version, Id: 1, NumDeletedRows: masks}
	n := fragment("moved", uint64(len(ids))+fresh)
	var seq rowid.Builder
	for _, id := range ids {
		seq.Add(id)
	}
	b, err := seq.Encode()
	if err != nil {
		panic(err)
	}
	n.RowIdSequence = &tablepb.DataFragment_InlineRowIds{InlineRowIds: b}
	return &tablepb.Update{UpdatedFragments: []*tablepb.DataFragment{f}, NewFragments: []*tablepb.DataFragment{n}}
}

// adding is an Append of a fragment that is not as it has to be.
func adding(change func(*tablepb.DataFragment)) *tablepb.Append {
	f := fragment("x", 3)
	change(f)
	return &tablepb.Append{Fragments: []*tablepb.DataFragment{f}}
}

// deleting is a Delete of a row of fragment 0 that changes more than that.
func deleting(m *format.Manifest, change func(*tablepb.DataFragment)) *tablepb.Delete {
	f := proto.CloneOf(m.Proto.Fragments[0])
	f.DeletionFile = &tablepb.DeletionFile{NumDeletedRows: 1}
	change(f)
	return &tablepb.Delete{UpdatedFragments: []*tablepb.DataFragment{f}}
}

// trap is an operation that must be refused, and a part of the reason.
type trap struct {
	op  any
	why string
}

// trapsOfRows are operations that lose, double or invent rows of m, or files that
// do not hold what the fragment says.
func trapsOfRows(m *format.Manifest) map[string]trap {
	frag0, rewritten := m.Proto.Fragments[:1], seventh(m)
	return map[string]trap{
		"fragment id in use":       {adding(func(f *tablepb.DataFragment) { f.Id = 1 }), "fragment id 1 would be there twice"},
		"fragment id of 33 bits":   {adding(func(f *tablepb.DataFragment) { f.Id = 1 << 32 }), "does not fit 32 bits"},
		"no rows":                  {adding(func(f *tablepb.DataFragment) { f.PhysicalRows = 0 }), "0 rows"},
		"no files":                 {adding(func(f *tablepb.DataFragment) { f.Files = nil }), "0 files"},
		"row ids for more rows":    {adding(func(f *tablepb.DataFragment) { f.RowIdSequence = m.Proto.Fragments[0].RowIdSequence }), "brings 10 row ids for 3 rows"},
		"another file format":      {adding(func(f *tablepb.DataFragment) { f.Files[0].FileMinorVersion = 1 }), "is of format 2.1"},
		"a field twice":            {adding(func(f *tablepb.DataFragment) { f.Files[0].Fields[1] = 0 }), "stands in the fragment twice"},
		"a leaf without column":    {adding(func(f *tablepb.DataFragment) { f.Files[0].ColumnIndices[1] = -1 }), "has the column -1"},
		"a column too few":         {adding(func(f *tablepb.DataFragment) { f.Files[0].ColumnIndices = []int32{0} }), "2 fields and 1 column indices"},
		"a path that climbs":       {adding(func(f *tablepb.DataFragment) { f.Files[0].Path = "../../x.lance" }), "is called"},
		"no columns":               {adding(func(f *tablepb.DataFragment) { f.Files[0].Fields, f.Files[0].ColumnIndices = nil, nil }), "has no columns"},
		"deletes in no fragment":   {deleting(m, func(f *tablepb.DataFragment) { f.Id = 9 }), "fragment 9, which is not there"},
		"deletes with other rows":  {deleting(m, func(f *tablepb.DataFragment) { f.PhysicalRows = 9 }), "has 10 rows and would have 9"},
		"deletes with other ids":   {deleting(m, func(f *tablepb.DataFragment) { f.RowIdSequence = m.Proto.Fragments[1].RowIdSequence }), "other row ids"},
		"deletes with other files": {deleting(m, func(f *tablepb.DataFragment) { f.Files[0].Path = "y.lance" }), "other data files"},
		"removes no fragment":      {&tablepb.Delete{DeletedFragmentIds: []uint64{5}}, "removes fragment 5"},
		"removes twice":            {&tablepb.Delete{DeletedFragmentIds: []uint64{1, 1}}, "twice"},
		"moves rows unmasked":      {moved(m, 1, 0, 3, 4), "the same row would be there twice"},
		"moves a row of others":    {moved(m, 2, 0, 3, 12), "row id 12 of a new fragment belongs to no row"},
		"moves a row twice":        {moved(m, 2, 0, 3, 3), "row id 3 twice"},
		"moves rows to come":       {moved(m, 10, 0, 9, 10, 11), "row id 10"},
		"moves a row to come":      {moved(m, 2, 0, 3, 99), "row id 99"},
		"rewrites to fewer rows":   {&tablepb.Rewrite{Groups: []*tablepb.RewriteGroup{{OldFragments: m.Proto.Fragments, NewFragments: []*tablepb.DataFragment{rewritten}}}}, "5 live rows more"},
		"rewrites without row ids": {&tablepb.Rewrite{Groups: []*tablepb.RewriteGroup{{OldFragments: frag0, NewFragments: []*tablepb.DataFragment{fragment("c", 10)}}}}, "does not bring its row ids"},
		"rewrites no fragment":     {&tablepb.Rewrite{Groups: []*tablepb.RewriteGroup{{OldFragments: []*tablepb.DataFragment{{Id: 8}}}}}, "rewrites fragment 8"},
		"rewrites indexes":         {&tablepb.Rewrite{RewrittenIndices: []*tablepb.RewrittenIndex{{}}}, "stable row ids"},
	}
}

// trapsOfSchema are operations on the schema, the indexes, the settings and the
// whole of m that do not fit it; whole are its fragments, none with a column that
// the schema no longer has.
func trapsOfSchema(m *format.Manifest, whole []*tablepb.DataFragment) map[string]trap {
	frag0, rewritten := m.Proto.Fragments[:1], seventh(m)
	return map[string]trap{
		"merges fewer fragments":    {&tablepb.Merge{Fragments: frag0, Schema: schema()}, "lists 1 fragments"},
		"merges other fragments":    {&tablepb.Merge{Fragments: []*tablepb.DataFragment{m.Proto.Fragments[0], rewritten}, Schema: schema()}, "leaves out fragment 1"},
		"an old id for a new field": {&tablepb.Merge{Fragments: whole, Schema: append(schema(), &filepb.Field{Name: "late", Id: 8, ParentId: -1, LogicalType: "int64"})}, "has the id of a dropped one"},
		"an index on no field":      {&tablepb.CreateIndex{NewIndices: []*tablepb.IndexMetadata{{Uuid: &tablepb.UUID{Uuid: make([]byte, 16)}, Fields: []int32{9}}}}, "on fields [9]"},
		"an index without uuid":     {&tablepb.CreateIndex{NewIndices: []*tablepb.IndexMetadata{{Fields: []int32{1}}}}, "uuid of 0 bytes"},
		"restores what is not told": {&tablepb.Restore{Version: 1}, "was not given"},
		"reserves too many":         {&tablepb.ReserveFragments{NumFragments: math.MaxUint32}, "do not fit 32 bits"},
		"changes the key":           {&tablepb.UpdateConfig{FieldMetadataUpdates: map[int32]*tablepb.UpdateMap{0: {Replace: true}}}, "key is set"},
		"metadata of no field":      {&tablepb.UpdateConfig{FieldMetadataUpdates: map[int32]*tablepb.UpdateMap{7: {}}}, "field 7"},
		"mixes forms":               {&tablepb.UpdateConfig{UpsertValues: map[string]string{"a": "b"}, ConfigUpdates: &tablepb.UpdateMap{}}, "mixes"},
		"names bases":               {&tablepb.Overwrite{Schema: schema(), InitialBases: []*tablepb.BasePath{{Path: "x"}}}, "cannot name bases"},
		"a schema without parent":   {&tablepb.Overwrite{Schema: []*filepb.Field{{Name: "a", Id: 1, ParentId: 0}}}, "schema"},
		"clones another version":    {&tablepb.Clone{IsShallow: true, BranchName: proto.String("dev"), RefVersion: 1}, "clones version 1"},
		"clones without a name":     {&tablepb.Clone{IsShallow: true, RefVersion: 2}, "branch name"},
	}
}

// seventh is fragment 0 of m as fragment 7.
func seventh(m *format.Manifest) *tablepb.DataFragment {
	f := proto.CloneOf(m.Proto.Fragments[0])
	f.Id = 7
	return f
}

// TestResolveRefuses: the traps of lance-table.md §10.2, each as an error
// before anything is written.
func TestResolveRefuses(t *testing.T) {
	_, m := newTable(t)
	whole := proto.CloneOf(m.Proto).Fragments
	m.Proto.Fragments[0].Files[0].Fields = []int32{0, 1, 8} // 8 is a column that the schema no longer has
	m.Proto.Fragments[0].Files[0].ColumnIndices = []int32{0, 1, 2}
	for _, traps := range []map[string]trap{trapsOfRows(m), trapsOfSchema(m, whole)} {
		for what, c := range traps {
			_, err := commit.Resolve(m, txn(2, "u", c.op), commit.Params{Now: noon})
			var invalid *commit.InvalidError
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), c.why) || invalid.Parent != 2 {
				t.Errorf("%s: %v, want %q", what, err, c.why)
			}
		}
	}
	if _, err := commit.Resolve(nil, txn(0, "u", adding(func(*tablepb.DataFragment) {})), commit.Params{Now: noon}); err == nil {
		t.Error("an Append made a dataset")
	}
}

// TestParentsRefused: a table that asks for more than we know, and one whose
// own marks are wrong.
func TestParentsRefused(t *testing.T) {
	for what, c := range map[string]struct {
		spoil func(*tablepb.Manifest)
		want  error
	}{
		"writer flag 64":     {func(m *tablepb.Manifest) { m.WriterFeatureFlags |= 64 }, format.ErrUnsupported},
		"writer flag 128":    {func(m *tablepb.Manifest) { m.WriterFeatureFlags |= 128 }, format.ErrUnsupported},
		"legacy format":      {func(m *tablepb.Manifest) { m.DataFormat.Version = "0.1" }, format.ErrUnsupported},
		"format to come":     {func(m *tablepb.Manifest) { m.DataFormat.Version = "2.3" }, format.ErrUnsupported},
		"detached":           {func(m *tablepb.Manifest) { m.Version |= 1 << 63 }, format.ErrUnsupported},
		"next row id is low": {func(m *tablepb.Manifest) { m.NextRowId = 12 }, format.ErrCorrupt},
	} {
		_, m := newTable(t)
		msg := proto.CloneOf(m.Proto)
		c.spoil(msg)
		b, err := format.EncodeManifest(msg, nil, appendTxn(1, "x", 1))
		if err != nil {
			t.Fatal(err)
		}
		bad, err := format.ParseManifest(b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := commit.Resolve(bad, appendTxn(2, "u", 1), commit.Params{Now: noon}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestHighWaterMarks: a mark of fragment ids that is too low is not believed,
// an Overwrite goes on above it, a Restore never goes back.
func TestHighWaterMarks(t *testing.T) {
	_, m := newTable(t)
	low := proto.CloneOf(m.Proto)
	low.MaxFragmentId = proto.Uint32(0)
	b, err := format.EncodeManifest(low, nil, appendTxn(1, "x", 1))
	if err != nil {
		t.Fatal(err)
	}
	damaged, err := format.ParseManifest(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, parent := range []*format.Manifest{m, damaged} {
		for what, op := range map[string]any{"append": &tablepb.Append{Fragments: []*tablepb.DataFragment{fragment("x", 3)}}, "overwrite": &tablepb.Overwrite{Schema: schema(), Fragments: []*tablepb.DataFragment{fragment("x", 3)}}} {
			next, err := commit.Resolve(parent, txn(2, "u", op), commit.Params{Now: noon})
			if err != nil {
				t.Fatal(err)
			}
			last := next.Manifest.Fragments[len(next.Manifest.Fragments)-1]
			ids, err := rowid.Decode(last.GetInlineRowIds())
			if err != nil || last.Id != 2 || next.Manifest.GetMaxFragmentId() != 2 || ids.At(0) != 15 || next.Manifest.NextRowId != 18 {
				t.Errorf("%s: fragment %d, highest %d, row id %d, next %d, %v", what, last.Id, next.Manifest.GetMaxFragmentId(), ids.At(0), next.Manifest.NextRowId, err)
			}
		}
	}
}

// TestMovedRows: moved rows first, with their ids and the version that made
// them, then fresh ones; in whatever order they moved.
func TestMovedRows(t *testing.T) {
	_, m := newTable(t)
	next, err := commit.Resolve(m, txn(2, "u", moved(m, 3, 2, 7, 2, 5)), commit.Params{Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	f := next.Manifest.Fragments[2]
	ids, err := rowid.Decode(f.GetInlineRowIds())
	if err != nil {
		t.Fatal(err)
	}
	made, err := rowid.DecodeVersions(f.GetInlineCreatedAtVersions())
	if err != nil {
		t.Fatal(err)
	}
	wrote, err := rowid.DecodeVersions(f.GetInlineLastUpdatedAtVersions())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][3]uint64{{7, 1, 3}, {2, 1, 3}, {5, 1, 3}, {15, 3, 3}, {16, 3, 3}} {
		if got := [3]uint64{ids.At(uint64(i)), made.At(uint64(i)), wrote.At(uint64(i))}; got != want {
			t.Errorf("row %d: id, made, written %v, want %v", i, got, want)
		}
	}
}

// TestUnknownFieldsGoOn: what a newer program keeps in a version stays there.
func TestUnknownFieldsGoOn(t *testing.T) {
	_, m := newTable(t)
	strange := protowire.AppendVarint(protowire.AppendTag(nil, 999, protowire.VarintType), 7)
	m.Proto.ProtoReflect().SetUnknown(strange)
	m.Proto.Fragments[0].ProtoReflect().SetUnknown(strange)
	next, err := commit.Resolve(m, appendTxn(2, "u", 1), commit.Params{Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	if string(next.Manifest.ProtoReflect().GetUnknown()) != string(strange) || string(next.Manifest.Fragments[0].ProtoReflect().GetUnknown()) != string(strange) {
		t.Error("a field that is not known was dropped")
	}
}

// FuzzResolve: any transaction on any manifest is a version that reads back,
// or an error.
func FuzzResolve(f *testing.F) {
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		f.Fatal(err)
	}
	seeds := 0
	for _, key := range slices.Sorted(maps.Keys(files)) {
		if b := files[key]; strings.HasSuffix(key, ".manifest") && len(b) < 3000 && seeds < 12 {
			if m, err := format.ParseManifest(b); err == nil {
				if tx, err := m.Transaction(); err == nil && tx != nil {
					raw, err := format.EncodeTransaction(tx.Proto)
					if err != nil {
						f.Fatal(err)
					}
					f.Add(b, raw)
					seeds++
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, manifest, raw []byte) {
		m, err := format.ParseManifest(manifest)
		if err != nil {
			return
		}
		tx, err := format.ParseTransaction(raw)
		if err != nil {
			return
		}
		commit.Conflict(tx.Proto, tx.Proto, commit.Facts{Base: m, RowsKnown: true})
		next, err := commit.Resolve(m, tx.Proto, commit.Params{Now: noon, Restored: m})
		if err != nil {
			return
		}
		b, err := format.EncodeManifest(next.Manifest, next.Indexes, tx.Proto)
		if err != nil {
			return
		}
		if _, err := format.ParseManifest(b); err != nil {
			t.Fatalf("what was resolved does not read back: %v", err)
		}
	})
}
