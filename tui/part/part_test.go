package part

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/tui/theme"
)

func mono(t testing.TB, ascii bool) *theme.Theme {
	t.Helper()
	th, err := theme.New("mono", theme.Unknown, ascii)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func TestCleanIsSafeAndMeasurable(t *testing.T) {
	g := mono(t, false).Glyph
	for in, want := range map[string]string{
		"plain":             "plain",
		"日本":                "日本",
		"\x1b[31mred\x1b[m": "\ufffd[31mred\ufffd[m",
		"a\tb\nc\r\nd":      "a b c d",
		"\u202eabc":         "\ufffdabc",
		"a\u200bb":          "a\ufffdb",
		"👩‍👩‍👦":             "\ufffd",
		"⚠️":                "\ufffd",
		"\xff\xfe":          "\ufffd\ufffd",
		"\u0085\u009b1m":    "\ufffd\ufffd1m",
		"é":                 "é",
	} {
		if got := Clean(in, g); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := Clean(rapid.String().Draw(rt, "s"), g)
		for _, in := range []string{s, " " + s + " ", s + "x"} {
			if a, b := ansi.StringWidth(in), ansi.StringWidthWc(in); a != b {
				rt.Fatalf("%q is %d cells with graphemes and %d without", in, a, b)
			}
		}
		if strings.ContainsAny(s, "\x1b\n\r\t\u009b\x07") {
			rt.Fatalf("%q still holds a control character", s)
		}
		if again := Clean(s, g); again != s {
			rt.Fatalf("cleaning twice changes %q to %q", s, again)
		}
	})
}

func TestCutsKeepTheirWidth(t *testing.T) {
	g := mono(t, false).Glyph
	text := rapid.OneOf(rapid.StringMatching(`[ -~]{0,40}`), rapid.StringMatching(`[日本語aé港 ]{0,30}`))
	rapid.Check(t, func(rt *rapid.T) {
		s, w := Clean(text.Draw(rt, "s"), g), rapid.IntRange(0, 40).Draw(rt, "w")
		for name, got := range map[string]string{"Cut": Cut(s, w, g.More), "CutLeft": CutLeft(s, w, g.More)} {
			if n := Width(got); n > w {
				rt.Fatalf("%s(%q, %d) = %q has %d cells", name, s, w, got, n)
			}
			if Width(s) <= w && got != s {
				rt.Fatalf("%s(%q, %d) = %q, though it fits", name, s, w, got)
			}
		}
		for _, l := range Wrap(s, w) {
			if Width(l) > max(w, 0) && w > 1 {
				rt.Fatalf("Wrap(%q, %d) has the line %q of %d cells", s, w, l, Width(l))
			}
		}
		if w > 1 {
			if a, b := strings.Join(strings.Fields(s), ""), strings.ReplaceAll(strings.Join(Wrap(s, w), ""), " ", ""); a != b {
				rt.Fatalf("Wrap(%q, %d) lost text: %q", s, w, b)
			}
		}
	})
}

func TestLineIsExactlyAsWideAsAsked(t *testing.T) {
	th := mono(t, false)
	rapid.Check(t, func(rt *rapid.T) {
		w := rapid.IntRange(1, 60).Draw(rt, "w")
		var spans []Span
		for range rapid.IntRange(0, 5).Draw(rt, "n") {
			spans = append(spans, R(theme.Accent, Clean(rapid.StringMatching(`[日a b港]{0,14}`).Draw(rt, "s"), th.Glyph)))
		}
		for name, l := range map[string]string{"Line": Line(th, w, spans...), "Selected": Selected(th, w, theme.Select, spans...), "Sides": Sides(th, w, spans, spans)} {
			if n := ansi.StringWidth(l); n != w {
				rt.Fatalf("%s of %d cells has %d: %q", name, w, n, ansi.Strip(l))
			}
		}
	})
}

