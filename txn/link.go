package txn

import (
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// Link is a version of a table and the transaction that made it.
type Link struct {
	Version     uint64
	Known       bool // the transaction could be read
	ReadVersion uint64
	UUID        string
	Kind        commit.Kind
	RestoredTo  uint64 // Restore: the version whose content it has
	OnlyCleanup bool   // UpdateConfig: it removes lance.auto_cleanup.* keys and does nothing else
}

// LinkOf is the link of a version; tx nil = its transaction could not be read.
func LinkOf(version uint64, tx *format.Transaction) Link {
	if tx == nil || tx.Proto == nil {
		return Link{Version: version}
	}
	return Link{
		Version: version, Known: true, ReadVersion: tx.ReadVersion, UUID: tx.UUID, Kind: commit.KindOf(tx.Proto),
		RestoredTo: tx.Proto.GetRestore().GetVersion(), OnlyCleanup: onlyCleanup(tx.Proto.GetUpdateConfig()),
	}
}

func (l Link) transaction() Transaction { return Transaction{ReadVersion: l.ReadVersion, UUID: l.UUID} }

func (l Link) String() string {
	if !l.Known {
		return fmt.Sprintf("version %d (its transaction cannot be read)", l.Version)
	}
	return fmt.Sprintf("version %d (%s by transaction %s)", l.Version, l.Kind, l.UUID)
}

// cleanupKeys begin with this: Lance's own removal of old versions, which an
// optimize turns off.
const cleanupKeys = "lance.auto_cleanup."

// onlyCleanup reports a change of configuration, in the older form or the newer,
// that removes cleanup keys and touches nothing else.
func onlyCleanup(u *tablepb.UpdateConfig) bool {
	if u == nil || len(u.GetUpsertValues()) > 0 || len(u.GetSchemaMetadata()) > 0 || len(u.GetFieldMetadata()) > 0 ||
		u.GetTableMetadataUpdates() != nil || u.GetSchemaMetadataUpdates() != nil || len(u.GetFieldMetadataUpdates()) > 0 {
		return false
	}
	if u.GetConfigUpdates().GetReplace() {
		return false
	}
	removed := u.GetDeleteKeys()
	for _, e := range u.GetConfigUpdates().GetUpdateEntries() {
		if e.Value != nil {
			return false
		}
		removed = append(removed[:len(removed):len(removed)], e.GetKey())
	}
	for _, k := range removed {
		if !strings.HasPrefix(k, cleanupKeys) {
			return false
		}
	}
	return len(removed) > 0
}

// MaxChain is how many versions above a pin are looked at: the transactions of a
// merge, one index, one restore. A longer history cannot be told.
const MaxChain = 1026

// chain checks that links are those of the versions from+1 … to, all known, and
// says which one is not there.
func chain(from, to uint64, links []Link) error {
	if to-from > MaxChain {
		return fmt.Errorf("%d versions lie between %d and %d, more than the %d that are looked at", to-from, from, to, MaxChain)
	}
	next := from + 1
	for _, l := range links {
		switch {
		case l.Version != next:
			return fmt.Errorf("of version %d nothing is known", next)
		case !l.Known:
			return fmt.Errorf("the transaction of version %d cannot be read", next)
		}
		next++
	}
	if next != to+1 {
		return fmt.Errorf("of version %d nothing is known", next)
	}
	return nil
}
