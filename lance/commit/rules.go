package commit

import (
	"maps"
	"slices"

	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// configKeys are the keys of the table's configuration that a transaction sets
// and that it removes.
func configKeys(tx *tablepb.Transaction) (set, removed []string) {
	set = slices.Sorted(maps.Keys(tx.GetOverwrite().GetConfigUpsertValues()))
	for _, e := range configOf(tx).GetConfigUpdates().GetUpdateEntries() {
		if e.Value != nil {
			set = append(set, e.GetKey())
		} else {
			removed = append(removed, e.GetKey())
		}
	}
	return set, removed
}

// configOf is an UpdateConfig in the newer form.
func configOf(tx *tablepb.Transaction) *tablepb.UpdateConfig {
	if tx.GetUpdateConfig() == nil {
		return nil
	}
	u, _ := newForm(tx.GetUpdateConfig())
	return u
}

// configClash is a configuration key that one sets and the other sets or
// removes; "" when there is none.
func configClash(a, b *tablepb.Transaction) string {
	setA, goneA := configKeys(a)
	setB, goneB := configKeys(b)
	for _, k := range setA {
		if slices.Contains(setB, k) || slices.Contains(goneB, k) {
			return k
		}
	}
	for _, k := range setB {
		if slices.Contains(goneA, k) {
			return k
		}
	}
	return ""
}

// bothOverwrite is rule d.
func bothOverwrite(ours, theirs *tablepb.Transaction, _ Facts) Verdict {
	if k := configClash(ours, theirs); k != "" {
		return incompatible("both set the configuration %q", k)
	}
	return retry("both overwrote the table")
}

// overwriteConfig is rule e.
func overwriteConfig(ours, theirs *tablepb.Transaction, _ Facts) Verdict {
	if k := configClash(ours, theirs); k != "" {
		return incompatible("both set the configuration %q", k)
	}
	return Verdict{}
}

// indexUpdated is rule f.
func indexUpdated(_, theirs *tablepb.Transaction, _ Facts) Verdict {
	u := theirs.GetUpdate()
	if len(u.GetFieldsModified()) == 0 || len(u.GetUpdatedFragments()) == 0 {
		return Verdict{}
	}
	return Verdict{Outcome: Rebase, Prune: &Prune{ids(u.GetUpdatedFragments()), u.GetFieldsModified()}}
}

// sameIndexName is rule g.
func sameIndexName(ours, theirs *tablepb.Transaction, _ Facts) Verdict {
	for _, x := range ours.GetCreateIndex().GetNewIndices() {
		for _, y := range theirs.GetCreateIndex().GetNewIndices() {
			if x.GetName() == y.GetName() {
				return retry("both made an index %q", x.GetName())
			}
		}
	}
	return Verdict{}
}

// indexRewritten is rule h; it reads alike in both directions.
func indexRewritten(ours, theirs *tablepb.Transaction, _ Facts) Verdict {
	rewritten, made := ours, theirs.GetCreateIndex()
	if made == nil {
		rewritten, made = theirs, ours.GetCreateIndex()
	}
	for _, x := range made.GetNewIndices() {
		bits, err := covers(x)
		if bits == nil || err != nil {
			return retry("fragments were rewritten, and what the new index %q covers is not known", x.GetName())
		}
		for _, id := range changedFragments(rewritten) {
			if bits.Contains(uint32(id)) {
				return retry("fragment %d was rewritten, and the new index %q covers it", id, x.GetName())
			}
		}
	}
	return Verdict{}
}

// indexedField is rule i, in both directions.
func indexedField(ours, theirs *tablepb.Transaction, _ Facts) Verdict {
	made, replaced := ours.GetCreateIndex(), theirs.GetDataReplacement()
	if made == nil {
		made, replaced = theirs.GetCreateIndex(), ours.GetDataReplacement()
	}
	for _, x := range made.GetNewIndices() {
		for _, r := range replaced.GetReplacements() {
			for _, id := range r.GetNewFile().GetFields() {
				if slices.Contains(x.GetFields(), id) {
					return retry("values of field %d were replaced, and the new index %q is on it", id, x.GetName())
				}
			}
		}
	}
	return Verdict{}
}

// configOverwritten is rule j.
func configOverwritten(ours, theirs *tablepb.Transaction, _ Facts) Verdict {
	u := configOf(ours)
	if u.GetSchemaMetadataUpdates() != nil || len(u.GetFieldMetadataUpdates()) > 0 {
		return incompatible("ours changes metadata of a schema that was replaced")
	}
	if k := configClash(ours, theirs); k != "" {
		return incompatible("both set the configuration %q", k)
	}
	return Verdict{}
}

// sameConfig is rule k.
func sameConfig(ours, theirs *tablepb.Transaction, _ Facts) Verdict {
	a, b := configOf(ours), configOf(theirs)
	if k := configClash(ours, theirs); k != "" {
		return incompatible("both set the configuration %q", k)
	}
	if a.GetTableMetadataUpdates() != nil && b.GetTableMetadataUpdates() != nil && mapsClash(a.GetTableMetadataUpdates(), b.GetTableMetadataUpdates()) {
		return incompatible("both changed the same metadata of the table")
	}
	if a.GetSchemaMetadataUpdates() != nil && b.GetSchemaMetadataUpdates() != nil {
		return incompatible("both changed metadata of the schema")
	}
	for _, id := range slices.Sorted(maps.Keys(a.GetFieldMetadataUpdates())) {
		if _, both := b.GetFieldMetadataUpdates()[id]; both {
			return incompatible("both changed metadata of field %d", id)
		}
	}
	return Verdict{}
}

func mapsClash(a, b *tablepb.UpdateMap) bool {
	if a.GetReplace() || b.GetReplace() {
		return true
	}
	return slices.ContainsFunc(a.GetUpdateEntries(), func(x *tablepb.UpdateMapEntry) bool {
		return slices.ContainsFunc(b.GetUpdateEntries(), func(y *tablepb.UpdateMapEntry) bool { return x.GetKey() == y.GetKey() })
	})
}

// replacementTarget is rule l.
func replacementTarget(ours, theirs *tablepb.Transaction, _ Facts) Verdict {
	updated, removed := masked(theirs)
	u := theirs.GetUpdate()
	movedRows := len(u.GetNewFragments()) > 0 && u.GetUpdateMode() == tablepb.UpdateMode_REWRITE_ROWS
	for _, r := range ours.GetDataReplacement().GetReplacements() {
		id := r.GetFragmentId()
		if slices.Contains(removed, id) {
			return incompatible("fragment %d, of which ours replaces a file, is gone", id)
		}
		if u == nil || !slices.Contains(ids(updated), id) {
			continue
		}
		if movedRows {
			return retry("rows moved out of fragment %d, of which ours replaces a file", id)
		}
		for _, field := range r.GetNewFile().GetFields() {
			if field >= 0 && slices.Contains(u.GetFieldsModified(), uint32(field)) {
				return retry("both replaced field %d of fragment %d", field, id)
			}
		}
	}
	return Verdict{}
}

// sameReplacement is rule m.
func sameReplacement(ours, theirs *tablepb.Transaction, _ Facts) Verdict {
	for _, r := range ours.GetDataReplacement().GetReplacements() {
		for _, s := range theirs.GetDataReplacement().GetReplacements() {
			if r.GetFragmentId() != s.GetFragmentId() {
				continue
			}
			for _, field := range r.GetNewFile().GetFields() {
				if slices.Contains(s.GetNewFile().GetFields(), field) {
					return retry("both replaced field %d of fragment %d", field, r.GetFragmentId())
				}
			}
		}
	}
	return Verdict{}
}

// sameBases is rule n.
func sameBases(ours, theirs *tablepb.Transaction, _ Facts) Verdict {
	for _, x := range ours.GetUpdateBases().GetNewBases() {
		for _, y := range theirs.GetUpdateBases().GetNewBases() {
			if x.GetId() != 0 && x.GetId() == y.GetId() || x.Name != nil && y.Name != nil && x.GetName() == y.GetName() || x.GetPath() == y.GetPath() {
				return incompatible("both added base %q", x.GetPath())
			}
		}
	}
	return Verdict{}
}
