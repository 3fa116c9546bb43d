package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
)

// moment is a commit of the history, and what the model makes of it.
type moment struct {
	engine.Commit
	rows State
	seen int // turn in which it became visible; 0 = before the walk, MaxInt = after it
}

// judge is what is known of a history.
type judge struct {
	*History
	g       *engine.Graph
	moments []moment // oldest first
	by      map[string]int
}

// Judge says what of a history must not be; nil = it is as the model has it. It
// recovers what is left before it looks.
func Judge(ctx context.Context, h *History) error {
	if err := h.settled(ctx); err != nil {
		return err
	}
	g, err := engine.Open(ctx, "mem://"+Name, engine.Options{Store: h.Store, NoCache: true})
	if err != nil {
		return err
	}
	j := &judge{History: h, g: g, by: map[string]int{}}
	if err := j.history(ctx); err != nil {
		return err
	}
	for i := range h.Happened {
		if err := j.happened(&h.Happened[i]); err != nil {
			return fmt.Errorf("%s ended with %s: %w", h.Happened[i].Actor(), outcome(&h.Happened[i]), err)
		}
	}
	return h.sound(ctx, g)
}

func outcome(d *Happened) string {
	s := "success"
	if d.Err != nil {
		s = fmt.Sprintf("%T %v", d.Err, d.Err)
	} else if d.Receipt != nil && d.Receipt.Commit == nil {
		s = "nothing to write"
	}
	if d.Killed {
		s = "its death (" + s + ")"
	}
	return s
}

// settled recovers all there is, twice: the second time nothing is left to do.
func (h *History) settled(ctx context.Context) error {
	ids := txn.NewIDs(nil, random(h.Seed, 1<<40))
	if err := settle(ctx, h.Store, ids, true); err != nil {
		return fmt.Errorf("the last recovery: %w", err)
	}
	before, err := contents(ctx, h.Store)
	if err != nil {
		return err
	}
	if err := settle(ctx, h.Store, ids, true); err != nil {
		return fmt.Errorf("a second recovery: %w", err)
	}
	after, err := contents(ctx, h.Store)
	if err != nil {
		return err
	}
	if d := missing(after, before); before != after {
		return fmt.Errorf("a second recovery changed something:%s", d)
	}
	if at := strings.Index(after, "__recovery/"); at >= 0 {
		return fmt.Errorf("after recovery a record is left: %s", strings.SplitN(after[at:], "\n", 2)[0])
	}
	return nil
}

// contents are the keys of a store with their ETags.
func contents(ctx context.Context, s blob.Store) (string, error) {
	var out strings.Builder
	for e, err := range s.List(ctx, blob.ListOptions{Recursive: true}) {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s %s\n", e.Key, e.ETag)
	}
	return out.String(), nil
}

// history plays the commits back, in their order.
func (j *judge) history(ctx context.Context) error {
	log, err := j.g.Log(ctx, "", 0)
	if err != nil {
		return err
	}
	ops := map[string]*Happened{}
	for i := range j.Happened {
		ops[j.Happened[i].Actor()] = &j.Happened[i]
	}
	rows := j.rest
	for i := log.Len() - 1; i >= 0; i-- {
		c := log.Commit(i)
		n := len(j.moments)
		if n > 0 && (c.Parent == nil || *c.Parent != j.moments[n-1].ID || c.ManifestVersion <= j.moments[n-1].ManifestVersion) || n == 0 && c.Parent != nil {
			return fmt.Errorf("the history is no chain: commit %d is %+v", n, c)
		}
		if n >= 2 { // init and begin
			if rows, err = j.step(c, rows, ops); err != nil {
				return fmt.Errorf("commit %d, %s: %w", n, c.ID, err)
			}
		}
		seen, during := j.visible[c.ManifestVersion]
		if n >= 2 && !during {
			seen = math.MaxInt // the last recovery made it
		}
		j.moments = append(j.moments, moment{Commit: c, rows: rows, seen: seen})
		if n == 0 {
			continue // no rows yet
		}
		got, err := export(ctx, j.g, engine.At{Version: c.ManifestVersion})
		if err != nil {
			return fmt.Errorf("commit %d, %s: %w", n, c.ID, err)
		}
		if d := Differ(got, rows); d != "" {
			return fmt.Errorf("commit %d, %s of %s: %s", n, c.ID, actor(c), d)
		}
	}
	return nil
}

