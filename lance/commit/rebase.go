package commit

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// DeletionWrite is a deletion file to be written before the version that needs
// it.
type DeletionWrite struct {
	Fragment uint64
	File     format.DeletionFile
	Set      *deletion.Set // complete
}

// RowsRebased is a Delete or Update that took in what others deleted in the
// same fragments.
type RowsRebased struct {
	Txn    *tablepb.Transaction
	Writes []DeletionWrite
}

// RebaseRows unites our deletions with those of the current version in the
// fragments of a Rebase verdict. affected and current are by fragment id: the
// rows that ours deletes or moves, and the rows that are deleted in the current
// version. newID gives the ids of deletion files. A row that both deleted is a
// Retry.
func RebaseRows(ours *tablepb.Transaction, version *format.Manifest, frags []uint64, affected, current map[uint64]*deletion.Set, newID func() uint64) (*RowsRebased, Verdict) {
	for _, id := range frags {
		if affected[id].Len() == 0 {
			return nil, retry("both changed fragment %d, and which rows ours changed is not known", id)
		}
		if both := affected[id].Intersect(current[id]); both.Len() > 0 {
			for x := range both.All() {
				return nil, retry("both changed row %d of fragment %d", x, id)
			}
		}
	}
	out := &RowsRebased{Txn: proto.CloneOf(ours)}
	out.Txn.ReadVersion = version.Version
	updated, removed := masked(out.Txn)
	for _, id := range frags {
		at := slices.IndexFunc(updated, func(f *tablepb.DataFragment) bool { return f.GetId() == id })
		if at < 0 {
			return nil, retry("fragment %d is not one that ours updates", id)
		}
		set := affected[id].Union(current[id])
		if set.Len() >= updated[at].GetPhysicalRows() {
			updated = slices.Delete(updated, at, at+1)
			removed = append(removed, id)
			continue
		}
		w := DeletionWrite{Fragment: id, Set: set, File: format.DeletionFile{ReadVersion: version.Version, ID: newID(), Rows: set.Len()}}
		if set.Len() >= deletion.BitmapFrom {
			w.File.Kind = format.DeletionBitmap
		}
		updated[at].DeletionFile = &tablepb.DeletionFile{
			FileType: tablepb.DeletionFileType(w.File.Kind), ReadVersion: w.File.ReadVersion, Id: w.File.ID, NumDeletedRows: w.File.Rows,
		}
		out.Writes = append(out.Writes, w)
	}
	setMasked(out.Txn, updated, removed)
	return out, Verdict{}
}

func setMasked(tx *tablepb.Transaction, updated []*tablepb.DataFragment, removed []uint64) {
	if d := tx.GetDelete(); d != nil {
		d.UpdatedFragments, d.DeletedFragmentIds = updated, removed
		return
	}
	tx.GetUpdate().UpdatedFragments, tx.GetUpdate().RemovedFragmentIds = updated, removed
}

// pruneNew takes fragments out of the new indexes of a CreateIndex.
func pruneNew(tx *tablepb.Transaction, p *Prune) (*tablepb.Transaction, error) {
	next, err := pruned(tx.GetCreateIndex().GetNewIndices(), p.Fragments, p.Fields)
	if err != nil {
		return nil, err
	}
	tx = proto.CloneOf(tx)
	tx.GetCreateIndex().NewIndices = next
	return tx, nil
}
