package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// writer is one that is swept: whatever goes wrong at whatever call of it, the
// graph is before or after, and what it was told is true.
type writer struct {
	name   string
	branch string // that it writes; "" = main
	// run is the write. It calls step after every commit that it was told of, and
	// returns the warning of a receipt beside its error.
	run     func(ctx context.Context, g *engine.Graph, step func()) (warning, err error)
	rivals  map[string]rival
	settles bool // it recovers what another one left, and an error of it says nothing of that
}

// rival is another writer of the same graph.
type rival struct {
	do string // statements
	// without takes what it did out of the lines of an export, and says how often it
	// is there.
	without func(lines []string) ([]string, int)
}

// inserts is a rival whose entity has a mark.
func inserts(statements, mark string) rival {
	return rival{statements, func(lines []string) ([]string, int) {
		n := len(lines)
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, mark) })
		return lines, n - len(lines)
	}}
}

// sets is a rival that puts one text in the place of another, in one line.
func sets(statements, mark, before string) rival {
	return rival{statements, func(lines []string) (out []string, n int) {
		for _, l := range lines {
			n += strings.Count(l, mark)
			out = append(out, strings.ReplaceAll(l, mark, before))
		}
		return out, n
	}}
}

// place is where the graph lies that is swept.
type place interface {
	// store is the graph as the writer finds it.
	store() (blob.Store, error)
}

// sweep is one writer at one place.
type sweep struct {
	*testing.T
	*writer
	place
	grace  time.Duration // of records; 0 = that of package txn
	states [][]string    // lines of the branch: before, and after each commit of the write
	others string        // of the other branches
	steps  int           // commits of the run that is under way
	warned error         // by the run: a record could not be removed
	seen   map[string]bool
	checks int
}

// passed is what stores took their time for, and nobody waited.
var passed atomic.Int64

// pass lets time pass that nobody waits for, and lets others go first.
func pass(ctx context.Context, d time.Duration) error {
	passed.Add(int64(d))
	for range d % 7 {
		runtime.Gosched()
	}
	return ctx.Err()
}

// clock is that of the test, in the years of the graphs.
func clock() time.Time {
	now := time.Now().Add(time.Duration(passed.Load()))
	if now.Year() < 2026 {
		now = now.AddDate(27, 0, 0) // in a bubble of testing/synctest
	}
	return now
}

// handle is one to write with, whose ids are always the same.
func (w *sweep) handle(s blob.Store, seed uint64) (*engine.Graph, error) {
	var key [32]byte
	key[0], key[1] = byte(seed), byte(seed>>8)
	g, err := engine.Open(context.Background(), s.Properties().URL, engine.Options{
		Store: s, Write: true, NoCache: true, Clock: clock, Random: rand.NewChaCha8(key),
	})
	if err == nil {
		g.SetGrace(w.grace)
	}
	return g, err
}

// scenario is the writer as package fault sweeps it.
func (w *sweep) scenario() *fault.Scenario {
	sc := &fault.Scenario{Start: w.store, Run: w.once, Check: w.check, Means: means, Rivals: map[string]func(context.Context, blob.Store) error{}}
	for name, r := range w.rivals {
		sc.Rivals[name] = func(ctx context.Context, s blob.Store) error {
			g, err := w.handle(s, 2)
			if err == nil {
				_, _, err = g.Mutate(ctx, engine.MutateOptions{WriteOptions: engine.WriteOptions{Branch: w.branch}, Source: "query q() { " + r.do + " }"})
			}
			return err
		}
	}
	return sc
}

// once is the write, through a handle of its own.
func (w *sweep) once(ctx context.Context, s blob.Store) error {
	w.steps, w.warned = 0, nil
	g, err := w.handle(s, 1)
	if err != nil {
		return err
	}
	w.warned, err = w.run(ctx, g, func() { w.steps++ })
	return err
}

// means: what an error says.
func means(err error) fault.Ending {
	var partly *engine.PartlyLoadedError
	if errors.As(err, &partly) {
		err = partly.Err // what was committed before is told by its steps
	}
	if engine.Wrote(err) {
		return fault.Unclear
	}
	return fault.Refused
}

