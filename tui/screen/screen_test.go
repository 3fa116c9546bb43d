package screen

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

func env(t *testing.T) *Env {
	t.Helper()
	th := mono(t)
	return &Env{Theme: th, Now: time.Unix(1000, 0), URI: "mem://g", Address: "mem://g", Keys: action.Default(), Data: NewSession()}
}

// TestTreeHoldsEveryBranchOnce: whatever parents are recorded, no branch is
// lost, none stands twice, and nothing runs in circles.
func TestTreeHoldsEveryBranchOnce(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"a tree":           {"main: a:main b:a c:main", "main a b c"},
		"parent unnamed":   {"b: main:", "main b"},
		"parent is gone":   {"main: b:gone", "b main"},
		"its own parent":   {"main: b:b", "b main"},
		"a circle":         {"main: a:b b:a", "main a b"},
		"no main":          {"a: b:a", "a b"},
		"deeper than room": {"main: a:main b:a c:b d:c e:d f:e g:f h:g", "main a b c d e f g h"},
	} {
		var in []engine.Branch
		for _, f := range strings.Fields(c.in) {
			b, parent, _ := strings.Cut(f, ":")
			in = append(in, engine.Branch{Name: b, Parent: parent})
		}
		var got []string
		for _, r := range tree(in) {
			got = append(got, r.Name)
			if n := len([]rune(r.lead(env(t).Theme.Glyph))); n > 2*treeDepth {
				t.Errorf("%s: %s is drawn %d cells deep", name, r.Name, n)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", name, strings.Join(got, " "), c.want)
		}
	}
}

func TestDamagedIsNotShownAsEmpty(t *testing.T) {
	w := wordsOf(&engine.Info{Branch: "main", Manifest: engine.ManifestInfo{Versions: 15, Exact: true}}, ", ")
	for _, s := range []string{w.head, w.rows, w.manifest} {
		if strings.Contains(s, "0 ") || strings.Contains(s, "v0") {
			t.Errorf("what could not be read is shown as %q", s)
		}
	}
}

func TestAnswersAreTakenOnlyWhenWaitedFor(t *testing.T) {
	e := env(t)
	run := func(context.Context, workspace.Workspace) (int, error) { return 0, nil }
	var l Load[int]
	first := l.ask(e, run)
	second := l.ask(e, run)
	if l.Settle(first.Target, first.Gen, 1, nil, e.Now) {
		t.Error("the answer to an older question was taken")
	}
	if l.Settle("elsewhere", second.Gen, 1, nil, e.Now) {
		t.Error("the answer about another target was taken")
	}
	if !l.Settle(second.Target, second.Gen, 7, nil, e.Now) {
		t.Error("the answer was not taken")
	}
	third := l.ask(e, run)
	l.Abandon()
	if l.Settle(third.Target, third.Gen, 9, nil, e.Now) || l.Busy() {
		t.Error("an answer was taken after the question was given up")
	}
	fourth := l.ask(e, run)
	l.Settle(fourth.Target, fourth.Gen, 0, errors.New("no"), e.Now)
	if v, ok := l.Get(); v != 7 || !ok || l.Problem() == nil {
		t.Errorf("after a failure the data is %d, %v, the problem %v: the last good data stays", v, ok, l.Problem())
	}
	fifth := l.ask(e, run)
	l.Settle(fifth.Target, fifth.Gen, 3, &engine.IncompleteError{What: "list", Problems: []string{"a file is gone"}}, e.Now)
	if v, ok := l.Get(); v != 3 || !ok || l.Problem() == nil {
		t.Errorf("beside an answer that is not complete the data is %d, %v, the problem %v: what could be read is shown", v, ok, l.Problem())
	}
	if got := title(e, 60, "list", "", &l); !strings.Contains(got, "incomplete") {
		t.Errorf("the pane says %q of itself", got)
	}
	l.reset()
	if _, ok := l.Get(); ok || !l.wanted(e) {
		t.Error("a forgotten pane still has data or is not asked for again")
	}
}

func TestMergedCommitsThatAreGoneOpenNoLane(t *testing.T) {
	id := func(s string) *string { return &s }
	commits := []engine.LogEntry{
		{Commit: engine.Commit{ID: "c", Parent: id("b"), MergedParent: id("gone")}},
		{Commit: engine.Commit{ID: "b", Parent: id("a"), MergedParent: id("a")}},
		{Commit: engine.Commit{ID: "a"}},
	}
	if h := NewHistory(engine.LogOf(commits), 0); h.node(0).Merged != "" || h.node(1).Merged != "a" {
		t.Errorf("merged parents %q and %q, want none and a", h.node(0).Merged, h.node(1).Merged)
	}
	if h := NewHistory(engine.LogOf(commits), 3); !h.Truncated() || h.node(0).Merged != "gone" {
		t.Error("of a truncated history nothing is known about what is older")
	}
}