func actor(c engine.Commit) string {
	if c.Actor == nil {
		return "nobody"
	}
	return *c.Actor
}

// step is what a commit makes of the rows.
func (j *judge) step(c engine.Commit, rows State, ops map[string]*Happened) (State, error) {
	if actor(c) == txn.Recoverer {
		return rows, nil
	}
	d := ops[actor(c)]
	if d == nil {
		return nil, fmt.Errorf("it is of %s, which is no operation of the walk", actor(c))
	}
	if n, twice := j.by[d.Actor()]; twice {
		return nil, fmt.Errorf("%s is there twice: commit %d", d.Actor(), n)
	}
	j.by[d.Actor()] = len(j.moments)
	next, came := d.Apply(rows)
	if came.Rule || came.Conflict || came.Nothing {
		return nil, fmt.Errorf("%s is there, and the model refuses it there: %+v", d.Actor(), came)
	}
	if r := d.Receipt; d.Do == Mutate && acknowledged(d) && (r.Nodes != came.Nodes || r.Edges != came.Edges) {
		return nil, fmt.Errorf("%s told of %d nodes and %d edges, the model of %d and %d", d.Actor(), r.Nodes, r.Edges, came.Nodes, came.Edges)
	}
	return next, nil
}

func acknowledged(d *Happened) bool {
	return d.Err == nil && !d.Killed && d.Receipt != nil && d.Receipt.Commit != nil
}

// window is the moments that an operation may have seen: the newest when it
// began, and those that came before it ended.
func (j *judge) window(d *Happened) []moment {
	first := 1
	for i, m := range j.moments {
		if m.seen < d.From {
			first = max(i, 1)
		}
	}
	last := first
	for i := first; i < len(j.moments); i++ {
		if j.moments[i].seen <= d.To {
			last = i
		}
	}
	return j.moments[first : last+1]
}

// happened judges one operation.
func (j *judge) happened(d *Happened) error {
	at, there := j.by[d.Actor()]
	switch {
	case d.Killed:
		return nil // there or not
	case d.Do == Read:
		return j.read(d)
	case d.Do == Recover || d.Do == Wait:
		return recoverable(d, len(j.window(d)) > 1)
	case acknowledged(d):
		c := d.Receipt.Commit
		if !there || j.moments[at].ID != c.ID {
			return fmt.Errorf("it was told commit %s, there is %v", c.ID, there)
		}
		if m := j.moments[at]; m.seen < d.From || m.seen > d.To {
			return fmt.Errorf("commit %s became visible at turn %d, the operation took from %d to %d", c.ID, m.seen, d.From, d.To)
		}
		if d.If && *j.moments[at].Parent != d.Head {
			return fmt.Errorf("it was to stand on %s and stands on %s", d.Head, *j.moments[at].Parent)
		}
		return nil
	case engine.Wrote(d.Err):
		return nil // recovery decided
	case there:
		return fmt.Errorf("it is there: commit %s", j.moments[at].ID)
	}
	return j.refused(d)
}

// read holds an export against the states that it may have seen.
func (j *judge) read(d *Happened) error {
	if d.Err != nil {
		return faulty(d)
	}
	var why string
	for _, m := range j.window(d) {
		if why = Differ(d.Rows, m.rows); why == "" {
			return nil
		}
	}
	return fmt.Errorf("it saw what was in none of %d states: %s", len(j.window(d)), why)
}

// faulty is nil when an error is one that was injected.
func faulty(d *Happened) error {
	if errors.Is(d.Err, fault.ErrInjected) || errors.Is(d.Err, fault.ErrHalted) || d.Fired > 0 && (errors.Is(d.Err, blob.ErrUnavailable) || errors.Is(d.Err, blob.ErrAmbiguous)) {
		return nil
	}
	return errors.New("nothing went wrong that explains it")
}

