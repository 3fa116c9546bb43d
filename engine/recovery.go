package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/recovery/promote"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// PlanRecovery says what every record in `__recovery/` means and what recovery
// would do about it. It writes nothing, and works on a graph that was opened for
// looking. The store is asked afresh: nothing of it is taken from memory but
// immutable objects.
//
// Errors: *NotAGraphError, and those of the store. What can be said of a record
// is never an error.
func (g *Graph) PlanRecovery(ctx context.Context) (*RecoveryPlan, error) {
	return do(ctx, g, "plan recovery", func(ctx context.Context, o *operation) (*RecoveryPlan, error) {
		if err := o.requireGraph(ctx); err != nil {
			return nil, err
		}
		p, err := recovery.Look(ctx, o.store, o.recovering(&RecoverOptions{}))
		if err != nil {
			return nil, err
		}
		return o.tellRecovery(p), nil
	})
}

// recovering are the options of package recovery.
func (o *operation) recovering(r *RecoverOptions) recovery.Options {
	return recovery.Options{
		Mode: txn.Full, Only: r.Only, Now: r.Now, Moved: r.Moved, Grace: o.grace,
		Open: lance.OpenOptions{Parallelism: o.opts.Concurrency}, Known: &o.warm.known, Clock: o.clock, IDs: o.ids,
	}
}

// tellRecovery puts a plan into plain values and sentences.
func (o *operation) tellRecovery(p *recovery.Plan) *RecoveryPlan {
	out := &RecoveryPlan{found: p, LookedAt: o.clock().UTC(), Records: []RecoveryRecord{}, Others: append([]string{}, p.Others...)}
	applying := false // or one that cannot be read may be
	for i := range p.Items {
		out.Records = append(out.Records, tellRecord(&p.Items[i], out.LookedAt, o.uri))
		applying = applying || p.Items[i].Kind == sidecar.SchemaApply || p.Items[i].Err != nil
	}
	if p.Lock != nil {
		out.Lock = &RecoveryLock{Key: p.Lock.Key, Since: p.Lock.Since, Stale: !applying && p.Left == nil}
		out.Lock.Means, out.Lock.Next = lockWords(out.Lock.Stale, o.uri)
	}
	if p.Left != nil {
		out.Staging = leftStaging(p.Left, out.LookedAt, o.grace)
	}
	out.Verdict = out.sum()
	return out
}

// lockWords are about the lock of a schema apply, which recovery never removes.
func lockWords(stale bool, uri string) (means, next string) {
	if !stale {
		return "a schema apply holds its lock: it runs, or it died and its recovery comes first",
			"wait for it, or recover what it left; the lock itself stays until somebody removes it"
	}
	return fmt.Sprintf("the lock of a schema apply is left (%s), without the apply that would hold it: both engines refuse every write until it is removed", branches.LockName),
		fmt.Sprintf("make sure that no schema apply runs on any machine, then remove the one object %s/%s%s.json; nothing else belongs to it that a write needs", strings.TrimRight(uri, "/"), branchRefs, branches.LockName)
}

// leftStaging says what is right about staged schema files that no record owns.
func leftStaging(l *promote.LeftStaging, now time.Time, grace time.Duration) *RecoveryStaging {
	out := &RecoveryStaging{
		Keys: append([]string{}, l.Keys...), Do: l.Right.String(), Evidence: append([]string{}, l.Evidence...), Danger: 2,
		Means: "staged schema files lie at the root, and no record of a schema apply owns them: " + l.Text, Will: "make them the accepted schema",
	}
	switch l.Right {
	case promote.Finish:
	case promote.Delete:
		out.Will = "remove them"
	case promote.Decide:
		out.Will, out.Danger, out.Next = "nothing: they are left as they are", 3, "compare them with the accepted schema; keep a copy of all of them before anybody decides"
	}
	if rest := txn.Rest(l.Newest, now, grace); rest > 0 {
		out.WaitUntil = now.Add(rest)
	}
	return out
}

