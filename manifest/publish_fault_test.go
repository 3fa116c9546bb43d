package manifest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
	versions "github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/manifest"
)

// settled is what a fresh reader sees after a publish that met a fault: the
// state before or the state after, whole. It says which.
func settled(s *memstore.Store, branch string, before *manifest.View, o manifest.PublishOptions) (after bool, err error) {
	v, err := manifest.Open(context.Background(), s, manifest.Options{Branch: branch, ReadDeletions: true})
	if err != nil {
		return false, err
	}
	if len(v.Problems) > 0 {
		return false, v.Problems[0]
	}
	if v.Version == before.Version {
		if diff := manifest.Diff(v, before); diff != "" {
			return false, fmt.Errorf("version %d was changed: %s", v.Version, diff)
		}
		return false, nil
	}
	if v.Version != before.Version+1 {
		return false, fmt.Errorf("version %d follows %d", v.Version, before.Version)
	}
	if _, ok := v.Commit(o.Commit.ID); !ok || v.Commits.Len() != before.Commits.Len()+1 || v.Heads[orMain(branch)] != o.Commit.ID {
		return false, fmt.Errorf("version %d has not the commit", v.Version)
	}
	for _, e := range o.Edits {
		if u, ok := e.(manifest.Update); ok {
			if t, live := v.ByIdentity(u.Identity); !live || t.Version != u.Version {
				return false, fmt.Errorf("of %s %+v is published", u.Alias, t)
			}
		}
	}
	return true, nil
}

// sweptPublish is a publish that meets a fault, at one call after another.
type sweptPublish struct {
	base     *memstore.Store
	branch   string
	warm     bool // it builds on what was read before the fault
	settles  bool // an answer that is lost is no error
	before   *manifest.View
	o        manifest.PublishOptions
	outcomes map[bool]int // how often a reader sees the state after, and before
}

// newSwept prepares a commit that moves two tables, on a head of base that it
// names.
func newSwept(t *testing.T, base *memstore.Store, branch string, warm bool) *sweptPublish {
	t.Helper()
	before := open(t, base, manifest.Options{Branch: branch, ReadDeletions: true})
	w := newWriter(t, base, branch, 5)
	o := w.options(nil, w.next(before.Tables[0]), w.next(before.Tables[1]))
	o.Head = &manifest.ExactHead{Commit: before.Heads[orMain(branch)]}
	if before.Ref != nil {
		o.Head.Identifier = before.Ref.Identifier
	}
	return &sweptPublish{base: base, branch: branch, warm: warm, before: before, o: o, outcomes: map[bool]int{}}
}

// meets publishes with the fault of a rule, judges what was told by what a reader
// then sees, and publishes again without the fault. hit: the rule's call came.
func (p *sweptPublish) meets(rule fault.Rule) (hit bool, err error) {
	own := p.base.Clone()
	faulty := fault.New(own, rule)
	o := p.o
	if p.warm {
		if o.From, err = manifest.Open(context.Background(), own, manifest.Options{Branch: p.branch}); err != nil {
			return false, err
		}
	}
	told, err := manifest.Publish(context.Background(), faulty, o)
	after, bad := settled(own, p.branch, p.before, o)
	p.outcomes[after]++
	switch {
	case bad != nil:
		return false, bad
	case err == nil && !after:
		return false, fmt.Errorf("it was told that %d is published, and it is not", told.Version)
	case err != nil && after && !errors.Is(err, blob.ErrAmbiguous) && !errors.Is(err, fault.ErrHalted):
		return false, fmt.Errorf("it was told that nothing is published, and it is: %w", err)
	case err != nil && p.settles:
		return false, fmt.Errorf("a lost answer was not settled: %w", err)
	}
	return faulty.Fired() > 0, p.again(own, after)
}

// again publishes the same commit once more; there says that it is published.
func (p *sweptPublish) again(own *memstore.Store, there bool) error {
	again, err := manifest.Publish(context.Background(), own, p.o)
	if err != nil {
		return fmt.Errorf("the second try: %w", err)
	}
	if again.Wrote == there || again.Version != p.before.Version+1 {
		return fmt.Errorf("the second try: %+v, and published was %v", again, there)
	}
	if done, bad := settled(own, p.branch, p.before, p.o); bad != nil || !done {
		return fmt.Errorf("after the second try: %v %w", done, bad)
	}
	return nil
}