// refused judges an operation of which nothing is there, and must not be.
func (j *judge) refused(d *Happened) error {
	var (
		rule     *txn.ConstraintError
		conflict *txn.KeyConflictError
		moved    *engine.HeadMovedError
		changed  *txn.ReadSetChangedError
		stands   *txn.RecoveryRequiredError
	)
	is := func(holds func(Came) bool) error {
		for _, m := range j.window(d) {
			if _, came := d.Apply(m.rows); holds(came) {
				return nil
			}
		}
		return fmt.Errorf("in none of the %d states that it may have seen the model says so", len(j.window(d)))
	}
	switch {
	case d.Err == nil:
		return is(func(c Came) bool { return c.Nothing })
	case errors.As(d.Err, &rule):
		return is(func(c Came) bool { return c.Rule || c.Conflict })
	case errors.As(d.Err, &conflict):
		return is(func(c Came) bool { return c.Conflict })
	case errors.As(d.Err, &moved):
		if !slices.ContainsFunc(j.window(d), func(m moment) bool { return m.ID != d.Head }) {
			return errors.New("the branch was at the commit that was demanded all the time")
		}
		return nil
	case errors.As(d.Err, &changed) && !d.Handle:
		if len(j.window(d)) < 2 && !strings.HasPrefix(changed.Member, "key_fence:") {
			return errors.New("nothing changed meanwhile")
		}
		return nil
	case errors.As(d.Err, &changed), errors.As(d.Err, &stands), errors.Is(d.Err, txn.ErrRetry):
		return nil
	}
	return faulty(d)
}

// sound looks for what must not be left.
func (h *History) sound(ctx context.Context, g *engine.Graph) error {
	v, err := manifest.Open(ctx, h.Store, manifest.Options{ReadDeletions: true})
	if err != nil {
		return err
	}
	for _, e := range v.Tables {
		snap, err := lance.Open(ctx, h.Store, e.Location, lance.OpenOptions{})
		if err != nil {
			return err
		}
		if txn.Judge(e.Version, snap.Version(), false) != txn.AtRest {
			return fmt.Errorf("%s is published at version %d, its newest is %d", e.Alias, e.Version, snap.Version())
		}
	}
	rep, err := g.Verify(ctx, engine.VerifyOptions{Deep: true})
	if err != nil {
		return err
	}
	for _, p := range rep.Problems {
		if p.Severity != engine.SeverityInfo {
			return fmt.Errorf("verify: %+v", p)
		}
	}
	return nil
}

// Count adds up how operations ended.
func (h *History) Count(total map[string]int) {
	for i := range h.Happened {
		d := &h.Happened[i]
		total[d.end()]++
		if d.Fired > 0 && !d.Killed {
			total["met a fault"]++
		}
	}
}

// end is a word for how an operation ended.
func (d *Happened) end() string {
	switch {
	case d.Killed:
		return "killed"
	case !d.writes():
		return string(d.Do)
	case acknowledged(d):
		return "acknowledged"
	case d.Err == nil:
		return "nothing to write"
	case engine.Wrote(d.Err):
		return "unknown"
	case errors.As(d.Err, new(*txn.ConstraintError)), errors.As(d.Err, new(*txn.KeyConflictError)):
		return "a rule"
	case errors.As(d.Err, new(*engine.HeadMovedError)):
		return "head moved"
	case errors.As(d.Err, new(*txn.ReadSetChangedError)):
		return "changed"
	case errors.As(d.Err, new(*txn.RecoveryRequiredError)):
		return "a record in the way"
	}
	return "failed"
}

// String tells a history.
func (h *History) String() string {
	var out []string
	for i := range h.Happened {
		d := &h.Happened[i]
		s := fmt.Sprintf("%s, turns %d to %d: %s", d.Actor(), d.From, d.To, outcome(d))
		if acknowledged(d) {
			s += " " + d.Receipt.Commit.ID
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}