// begin learns the states from a run with nothing in its way.
func (w *sweep) begin() error {
	w.seen = map[string]bool{}
	s, err := w.store()
	if err != nil {
		return err
	}
	defer s.Close()
	state := func() {
		var lines []string
		if lines, w.others, err = w.rows(s); err != nil {
			w.Fatal(err)
		}
		w.states = append(w.states, lines)
	}
	state()
	g, err := w.handle(s, 1)
	if err != nil {
		return err
	}
	if _, err := w.run(context.Background(), g, state); err != nil {
		return err
	}
	if len(w.states) < 2 || slices.Equal(w.states[0], w.states[1]) {
		return errors.New("the write changes nothing")
	}
	return nil
}

// mintedID are ids that are drawn anew in every run.
var mintedID = regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{26}\b`)

// rows are the lines of the writer's branch, sorted, minted ids aside, and those of
// the others.
func (w *sweep) rows(s blob.Store) (lines []string, others string, err error) {
	ctx := context.Background()
	g, err := engine.Open(ctx, s.Properties().URL, engine.Options{Store: s, NoCache: true})
	if err != nil {
		return nil, "", err
	}
	names, err := g.BranchNames(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, name := range names {
		var buf bytes.Buffer
		if _, err := g.Export(ctx, &buf, engine.At{Branch: name}, nil); err != nil {
			return nil, "", fmt.Errorf("reading branch %s: %w", name, err)
		}
		if name != orMain(w.branch) {
			others += name + "\n" + buf.String()
			continue
		}
		lines = strings.Split(strings.TrimSuffix(mintedID.ReplaceAllString(buf.String(), "…"), "\n"), "\n")
		slices.Sort(lines)
	}
	return lines, others, nil
}

func orMain(branch string) string {
	if branch == "" {
		return manifest.Main
	}
	return branch
}

// left is what a write left besides rows.
type left struct {
	records []string // keys
	moved   []string // tables whose newest version is not the published one
}

func (w *sweep) left(s blob.Store) (l left, err error) {
	ctx := context.Background()
	for e, err := range s.List(ctx, blob.ListOptions{Prefix: sidecar.Folder}) {
		if err != nil {
			return l, err
		}
		l.records = append(l.records, e.Key)
	}
	g, err := engine.Open(ctx, s.Properties().URL, engine.Options{Store: s, NoCache: true})
	if err != nil {
		return l, err
	}
	names, err := g.BranchNames(ctx)
	if err != nil {
		return l, err
	}
	for _, name := range names {
		v, err := manifest.Open(ctx, s, manifest.Options{Branch: name, ReadDeletions: true})
		if err != nil {
			return l, err
		}
		if len(v.Problems) > 0 {
			return l, v.Problems[0]
		}
		for _, e := range v.Tables {
			if e.Owner != v.Branch {
				continue
			}
			snap, err := lance.Open(ctx, s, e.Location, lance.OpenOptions{Branch: e.Owner})
			if err != nil {
				return l, err
			}
			if snap.Version() != e.Version {
				l.moved = append(l.moved, fmt.Sprintf("%s on %s is published at %d, its newest is %d", e.Alias, name, e.Version, snap.Version()))
			}
		}
	}
	return l, nil
}

// check is what must be true whatever went wrong.
func (w *sweep) check(_ context.Context, s blob.Store, o *fault.Outcome) error {
	same, err := w.known(s, o)
	if err != nil || same {
		return err
	}
	w.checks++
	at, err := w.state(s, o)
	if err != nil {
		return err
	}
	last := len(w.states) - 1
	l, err := w.left(s)
	switch {
	case err != nil:
		return err
	case at < w.steps, o.Ending == fault.Done && at != last:
		return fmt.Errorf("%d commits were acknowledged, and what is there is state %d of %d", w.steps, at, last)
	case o.Ending == fault.Refused && at != w.steps:
		return fmt.Errorf("it was told that nothing was done after %d commits, and what is there is state %d of %d", w.steps, at, last)
	case len(l.moved) > 0 && len(l.records) == 0:
		return fmt.Errorf("no record says why %v", l.moved)
	case (o.Ending == fault.Refused || o.Ending == fault.Done) && (len(l.moved) > 0 || len(l.records) > 0 && w.warned == nil):
		return fmt.Errorf("the warning is %v, and left are %+v", w.warned, l)
	case o.Ending == fault.Unclear && len(l.records) == 0 && !w.settles && !errors.Is(o.Err, blob.ErrAmbiguous): // of its own record's writing nothing may be known
		return errors.New("recovery shall decide, and there is no record")
	}
	if len(l.records) > 0 {
		after, err := w.recovered(s, o)
		if err != nil {
			return err
		}
		if after < at || after > at+1 || o.Ending == fault.Done && after != last {
			return fmt.Errorf("state %d was there, and recovery led to state %d of %d", at, after, last)
		}
	}
	return w.clean(s)
}

// known reports that the same store was looked at before, after the same was told.
func (w *sweep) known(s blob.Store, o *fault.Outcome) (bool, error) {
	var sum strings.Builder
	fmt.Fprintln(&sum, o.Ending, w.steps, w.warned == nil, o.RivalErr == nil, strings.HasPrefix(o.Fault, "rival"))
	for e, err := range s.List(context.Background(), blob.ListOptions{Recursive: true}) {
		if err != nil {
			return false, err
		}
		sum.WriteString(e.Key + " " + e.ETag + "\n")
	}
	was := w.seen[sum.String()]
	w.seen[sum.String()] = true
	return was, nil
}

// state says which of the states is there. What a rival was acknowledged must be
// there too, and nothing of one that was refused.
func (w *sweep) state(s blob.Store, o *fault.Outcome) (int, error) {
	lines, others, err := w.rows(s)
	if err != nil {
		return 0, err
	}
	if others != w.others {
		return 0, fmt.Errorf("rows of other branches changed:\n%s\nbefore\n%s", others, w.others)
	}
	name, _ := strings.CutPrefix(o.Fault, "rival, ")
	if r, ok := w.rivals[name]; ok {
		there, want := 0, 0
		lines, there = r.without(lines)
		if o.Met && o.RivalErr == nil {
			want = 1
		}
		if there != want && !(there < 2 && engine.Wrote(o.RivalErr)) {
			return 0, fmt.Errorf("the rival was told %v, and what it wrote is there %d times", o.RivalErr, there)
		}
		slices.Sort(lines)
	}
	at := slices.IndexFunc(w.states, func(s []string) bool { return slices.Equal(s, lines) })
	if at < 0 {
		return 0, fmt.Errorf("neither before nor after, but\n%s", strings.Join(lines, "\n"))
	}
	return at, nil
}

// clean is what must be true when nothing waits for recovery any more.
func (w *sweep) clean(s blob.Store) error {
	ctx := context.Background()
	g, err := engine.Open(ctx, s.Properties().URL, engine.Options{Store: s, NoCache: true})
	if err != nil {
		return err
	}
	rep, err := g.Verify(ctx, engine.VerifyOptions{Deep: true})
	if err != nil {
		return err
	}
	if !rep.Clean {
		return fmt.Errorf("verify finds %+v", rep.Problems)
	}
	names, err := g.BranchNames(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		log, err := g.Log(ctx, name, 0)
		if err != nil {
			return err
		}
		for i := range log.Len() {
			k := log.Commit(i)
			if last := i == log.Len()-1; last != (k.Parent == nil) || !last && *k.Parent != log.ID(i+1) {
				return fmt.Errorf("commit %d of %d on branch %s is %+v: history is not one chain", i, log.Len(), name, k)
			}
		}
	}
	return nil
}

// full: every place, not a sample.
func full() bool { return os.Getenv("OMNIDECK_FULL") != "" }

// sample is how many places of each fault are tried; 0 = all.
func sample(n int) int {
	switch {
	case full():
		return 0
	case pace.Race && (n == 0 || n > 2):
		return 2
	}
	return n
}

// swept runs it and says what came of it.
func (w *sweep) swept(p fault.Plan) {
	w.Helper()
	if err := w.begin(); err != nil {
		w.Fatal(err)
	}
	r, err := w.scenario().Sweep(context.Background(), p)
	if err != nil {
		w.Error(err)
	}
	w.Logf("%d states were looked at\n%s", w.checks, r)
	for _, l := range r.Lines {
		harms := l.Fault != "lost answer" && !strings.HasPrefix(l.Fault, "rival") && p.Places == 0 // and is not always met by trying again
		if l.Places < 8 || l.Ran == 0 || harms && l.Endings[fault.Done] == l.Ran {
			w.Errorf("%s: it met too little: %+v", l.Fault, l)
		}
	}
}
