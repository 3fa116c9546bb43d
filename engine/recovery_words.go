package engine

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// meant is what is known of a record: by a glance (Info), or with the judgement
// of its tables (PlanRecovery), which says what the glance leaves open.
type meant struct {
	key, operation, branch string // branch: main is spelled out
	kind                   sidecar.Kind
	phase                  string
	commit                 string
	size                   int64

	record    *sidecar.Record // nil: nothing of it could be read
	err       error           // it cannot be read in full, or breaks a rule
	stem      string          // operation that the name of the file promises; "" = not compared
	published bool
	takenBack bool          // its roll-back is published
	gone      bool          // its branch is
	do        txn.Do        // what is right about it; the zero value: refused, or only glanced at
	refused   bool          // record and graph contradict each other
	place     sidecar.Place // when it was compared
	root      string        // that its paths name
}

// what names the operation.
func (k *meant) what() string {
	return fmt.Sprintf("%s %s on branch %s", k.kind, k.operation, k.branch)
}

// unreadable: nobody can tell what the record asks for.
func (k *meant) unreadable() bool { return k.record == nil || k.err != nil }

// means is what the record means, in one sentence.
func (k *meant) means() string {
	text := k.state()
	if k.unreadable() {
		return text
	}
	switch k.place {
	case sidecar.Moved:
		text += "; it was begun when this graph lay at " + orUnknown(k.root)
	case sidecar.Foreign:
		text += "; but its record names tables that are not those of this graph"
	case sidecar.Here:
	}
	if k.stem != "" && k.stem != k.operation {
		text += "; the name of its file, " + k.key + ", does not match"
	}
	return text
}

// state is what became of the operation.
func (k *meant) state() string {
	switch {
	case k.refused && !k.unreadable():
		how := "was announced and not confirmed"
		if k.phase == sidecar.EffectsConfirmed {
			how = "was carried out"
		}
		return k.what() + " " + how + ", and cannot be recovered by itself: what its record says and what the graph shows do not fit together"
	case k.unreadable():
		return fmt.Sprintf("the recovery record %s %s: every write to the graph is refused; keep it until somebody has looked at it", k.key, k.unread())
	case k.published && k.kind == sidecar.Optimize: // a glance does not tell
		return k.stopped() + "; what it did is published"
	case k.published:
		return k.what() + " is published, only its recovery record was not removed"
	case k.takenBack:
		return k.what() + " was taken back, and that is published: only its recovery record was not removed"
	case k.gone:
		return k.what() + " has a recovery record, but there is no branch of that name any more: it will be discarded"
	}
	if k.do == txn.Discard {
		return k.what() + " was announced, and nothing of it happened"
	}
	switch k.kind {
	case sidecar.SchemaApply:
		return fmt.Sprintf("%s stopped part-way (%s): every write to the graph waits for its recovery", k.what(), k.came())
	case sidecar.EnsureIndices, sidecar.Optimize:
		return k.stopped()
	case sidecar.BranchMerge:
		return fmt.Sprintf("%s stopped part-way (%s): writes to the branch wait for its recovery", k.what(), k.came())
	}
	then := map[txn.Do]string{txn.Forward: "recovery publishes it", txn.Back: "recovery takes it back"}[k.do]
	if k.phase == sidecar.EffectsConfirmed {
		return k.what() + " is carried out but was not published: " + cmp.Or(then, "recovery publishes it, if the branch has not moved")
	}
	return k.what() + " was announced and neither confirmed nor published: " + cmp.Or(then, "recovery will undo what it may have done")
}

// stopped is about what changes no rows.
func (k *meant) stopped() string {
	return k.what() + " stopped part-way: optimize, cleanup and repair refuse until it is recovered"
}

// unread is why a record cannot be read.
func (k *meant) unread() string {
	var parse *sidecar.ParseError
	switch {
	case errors.Is(k.err, sidecar.ErrNewer) && errors.As(k.err, &parse):
		return fmt.Sprintf("is of version %d, newer than this program knows", parse.Found)
	case errors.Is(k.err, sidecar.ErrLegacy):
		return "is of an older version, without the identities that recovery needs"
	case k.err != nil && k.record != nil && !errors.As(k.err, &parse):
		return "breaks a rule of its shape"
	}
	return "cannot be read"
}

// came is how far the writer came.
func (k *meant) came() string {
	if k.phase == sidecar.EffectsConfirmed {
		return "carried out, not published"
	}
	return "announced, not confirmed"
}

// blocks is what waits for the record.
func (k *meant) blocks() string {
	switch {
	case k.unreadable(), k.kind == sidecar.SchemaApply:
		return "every write"
	case k.kind == sidecar.EnsureIndices, k.kind == sidecar.Optimize:
		return "writes on branch " + k.branch + "; optimize, cleanup and repair"
	}
	return "writes on branch " + k.branch
}

// whose says who left it, as far as it tells.
func (k *meant) whose(actor *string) string {
	if k.record == nil || k.kind == "" {
		return "not known: the record does not tell"
	}
	by := "no actor recorded"
	if actor != nil && *actor != "" {
		by = "by " + *actor
	}
	return fmt.Sprintf("%s on branch %s, %s; which process wrote it is not recorded", articled(k.kind), k.branch, by)
}

