package commit_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/localfs"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// TestLocalFiles: what is told of a local manifest is what the store says
// later, and the hint stands beside it.
func TestLocalFiles(t *testing.T) {
	s, err := localfs.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := mustCommit(t, s, nil, createTxn("create", fragment("a", 10)), opts())
	o := exactly()
	o.BaseETag = c.ETag
	c = mustCommit(t, s, c.Manifest, appendTxn(1, "b", 5), o)
	a, err := s.Head(t.Context(), c.Key)
	if err != nil || a.ETag != c.ETag || a.Size != c.Size {
		t.Errorf("told were ETag %s and %d bytes, the store says %+v, %v", c.ETag, c.Size, a, err)
	}
	hint, err := s.Get(t.Context(), "t/_versions/"+format.HintName, blob.All)
	if err != nil || string(hint.Data) != `{"version":2}` {
		t.Errorf("the hint says %q, %v", hint.Data, err)
	}
}

// withoutTransaction is a manifest file with no copy of its transaction.
func withoutTransaction(t *testing.T, m *format.Manifest) []byte {
	t.Helper()
	msg := proto.CloneOf(m.Proto)
	msg.TransactionSection = nil
	b, err := proto.Marshal(msg)
	if err != nil {
		t.Fatal(err)
	}
	out := append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
	return append(append(out, make([]byte, 8)...), 0, 0, 2, 0, 'L', 'A', 'N', 'C')
}

// TestTransactionsBeside: a version that keeps its transaction in a file only
// is judged by that; without the file nobody can tell.
func TestTransactionsBeside(t *testing.T) {
	s, m := newTable(t)
	c := mustCommit(t, s, m, appendTxn(2, "theirs", 1), exactly())
	if _, err := s.Put(t.Context(), c.Key, withoutTransaction(t, c.Manifest)); err != nil {
		t.Fatal(err)
	}
	if again := mustCommit(t, s.Clone(), m, appendTxn(2, "theirs", 1), opts()); !again.Found || again.Version != 3 {
		t.Errorf("our own, by its file: %+v", again)
	}
	if ours := mustCommit(t, s.Clone(), m, appendTxn(2, "ours", 1), opts()); ours.Version != 4 {
		t.Errorf("after an append in a file: %+v", ours)
	}
	if err := s.Delete(t.Context(), "t/_transactions/2-theirs.txn"); err != nil {
		t.Fatal(err)
	}
	_, err := commit.Commit(t.Context(), s, "t", "", m, appendTxn(2, "ours", 1), opts())
	var conflict *commit.ConflictError
	if !errors.As(err, &conflict) || !conflict.Retryable || conflict.Theirs != nil || !strings.Contains(conflict.Why, "not recorded") {
		t.Errorf("without a transaction: %v", err)
	}
	if ours := mustCommit(t, s, c.Manifest, appendTxn(3, "anew", 1), opts()); ours.Version != 4 {
		t.Errorf("planned anew: %+v", ours)
	}
}

// TestIndexAfterColumns: an index that was built while a column was rewritten
// in place does not cover the fragments in which it was.
func TestIndexAfterColumns(t *testing.T) {
	s, m := newTable(t)
	f := proto.CloneOf(m.Proto.Fragments[0])
	f.Files[0].Fields = []int32{0, format.Superseded}
	f.Files = append(f.Files, &tablepb.DataFile{Path: "n.lance", Fields: []int32{1}, ColumnIndices: []int32{0}, FileMajorVersion: 2, FileMinorVersion: 2, FileSizeBytes: 9})
	columns := mustCommit(t, s, m, txn(2, "columns", &tablepb.Update{
		UpdatedFragments: []*tablepb.DataFragment{f}, FieldsModified: []uint32{1}, UpdateMode: tablepb.UpdateMode_REWRITE_COLUMNS,
		UpdatedFragmentOffsets: map[uint64]*tablepb.UInt32List{0: {Values: []uint32{2, 3}}},
	}), opts())
	if n := columns.Manifest.Fragments[0].LastUpdated; len(n.Inline) == 0 {
		t.Error("no versions of last updates")
	}
	var indexes []*tablepb.IndexMetadata
	for i, field := range []int32{1, 0} {
		bits, err := roaring.BitmapOf(0, 1).ToBytes()
		if err != nil {
			t.Fatal(err)
		}
		uuid := make([]byte, 16)
		uuid[0] = byte(i)
		indexes = append(indexes, &tablepb.IndexMetadata{Uuid: &tablepb.UUID{Uuid: uuid}, Name: []string{"n_idx", "id_idx"}[i], Fields: []int32{field}, DatasetVersion: 2, FragmentBitmap: bits})
	}
	c := mustCommit(t, s, m, txn(2, "index", &tablepb.CreateIndex{NewIndices: indexes}), opts())
	got, err := c.Manifest.Indexes()
	if err != nil || len(got) != 2 {
		t.Fatalf("%d indexes, %v", len(got), err)
	}
	for i, want := range []string{"[1]", "[0 1]"} {
		bits := roaring.New()
		if _, err := bits.FromBuffer(got[i].Bitmap); err != nil {
			t.Fatal(err)
		}
		if text := strings.NewReplacer("{", "[", "}", "]", ",", " ").Replace(bits.String()); text != want {
			t.Errorf("%s covers %s, want %s", got[i].Name, text, want)
		}
	}
	if c.Txn.GetCreateIndex().GetNewIndices()[0] == indexes[0] || c.Txn.GetReadVersion() != 2 {
		t.Error("the caller's transaction was changed, or its read version")
	}
}