func TestNumbersAndAges(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 3904: "3904", 48210: "48 210", ^uint64(0): "18 446 744 073 709 551 615"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
	if got := Count(int64(-1234567)); got != "-1 234 567" {
		t.Errorf("Count(-1234567) = %q", got)
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 43<<20 + 1: "43.0 MiB", 1 << 62: "4.0 EiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
	for s, want := range map[float64]string{0: "0 %", 1: "100 %", 0.0001: "< 0.1 %", 0.9999: "99.9 %", 0.031: "3.1 %", 0.71: "71 %"} {
		if got := Percent(s); got != want {
			t.Errorf("Percent(%v) = %q, want %q", s, got, want)
		}
	}
	for d := time.Duration(0); d < 80*time.Hour; d += 7 * time.Second {
		text, left := Age(d)
		if left <= 0 {
			t.Fatalf("the age of %v stays true for %v", d, left)
		}
		if before, _ := Age(d + left - 1); before != text {
			t.Fatalf("the age of %v is %q and is said to stay so for %v, but is %q before", d, text, left, before)
		}
		if after, _ := Age(d + left); after == text {
			t.Fatalf("the age of %v is %q and still is after %v", d, text, left)
		}
	}
}

func TestListKeepsItsPlaceByKey(t *testing.T) {
	var l List
	items := strings.Split("abcdef", "")
	key := func(i int) string { return items[i] }
	l.Settle(len(items), key)
	items = strings.Split("xyabcdef", "") // nobody chose: the first stays selected
	l.Settle(len(items), key)
	if l.Sel != 0 {
		t.Errorf("selected %d before anybody moved", l.Sel)
	}
	l.Move(4, len(items))
	l.Remember(items[l.Sel])
	items = strings.Split("123xyabcdef", "")
	l.Settle(len(items), key)
	if items[l.Sel] != "c" {
		t.Errorf("after the reload %q is selected, want c", items[l.Sel])
	}
	items = strings.Split("123xyabdef", "") // it is gone: the same place
	l.Settle(len(items), key)
	if items[l.Sel] != "d" {
		t.Errorf("after the item went %q is selected, want d", items[l.Sel])
	}
	items = nil
	l.Settle(0, key)
	if l.Sel != 0 {
		t.Errorf("selected %d of an empty list", l.Sel)
	}
}

// graph reads commits written as id:parent[,merged], newest first.
func graph(text string) (int, func(int) Node) {
	var nodes []Node
	for _, f := range strings.Fields(text) {
		id, parents, _ := strings.Cut(f, ":")
		n := Node{ID: id}
		n.Parent, n.Merged, _ = strings.Cut(parents, ",")
		if n.Merged != "" {
			n.Mark = MarkMerge
		}
		nodes = append(nodes, n)
	}
	return len(nodes), func(i int) Node { return nodes[i] }
}

func rowsOf(t testing.TB, d *Dag, from, h int) []string {
	var out []string
	for _, r := range d.Window(mono(t, false), from, h) {
		out = append(out, strings.TrimRight(r.Text(), " "))
	}
	return out
}

func TestLanes(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"a line":                 {"c:b b:a a:", "● ● ●"},
		"a merge":                {"m:a,s s:b a:b b:", "◎─╮|│_●|●_│|●─╯"},
		"two heads":              {"x:a y:a a:", "●|│_●|●─╯"},
		"crossing":               {"m:a,s n:b,s a:c b:c s:c c:", "◎─╮|│_├─◎|●_│_│|│_│_●|│_●_│|●─┴─╯"},
		"a lane goes on between": {"x:a y:q z:a a: q:", "●|│_●|│_│_●|●─┼─╯|__●"},
		"a lane begins between":  {"x:m y:q z:m q: m:a,s s: a:", "●|│_●|│_│_●|│_●_│|◎─┬─╯|│_●|●"},
		"a parent never comes":   {"c:gone d:c", "●|│_●"},
		"merge of what is there": {"h:m m:a,p p:a a:", "●|◎─╮|│_●|●─╯"},
	} {
		n, node := graph(c.in)
		got := rowsOf(t, NewDag(n, node), 0, n)
		want := strings.Split(strings.ReplaceAll(strings.ReplaceAll(c.want, " ", "|"), "_", " "), "|")
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestWindowsOfTheGraphAgreeWithTheWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 900).Draw(rt, "n")
		nodes := make([]Node, n)
		for i := range nodes {
			nodes[i].ID = fmt.Sprint(i)
			if i+1 < n {
				nodes[i].Parent = fmt.Sprint(min(n-1, i+1+rapid.IntRange(0, 3).Draw(rt, "back")))
			}
			if i+9 < n && rapid.IntRange(0, 9).Draw(rt, "merge") == 0 {
				nodes[i].Merged, nodes[i].Mark = fmt.Sprint(i+2+rapid.IntRange(0, 6).Draw(rt, "merged")), MarkMerge
			}
		}
		d := NewDag(n, func(i int) Node { return nodes[i] })
		all := rowsOf(t, d, 0, n)
		if len(all) != n {
			rt.Fatalf("%d rows for %d commits", len(all), n)
		}
		for range 6 {
			from, h := rapid.IntRange(0, n).Draw(rt, "from"), rapid.IntRange(0, 80).Draw(rt, "h")
			got := rowsOf(t, d, from, h)
			if want := all[from:min(n, from+h)]; strings.Join(got, "\n") != strings.Join(want, "\n") {
				rt.Fatalf("rows %d to %d differ:\n%s\nwant\n%s", from, from+h, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	})
}

func TestManyLanesAreFolded(t *testing.T) {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "h%d:root ", i)
	}
	n, node := graph(b.String() + "root:")
	rows := NewDag(n, node).Window(mono(t, false), 0, n)
	if last := rows[19]; last.Hidden != 12 || last.Width() > 2*dagLanes+3 {
		t.Errorf("20 lanes: %d hidden, %d cells, want 12 hidden", last.Hidden, last.Width())
	}
}