// articled is a kind with its article.
func articled(k sidecar.Kind) string {
	if k == sidecar.EnsureIndices || k == sidecar.Optimize {
		return "an " + string(k)
	}
	return "a " + string(k)
}

// will is what would be done about an item.
func (k *meant) will(i *recovery.Item) string {
	retire := "remove the record"
	if i.Verdict.Do != txn.Discard && i.Verdict.Do != txn.Refuse {
		retire = "write the audit row, then " + retire
	}
	switch i.Verdict.Do {
	case txn.Forward:
		steps := []string{"publish it" + asCommit(k.commit) + versionsTo(i.Tables)}
		if i.Verdict.Promote {
			steps = append(steps, "make the staged schema files the accepted ones")
		}
		return listed(append(steps, retire))
	case txn.Back:
		return listed(append(willBack(i), retire)) + k.atOnce(i)
	case txn.Finalize:
		steps := doings(i.Tables, txn.Restore)
		if i.Verdict.Promote {
			steps = append(steps, "make the staged schema files the accepted ones")
		}
		if i.Verdict.Unstage {
			steps = append(steps, "remove the staged schema files")
		}
		if len(steps) == 0 {
			return "write the audit row if it is missing, then remove the record; no row is touched"
		}
		return listed(append(steps, retire))
	case txn.Discard:
		return listed(append(doings(i.Tables, txn.DropFork, txn.DropDataset), retire)) + "; no row is touched"
	case txn.OrphanDiscard:
		return "note on main that it was discarded, with a commit that changes no table, then " + retire
	}
	return "nothing: it is left as it is"
}

// atOnce is what else is done about a record whose writer may be at work, when
// that is not waited for.
func (k *meant) atOnce(i *recovery.Item) string {
	if i.Left == 0 || k.kind == sidecar.Optimize {
		return ""
	}
	return "; told to do so at once, first publish a commit without a table, so that its writer cannot publish any more"
}

// willBack are the steps of taking an operation back.
func willBack(i *recovery.Item) []string {
	steps := doings(i.Tables, txn.DropFork, txn.DropDataset, txn.Restore, txn.Restored)
	if len(steps) == 0 {
		steps = append(steps, "note in the history that it was taken back, though none of its tables was moved")
	} else {
		as := ""
		if i.Record != nil && i.Record.Plan != nil {
			as = i.Record.Plan.Rollback
		}
		steps = append(steps, "publish that"+asCommit(as))
	}
	if i.Verdict.Unstage {
		steps = append(steps, "remove the staged schema files")
	}
	return steps
}

func asCommit(id string) string {
	if id == "" {
		return ""
	}
	return " as commit " + id
}

// mostNamed is how many tables a sentence names; of more it says how many. Each is
// told of by itself anyway (RecoveryTable.Will).
const mostNamed = 3

// doings are the tables to which one of these things is to be done.
func doings(tables []recovery.Table, which ...txn.TableDo) (out []string) {
	for _, do := range which {
		var those []string
		for i := range tables {
			if tables[i].Verdict.Do == do {
				those = append(those, willTable(&tables[i]))
			}
		}
		if n := len(those); n > mostNamed {
			those = []string{willTables(do, n)}
		}
		out = append(out, those...)
	}
	return out
}

// willTables is what would be done to n tables.
func willTables(do txn.TableDo, n int) string {
	switch do {
	case txn.Restore:
		return fmt.Sprintf("restore %d tables to what is published, each as its next version", n)
	case txn.Restored:
		return fmt.Sprintf("keep the newest versions of %d tables, which hold what is published", n)
	case txn.DropFork:
		return fmt.Sprintf("remove the branches that it made of %d tables, which nobody wrote to", n)
	case txn.DropDataset:
		return fmt.Sprintf("remove the %d datasets that it made", n)
	}
	return fmt.Sprintf("publish the newest versions of %d tables", n)
}

