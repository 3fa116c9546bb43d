package screen

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/tui/action"
)

// things is a list for tests: items with a name and a number.
type thing struct {
	Name string
	N    int
}

func thingsOf(data *[]thing) func(*Env) listing {
	return func(*Env) listing {
		t := *data
		return listing{
			n: len(t), of: data, what: "things",
			key:    func(i int) string { return t[i].Name },
			record: func(i int) any { return t[i] },
			facets: []facet{
				textFacet("name", func(i int) string { return t[i].Name }),
				countFacet("n", func(i int) int { return t[i].N }),
			},
		}
	}
}

func someThings(rng *rand.Rand, n int) []thing {
	out := make([]thing, n)
	for i := range out {
		out[i] = thing{fmt.Sprintf("%c%d", 'a'+rune(rng.IntN(4)), i), rng.IntN(9) - 4}
	}
	return out
}

// settleLocal runs the requests of a list that ask no graph.
func settleLocal(t *testing.T, e *Env, reqs []Request) {
	t.Helper()
	for _, r := range reqs {
		if !r.Local() {
			t.Fatalf("%s asks a graph", r.Name)
		}
		v, err := r.Run(context.Background(), nil)
		if !r.Pane.Settle(r.Target, r.Gen, v, err, e.Now) {
			t.Fatalf("the answer of %s was not taken", r.Name)
		}
	}
}

// TestLensKeepsExactlyWhatMatches: whatever filter and order, every item that
// matches stands once, no other does, in an order that is stable, and the
// selected item stays selected as long as it is there.
func TestLensKeepsExactlyWhatMatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		e := env(t)
		data := someThings(rng, rng.IntN(40))
		b := newBrowse(0, thingsOf(&data))
		b.move(e, action.Down)
		for range 8 {
			b.move(e, []action.ID{action.Down, action.Up, action.PageDown, action.Bottom}[rng.IntN(4)])
			was := ""
			if i, ok := b.selected(e); ok {
				was = data[i].Name
			}
			words := []string{"", "a", "name:b", "n:>0", "!a", "n:<=-1 c", "~^[ab]1"}
			text := words[rng.IntN(len(words))]
			if eff := b.SetFilter(e, text); eff.Note != "" {
				t.Fatal(eff.Note)
			}
			column, desc := rng.IntN(3)-1, rng.IntN(2) == 0
			b.SetSort(e, column, desc)
			checkLens(t, e, &b, data, text, was)
		}
	}
}

func matches(x thing, text string) bool {
	switch text {
	case "a":
		return strings.Contains(x.Name, "a")
	case "name:b":
		return strings.Contains(x.Name, "b")
	case "n:>0":
		return x.N > 0
	case "!a":
		return !strings.Contains(x.Name, "a")
	case "n:<=-1 c":
		return x.N <= -1 && strings.Contains(x.Name, "c")
	case "~^[ab]1":
		return (x.Name[0] == 'a' || x.Name[0] == 'b') && x.Name[1] == '1'
	}
	return true
}

func checkLens(t *testing.T, e *Env, b *browse, data []thing, text, was string) {
	t.Helper()
	l := b.of(e)
	n := b.settle(l)
	var got, want []int
	for p := range n {
		got = append(got, b.lens.item(p))
	}
	for i, x := range data {
		if matches(x, text) {
			want = append(want, i)
		}
	}
	column, desc := b.Sorted()
	for p := 1; p < len(got); p++ {
		x, y := data[got[p-1]], data[got[p]]
		d := strings.Compare(x.Name, y.Name)
		switch column {
		case 1:
			d = x.N - y.N
		case -1:
			d = 0
		}
		if desc {
			d = -d
		}
		if d > 0 || d == 0 && got[p-1] > got[p] {
			t.Fatalf("by column %d, down %v: %v stands before %v", column, desc, x, y)
		}
	}
	sorted := slices.Clone(got)
	slices.Sort(sorted)
	if !slices.Equal(sorted, want) {
		t.Fatalf("/%s shows %v, want %v", text, sorted, want)
	}
	i, ok := b.selected(e)
	if ok != (len(want) > 0) {
		t.Fatalf("/%s: selected is %v of %d", text, ok, len(want))
	}
	kept := slices.ContainsFunc(want, func(i int) bool { return data[i].Name == was })
	if kept && data[i].Name != was {
		t.Fatalf("/%s: %s was selected and is shown, but %s is selected", text, was, data[i].Name)
	}
}

// TestSelectionComesBackWithTheWholeList: a filter that hides what was selected
// selects something else, and gives it back when it goes.
func TestSelectionComesBackWithTheWholeList(t *testing.T) {
	e := env(t)
	data := []thing{{"ab", 1}, {"bc", 2}, {"cd", 3}}
	b := newBrowse(0, thingsOf(&data))
	b.move(e, action.Down)
	for _, text := range []string{"c", "cd", "cd d", ""} {
		b.SetFilter(e, text)
		b.selected(e)
	}
	if i, _ := b.selected(e); data[i].Name != "bc" {
		t.Errorf("%s is selected, bc was", data[i].Name)
	}
	if eff := b.SetFilter(e, "~["); eff.Note == "" || b.Filter() != "" {
		t.Errorf("an expression that is none is told as %q and leaves the filter %q", eff.Note, b.Filter())
	}
	b.NextMatch(e, 1)
	if i, _ := b.selected(e); data[i].Name != "cd" {
		t.Errorf("the next match is %s, want cd", data[i].Name)
	}
	if eff := b.NextMatch(e, 1); eff.Note == "" {
		t.Error("behind the last match nothing is said")
	}
}

