package engine_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
)

// truth is the difference of two exports: by table, then id, then op.
func truth(t testing.TB, g *engine.Graph, a, b engine.At) []string {
	t.Helper()
	before, after := entities(t, g, a), entities(t, g, b)
	var out []string
	for key, line := range after {
		switch old, ok := before[key]; {
		case !ok:
			out = append(out, key+"\x00insert")
		case old != line:
			out = append(out, key+"\x00update")
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			out = append(out, key+"\x00delete")
		}
	}
	slices.Sort(out)
	return out
}

// entities are the lines of an export by table and id.
func entities(t testing.TB, g *engine.Graph, at engine.At) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, text := range exportLines(t, g, at) {
		kind, typ, id, _, _ := parseLine(t, text)
		key := kind + ":" + typ + "\x00" + id
		if out[key] != "" {
			t.Errorf("%q stands twice in the export", key)
		}
		out[key] = text
	}
	return out
}

// spelled are the lines as Rows spells them: blobs by their size.
func spelled(t testing.TB, g *engine.Graph, at engine.At) map[string]string {
	t.Helper()
	ctx := context.Background()
	s, err := g.Snapshot(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, d := range s.Datasets {
		page, err := g.Rows(ctx, d.Table(), at, engine.RowsOptions{Limit: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Rows {
			out[d.Table()+"\x00"+r.ID] = string(r.Line)
		}
	}
	return out
}

// checkDiff compares a diff with the truth, and its counts with its changes.
func checkDiff(t testing.TB, g *engine.Graph, a, b engine.At) *engine.Diff {
	t.Helper()
	d, err := g.Diff(context.Background(), a, b, engine.DiffOptions{Limit: 1 << 20})
	if err != nil {
		t.Fatalf("%+v and %+v: %v", a, b, err)
	}
	var got []string
	before, after := spelled(t, g, a), spelled(t, g, b)
	sums := map[string]engine.DiffCount{}
	for _, c := range d.Changes {
		key := c.Kind + ":" + c.Type + "\x00" + c.ID
		got = append(got, key+"\x00"+c.Op)
		sum := sums[c.Kind+":"+c.Type]
		wantBefore, wantAfter := before[key], after[key]
		switch c.Op {
		case "insert":
			sum.Inserted++
			wantBefore = ""
		case "delete":
			sum.Deleted++
			wantAfter = ""
		case "update":
			sum.Updated++
		}
		sums[c.Kind+":"+c.Type] = sum
		if string(c.Before) != wantBefore || string(c.After) != wantAfter {
			t.Errorf("%s %s\n before %s\n   want %s\n  after %s\n   want %s", c.Op, key, c.Before, wantBefore, c.After, wantAfter)
		}
	}
	if !slices.IsSorted(got) {
		t.Errorf("changes do not stand by table and id: %q", got)
	}
	if want := truth(t, g, a, b); !slices.Equal(got, want) {
		t.Errorf("%+v and %+v differ by\n%q, the exports by\n%q", a, b, got, want)
	}
	for _, c := range d.Counts {
		sum := sums[c.Table]
		if sum.Inserted != c.Inserted || sum.Updated != c.Updated || sum.Deleted != c.Deleted {
			t.Errorf("%s: counts %+v, changes say %+v", c.Table, c, sum)
		}
		if none := sum == (engine.DiffCount{}); c.Physical != (none && c.From != 0 && c.To != 0) {
			t.Errorf("%s: physical is %v: %+v", c.Table, c.Physical, c)
		}
		delete(sums, c.Table)
	}
	if len(sums) > 0 || d.Truncated {
		t.Errorf("changes without a count: %v, truncated %v", sums, d.Truncated)
	}
	if !slices.IsSortedFunc(d.Counts, func(a, b engine.DiffCount) int { return strings.Compare(a.Table, b.Table) }) {
		t.Errorf("counts do not stand by table: %+v", d.Counts)
	}
	return d
}

func atOf(c engine.Commit) engine.At {
	return engine.At{Branch: c.BranchName(), Commit: c.ID, Version: c.ManifestVersion}
}

// What two states differ in is what their exports differ in: every commit and its
// parents, every branch and main, both ways.
func TestDiffIsTheDifferenceOfExports(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"midlife", "diverged"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := openFiles(t, graphFiles(t, name))
			all, err := g.LogAll(ctx, 0)
			if err != nil {
				t.Fatal(err)
			}
			byID := map[string]engine.LogEntry{}
			for e := range all.Entries() {
				byID[e.ID] = e
			}
			for _, e := range pace.Every(t, 6, slices.Collect(all.Entries())) {
				if e.Parent == nil {
					continue
				}
				d := checkDiff(t, g, atOf(byID[*e.Parent].Commit), atOf(e.Commit))
				checkDelta(t, d, e)
				checkDiff(t, g, atOf(e.Commit), atOf(byID[*e.Parent].Commit))
				if m := e.MergedParent; m != nil && byID[*m].ID != "" {
					checkDiff(t, g, atOf(byID[*m].Commit), atOf(e.Commit))
				}
			}
			names, err := g.BranchNames(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range names {
				d := checkDiff(t, g, engine.At{}, engine.At{Branch: b})
				if d.A.Branch != "main" || d.A.Version == 0 || d.B.Branch != b || d.B.Version == 0 || d.A.Commit != "" {
					t.Errorf("resolved as %+v and %+v", d.A, d.B)
				}
				checkDiff(t, g, engine.At{Branch: b}, engine.At{})
			}
			verified(t, g)
		})
	}
}

// checkDelta: a commit's counts sum up to the rows that its log says, in the
// tables that its log names.
func checkDelta(t testing.TB, d *engine.Diff, e engine.LogEntry) {
	t.Helper()
	counted := map[string]engine.DiffCount{}
	for _, c := range d.Counts {
		counted[c.Table] = c
	}
	for _, ch := range e.Changed {
		c := counted[ch.Table]
		delete(counted, ch.Table)
		if int64(c.Inserted)-int64(c.Deleted) != ch.RowsDelta || c.From != ch.FromVersion || c.To != ch.ToVersion {
			t.Errorf("%s: %+v, the log says %+v", e.ID, c, ch)
		}
	}
	if len(counted) > 0 {
		t.Errorf("%s: the log does not name %v", e.ID, slices.Sorted(maps.Keys(counted)))
	}
}
