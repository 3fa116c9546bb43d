package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/recovery/audit"
)

// stuckState is what a writer that died left for recovery.
type stuckState struct {
	what string // what recovery shall do, and what tables moved
	inMem
}

// leftBy are the states in which a writer can die with a record, each once.
func (w *sweep) leftBy(url string) (out []stuckState) {
	if err := w.begin(); err != nil {
		w.Fatal(err)
	}
	seen := map[string]bool{}
	sc := w.scenario()
	sc.Check = func(ctx context.Context, s blob.Store, o *fault.Outcome) error {
		p, err := recovery.Look(ctx, s, now())
		if err != nil || len(p.Items) == 0 {
			return err
		}
		what := fmt.Sprintf("%s left %s %s:", w.name, p.Items[0].Phase, p.Items[0].Verdict.Do)
		for _, t := range p.Items[0].Tables {
			what += fmt.Sprintf(" %d→%d/%d", t.Expected, t.Published, t.Head)
		}
		if !seen[what] {
			seen[what] = true
			out = append(out, stuckState{what, inMem{inner(s).Clone(), url}})
		}
		return nil
	}
	faults := fault.Faults()
	if _, err := sc.Sweep(context.Background(), fault.Plan{Faults: faults[:2]}); err != nil {
		w.Fatal(err)
	}
	return out
}

// inner is the memory below an address.
func inner(s blob.Store) *memstore.Store {
	if m, ok := s.(*memstore.Store); ok {
		return m
	}
	return stuck.Below(s).(*memstore.Store)
}

// made is what a recovery made: rows of audit, versions of tables, commits.
func made(s blob.Store) (string, error) {
	ctx := context.Background()
	rows, err := audit.Read(ctx, s, audit.Options{})
	if err != nil {
		return "", err
	}
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("audit of %s: %s", r.Operation, r.Kind))
	}
	g, err := engine.Open(ctx, s.Properties().URL, engine.Options{Store: s, NoCache: true})
	if err != nil {
		return "", err
	}
	names, err := g.BranchNames(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		v, err := manifest.Open(ctx, s, manifest.Options{Branch: name})
		if err != nil {
			return "", err
		}
		for _, e := range v.Tables {
			out = append(out, fmt.Sprintf("%s of %s: version %d", e.Alias, name, e.Version))
		}
		out = append(out, fmt.Sprintf("%s: %d commits", name, v.Commits.Len()))
	}
	slices.Sort(out)
	return strings.Join(out, "\n"), nil
}

// recovering sweeps the recovery of a state. Whatever goes wrong with it, the next
// one comes to what an undisturbed one comes to: nothing is made twice.
func (w *sweep) recovering(at stuckState, p fault.Plan) *fault.Report {
	w.seen, w.states = map[string]bool{}, nil
	s, err := at.store()
	if err != nil {
		w.Fatal(err)
	}
	before, others, err := w.rows(s)
	if err != nil {
		w.Fatal(err)
	}
	if err := recoverAll(context.Background(), s); err != nil {
		w.Fatalf("%s: %v", at.what, err)
	}
	after, _, err := w.rows(s)
	if err != nil {
		w.Fatal(err)
	}
	want, err := made(s)
	if err != nil {
		w.Fatal(err)
	}
	w.place, w.states, w.others = at, [][]string{before}, others
	if !slices.Equal(before, after) {
		w.states = append(w.states, after)
	}
	sc := w.scenario()
	sc.Run = recoverAll
	sc.Means = func(error) fault.Ending { return fault.Unclear }
	sc.Rivals["recovery"] = recoverAll
	sc.Check = func(ctx context.Context, s blob.Store, o *fault.Outcome) error {
		w.steps, w.warned = 0, nil
		if err := w.check(ctx, s, o); err != nil {
			return err
		}
		l, err := w.left(s)
		if err != nil || len(l.records) > 0 { // seen before, and left as it is
			return err
		}
		got, err := made(s)
		if _, wrote := w.rivals[strings.TrimPrefix(o.Fault, "rival, ")]; err == nil && !wrote && got != want {
			err = fmt.Errorf("it was made twice, or something else: %s\nexpected\n%s", got, want)
		}
		return err
	}
	r, err := sc.Sweep(context.Background(), p)
	for _, weather := range fault.Weathers(pass) {
		seeds := []uint64{p.Seed, p.Seed + 1, p.Seed + 2, p.Seed + 3}
		in, bad := sc.Weather(context.Background(), weather, seeds[:min(len(seeds), cmp.Or(p.Places, 4))]...)
		r.Lines, err = append(r.Lines, in.Lines...), errors.Join(err, bad)
	}
	if err != nil {
		w.Errorf("%s: %v", at.what, err)
	}
	return r
}

// Recovery dies, fails, is throttled, meets other recoveries and writers at its
// every call, and goes on in every weather, in every state that writers leave, and
// where the branch is gone.
func TestSweepRecovery(t *testing.T) {
	diverged := graphFiles(t, "diverged")
	synctest.Test(t, func(t *testing.T) {
		s, _ := filled(t, library, shelf)
		n := 0
		sweepAll := func(w *writer, base inMem, gone string) {
			for i, at := range (&sweep{T: t, writer: w, place: base}).leftBy(base.url) {
				if gone != "" && i%2 == 1 && !full() {
					continue // what is right then is one thing
				}
				if i%pace.Of(1, 4) > 0 {
					continue // one after the other
				}
				settler := *w
				settler.settles = true
				if gone != "" {
					at.what += ", branch gone"
					for _, key := range strings.Split(keys(t, at.base), "\n") {
						if key == "__manifest/_refs/branches/"+gone+".json" || strings.HasPrefix(key, "__manifest/tree/"+gone+"/") {
							if err := at.base.Delete(t.Context(), key); err != nil {
								t.Fatal(err)
							}
						}
					}
					settler.branch, settler.rivals = "", nil
				}
				r := (&sweep{T: t, writer: &settler}).recovering(at, fault.Plan{Places: sample(1), Seed: uint64(n * 7)})
				t.Logf("%s\n%s", at.what, r)
				n++
			}
		}
		for _, w := range writers {
			if w.name == "delete" || w.name == "load append" || w.name == "update" {
				sweepAll(w, inMem{base: s}, "")
			}
		}
		base := inMem{memory(t, memstore.Options{Name: "g"}, diverged), "s3://lab/diverged"}
		sweepAll(onBranch, base, "")
		sweepAll(onBranch, base, "rival")
		if n < pace.Of(20, 5) {
			t.Errorf("only %d states", n)
		}
	})
}