func TestHistogramKeepsGapsAndDropsEmptyEnds(t *testing.T) {
	got := Hist(mono(t, false), []HistBar{{"0", 0}, {"1-15", 38}, {"16-255", 0}, {"256+", 1}, {"more", 0}}, 40)
	want := []string{
		"   1-15 ████████████████████████████ 38",
		" 16-255 0",
		"   256+ ▊ 1",
	}
	for i := range got {
		got[i] = strings.TrimRight(ansi.Strip(got[i]), " ")
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestColumnsGiveWayByPriority(t *testing.T) {
	tb := Table{
		Columns: []Column{{Title: "id"}, {Title: "name", Min: 4, Drop: 1}, {Title: "note", Drop: 2}},
		N:       1, Heading: true,
		Row: func(int) []Span { return []Span{S("rotterdam"), S("Rotterdam"), S("open all year")} },
	}
	for w, want := range map[int]string{40: "id name note", 32: "id name note", 31: "id name", 17: "id name", 16: "id", 5: "id"} {
		var l List
		head := strings.Join(strings.Fields(ansi.Strip(tb.Render(mono(t, false), w, 2, &l, true)[0])), " ")
		if head != want {
			t.Errorf("at %d cells the columns are %q, want %q", w, head, want)
		}
	}
}

func TestTheStatusLineKeepsWhatMatters(t *testing.T) {
	m := Meter{Get: 3, List: 8, Bytes: 1 << 20, Hops: 4, InFlight: 11, Failed: 11, Scope: "screen"}
	for w, want := range map[int]string{
		100: " GET 3 HEAD 0 LIST 8 PUT 0 DEL 0 · 1.0 MiB · hops 4 · 11 in flight · 11 failed               screen ",
		80:  " GET 3 HEAD 0 LIST 8 PUT 0 DEL 0 · hops 4 · 11 in flight · 11 failed     screen ",
		70:  " GET 3 HEAD 0 LIST 8 PUT 0 DEL 0 · 11 in flight · 11 failed    screen ",
	} {
		if got := ansi.Strip(m.Render(mono(t, false), w)); got != want {
			t.Errorf("at %d cells\n%q, want\n%q", w, got, want)
		}
	}
}