// Whatever call of a publish a process dies at, and whatever write's answer is
// lost: a reader sees the graph before or after, and the same publish again
// brings it to after, once.
func TestPublishSweep(t *testing.T) {
	base := store(t, graph(t, "midlife"))
	for _, c := range []struct {
		branch string
		warm   bool
	}{{"", true}, {"", false}, {"archive", true}, {"archive", false}} {
		for name, rule := range map[string]fault.Rule{
			"halt": {Do: fault.Halt}, "fail": {Do: fault.Fail}, "answer lost": {Match: fault.Writes, Do: fault.LoseAnswer},
			"lost, then dead": {Match: fault.Writes, Do: fault.DoAndHalt},
		} {
			p := newSwept(t, base, c.branch, c.warm)
			p.settles = name == "answer lost"
			n, err := fault.Sweep(1000, func(at int) (bool, error) {
				rule := rule
				rule.At = at
				return p.meets(rule)
			})
			if err != nil {
				t.Errorf("branch %q, warm %v, %s at %d: %v", c.branch, c.warm, name, n, err)
			}
			t.Logf("branch %q, warm %v, %s: %d places, %v", c.branch, c.warm, name, n, p.outcomes)
			if p.outcomes[true] == 0 || p.outcomes[false] == 0 && !p.settles {
				t.Errorf("branch %q, warm %v, %s: %d places, %v", c.branch, c.warm, name, n, p.outcomes)
			}
		}
	}
}

func isManifest(c fault.Call) bool {
	return c.Op == blob.OpPut && c.IfAbsent && strings.Contains(c.Key, "__manifest/_versions/")
}

// rival publishes another commit right before ours is created.
func rival(w *writer, edits func(*manifest.View) []manifest.Edit) fault.Action {
	return fault.Rival(func(ctx context.Context, inner blob.Store) error {
		v, err := manifest.Open(ctx, inner, manifest.Options{Branch: w.branch})
		if err != nil {
			return err
		}
		o := w.options(v)
		if edits != nil {
			o.Edits = edits(v)
		}
		_, err = manifest.Publish(ctx, inner, o)
		return err
	})
}

// A version that another writer made first is never written over and never
// rebased on: the publish is judged anew, on what is there.
func TestPublishLoses(t *testing.T) {
	base := store(t, graph(t, "maintained"))
	v := open(t, base, manifest.Options{})
	for _, c := range []struct {
		name  string
		loses func(*testing.T, *memstore.Store, *manifest.View)
	}{
		{"and gets another parent", losesTheParent},
		{"to one that moved the head", losesTheHead},
		{"to one that moved the table", losesTheTable},
		{"for ever", losesForEver},
		{"to one that did the same", losesToTheSame},
	} {
		t.Run(c.name, func(t *testing.T) { c.loses(t, base, v) })
	}
}

// twoWriters are two writers to one copy of base; the commits of the other are
// numbered from 101.
func twoWriters(t *testing.T, base *memstore.Store) (own *memstore.Store, w, other *writer) {
	t.Helper()
	own = base.Clone()
	w, other = newWriter(t, own, "", 1), newWriter(t, own, "", 2)
	other.n = 100
	return own, w, other
}

// losesTheParent: ours follows the other, which moved no table.
func losesTheParent(t *testing.T, base *memstore.Store, v *manifest.View) {
	own, w, other := twoWriters(t, base)
	p, err := manifest.Publish(t.Context(), fault.New(own, fault.Rule{Match: isManifest, At: 0, Do: rival(other, nil)}), w.options(v, w.next(v.Tables[0])))
	if err != nil {
		t.Fatal(err)
	}
	fresh := open(t, own, manifest.Options{})
	if p.Version != v.Version+2 || p.Attempts != 2 || p.Parent != fresh.Commits.ID(1) || fresh.Commits.ParentID(1, manifest.First) != v.Commits.ID(0) {
		t.Errorf("%+v", p)
	}
	if diff := manifest.Diff(fresh, p.View); diff != "" {
		t.Error(diff)
	}
}

// losesTheHead: ours names the head that it builds on, which the other moves.
func losesTheHead(t *testing.T, base *memstore.Store, v *manifest.View) {
	own, w, other := twoWriters(t, base)
	o := w.options(v, w.next(v.Tables[0]))
	o.Head = &manifest.ExactHead{Commit: v.Heads[manifest.Main]}
	_, err := manifest.Publish(t.Context(), fault.New(own, fault.Rule{Match: isManifest, At: 0, Do: rival(other, nil)}), o)
	var changed *manifest.ReadSetChangedError
	if !errors.As(err, &changed) || changed.Member != "graph_head:main" || changed.Expected != v.Heads[manifest.Main] || changed.Actual != "01KB7Q0V1S3F8D1Y3J8E000101" {
		t.Errorf("%v", err)
	}
}

