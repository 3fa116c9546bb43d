package format

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// Transaction is the delta that produced a version. The copy in a manifest and
// the file in _transactions/ hold the same message, not always the same bytes.
type Transaction struct {
	ReadVersion uint64 // version that it was planned on; not always the one before
	UUID        string // its identity; mostly a UUID with hyphens, but any text (OmniGraph's merges use others)
	Tag         string
	Properties  map[string]string
	Operation   Operation
	Inline      bool // it was read from the manifest itself, not from _transactions/
	Proto       *tablepb.Transaction
}

// Operation is what a transaction did, in numbers. A delta is nil when the
// transaction alone does not say: compare the manifests then.
type Operation struct {
	Name           string // Lance's own word, such as Append or CreateIndex; "None" when absent
	RowsDelta      *int64 // live rows
	FragmentsDelta *int64
	Detail         string // predicate of a Delete, restored version, cloned branch …; "" when there is nothing to add
}

// ParseTransaction reads a bare transaction message.
func ParseTransaction(b []byte) (*Transaction, error) {
	if len(b) == 0 {
		return nil, Corruptf("the transaction is empty")
	}
	msg := new(tablepb.Transaction)
	if err := proto.Unmarshal(b, msg); err != nil {
		return nil, Corruptf("the transaction of %d bytes is no message: %w", len(b), err)
	}
	return &Transaction{
		ReadVersion: msg.GetReadVersion(), UUID: msg.GetUuid(), Tag: msg.GetTag(),
		Properties: msg.GetTransactionProperties(), Operation: operation(msg), Proto: msg,
	}, nil
}

// operation names and measures the operation of a transaction.
func operation(t *tablepb.Transaction) Operation {
	switch o := t.GetOperation().(type) {
	case *tablepb.Transaction_Append:
		return Operation{"Append", physical(o.Append.GetFragments()), count(len(o.Append.GetFragments())), ""}
	case *tablepb.Transaction_Delete:
		d := o.Delete
		return Operation{"Delete", nil, count(-len(d.GetDeletedFragmentIds())), d.GetPredicate()}
	case *tablepb.Transaction_Overwrite:
		return Operation{"Overwrite", nil, nil, fmt.Sprintf("%d fragments", len(o.Overwrite.GetFragments()))}
	case *tablepb.Transaction_CreateIndex:
		return Operation{"CreateIndex", count(0), count(0), indexNames(o.CreateIndex)}
	case *tablepb.Transaction_Rewrite:
		return rewrite(o.Rewrite)
	case *tablepb.Transaction_Merge:
		return Operation{"Merge", nil, nil, ""}
	case *tablepb.Transaction_Restore:
		return Operation{"Restore", nil, nil, fmt.Sprintf("version %d", o.Restore.GetVersion())}
	case *tablepb.Transaction_ReserveFragments:
		return Operation{"ReserveFragments", count(0), count(0), fmt.Sprintf("%d fragment ids", o.ReserveFragments.GetNumFragments())}
	case *tablepb.Transaction_Update:
		return update(o.Update)
	case *tablepb.Transaction_Clone:
		return Operation{"Clone", count(0), count(0), cloneText(o.Clone)}
	}
	return rareOperation(t)
}

// rareOperation covers what OmniGraph does not use.
func rareOperation(t *tablepb.Transaction) Operation {
	name := "None"
	switch t.GetOperation().(type) {
	case *tablepb.Transaction_Project:
		name = "Project"
	case *tablepb.Transaction_UpdateConfig:
		name = "UpdateConfig"
	case *tablepb.Transaction_DataReplacement:
		name = "DataReplacement"
	case *tablepb.Transaction_UpdateMemWalState:
		name = "UpdateMemWalState"
	case *tablepb.Transaction_UpdateBases:
		name = "UpdateBases"
	case *tablepb.Transaction_DataOverlay:
		return Operation{Name: "DataOverlay"}
	default:
		return Operation{Name: name}
	}
	return Operation{Name: name, RowsDelta: count(0), FragmentsDelta: count(0)}
}

func update(u *tablepb.Update) Operation {
	op := Operation{Name: "Update", FragmentsDelta: count(len(u.GetNewFragments()) - len(u.GetRemovedFragmentIds()))}
	switch {
	case len(u.GetUpdatedFragments()) == 0 && len(u.GetRemovedFragmentIds()) == 0:
		op.RowsDelta = physical(u.GetNewFragments()) // nothing was moved: all rows are new
		op.Detail = "insert only"
	case u.GetUpdateMode() == tablepb.UpdateMode_REWRITE_COLUMNS && len(u.GetNewFragments()) == 0:
		op.RowsDelta = count(0)
		op.Detail = "columns in place"
	}
	return op
}

func rewrite(r *tablepb.Rewrite) Operation {
	before, after := len(r.GetOldFragments()), len(r.GetNewFragments())
	for _, g := range r.GetGroups() {
		before += len(g.GetOldFragments())
		after += len(g.GetNewFragments())
	}
	return Operation{"Rewrite", count(0), count(after - before), fmt.Sprintf("%d fragments into %d", before, after)}
}

func indexNames(c *tablepb.CreateIndex) string {
	text := ""
	for _, x := range c.GetNewIndices() {
		if text != "" {
			text += ", "
		}
		text += x.GetName()
	}
	return text
}

func cloneText(c *tablepb.Clone) string {
	from := c.GetRefName()
	if from == "" {
		from = "main"
	}
	return fmt.Sprintf("%s from %s at version %d", c.GetBranchName(), from, c.GetRefVersion())
}

// physical sums the rows of fragments; nil when one does not say.
func physical(fs []*tablepb.DataFragment) *int64 {
	var n int64
	for _, f := range fs {
		if f.GetPhysicalRows() == 0 || f.GetPhysicalRows() > 1<<32 {
			return nil
		}
		n += int64(f.GetPhysicalRows())
	}
	return &n
}

func count(n int) *int64 {
	v := int64(n)
	return &v
}
