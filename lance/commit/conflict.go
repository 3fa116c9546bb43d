package commit

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// Outcome is what a transaction that landed first means for ours.
type Outcome uint8

// The outcomes.
const (
	OK           Outcome = iota // ours may follow as it is
	Rebase                      // ours may follow once it took theirs in: see Verdict.Rows and Prune
	Retry                       // ours must be planned anew
	Incompatible                // ours and theirs exclude each other
)

// String names the outcome.
func (o Outcome) String() string {
	return [...]string{"ok", "rebase", "retry", "incompatible"}[min(o, Incompatible)]
}

// Verdict is the judgement of one pair of transactions.
type Verdict struct {
	Outcome
	Why   string   // of Retry and Incompatible
	Rows  []uint64 // of Rebase: fragments in which both deleted rows, ascending
	Prune *Prune   // of Rebase: what our new indexes no longer cover
}

// Prune takes fragments out of new indexes on fields that were rewritten there.
type Prune struct {
	Fragments []uint64
	Fields    []uint32
}

// Facts are what a verdict rests on beside the two transactions.
type Facts struct {
	// Base is the version that ours was planned on.
	Base *format.Manifest
	// RowsKnown: it is known which rows ours deleted or moved.
	RowsKnown bool
}

// Kind is the operation of a transaction.
type Kind uint8

// The operations, in the order of the columns of the matrix.
const (
	Append Kind = iota
	Delete
	Update
	Overwrite
	CreateIndex
	Rewrite
	Merge
	Project
	Restore
	ReserveFragments
	UpdateConfig
	DataReplacement
	UpdateBases
	Clone
	Other // an operation that this program does not carry out, or none
)

var kindNames = [...]string{"Append", "Delete", "Update", "Overwrite", "CreateIndex", "Rewrite", "Merge", "Project", "Restore", "ReserveFragments", "UpdateConfig", "DataReplacement", "UpdateBases", "Clone", "unknown operation"}

// String is Lance's word.
func (k Kind) String() string { return kindNames[min(k, Other)] }

// kinds are the operations by the number of their field.
var kinds = map[protoreflect.FieldNumber]Kind{
	100: Append, 101: Delete, 102: Overwrite, 103: CreateIndex, 104: Rewrite, 105: Merge, 106: Restore, 107: ReserveFragments,
	108: Update, 109: Project, 110: UpdateConfig, 111: DataReplacement, 113: Clone, 114: UpdateBases,
}

// KindOf is the operation of a transaction.
func KindOf(tx *tablepb.Transaction) Kind {
	m := tx.ProtoReflect()
	if f := m.WhichOneof(m.Descriptor().Oneofs().ByName("operation")); f != nil {
		if k, ok := kinds[f.Number()]; ok {
			return k
		}
	}
	return Other
}

// matrix has a row for ours and a column for theirs: '.' ok, 'R' retry, 'I'
// incompatible, a small letter the rule of that name (lance-table.md §3.5).
// The row of Clone stands apart: a clone begins a branch, on which nothing can
// have landed.
//
//	App Del Upd Ovr CIdx Rewr Mrg Proj Rest Resv Cfg DRep UBas Clone
var matrix = [Other]string{
	Append:           "...I....I.....",
	Delete:           ".aaI.bR.I..b..",
	Update:           "cacI.bR.I..b..", // the rule c asks a where theirs is an Update
	Overwrite:        "...d......e...",
	CreateIndex:      "..fIgh..I..i..",
	Rewrite:          ".bbIhbR.I..b..",
	Merge:            "RRRI.RRII..R..",
	Project:          "...I..RRI.....",
	Restore:          "..............",
	ReserveFragments: "...I....I.....",
	UpdateConfig:     "...j......k...",
	DataReplacement:  ".llIibR.I..m..",
	UpdateBases:      "............n.",
	Clone:            "..............",
}

// rules are the cells that depend on what the transactions hold.
var rules = map[byte]func(ours, theirs *tablepb.Transaction, f Facts) Verdict{
	'a': sameRows, 'b': sameFragment, 'c': sameKeys, 'd': bothOverwrite, 'e': overwriteConfig, 'f': indexUpdated, 'g': sameIndexName,
	'h': indexRewritten, 'i': indexedField, 'j': configOverwritten, 'k': sameConfig, 'l': replacementTarget, 'm': sameReplacement, 'n': sameBases,
}

// Conflict judges ours against a transaction that landed after the version that
// ours was planned on. A nil theirs, or one whose operation is not known, means
// that nobody can tell: Retry.
func Conflict(ours, theirs *tablepb.Transaction, f Facts) Verdict {
	us, them := KindOf(ours), KindOf(theirs)
	switch {
	case us == Other:
		return incompatible("ours is no operation that this program commits")
	case theirs.GetOperation() == nil:
		return retry("what made it is not recorded, so it cannot be told whether ours may follow")
	case them == Other:
		return incompatible("an operation made it that this program does not know")
	}
	switch cell := matrix[us][them]; cell {
	case '.':
		return Verdict{}
	case 'R':
		return retry("%s does not go past %s", us, them)
	case 'I':
		return incompatible("%s cannot follow %s", us, them)
	default:
		return rules[cell](ours, theirs, f)
	}
}