// TestHistoryTellsWhatItWasTold: what is held close together comes out as the
// engine told it, whatever is missing, empty, or not among the commits.
func TestHistoryTellsWhatItWasTold(t *testing.T) {
	id := func(s string) *string { return &s }
	n := 3
	commits := []engine.LogEntry{
		{Commit: engine.Commit{ID: "d", Branch: id("side"), Actor: id(""), Parent: id("c"), ManifestVersion: 9, CreatedAt: -5}, Changed: []engine.TableChange{}},
		{Commit: engine.Commit{ID: "", Branch: id("main"), Parent: id("elsewhere"), MergedParent: id("gone")}, Changed: []engine.TableChange{{Table: "node:A", ToVersion: 3, RowsDelta: -7, FragmentsDelta: &n}, {Table: "side", FromVersion: 1 << 63}}},
		{Commit: engine.Commit{ID: "c", Actor: id("side")}, Changed: []engine.TableChange{{Table: "node:A", FromVersion: 3}}},
	}
	for _, log := range [][]engine.LogEntry{commits, fake.History(60), {}} {
		h := NewHistory(engine.LogOf(log), 0)
		if h.Len() != len(log) {
			t.Fatalf("%d commits of %d", h.Len(), len(log))
		}
		for i := range log {
			if got := h.Entry(i); !reflect.DeepEqual(got, log[i]) {
				t.Errorf("commit %d is told as %+v, was %+v", i, got, log[i])
			}
			if got := h.ID(i); got != log[i].ID {
				t.Errorf("commit %d is called %q, was %q", i, got, log[i].ID)
			}
		}
	}
}

func TestLongValuesDoNotReachTheGridWhole(t *testing.T) {
	th := env(t).Theme
	text, _ := cell(th, engine.Cell{Kind: engine.CellText, Text: strings.Repeat("日", 1<<20)}, 20)
	if !strings.HasSuffix(text, "+3.0 MiB") || len([]rune(text)) > 20 {
		t.Errorf("a value of 3 MiB is shown as %q", text)
	}
	for _, c := range []struct {
		in   engine.Cell
		want string
	}{
		{engine.Cell{}, "∅"}, {engine.Cell{Kind: engine.CellText}, `""`}, {engine.Cell{Kind: engine.CellList, Text: "[]"}, "[]"},
		{engine.Cell{Kind: engine.CellNumber, Text: "NaN"}, "NaN"}, {engine.Cell{Kind: engine.CellText, Text: "∅"}, `"∅"`},
	} {
		if got, _ := cell(th, c.in, 20); got != c.want {
			t.Errorf("%+v is shown as %q, want %q", c.in, got, c.want)
		}
	}
}

// TestALongFailureFillsThePane: no line of it is hidden where there is room,
// and what is hidden is counted.
func TestALongFailureFillsThePane(t *testing.T) {
	sentence := strings.TrimSuffix(strings.Repeat("a line of it\n", 17), "\n")
	for _, c := range []struct {
		height, lines int
		hint          string
	}{{40, 17, ""}, {19, 17, ""}, {18, 16, "1 line more"}, {12, 10, "7 lines more"}} {
		e := env(t)
		l := &e.Data.Snapshot
		q := l.ask(e, func(context.Context, workspace.Workspace) (*engine.Snapshot, error) { return nil, nil })
		l.Settle(q.Target, q.Gen, nil, errors.New(sentence), e.Now)
		got := strings.Join(NewTables().Render(e, Area{W: 80, H: c.height}), "\n")
		if n := strings.Count(got, "a line of it"); n != c.lines {
			t.Errorf("height %d: %d lines, expected %d", c.height, n, c.lines)
		}
		if !strings.Contains(got, c.hint) || c.hint == "" && strings.Contains(got, " more, tab") {
			t.Errorf("height %d says\n%s", c.height, got)
		}
	}
	e := env(t)
	q := e.Data.Info.ask(e, func(context.Context, workspace.Workspace) (*engine.Info, error) { return nil, nil })
	e.Data.Info.Settle(q.Target, q.Gen, nil, errors.New(sentence), e.Now)
	for height, lines := range map[int]int{40: 17, 15: problemLines} {
		got := strings.Join(NewOverview().Render(e, Area{W: 80, H: height}), "\n")
		if n := strings.Count(got, "a line of it"); n != lines || strings.Contains(got, " more, tab") != (height == 15) {
			t.Errorf("the overview, height %d, shows %d lines, expected %d:\n%s", height, n, lines, got)
		}
	}
}

func mono(t testing.TB) *theme.Theme {
	t.Helper()
	th, err := theme.New("mono", theme.Unknown, false)
	if err != nil {
		t.Fatal(err)
	}
	return th
}