// TestLongListsAreArrangedByACommand: Update does not wait for them, what was
// shown stays until the answer, and an answer that is no longer wanted is not
// taken.
func TestLongListsAreArrangedByACommand(t *testing.T) {
	e := env(t)
	data := someThings(rand.New(rand.NewPCG(1, 2)), 50_000)
	b := newBrowse(0, thingsOf(&data))
	b.move(e, action.Down)
	first := b.SetFilter(e, "a").Ask
	if len(first) != 1 || b.settle(b.of(e)) != len(data) || !b.lens.pending {
		t.Fatalf("%d requests, pending %v", len(first), b.lens.pending)
	}
	if got := b.lens.said(0, 1, b.of(e).facets); got != "looking for /a" {
		t.Errorf("the list says %q of itself", got)
	}
	if again := b.need(e); len(again) != 0 {
		t.Error("what is on its way is asked for again")
	}
	second := b.SetFilter(e, "a n:>2").Ask
	v, err := first[0].Run(context.Background(), nil)
	if first[0].Pane.Settle(first[0].Target, first[0].Gen, v, err, e.Now) {
		t.Error("the answer for the filter before was taken")
	}
	settleLocal(t, e, second)
	checkOrder(t, e, &b, data, "a n:>2")
	b.lens.work.Abandon()
	settleLocal(t, e, b.SetSort(e, 1, true).Ask)
	checkOrder(t, e, &b, data, "a n:>2")
	b.SetFilter(e, "")
	settleLocal(t, e, b.SetSort(e, -1, false).Ask)
	if b.lens.order != nil || b.settle(b.of(e)) != len(data) {
		t.Error("the whole list is not back")
	}
}

func checkOrder(t *testing.T, e *Env, b *browse, data []thing, text string) {
	t.Helper()
	n := b.settle(b.of(e))
	if b.lens.pending || n == 0 {
		t.Fatalf("/%s: pending %v, %d shown", text, b.lens.pending, n)
	}
	for p := range n {
		if x := data[b.lens.item(p)]; !strings.Contains(x.Name, "a") || x.N <= 2 {
			t.Fatalf("/%s shows %v", text, x)
		}
		if _, desc := b.Sorted(); desc && p > 0 && data[b.lens.item(p-1)].N < data[b.lens.item(p)].N {
			t.Fatal("not in order")
		}
	}
}

// TestWhatIsKeptComesBack: selection, filter and order outlive the program;
// what cannot be read changes nothing.
func TestWhatIsKeptComesBack(t *testing.T) {
	e := env(t)
	data := []thing{{"ab", 1}, {"bc", 2}, {"cd", 3}}
	b := newBrowse(0, thingsOf(&data))
	if got := b.Keep(); got != nil {
		t.Errorf("a list that was not touched keeps %s", got)
	}
	b.SetSort(e, 1, true)
	b.SetFilter(e, "c")
	b.move(e, action.Down)
	kept := b.Keep()
	again := newBrowse(0, thingsOf(&data))
	again.Restore(kept)
	if again.Filter() != "c" {
		t.Errorf("before the first look the filter is %q", again.Filter())
	}
	if i, ok := again.selected(e); !ok || data[i].Name != "bc" {
		t.Errorf("%v is selected, from %s", i, kept)
	}
	for _, raw := range []string{"", "null", "[]", `{"column":-7,"key":3}`, `{"filter":"~["}`, `{"column":40}`} {
		odd := newBrowse(0, thingsOf(&data))
		odd.Restore(json.RawMessage(raw))
		if n := odd.settle(odd.of(e)); n != 3 {
			t.Errorf("%s leaves %d items", raw, n)
		}
	}
}

func TestExportWritesWhatIsListed(t *testing.T) {
	e := env(t)
	data := []thing{{"ab", 1}, {"<b>", 2}, {"cb", 3}}
	b := newBrowse(0, thingsOf(&data))
	b.SetFilter(e, "b")
	b.SetSort(e, 1, true)
	var out bytes.Buffer
	n, err := b.Exports(e).Write(t.Context(), nil, &out)
	want := "{\"Name\":\"cb\",\"N\":3}\n{\"Name\":\"<b>\",\"N\":2}\n{\"Name\":\"ab\",\"N\":1}\n"
	if n != 3 || err != nil || out.String() != want {
		t.Errorf("%d, %v:\n%s", n, err, out.String())
	}
	b.SetFilter(e, "nothing like it")
	if b.Exports(e) != nil {
		t.Error("nothing is listed, and can be exported")
	}
}
