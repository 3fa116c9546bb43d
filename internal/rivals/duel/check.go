package duel

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// Parse reads what writers said; a line that a killed one broke off is none.
func Parse(t testing.TB, lines []string) []Told {
	t.Helper()
	var out []Told
	for i, line := range lines {
		var x Told
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			if i == len(lines)-1 {
				break
			}
			t.Fatalf("a writer said %q: %v", line, err)
		}
		out = append(out, x)
	}
	return out
}

// Rules say what else may be in a graph than what was acknowledged.
type Rules struct {
	Untold  int  // so many writes may be there of which nobody could tell any more
	Foreign bool // another program wrote too: its commits may be more than its acknowledged writes
	Pending bool // records may be left
	// Recovered: recovery made commits of its own, of which no row tells; what it
	// took back may have left files that no version names.
	Recovered bool
}

// Check looks at what writers made of a graph: every acknowledged write is there
// once, of those that were refused nothing is; each acknowledged commit stands
// once in one chain, and the shared key has there what it wrote; nothing is left
// of operations, and a deep look finds nothing.
func Check(t testing.TB, uri string, told []Told, rules Rules) {
	t.Helper()
	g, err := engine.Open(t.Context(), uri, engine.Options{NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	store, err := opener.Open(t.Context(), uri, opener.ReadOnly())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	v, err := manifest.Open(t.Context(), store, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &check{TB: t, g: g, told: told, store: store, rules: rules, by: map[string]*Told{}}
	c.keys, _ = v.Table(keys)
	for i := range told {
		c.by[told[i].Marker] = &told[i]
	}
	made := c.rows()
	c.chain(made)
	if !rules.Pending {
		if names, err := records(t.Context(), store); err != nil || len(names) > 0 {
			t.Errorf("left of operations: %v, %v", names, err)
		}
	}
	rep, err := g.Verify(t.Context(), engine.VerifyOptions{Deep: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range rep.Problems {
		if p.Severity == "info" && (rules.Untold > 0 || rules.Recovered) || p.ID == "head-not-explained" && rules.Pending {
			continue
		}
		t.Errorf("verify: %+v", p)
	}
}

type check struct {
	testing.TB
	g     *engine.Graph
	told  []Told
	store blob.Store
	keys  manifest.Entry
	rules Rules
	by    map[string]*Told
}

// rows compares the markers that are there, and returns how many writes were made.
func (c *check) rows() (made int) {
	c.Helper()
	found, err := markers(c.Context(), c.g)
	if err != nil {
		c.Fatal(err)
	}
	untold := 0
	for m, n := range found {
		made++
		if c.by[m] == nil {
			untold++
		}
		if n != 1 {
			c.Errorf("%s is there %d times", m, n)
		}
	}
	if untold > c.rules.Untold {
		c.Errorf("%d writes are there of which nobody told, at most %d could", untold, c.rules.Untold)
	}
	for _, x := range c.told {
		switch n := found[x.Marker]; {
		case (x.End == Acked || x.End == Found) && n == 0:
			c.Errorf("%s was %s and is not there: %+v", x.Marker, x.End, x)
		case x.End == Refused && n > 0:
			c.Errorf("%s was refused and is there: %+v", x.Marker, x)
		}
	}
	return made
}

// chain compares the history.
func (c *check) chain(made int) {
	c.Helper()
	log, err := c.g.Log(c.Context(), "", 0)
	if err != nil {
		c.Fatal(err)
	}
	at, own := map[string]int{}, 0
	for i := range log.Len() {
		k := log.Commit(i)
		at[k.ID] = i
		if log.Actor(i) == txn.Recoverer {
			own++
		}
		if last := i == log.Len()-1; last && k.Parent != nil || !last && (k.Parent == nil || *k.Parent != log.ID(i+1) || k.ManifestVersion <= log.Version(i+1)) {
			c.Errorf("commit %d of %d is %+v, below it is %s", i, log.Len(), k, log.ID(min(i+1, log.Len()-1)))
		}
	}
	if len(at) != log.Len() {
		c.Errorf("%d commits of %d have an id of their own", len(at), log.Len())
	}
	if own > 0 && !c.rules.Recovered && !c.rules.Foreign {
		c.Errorf("%d commits are recovery's", own)
	}
	if want := made + 2 + own; log.Len() != want && !c.rules.Foreign { // init, and the shared key
		c.Errorf("%d commits, %d of them recovery's, expected %d", log.Len(), own, want)
	}
	claimed := map[string]string{}
	for _, x := range c.told {
		if x.Commit == "" {
			continue
		}
		i, ok := at[x.Commit]
		if !ok || claimed[x.Commit] != "" {
			c.Errorf("%s was acknowledged as %s: it is there %v, told of %q already", x.Marker, x.Commit, ok, claimed[x.Commit])
			continue
		}
		claimed[x.Commit] = x.Marker
		if x.Shared {
			c.shared(x, log.Changed(i))
		}
	}
}

// shared reads the shared key as a commit published it.
func (c *check) shared(x Told, changed []engine.TableChange) {
	c.Helper()
	i := slices.IndexFunc(changed, func(t engine.TableChange) bool { return t.Table == keys })
	if i < 0 {
		c.Errorf("commit %s was acknowledged for %s, and moved %+v", x.Commit, x.Marker, changed)
		return
	}
	snap, err := lance.Open(c.Context(), c.store, c.keys.Location, lance.OpenOptions{Branch: c.keys.Owner, Version: changed[i].ToVersion})
	if err != nil {
		c.Fatal(err)
	}
	var last []string
	for batch, err := range snap.Scan(c.Context(), lance.ScanOptions{Columns: []string{"last"}}) {
		if err != nil {
			c.Fatal(err)
		}
		for row := range int(batch.NumRows()) {
			last = append(last, batch.Column(0).ValueStr(row))
		}
		batch.Release()
	}
	if !slices.Equal(last, []string{x.Marker}) {
		c.Errorf("commit %s was acknowledged for %s, and the shared key has there %v", x.Commit, x.Marker, last)
	}
}

// Pending is how many recovery records there are.
func Pending(ctx context.Context, uri string) (int, error) {
	s, err := opener.Open(ctx, uri, opener.ReadOnly())
	if err != nil {
		return 0, err
	}
	defer s.Close()
	names, err := records(ctx, s)
	return len(names), err
}

// records are the keys of the recovery records.
func records(ctx context.Context, s blob.Store) (names []string, err error) {
	for e, err := range s.List(ctx, blob.ListOptions{Prefix: sidecar.Folder}) {
		if err != nil {
			return nil, err
		}
		names = append(names, e.Key)
	}
	return names, nil
}

// Summary is the distribution of what became of writes.
func Summary(told []Told) string {
	ends, inside, outside := map[string]int{}, map[int]int{}, map[int]int{}
	errs := map[string]int{}
	var took []time.Duration
	for _, x := range told {
		ends[string(x.End)]++
		outside[len(x.Tries)]++
		var all time.Duration
		for _, a := range x.Tries {
			all += a.Took
			if a.Err != "" {
				errs[reason(a.Err)]++
			} else {
				inside[a.Attempts]++
			}
		}
		took = append(took, all)
	}
	slices.Sort(took)
	var s strings.Builder
	fmt.Fprintf(&s, "%d writes: %v; tries of a write %v; attempts of a try that was acknowledged %v; errors of tries %v", len(told), ends, outside, inside, errs)
	if n := len(took); n > 0 {
		at := func(p int) time.Duration { return took[(n-1)*p/100].Round(time.Millisecond) }
		fmt.Fprintf(&s, "; a write took %v (half), %v (90 %%), %v (99 %%), %v (most)", at(50), at(90), at(99), at(100))
	}
	return s.String()
}

// reason is the kind of an error's text.
func reason(text string) string {
	for _, k := range []string{"graph_head", "key_fence", "is published at version", "kept winning", "stopped part-way", stands, "that no recovery record explains", "dataset_binding", "schema_contract", "its manifest delta differs", "pending Mutation recovery operation"} {
		if strings.Contains(text, k) {
			return k
		}
	}
	if _, more, ok := strings.Cut(text, "0: "); ok { // the Rust CLI's report
		text, _, _ = strings.Cut(more, "\n")
	}
	return text
}

// Share fails the test unless at least nine of ten writes stand.
func Share(t testing.TB, told []Told) {
	t.Helper()
	n := 0
	for _, x := range told {
		if x.End == Acked || x.End == Found {
			n++
		}
	}
	if 10*n < 9*len(told) || len(told) == 0 {
		t.Errorf("%d of %d writes stand", n, len(told))
	}
}