// tellRecord is one record.
func tellRecord(i *recovery.Item, now time.Time, uri string) RecoveryRecord {
	k := meantBy(i)
	out := RecoveryRecord{
		Key: i.Key, Size: i.Size, Modified: i.Modified.UTC(), Operation: i.Operation, Kind: string(i.Kind), Branch: k.branch, Phase: i.Phase, Actor: i.Actor,
		StartedAt: i.Began, Commit: k.commit, RecordedRoot: i.RecordedRoot, Means: k.means(), Whose: k.whose(i.Actor), Will: k.will(i), Why: i.Verdict.Text,
		Blocks: k.blocks(), Next: k.nextStep(i, uri), Do: recoverDo[i.Verdict.Do], Danger: dangerOf(i),
		Tables: []RecoveryTable{}, Removes: append(append([]string{}, i.Removes...), i.Key), Evidence: []Evidence{},
	}
	if i.Modified.IsZero() {
		out.Modified = time.Time{}
	}
	if i.Record != nil {
		out.SchemaVersion = i.Record.SchemaVersion
	}
	if i.Err != nil {
		out.Problem = sidecar.Why(i.Err)
	}
	if !k.unreadable() {
		out.Place = i.Place.String()
	}
	if i.Left > 0 {
		out.WaitUntil = now.Add(i.Left)
	}
	if i.Place == sidecar.Moved && out.Do != RecoverRefuse {
		out.NeedsConfirm = "moved"
	}
	if out.Do == RecoverRefuse || out.Do == RecoverDefer {
		out.Removes = []string{}
		out.SetAside = out.Do == RecoverRefuse && i.Left == 0
	}
	for n := range i.Tables {
		t := tellRecoveryTable(i.Record, &i.Tables[n])
		if out.Do == RecoverOrphan {
			t.Found = "it is not looked at: the branch is gone"
		}
		out.Tables = append(out.Tables, t)
	}
	out.Publishes, out.Evidence = publishes(i), append(out.Evidence, evidenceOf(i, &out)...)
	return out
}

// meantBy is what an item tells of its record.
func meantBy(i *recovery.Item) *meant {
	k := &meant{
		key: i.Key, operation: i.Operation, branch: nameOf(i.Branch), kind: i.Kind, phase: i.Phase, size: i.Size, record: i.Record, err: i.Err,
		published: i.Verdict.Do == txn.Finalize && !i.Verdict.RolledBack, takenBack: i.Verdict.Do == txn.Finalize && i.Verdict.RolledBack,
		gone: i.Verdict.Do == txn.OrphanDiscard, do: i.Verdict.Do, stem: i.Stem, refused: i.Verdict.Do == txn.Refuse && i.Place != sidecar.Foreign,
	}
	if i.Place != sidecar.Here {
		k.place, k.root = i.Place, i.RecordedRoot
	}
	if i.Record != nil {
		k.commit = i.Record.CommitID
		if i.Record.Kind == "" {
			k.branch = ""
		}
	} else {
		k.branch = ""
	}
	return k
}

// recoverDo spells what txn decided.
var recoverDo = map[txn.Do]RecoveryDo{
	txn.Forward: RecoverForward, txn.Back: RecoverBack, txn.Finalize: RecoverFinalize, txn.Discard: RecoverDiscard,
	txn.OrphanDiscard: RecoverOrphan, txn.Refuse: RecoverRefuse, txn.Defer: RecoverDefer,
}

// publishes is the commit that recovery would make visible; "" = none, or one
// whose id is not minted yet.
func publishes(i *recovery.Item) string {
	switch {
	case i.Record == nil || i.Record.Plan == nil:
	case i.Verdict.Do == txn.Forward:
		return i.Record.CommitID
	case i.Verdict.Do == txn.Back:
		return i.Record.Plan.Rollback
	}
	return ""
}

