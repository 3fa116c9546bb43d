package commit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/lance/format"
	filepb "github.com/omnideck/omnideck/lance/pb/file"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// schema is id (the key) and n.
func schema() []*filepb.Field {
	return []*filepb.Field{
		{Name: "id", Id: 0, ParentId: -1, LogicalType: "string", UnenforcedPrimaryKey: true, Metadata: map[string][]byte{format.MetaPrimaryKey: []byte("true")}},
		{Name: "n", Id: 1, ParentId: -1, LogicalType: "int64", Nullable: true},
	}
}

// fragment is an unresolved new fragment.
func fragment(path string, rows uint64) *tablepb.DataFragment {
	return &tablepb.DataFragment{PhysicalRows: rows, Files: []*tablepb.DataFile{{
		Path: path + ".lance", Fields: []int32{0, 1}, ColumnIndices: []int32{0, 1}, FileMajorVersion: 2, FileMinorVersion: 2, FileSizeBytes: 100,
	}}}
}

// txn is a transaction; the uuid is any text.
func txn(read uint64, uuid string, op any) *tablepb.Transaction {
	tx := &tablepb.Transaction{ReadVersion: read, Uuid: uuid}
	switch o := op.(type) {
	case *tablepb.Append:
		tx.Operation = &tablepb.Transaction_Append{Append: o}
	case *tablepb.Delete:
		tx.Operation = &tablepb.Transaction_Delete{Delete: o}
	case *tablepb.Update:
		tx.Operation = &tablepb.Transaction_Update{Update: o}
	case *tablepb.Overwrite:
		tx.Operation = &tablepb.Transaction_Overwrite{Overwrite: o}
	case *tablepb.CreateIndex:
		tx.Operation = &tablepb.Transaction_CreateIndex{CreateIndex: o}
	case *tablepb.Rewrite:
		tx.Operation = &tablepb.Transaction_Rewrite{Rewrite: o}
	case *tablepb.Merge:
		tx.Operation = &tablepb.Transaction_Merge{Merge: o}
	case *tablepb.Project:
		tx.Operation = &tablepb.Transaction_Project{Project: o}
	case *tablepb.Restore:
		tx.Operation = &tablepb.Transaction_Restore{Restore: o}
	case *tablepb.ReserveFragments:
		tx.Operation = &tablepb.Transaction_ReserveFragments{ReserveFragments: o}
	case *tablepb.UpdateConfig:
		tx.Operation = &tablepb.Transaction_UpdateConfig{UpdateConfig: o}
	case *tablepb.DataReplacement:
		tx.Operation = &tablepb.Transaction_DataReplacement{DataReplacement: o}
	case *tablepb.UpdateBases:
		tx.Operation = &tablepb.Transaction_UpdateBases{UpdateBases: o}
	case *tablepb.Clone:
		tx.Operation = &tablepb.Transaction_Clone{Clone: o}
	case *tablepb.UpdateMemWalState:
		tx.Operation = &tablepb.Transaction_UpdateMemWalState{UpdateMemWalState: o}
	case nil:
	default:
		panic(fmt.Sprintf("no transaction of %T", op))
	}
	return tx
}

func createTxn(uuid string, frags ...*tablepb.DataFragment) *tablepb.Transaction {
	return txn(0, uuid, &tablepb.Overwrite{Schema: schema(), Fragments: frags})
}

func appendTxn(read uint64, uuid string, rows uint64) *tablepb.Transaction {
	return txn(read, uuid, &tablepb.Append{Fragments: []*tablepb.DataFragment{fragment(uuid, rows)}})
}

func opts() commit.Options {
	id := uint64(100)
	return commit.Options{Now: func() time.Time { return noon }, NewID: func() uint64 { id++; return id }}
}

func exactly() commit.Options {
	o := opts()
	o.Exact = true
	return o
}

// mustCommit commits to main.
func mustCommit(t testing.TB, s blob.Store, base *format.Manifest, tx *tablepb.Transaction, o commit.Options) *commit.Committed {
	t.Helper()
	c, err := commit.Commit(context.Background(), s, "t", "", base, tx, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newTable is a table of version 2 in memory: fragment 0 with 10 rows, 1 with 5.
func newTable(t testing.TB) (*memstore.Store, *format.Manifest) {
	t.Helper()
	s := memstore.New(memstore.Options{Now: func() time.Time { return noon }})
	c := mustCommit(t, s, nil, createTxn("create", fragment("a", 10)), opts())
	c = mustCommit(t, s, c.Manifest, appendTxn(1, "b", 5), opts())
	return s, c.Manifest
}

// masking is a Delete of some rows of a fragment of m, with its deletion file.
func masking(t testing.TB, s blob.Store, m *format.Manifest, uuid string, frag int, rows ...uint32) (*tablepb.Transaction, map[uint64]*deletion.Set) {
	t.Helper()
	f := proto.CloneOf(m.Proto.Fragments[frag])
	set := deletion.New(rows)
	all := set
	if d := m.Fragments[frag].Deletion; d != nil {
		o, err := s.Get(t.Context(), "t/"+format.DeletionPath(f.Id, d), blob.All)
		if err != nil {
			t.Fatal(err)
		}
		old, err := deletion.DecodeArrow(o.Data, f.PhysicalRows)
		if err != nil {
			t.Fatal(err)
		}
		all = all.Union(old)
	}
	d := format.DeletionFile{ReadVersion: m.Version, ID: uint64(len(uuid)) + 7, Rows: all.Len()}
	if _, err := s.Put(t.Context(), "t/"+format.DeletionPath(f.Id, &d), all.EncodeArrow()); err != nil {
		t.Fatal(err)
	}
	f.DeletionFile = &tablepb.DeletionFile{ReadVersion: d.ReadVersion, Id: d.ID, NumDeletedRows: d.Rows}
	return txn(m.Version, uuid, &tablepb.Delete{UpdatedFragments: []*tablepb.DataFragment{f}, Predicate: "true"}), map[uint64]*deletion.Set{f.Id: set}
}

// keys lists a store below a folder.
func keys(t testing.TB, s blob.Store, prefix string) []string {
	t.Helper()
	var out []string
	for e, err := range s.List(context.Background(), blob.ListOptions{Prefix: prefix, Recursive: true}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.TrimPrefix(e.Key, prefix))
	}
	return out
}

// newest reads the newest version.
func newest(t testing.TB, s blob.Store) *format.Manifest {
	t.Helper()
	names := keys(t, s, "t/_versions/")
	if len(names) == 0 {
		return nil
	}
	o, err := s.Get(context.Background(), "t/_versions/"+names[0], blob.All)
	if err != nil {
		t.Fatal(err)
	}
	m, err := format.ParseManifest(o.Data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
