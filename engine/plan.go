package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/engine/exec"
	"github.com/omnideck/omnideck/txn"
)

// WritePlan is what a write would do, checked and staged, of which nothing was
// written. As WriteOptions.Plan it is done exactly as it says, or not at all: a
// branch that moved by maintenance alone is as good as the one that was planned
// on; any other movement, and a write that would come to something else, is a
// *PlanMovedError before anything is written.
type WritePlan struct {
	// ID is 8 hex digits, of all that was asked for, the pinned head, and what
	// would be done: the same in every process.
	ID         string         `json:"plan_id"`
	Verb       string         `json:"verb"`                 // mutate or load
	Query      string         `json:"query_name,omitempty"` // of a mutate
	Mode       LoadMode       `json:"mode,omitempty"`       // of a load
	Branch     string         `json:"branch"`
	PinnedHead string         `json:"pinned_head"`    // commit; "" = the branch has none
	Class      string         `json:"class"`          // additive or strict, conditional with IfCommit; nothing
	Nodes      int            `json:"affected_nodes"` // of a load, written
	Edges      int            `json:"affected_edges"`
	Loads      []LoadedType   `json:"loads,omitempty"`
	Tables     []WrittenTable `json:"tables"` // never nil; none: nothing would change but, by a load, the history
	// RequestsEstimate is what the write asks the store for, when nobody else writes
	// meanwhile: what was asked for the plan, counted, and what comes after, which
	// follows from what was staged. A process that knows as much as this one did
	// before it planned makes so many; the Graph that planned, which remembers most
	// of what it read, fewer.
	RequestsEstimate int64 `json:"requests_estimate"`
	// Reversible says how what the write does can be taken back, in a sentence;
	// "" = it does nothing to take back.
	Reversible string `json:"reversible"`

	does string     // digest of what was asked and what it comes to, whatever the head
	seen *txn.State // that it was made on
}

// PlanMutate is Mutate up to where something would be written. The receipt of
// Mutate with the plan has the same tables.
//
// Errors: as Mutate.
func (g *Graph) PlanMutate(ctx context.Context, m MutateOptions) (*WritePlan, error) {
	return do(ctx, g, "plan mutate", func(ctx context.Context, o *operation) (*WritePlan, error) {
		in, err := o.mutation(&m)
		if err != nil {
			return nil, err
		}
		return o.planWrite(ctx, m.WriteOptions, in)
	})
}

// PlanLoad is Load up to where something would be written.
//
// Errors: as Load.
func (g *Graph) PlanLoad(ctx context.Context, l LoadOptions) (*WritePlan, error) {
	return do(ctx, g, "plan load", func(ctx context.Context, o *operation) (*WritePlan, error) {
		return o.planWrite(ctx, l.WriteOptions, o.loading(&l))
	})
}

// planWrite plans, checks and stages, and goes no further.
func (o *operation) planWrite(ctx context.Context, w WriteOptions, in *intent) (*WritePlan, error) {
	switch {
	case o.door == nil:
		return nil, &ReadOnlyError{o.uri}
	case w.Plan != nil:
		return nil, &UsageError{What: "plan a " + in.verb, Why: "plan " + w.Plan.ID + " was given to it: a plan is for the write"}
	}
	opts, err := o.txnOptions(ctx, w, in)
	if err != nil {
		return nil, err
	}
	opts.Dry = true
	t, err := txn.Begin(ctx, o.door, opts)
	if err != nil {
		return nil, said(err)
	}
	o.saw(t.State())
	out := &Receipt{}
	p, err := o.planned(ctx, t, w, in, out)
	if err = said(err); err != nil {
		return nil, err
	}
	plan := &WritePlan{
		Verb: in.verb, Query: in.query, Mode: in.mode, Branch: nameOf(w.Branch), PinnedHead: out.Base, Class: "nothing",
		Nodes: out.Nodes, Edges: out.Edges, Loads: out.Loads, Tables: []WrittenTable{}, does: in.does(w.Branch, p), seen: t.State(),
	}
	var left int64
	if p != nil {
		plan.Class = p.Class.String()
		if _, err := p.Prepare(ctx); err != nil {
			return nil, said(err)
		}
		left = t.Requests()
	}
	plan.Tables = append(plan.Tables, plannedTables(t, p)...)
	o.warm.keep(w.Branch, t.Warm())
	plan.RequestsEstimate = o.scope.Reading().Requests + left
	plan.Reversible = plan.reversible()
	plan.ID = plan.id()
	return plan, nil
}

// plannedTables are the tables of a plan that was staged.
func plannedTables(t *txn.Txn, p *exec.Plan) (out []WrittenTable) {
	if p == nil {
		return nil
	}
	why := map[string]exec.Touched{}
	for _, x := range p.Touches() {
		why[x.Alias] = x
	}
	staged := t.Outcome()
	for i := range staged {
		w := writtenTable(&staged[i])
		w.To, w.Why, w.Text = 0, why[w.Table].Why, why[w.Table].Text
		out = append(out, w)
	}
	return out
}