func tellRecoveryTable(rec *sidecar.Record, t *recovery.Table) RecoveryTable {
	return RecoveryTable{
		Table: t.Alias, Branch: t.Branch, Expected: t.Expected, Planned: t.Planned, Confirmed: t.Confirmed, Published: t.Published, Head: t.Head,
		Found: foundIn(rec, t), Class: string(t.Verdict.Class), Do: strings.ReplaceAll(t.Verdict.Do.String(), " ", "_"), To: t.Verdict.To, Will: willTable(t),
	}
}

// evidenceOf are both sides: what the record says, and what the graph shows.
func evidenceOf(i *recovery.Item, r *RecoveryRecord) (out []Evidence) {
	if i.Record == nil || i.Err != nil {
		return nil // what is wrong with it is told as Why
	}
	says := "the record says: " + articled(i.Kind) + " on branch " + r.Branch
	if r.Phase != "" {
		says += ", " + r.Phase
	}
	if r.Commit != "" {
		says += ", to be commit " + r.Commit
	}
	if i.Record.Plan != nil {
		if head := i.Record.Plan.Authority.GraphHead; head != nil {
			says += " on top of " + *head
		}
	}
	out = append(out, Evidence{i.Key, says})
	if i.Stem != i.Operation {
		out = append(out, Evidence{i.Key, "the name of the file does not match the operation that it tells of, " + i.Operation + ": it is this file that counts, and goes"})
	}
	for n, t := range r.Tables {
		says := fmt.Sprintf("the record says: from v%d to v%d", t.Expected, t.Planned)
		if t.Confirmed > 0 {
			says = fmt.Sprintf("the record says: from v%d to v%d, confirmed", t.Expected, t.Confirmed)
		}
		if own := plannedText(i.Record, i.Tables[n].Alias); own != "" {
			says += ", by " + own
		}
		name := onBranch(t.Table, t.Branch)
		out = append(out, Evidence{name, says}, Evidence{name, fmt.Sprintf("the graph shows: v%d is published, v%d is the newest; %s", t.Published, t.Head, t.Found)})
	}
	return out
}

// plannedText names the transactions of a table.
func plannedText(rec *sidecar.Record, alias string) string {
	if rec.Plan == nil {
		return ""
	}
	for _, e := range rec.Plan.Effects {
		switch {
		case e.Alias != alias || len(e.Planned) == 0:
		case len(e.Planned) == 1:
			return "transaction " + e.Planned[0].UUID
		default:
			return count(len(e.Planned), "transaction", "transactions") + " from " + e.Planned[0].UUID
		}
	}
	return ""
}

// sum is the whole of a plan in one sentence.
func (p *RecoveryPlan) sum() string {
	var ready, young, moved, refused int
	for i := range p.Records {
		switch p.Records[i].Stops(p.LookedAt, RecoverOptions{}) {
		case RecoveryReady:
			ready++
		case RecoveryYoung:
			young++
		case RecoveryMoved:
			moved++
		case RecoveryRefused:
			refused++
		}
	}
	if len(p.Records) == 0 {
		switch {
		case p.Lock != nil && p.Lock.Stale:
			return "no operation is pending, and the lock of a schema apply is left: every write is refused"
		case p.Lock != nil:
			return "no operation is pending, and a schema apply holds its lock"
		}
		if p.Staging != nil {
			return "no operation is pending, and staged schema files are left"
		}
		return "no operation is pending"
	}
	var parts []string
	add := func(n int, text string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, text))
		}
	}
	add(ready, "can be recovered")
	add(young, "may be at work and can be recovered when the wait is over")
	add(moved, "can be recovered once it is confirmed that the graph was moved")
	add(refused, "cannot be recovered by itself")
	if len(p.Records) == 1 {
		return "1 operation is pending: it " + strings.TrimPrefix(parts[0], "1 ")
	}
	return count(len(p.Records), "operation is pending", "operations are pending") + ": " + strings.Join(parts, ", ")
}