// versionsTo are the versions that are published.
func versionsTo(tables []recovery.Table) string {
	var parts []string
	for _, t := range tables {
		if t.Verdict.Do == txn.PublishHead {
			parts = append(parts, fmt.Sprintf("%s v%d to v%d", onBranch(t.Alias, t.Branch), t.Published, t.Verdict.To))
		}
	}
	switch n := len(parts); {
	case n == 0:
		return ""
	case n > mostNamed:
		return fmt.Sprintf(" (%d tables)", n)
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// listed joins steps in the order in which they are taken.
func listed(steps []string) string { return strings.Join(steps, ", then ") }

func onBranch(table, branch string) string {
	if branch == "" {
		return table
	}
	return table + " on " + branch
}

// willTable is what would be done to one table.
func willTable(t *recovery.Table) string {
	name := onBranch(t.Alias, t.Branch)
	switch v := t.Verdict; v.Do {
	case txn.Restore:
		return fmt.Sprintf("restore %s to what version %d holds, as version %d", name, v.To, t.Head+1)
	case txn.Restored:
		return fmt.Sprintf("keep version %d of %s, which holds what version %d holds", t.Head, name, v.To)
	case txn.DropFork:
		return fmt.Sprintf("remove the branch that it made of %s, which nobody wrote to", name)
	case txn.DropDataset:
		if t.Head == 0 {
			return fmt.Sprintf("remove what it wrote for the dataset %s, which was never made", name)
		}
		return fmt.Sprintf("remove the dataset %s that it made", name)
	case txn.PublishHead:
		return fmt.Sprintf("publish version %d of %s", v.To, name)
	}
	return "leave " + name + " as it is"
}

// foundIn is what was found in a table, above what is published.
func foundIn(rec *sidecar.Record, t *recovery.Table) string {
	if t.Head == 0 {
		return "there is no dataset" + map[bool]string{true: " of this branch"}[t.Branch != ""]
	}
	own := planned(rec, t.Alias)
	var above, below []string
	for _, l := range t.Chain {
		what := l.String()
		if own[l.UUID] && l.Known {
			what += ", of this operation"
		}
		if txn.Judge(t.Published, l.Version, true) == txn.CoveredMove {
			above = append(above, what)
		} else if own[l.UUID] && l.Known {
			below = append(below, what)
		}
	}
	const most = 4
	if n := len(above) - most; n > 0 {
		above = append(above[:most], fmt.Sprintf("and %d more", n))
	}
	text := "nothing lies above the published version"
	switch txn.Judge(t.Published, t.Head, true) {
	case txn.Behind:
		text = "the published version is not there"
	case txn.CoveredMove:
		if text = strings.Join(above, ", "); text == "" {
			text = "what lies above the published version could not be told"
		}
	}
	if len(below) > 0 {
		text += "; published already: " + strings.Join(below, ", ")
	}
	return text
}

// planned are the ids of the transactions that a record tells of a table.
func planned(rec *sidecar.Record, alias string) map[string]bool {
	out := map[string]bool{}
	if rec == nil || rec.Plan == nil {
		return out
	}
	for _, e := range rec.Plan.Effects {
		if e.Alias != alias {
			continue
		}
		for _, p := range e.Planned {
			out[p.UUID] = true
		}
	}
	return out
}

// dangerOf is how dangerous acting is (engine-semantics §9.2).
func dangerOf(i *recovery.Item) int {
	young := i.Left > 0 // its writer may still be at work
	switch i.Verdict.Do {
	case txn.Back:
		if young {
			return 4
		}
		return 2
	case txn.Discard:
		if young {
			return 4
		}
		return 1
	case txn.Forward, txn.Finalize, txn.OrphanDiscard:
		if i.Kind == sidecar.SchemaApply && i.Verdict.Do == txn.Forward {
			return 2
		}
		return 1
	case txn.Defer:
		return 1
	}
	if i.Verdict.Reason == txn.Buried || i.Verdict.Reason == txn.HeadBehind {
		return 4
	}
	return 3
}

// nextStep is the next safe step, where recovering is not it.
func (k *meant) nextStep(i *recovery.Item, uri string) string {
	aside := fmt.Sprintf("`%s` then shows how to move it out of the way; nothing is deleted", shell.Line("recover", uri, "--set-aside", k.key, "--why", "TEXT"))
	switch {
	case errors.Is(k.err, sidecar.ErrNewer):
		return "recover with a program that knows this version; when none is to be had, look at it first, and " + aside
	case k.unreadable():
		return "look at it, and at the newest versions of the tables; when nothing needs it any more, " + aside
	case i.Place == sidecar.Moved && i.Verdict.Do != txn.Refuse:
		return fmt.Sprintf("when this graph was moved or copied from %s, and nothing recovers it there: `%s`", orUnknown(i.RecordedRoot), shell.Line("recover", uri, "--apply", "--moved"))
	}
	if i.Verdict.Do != txn.Refuse && i.Verdict.Do != txn.Defer {
		return ""
	}
	switch i.Verdict.Reason {
	case txn.PathChild:
		return "delete that branch first"
	case txn.Claimed:
		return "recover the other operation first"
	case txn.NotObserved:
		return "look again: it moved while it was looked at"
	case txn.Buried, txn.ForeignDrift, txn.HeadBehind:
		return fmt.Sprintf("`%s` shows who wrote what; keep an export of what is published before anybody decides which of it stays; %s", shell.Line(contested(i, uri)...), aside)
	}
	return "compare both sides; when the record is the wrong one, " + aside
}

// contested is the command that shows the versions of the first table whose newest
// one is not the published one.
func contested(i *recovery.Item, uri string) []string {
	table := "TABLE"
	for n := len(i.Tables) - 1; n >= 0; n-- {
		if t := &i.Tables[n]; txn.Judge(t.Published, t.Head, true) != txn.AtRest {
			table = t.Alias
		}
	}
	line := []string{"versions", uri, table}
	if i.Branch != "" {
		line = append(line, "--branch", i.Branch)
	}
	return line
}

func orUnknown(root string) string {
	if root == "" {
		return "another address"
	}
	return root
}