// does is a digest of what was asked, and of what it comes to on some base; of a
// plan of nil, to nothing.
func (in *intent) does(branch string, p *exec.Plan) string {
	d := struct {
		Verb, Query, Branch, Asked string
		Nodes, Edges               int
		Mode                       LoadMode
		Loads                      []LoadedType
		Tables                     []exec.Touched
	}{Verb: in.verb, Query: in.query, Branch: nameOf(branch), Asked: in.digest(), Mode: in.mode}
	if p != nil {
		d.Nodes, d.Edges, d.Loads, d.Tables = p.Nodes, p.Edges, loadedOf(p), p.Touches()
	}
	return digest(d)
}

// digest is of a value of exported fields, which encoding/json spells.
func digest(v any) string {
	text, _ := json.Marshal(v)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// id is the digest that people tell plans apart by.
func (p *WritePlan) id() string {
	return digest([]any{p.does, p.Class, p.PinnedHead, p.Tables})[:8]
}

// reversible says how what a plan does is taken back.
func (p *WritePlan) reversible() string {
	var added, lost uint64
	for _, t := range p.Tables {
		added, lost = added+t.Inserted, lost+t.Updated+t.Deleted
	}
	switch {
	case len(p.Tables) == 0:
		return ""
	case lost == 0:
		return fmt.Sprintf("by deleting what it adds (%d)", added)
	}
	return fmt.Sprintf("by loading back what it replaces and removes (%d), which an export at commit %s shows as long as no cleanup takes those versions away", lost, p.PinnedHead)
}

// Check is nil when id is the plan's; else a *PlanMovedError.
func (p *WritePlan) Check(id string) error {
	if id == p.ID {
		return nil
	}
	return &PlanMovedError{Plan: id, Branch: p.Branch, Now: p.PinnedHead, Why: "made anew, the plan is " + p.ID}
}

// fits: the plan is for a write of this intent.
func (p *WritePlan) fits(branch string, in *intent) error {
	why := ""
	switch {
	case p.seen == nil:
		why = "it was not made by this process: plan it here, and compare the ids"
	case p.Verb != in.verb:
		why = "it is the plan of a " + p.Verb
	case p.Branch != nameOf(branch):
		why = "it is for branch " + p.Branch
	default:
		return nil
	}
	return &UsageError{What: fmt.Sprintf("%s on branch %s as plan %s says", in.verb, nameOf(branch), p.ID), Why: why}
}

// PlanMovedError: a plan does not hold any more. Nothing was written.
type PlanMovedError struct {
	Plan    string // id
	Branch  string
	Planned string // commit that it was made on; "" = not known
	Now     string // commit that the branch is at
	Why     string
	Err     error // of package txn; nil = what it would do is another thing
}

func (e *PlanMovedError) Error() string {
	where := "branch '" + e.Branch + "'"
	switch {
	case e.Planned == e.Now || e.Now == "":
		where += " at " + e.Planned
	case e.Planned == "":
		where += ", now at " + e.Now
	default:
		where += " at " + e.Planned + ", now at " + e.Now
	}
	return fmt.Sprintf("plan %s for %s does not hold any more: %s; nothing was written: plan it anew and look again", e.Plan, where, e.Why)
}

func (e *PlanMovedError) Unwrap() error { return e.Err }

// Is makes it one that its caller decides about.
func (e *PlanMovedError) Is(target error) bool { return target == txn.ErrCaller }

// otherwise is the error of a plan that comes to something else.
func (p *WritePlan) otherwise(now, why string) error {
	return &PlanMovedError{Plan: p.ID, Branch: p.Branch, Planned: p.PinnedHead, Now: now, Why: why}
}

// holds compares what was staged with what was planned.
func (p *WritePlan) holds(staged []txn.TableReceipt, now string) error {
	same := len(staged) == len(p.Tables)
	for i := 0; same && i < len(staged); i++ {
		a, b := p.Tables[i], writtenTable(&staged[i])
		b.From, b.To, b.Why, b.Text = a.From, a.To, a.Why, a.Text
		same = a == b
	}
	if !same {
		return p.otherwise(now, "it would change other rows than were planned")
	}
	return nil
}

// moved is an error of package txn in terms of a plan. A nil plan leaves it.
func (p *WritePlan) moved(err error, now string) error {
	var (
		changed *txn.ReadSetChangedError
		version *txn.PublishedVersionMismatchError
	)
	if p == nil || !errors.As(err, &changed) && !errors.As(err, &version) || errors.Is(err, txn.ErrRecovery) {
		return err
	}
	out := &PlanMovedError{Plan: p.ID, Branch: p.Branch, Planned: p.PinnedHead, Now: now, Err: err}
	switch {
	case changed == nil:
		out.Why = fmt.Sprintf("%s is published at version %d, was at %d", version.Table, version.Actual, version.Expected)
	case !strings.HasPrefix(changed.Member, "graph_head:"):
		out.Why = fmt.Sprintf("%s was %s and is %s", changed.Member, changed.Expected, changed.Actual)
	case changed.Why == "":
		out.Now, out.Why = changed.Actual, "the branch kept moving while it was prepared"
	default:
		out.Now, out.Why = changed.Actual, changed.Why
	}
	return out
}