// losesTheTable: ours names the version of the table, which the other moves.
func losesTheTable(t *testing.T, base *memstore.Store, v *manifest.View) {
	own, w, other := twoWriters(t, base)
	e := v.Tables[0]
	o := w.options(v, w.next(e))
	o.Expected = []manifest.Expected{{Identity: e.Identity, Alias: e.Alias, Version: e.Version}}
	move := func(v *manifest.View) []manifest.Edit { return []manifest.Edit{other.next(v.Tables[0])} }
	_, err := manifest.Publish(t.Context(), fault.New(own, fault.Rule{Match: isManifest, At: 0, Do: rival(other, move)}), o)
	var mismatch *manifest.VersionMismatchError
	if !errors.As(err, &mismatch) || mismatch.Expected != e.Version || mismatch.Actual <= e.Version || mismatch.Alias != e.Alias {
		t.Errorf("%v", err)
	}
}

// losesForEver: the other is first at every attempt.
func losesForEver(t *testing.T, base *memstore.Store, v *manifest.View) {
	own, w, other := twoWriters(t, base)
	waits := 0
	o := w.options(v)
	o.Backoff = func(context.Context, int) error { waits++; return nil }
	_, err := manifest.Publish(t.Context(), fault.New(own, fault.Rule{Match: isManifest, Every: true, Do: rival(other, nil)}), o)
	var exhausted *manifest.ExhaustedError
	if !errors.As(err, &exhausted) || exhausted.Attempts != 6 || waits != 5 {
		t.Errorf("%v after %d waits", err, waits)
	}
	if _, ok := open(t, own, manifest.Options{}).Commit(o.Commit.ID); ok {
		t.Error("it is published all the same")
	}
}

// losesToTheSame: the other brings the table further than ours would, and an update
// that only advances has then nothing to do.
func losesToTheSame(t *testing.T, base *memstore.Store, v *manifest.View) {
	e := v.Tables[0]
	for _, at := range []int{0, 5} { // noticed by the next attempt, and by the last look
		own, w, other := twoWriters(t, base)
		u := w.next(e)
		u.Advance = true
		there := func(v *manifest.View) []manifest.Edit {
			if now, _ := v.ByIdentity(e.Identity); other.n >= 101+at && now.Version < u.Version {
				x := u
				x.Version++
				return []manifest.Edit{x}
			}
			return nil
		}
		o := w.options(v, u)
		p, err := manifest.Publish(t.Context(), fault.New(own, fault.Rule{Match: isManifest, Every: true, Do: rival(other, there)}), o)
		if err != nil || p.Wrote || p.Attempts != at+1 {
			t.Fatalf("%d: %+v, %v", at, p, err)
		}
		if _, ok := p.View.Commit(o.Commit.ID); ok {
			t.Error("a commit without a change was made")
		}
	}
}

// Nothing is committed before Sure agreed: every attempt asks it until it does,
// and none after that.
func TestPublishNotBeforeItIsSure(t *testing.T) {
	base := store(t, graph(t, "maintained"))
	v := open(t, base, manifest.Options{})
	refused := &versions.ConflictError{Where: "the record", Retryable: true}
	for refusals := range 8 { // six attempts
		own := base.Clone()
		w, other := newWriter(t, own, "", 1), newWriter(t, own, "", 2)
		other.n = 100
		o := w.options(v, w.next(v.Tables[0]))
		asked, puts := 0, 0
		o.Sure = func(context.Context) error {
			if asked++; asked <= refusals {
				return refused
			}
			return nil
		}
		counted := fault.Rule{Match: isManifest, Every: true, Do: func(ctx context.Context, a *fault.Attempt) error {
			if puts++; asked <= refusals {
				t.Errorf("%d refusals: a version is put after %d", refusals, asked)
			}
			if puts == 1 { // a version is lost to another after it agreed
				return rival(other, nil)(ctx, a)
			}
			return a.Perform(ctx)
		}}
		_, err := manifest.Publish(t.Context(), fault.New(own, counted), o)
		_, there := open(t, own, manifest.Options{}).Commit(o.Commit.ID)
		if refusals < 5 {
			if err != nil || !there || asked != refusals+1 || puts != 2 {
				t.Errorf("%d refusals: asked %d times, %d puts, published %v, %v", refusals, asked, puts, there, err)
			}
			continue
		}
		var exhausted *manifest.ExhaustedError
		if !errors.As(err, &exhausted) || there || asked != min(refusals+1, 6) {
			t.Errorf("%d refusals: asked %d times, published %v, %v", refusals, asked, there, err)
		}
	}
	stop := errors.New("stop")
	own := base.Clone()
	w := newWriter(t, own, "", 1)
	o := w.options(v, w.next(v.Tables[0]))
	o.Sure = func(context.Context) error { return stop }
	if _, err := manifest.Publish(t.Context(), own, o); !errors.Is(err, stop) {
		t.Errorf("refused for good: %v", err)
	}
	if now := open(t, own, manifest.Options{}); now.Version != v.Version {
		t.Errorf("refused for good: version %d is there", now.Version)
	}
}
