package recovery_test

import (
	"context"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/manifest"
)

// foreignVersion is a version of a table that no record and nobody's publish
// explains.
func foreignVersion(t testing.TB, s blob.Store, alias string) {
	t.Helper()
	ctx := context.Background()
	e, _ := stuck.View(t, s, "").Table(alias)
	snap, err := lance.Open(ctx, s, e.Location, lance.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	st, err := snap.StageDelete(ctx, []uint64{0}, "", lance.StageOptions{UUID: "somebody-else"})
	if err == nil {
		_, _, err = st.Commit(ctx, lance.CommitOptions{Exact: true})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// foreignPublish is a whole write of another program, on a table that ours does
// not touch, which did not look for records.
func foreignPublish(t testing.TB, s blob.Store) {
	t.Helper()
	ctx := context.Background()
	foreignVersion(t, s, "edge:Partner")
	e, _ := stuck.View(t, s, "").Table("edge:Partner")
	snap, err := lance.Open(ctx, s, e.Location, lance.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := snap.CountRows()
	_, err = manifest.Publish(ctx, s, manifest.PublishOptions{
		Edits:  []manifest.Edit{manifest.Update{Identity: e.Identity, Alias: e.Alias, Version: snap.Version(), Rows: rows}},
		Commit: &manifest.Intent{ID: foreignCommit, CreatedAt: 1796000000000000},
	})
	if err != nil {
		t.Fatal(err)
	}
}

const foreignCommit = "01M8NSB89R2YYY41J0VFBJ58TR"

// otherVersion is a version of `__manifest` with the same rows, as its compaction
// makes one.
func otherVersion(t testing.TB, s blob.Store) {
	t.Helper()
	v := stuck.View(t, s, "").Version
	m, err := format.ParseManifest(object(t, s, "__manifest/_versions/"+format.ManifestName(v)))
	if err != nil {
		t.Fatal(err)
	}
	p := proto.CloneOf(m.Proto)
	p.Version = v + 1
	p.TransactionFile = ""
	tx := &tablepb.Transaction{ReadVersion: v, Uuid: "compaction", Operation: &tablepb.Transaction_ReserveFragments{ReserveFragments: &tablepb.ReserveFragments{}}}
	data, err := format.EncodeManifest(p, nil, tx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutIfAbsent(context.Background(), "__manifest/_versions/"+format.ManifestName(v+1), data); err != nil {
		t.Fatal(err)
	}
}