func retry(msg string, args ...any) Verdict {
	return Verdict{Outcome: Retry, Why: fmt.Sprintf(msg, args...)}
}

func incompatible(msg string, args ...any) Verdict {
	return Verdict{Outcome: Incompatible, Why: fmt.Sprintf(msg, args...)}
}

// masked are the fragments in which a Delete or Update deletes rows, and those
// that it removes.
func masked(tx *tablepb.Transaction) (updated []*tablepb.DataFragment, removed []uint64) {
	if d := tx.GetDelete(); d != nil {
		return d.GetUpdatedFragments(), d.GetDeletedFragmentIds()
	}
	return tx.GetUpdate().GetUpdatedFragments(), tx.GetUpdate().GetRemovedFragmentIds()
}

// changedFragments are the ids of the fragments whose rows a transaction
// deletes, moves, or gives other files.
func changedFragments(tx *tablepb.Transaction) []uint64 {
	if r := tx.GetRewrite(); r != nil {
		out := ids(r.GetOldFragments())
		for _, g := range r.GetGroups() {
			out = append(out, ids(g.GetOldFragments())...)
		}
		return out
	}
	if d := tx.GetDataReplacement(); d != nil {
		var out []uint64
		for _, r := range d.GetReplacements() {
			out = append(out, r.GetFragmentId())
		}
		return out
	}
	updated, removed := masked(tx)
	return append(ids(updated), removed...)
}

// common is the least id that stands in both lists.
func common(a, b []uint64) (id uint64, ok bool) {
	in := make(map[uint64]bool, len(a))
	for _, x := range a {
		in[x] = true
	}
	for _, x := range b {
		if in[x] && (!ok || x < id) {
			id, ok = x, true
		}
	}
	return id, ok
}

// sameFragment is rule b.
func sameFragment(ours, theirs *tablepb.Transaction, _ Facts) Verdict {
	if id, both := common(changedFragments(ours), changedFragments(theirs)); both {
		return retry("both changed fragment %d", id)
	}
	return Verdict{}
}

// sameRows is rule a: rows deleted in the same fragment.
func sameRows(ours, theirs *tablepb.Transaction, f Facts) Verdict {
	updated, removed := masked(ours)
	mine := append(ids(updated), removed...)
	theirUpdated, theirRemoved := masked(theirs)
	first, both := common(mine, append(ids(theirUpdated), theirRemoved...))
	switch {
	case !both:
		return Verdict{}
	case !f.RowsKnown || len(updated) == 0:
		return retry("both changed fragment %d, and which rows ours changed is not known", first)
	}
	if id, gone := common(mine, theirRemoved); gone {
		return retry("fragment %d, of which ours changes rows, is gone", id)
	}
	if id, gone := common(removed, ids(theirUpdated)); gone {
		return retry("ours removes fragment %d, of which rows were changed", id)
	}
	var rows []uint64
	for _, t := range theirUpdated {
		at := slices.IndexFunc(updated, func(u *tablepb.DataFragment) bool { return u.GetId() == t.GetId() })
		if at < 0 {
			continue
		}
		read := asRead(f.Base, updated[at])
		if !slices.EqualFunc(read, t.GetFiles(), sameFile) {
			return retry("fragment %d has other data files now", t.GetId())
		}
		rows = append(rows, t.GetId())
	}
	slices.Sort(rows)
	return Verdict{Outcome: Rebase, Rows: rows}
}

// asRead are the files of a fragment in the version that ours was planned on.
func asRead(base *format.Manifest, updated *tablepb.DataFragment) []*tablepb.DataFile {
	for _, f := range base.Proto.GetFragments() {
		if f.GetId() == updated.GetId() {
			return f.GetFiles()
		}
	}
	return updated.GetFiles()
}

func sameFile(a, b *tablepb.DataFile) bool {
	return a.GetPath() == b.GetPath() && slices.Equal(a.GetFields(), b.GetFields()) && slices.Equal(a.GetColumnIndices(), b.GetColumnIndices()) && sameBase(a.BaseId, b.BaseId)
}

// sameKeys is rule c, and where theirs is an Update rule a after it.
func sameKeys(ours, theirs *tablepb.Transaction, f Facts) Verdict {
	mine := ours.GetUpdate().GetInsertedRows()
	if theirs.GetAppend() != nil {
		if mine != nil {
			return retry("rows were appended whose keys are not recorded, and ours inserts keys")
		}
		return Verdict{}
	}
	switch other := theirs.GetUpdate().GetInsertedRows(); {
	case mine == nil:
	case other == nil:
		return retry("an Update inserted rows whose keys are not recorded, and ours inserts keys")
	default:
		if why := keysMeet(mine, other); why != "" {
			return retry("%s", why)
		}
	}
	return sameRows(ours, theirs, f)
}
