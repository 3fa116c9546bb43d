package commit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/localfs"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/lance/rowid"
)

// shared is a table on disk that both programs write.
type shared struct {
	t     *testing.T
	dir   string
	store blob.Store
	rows  map[string]int64 // what must be there
	n     byte             // of names
}

// use lets pylance check the rows, and go on.
func (s *shared) use(step string) {
	s.t.Helper()
	want, err := json.Marshal(s.rows)
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := exec.Command(python(s.t), "testdata/use.py", step, filepath.Join(s.dir, "t"), string(want)).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		s.t.Fatalf("%s: %v\n%s", step, err, failed.Stderr)
	}
	s.rows = nil
	if err := json.Unmarshal(out, &s.rows); err != nil {
		s.t.Fatalf("%s: %v: %s", step, err, out)
	}
}

// open is the newest version, read by our own reader.
func (s *shared) open() *lance.Snapshot {
	s.t.Helper()
	snap, err := lance.Open(s.t.Context(), s.store, "t", lance.OpenOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return snap
}

func (s *shared) random() (u [16]byte) {
	s.n++
	u[15], u[0] = s.n, s.n
	return u
}

// write makes a data file and an unresolved fragment of it.
func (s *shared) write(ids []string, ns []int64) *tablepb.DataFragment {
	s.t.Helper()
	sch, err := format.SchemaFromProto(schema(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	w, err := file.NewWriter(sch.Fields, file.WriteOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	as, err := sch.Arrow()
	if err != nil {
		s.t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, as)
	defer b.Release()
	b.Field(0).(*array.StringBuilder).AppendValues(ids, nil)
	b.Field(1).(*array.Int64Builder).AppendValues(ns, nil)
	rec := b.NewRecordBatch()
	defer rec.Release()
	if err := w.Write(rec); err != nil {
		s.t.Fatal(err)
	}
	out, err := w.Finish()
	if err != nil {
		s.t.Fatal(err)
	}
	name := format.DataFileName(s.random())
	if _, err := s.store.Put(s.t.Context(), "t/data/"+name, out.Bytes()); err != nil {
		s.t.Fatal(err)
	}
	return &tablepb.DataFragment{PhysicalRows: uint64(out.Rows), Files: []*tablepb.DataFile{{
		Path: name, Fields: out.Fields, ColumnIndices: out.Columns, FileMajorVersion: 2, FileMinorVersion: 2, FileSizeBytes: uint64(out.Size),
	}}}
}

// commit commits op on base, nil = the newest version.
func (s *shared) commit(base *format.Manifest, op any, o commit.Options) *commit.Committed {
	s.t.Helper()
	read := uint64(0)
	if base != nil {
		read = base.Version
	}
	tx := txn(read, format.UUIDText(format.UUIDv4(s.random())), op)
	o.Now = nil // the true time, which a cleanup compares with the times of files
	c, err := commit.Commit(context.Background(), s.store, "t", "", base, tx, o)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// mask deletes rows of a fragment, into a file of either form.
func (s *shared) mask(m *format.Manifest, frag int, kind format.DeletionKind, rows ...uint32) *tablepb.DataFragment {
	s.t.Helper()
	f := proto.CloneOf(m.Proto.Fragments[frag])
	u := s.random()
	d := format.DeletionFile{Kind: kind, ReadVersion: m.Version, ID: format.DeletionID([8]byte(u[8:])), Rows: uint64(len(rows))}
	body := deletion.New(rows).EncodeArrow()
	if kind == format.DeletionBitmap {
		var err error
		if body, err = deletion.New(rows).EncodeBitmap(); err != nil {
			s.t.Fatal(err)
		}
	}
	if _, err := s.store.Put(s.t.Context(), "t/"+format.DeletionPath(f.Id, &d), body); err != nil {
		s.t.Fatal(err)
	}
	f.DeletionFile = &tablepb.DeletionFile{FileType: tablepb.DeletionFileType(kind), ReadVersion: d.ReadVersion, Id: d.ID, NumDeletedRows: d.Rows}
	return f
}

func numbered(from, to int) (ids []string, ns []int64) {
	for i := from; i < to; i++ {
		ids, ns = append(ids, fmt.Sprint("k", i)), append(ns, int64(i))
	}
	return ids, ns
}

// TestPylanceGoesOn: pylance opens, validates, queries by an index, appends to,
// deletes from, updates, merges into, compacts, re-indexes and cleans up a
// table whose versions we committed, and we go on from its versions.
func TestPylanceGoesOn(t *testing.T) {
	python(t)
	dir := t.TempDir()
	store, err := localfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &shared{t: t, dir: dir, store: store, rows: map[string]int64{}}
	ids, ns := numbered(0, 10)
	c := s.commit(nil, &tablepb.Overwrite{Schema: schema(), Fragments: []*tablepb.DataFragment{s.write(ids, ns)}}, exactly())
	more, mn := numbered(10, 15)
	s.commit(c.Manifest, &tablepb.Append{Fragments: []*tablepb.DataFragment{s.write(more, mn)}}, exactly())
	for i, id := range append(ids, more...) {
		s.rows[id] = int64(i)
	}
	s.use("index")

	m := s.open().Manifest()
	s.commit(m, &tablepb.Delete{UpdatedFragments: []*tablepb.DataFragment{s.mask(m, 0, format.DeletionArrow, 1, 2)}, Predicate: "n in (1, 2)"}, exactly())
	m = s.open().Manifest()
	m = s.commit(m, &tablepb.Delete{UpdatedFragments: []*tablepb.DataFragment{s.mask(m, 1, format.DeletionBitmap, 0)}, Predicate: "n = 10"}, exactly()).Manifest
	delete(s.rows, "k1")
	delete(s.rows, "k2")
	delete(s.rows, "k10")
	s.upsert(m)
	s.use("history")
	s.use("write")
	if base := s.open().Manifest(); base.Version < 9 {
		t.Errorf("pylance left version %d", base.Version)
	}
	s.behind(m)
	s.compact()
	s.use("maintain")
	s.last()
	s.use("write")
	rep, err := lance.Verify(t.Context(), s.open(), lance.VerifyOptions{Deep: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range rep.Problems {
		t.Errorf("%+v", p)
	}
}

// upsert moves rows 3 and 4 of fragment 0 and inserts another.
func (s *shared) upsert(m *format.Manifest) {
	s.t.Helper()
	f := s.write([]string{"k3", "k4", "k100"}, []int64{1003, 1004, 100})
	var seq rowid.Builder
	seq.Range(3, 5)
	b, err := seq.Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	f.RowIdSequence = &tablepb.DataFragment_InlineRowIds{InlineRowIds: b}
	var filter commit.KeyFilter
	filter.AddString("k100")
	s.commit(m, &tablepb.Update{
		UpdatedFragments: []*tablepb.DataFragment{s.mask(m, 0, format.DeletionArrow, 1, 2, 3, 4)}, NewFragments: []*tablepb.DataFragment{f},
		FieldsForPreservingFragBitmap: []uint32{0, 1}, InsertedRows: filter.Proto(0),
	}, exactly())
	maps.Copy(s.rows, map[string]int64{"k3": 1003, "k4": 1004, "k100": 100})
}

// behind commits on a version that pylance has long left: an append, and a
// deletion in a fragment in which pylance deleted too.
func (s *shared) behind(old *format.Manifest) {
	s.t.Helper()
	s.commit(old, &tablepb.Append{Fragments: []*tablepb.DataFragment{s.write([]string{"late"}, []int64{77})}}, opts())
	o := opts()
	o.Affected = map[uint64]*deletion.Set{0: deletion.New([]uint32{9})}
	// Rows 1 and 2 were deleted in old, 3 and 4 by the upsert, k5 and k6 by pylance.
	c := s.commit(old, &tablepb.Delete{UpdatedFragments: []*tablepb.DataFragment{s.mask(old, 0, format.DeletionArrow, 1, 2, 9)}, Predicate: "n = 9"}, o)
	if d := c.Manifest.Fragments[0].Deletion; d.Rows != 7 {
		s.t.Errorf("%d rows are deleted in fragment 0, want 7", d.Rows)
	}
	s.rows["late"] = 77
	delete(s.rows, "k9")
}

// compact rewrites fragment 0 without its deleted rows.
func (s *shared) compact() {
	s.t.Helper()
	snap := s.open()
	m := snap.Manifest()
	first := m.Fragments[0]
	var ids []string
	var ns []int64
	var seq rowid.Builder
	var made, wrote rowid.VersionsBuilder
	for rec, err := range snap.Scan(s.t.Context(), lance.ScanOptions{WithRowAddress: true, WithRowID: true, WithVersions: true}) {
		if err != nil {
			s.t.Fatal(err)
		}
		col := func(name string) arrow.Array { return rec.Column(rec.Schema().FieldIndices(name)[0]) }
		for i := range int(rec.NumRows()) {
			if col(lance.ColRowAddress).(*array.Uint64).Value(i)>>32 != first.ID {
				continue
			}
			ids, ns = append(ids, col("id").(*array.String).Value(i)), append(ns, col("n").(*array.Int64).Value(i))
			seq.Add(col(lance.ColRowID).(*array.Uint64).Value(i))
			made.Add(1, col(lance.ColCreatedAt).(*array.Uint64).Value(i))
			wrote.Add(1, col(lance.ColLastUpdated).(*array.Uint64).Value(i))
		}
		rec.Release()
	}
	f := s.write(ids, ns)
	b, err := seq.Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	f.RowIdSequence = &tablepb.DataFragment_InlineRowIds{InlineRowIds: b}
	f.CreatedAtVersionSequence = &tablepb.DataFragment_InlineCreatedAtVersions{InlineCreatedAtVersions: made.Encode()}
	f.LastUpdatedAtVersionSequence = &tablepb.DataFragment_InlineLastUpdatedAtVersions{InlineLastUpdatedAtVersions: wrote.Encode()}
	reserved := s.commit(m, &tablepb.ReserveFragments{NumFragments: 1}, exactly()).Manifest
	f.Id = uint64(*reserved.MaxFragmentID)
	s.commit(reserved, &tablepb.Rewrite{Groups: []*tablepb.RewriteGroup{{
		OldFragments: m.Proto.Fragments[:1], NewFragments: []*tablepb.DataFragment{f},
	}}}, exactly())
}

// last: a configuration, an Overwrite, a Restore of the version before it, a
// branch.
func (s *shared) last() {
	s.t.Helper()
	before := s.open().Manifest()
	m := s.commit(before, &tablepb.UpdateConfig{ConfigUpdates: &tablepb.UpdateMap{UpdateEntries: []*tablepb.UpdateMapEntry{{Key: "k", Value: proto.String("v")}}}}, exactly()).Manifest
	kept := s.rows
	s.rows = map[string]int64{"only": 1}
	m = s.commit(m, &tablepb.Overwrite{Schema: schema(), Fragments: []*tablepb.DataFragment{s.write([]string{"only"}, []int64{1})}}, exactly()).Manifest
	if m.Fragments[0].ID != uint64(*before.MaxFragmentID)+1 || m.NextRowID != before.NextRowID+1 {
		s.t.Errorf("the overwriting fragment has id %d, the highest was %d", m.Fragments[0].ID, *before.MaxFragmentID)
	}
	s.use("check")
	m = s.commit(m, &tablepb.Restore{Version: m.Version - 1}, exactly()).Manifest
	s.rows = kept
	s.rows["k5"] = 5
	m = s.commit(m, &tablepb.Append{Fragments: []*tablepb.DataFragment{s.write([]string{"k5"}, []int64{5})}}, exactly()).Manifest
	tx := txn(m.Version, format.UUIDText(format.UUIDv4(s.random())), &tablepb.Clone{IsShallow: true, RefVersion: m.Version, RefPath: filepath.Join(s.dir, "t"), BranchName: proto.String("dev")})
	c, err := commit.Commit(s.t.Context(), s.store, "t", "dev", m, tx, commit.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	want, err := json.Marshal(s.rows)
	if err != nil {
		s.t.Fatal(err)
	}
	if out, err := exec.Command(python(s.t), "testdata/use.py", "write", filepath.Join(s.dir, "t/tree/dev"), string(want)).CombinedOutput(); err != nil {
		s.t.Fatalf("branch at version %d: %v\n%s", c.Version, err, out)
	}
	if names := keys(s.t, s.store, "t/tree/dev/_versions/"); !slices.Contains(names, format.ManifestName(c.Version+1)) {
		s.t.Errorf("pylance did not write to the branch: %v", names)
	}
}
