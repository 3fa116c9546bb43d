// Package upkeep does to a graph, for tests, what the optimize of another program
// does: Compact rewrites a table into one fragment, Publish makes that visible.
// Between the two the newest version of the table is one that nobody published.
//
// The rewritten rows keep their ids and the versions in which they were made and
// last written, and have other addresses. Tables with columns of blobs are not
// taken on.
package upkeep

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/lance/rowid"
	"github.com/omnideck/omnideck/manifest"
)

// Compacted is a table with a version that is not published.
type Compacted struct {
	Entry   manifest.Entry // as published
	Version uint64         // that the compaction made, two above it
}

// Compact reserves a fragment and rewrites all fragments of a table of main into
// it. run tells compactions of one table apart.
func Compact(ctx context.Context, s blob.Store, alias string, run int) (*Compacted, error) {
	v, err := manifest.Open(ctx, s, manifest.Options{})
	if err != nil {
		return nil, err
	}
	e, ok := v.Table(alias)
	if !ok {
		return nil, fmt.Errorf("compacting %s: there is no such table", alias)
	}
	snap, err := lance.Open(ctx, s, e.Location, lance.OpenOptions{Version: e.Version})
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("upkeep-%d", run)
	f, err := rewritten(ctx, snap, name)
	if err != nil {
		return nil, err
	}
	m := snap.Manifest()
	made, err := exactly(ctx, s, e.Location, m, &tablepb.Transaction{
		Uuid: name + "-reserve", Operation: &tablepb.Transaction_ReserveFragments{ReserveFragments: &tablepb.ReserveFragments{NumFragments: 1}},
	})
	if err != nil {
		return nil, err
	}
	f.Id = uint64(*made.Manifest.MaxFragmentID)
	made, err = exactly(ctx, s, e.Location, made.Manifest, &tablepb.Transaction{
		Uuid: name + "-rewrite", Operation: &tablepb.Transaction_Rewrite{Rewrite: &tablepb.Rewrite{Groups: []*tablepb.RewriteGroup{{
			OldFragments: m.Proto.GetFragments(), NewFragments: []*tablepb.DataFragment{f},
		}}}},
	})
	if err != nil {
		return nil, err
	}
	return &Compacted{e, made.Version}, nil
}

func exactly(ctx context.Context, s blob.Store, root string, base *format.Manifest, tx *tablepb.Transaction) (*commit.Committed, error) {
	tx.ReadVersion = base.Version
	return commit.Commit(ctx, s, root, "", base, tx, commit.Options{Exact: true})
}

// rewritten writes all rows of a table into one data file, of which the fragment
// is given.
func rewritten(ctx context.Context, snap *lance.Snapshot, name string) (*tablepb.DataFragment, error) {
	var (
		seq         rowid.Builder
		made, wrote rowid.VersionsBuilder
		columns     = len(snap.Schema().Fields)
	)
	rows := func(yield func(arrow.RecordBatch, error) bool) {
		for batch, err := range snap.Scan(ctx, lance.ScanOptions{WithRowID: true, WithVersions: true}) {
			if err != nil {
				yield(nil, err)
				return
			}
			column := func(name string) *array.Uint64 {
				return batch.Column(batch.Schema().FieldIndices(name)[0]).(*array.Uint64)
			}
			ids, at, last := column(lance.ColRowID), column(lance.ColCreatedAt), column(lance.ColLastUpdated)
			for i := range int(batch.NumRows()) {
				seq.Add(ids.Value(i))
				made.Add(1, at.Value(i))
				wrote.Add(1, last.Value(i))
			}
			data := array.NewRecordBatch(arrow.NewSchema(batch.Schema().Fields()[:columns], nil), batch.Columns()[:columns], batch.NumRows())
			batch.Release()
			if !yield(data, nil) {
				return
			}
		}
	}
	staged, err := snap.StageAppend(ctx, rows, lance.StageOptions{UUID: name})
	if err != nil {
		return nil, err
	}
	frags := staged.Txn.GetAppend().GetFragments()
	if len(frags) != 1 {
		return nil, fmt.Errorf("compacting %s: %d fragments were written, expected 1", snap.Root(), len(frags))
	}
	ids, err := seq.Encode()
	if err != nil {
		return nil, err
	}
	f := frags[0]
	f.RowIdSequence = &tablepb.DataFragment_InlineRowIds{InlineRowIds: ids}
	f.CreatedAtVersionSequence = &tablepb.DataFragment_InlineCreatedAtVersions{InlineCreatedAtVersions: made.Encode()}
	f.LastUpdatedAtVersionSequence = &tablepb.DataFragment_InlineLastUpdatedAtVersions{InlineLastUpdatedAtVersions: wrote.Encode()}
	return f, nil
}

// Publish makes a compaction visible, by a commit of the id given.
func (c *Compacted) Publish(ctx context.Context, s blob.Store, id string) error {
	e := c.Entry
	key := e.Location + "/_versions/" + format.ManifestName(c.Version)
	at, err := s.Head(ctx, key)
	if err != nil {
		return err
	}
	meta := e.Meta
	size := uint64(at.Size)
	meta.ManifestSize = &size
	meta.ETag = nil
	if e.Meta.ETag != nil && at.ETag != "" {
		meta.ETag = &at.ETag
	}
	folder, _, _ := strings.Cut(meta.ManifestPath, "/_versions/")
	meta.ManifestPath = folder + "/_versions/" + format.ManifestName(c.Version)
	_, err = manifest.Publish(ctx, s, manifest.PublishOptions{
		Edits:  []manifest.Edit{manifest.Update{Identity: e.Identity, Alias: e.Alias, Version: c.Version, Rows: e.Rows, Meta: meta}},
		Commit: &manifest.Intent{ID: id, CreatedAt: 1796000000000000},
	})
	return err
}
