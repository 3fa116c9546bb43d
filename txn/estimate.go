package txn

import (
	"cmp"
	"slices"

	"github.com/omnideck/omnideck/manifest"
)

// What a publish asks the store for beside its files; see the list in the comment
// of this package.
const (
	ofGates   = 4 // LIST __recovery, HEAD lock, GET marker, LIST __manifest
	ofRecord  = 5 // PUT record, LIST __recovery, LIST __manifest, PUT record, DELETE record
	ofTable   = 2 // LIST of its versions, PUT manifest
	ofPublish = 3 // PUT data, PUT transaction, PUT manifest
)

// Requests are what publishing what is staged asks for when nobody else writes
// meanwhile, the files of a dry staging among them.
func (t *Txn) Requests() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := int64(ofGates + ofPublish)
	if t.Base.Head != nil {
		n++ // the row of the head is replaced: PUT deletions
	}
	if len(t.staged) > 0 {
		n += ofRecord
	}
	if t.Base.Branch != "" { // GET of its ref wherever `__manifest` is listed, and beside the publish
		n += 2 + int64(min(len(t.staged), 1))
	}
	for _, st := range t.staged {
		if st == nil {
			continue
		}
		n += ofTable
		if t.o.Dry {
			n += int64(len(st.Objects))
		}
	}
	return n
}

// Outcome is what publishing what is staged does to each table, by alias.
func (t *Txn) Outcome() []TableReceipt {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []TableReceipt
	for id, st := range t.staged {
		e, ok := t.View.ByIdentity(manifest.Identity(id))
		if !ok || st == nil {
			continue
		}
		out = append(out, TableReceipt{
			Table: id, Alias: e.Alias, From: e.Version, To: e.Version + 1, Inserted: st.Inserted, Updated: st.Updated, Deleted: st.Deleted, Rows: st.RowsAfter,
		})
	}
	slices.SortFunc(out, func(a, b TableReceipt) int { return cmp.Compare(a.Alias, b.Alias) })
	return out
}
