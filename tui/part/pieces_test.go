package part

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/theme"
)

// hard are texts that are difficult to measure.
var hard = []string{
	"", "plain", "日本語の港", "a日b本c", "e\u0301te\u0301", "👩‍👩‍👦 family", "⚠️", "क्षि", "🇩🇪🇩", "\x00ः", "\u1100\u1161\u11a8",
	"\x1b[31mred", "a\tb\nc", "\xff\xfe", "\u202eabc", strings.Repeat("港", 90), strings.Repeat("long ", 60), "\u0d4e x", "\u0600\u0601",
}

// everySize checks that a piece is exactly h lines of w cells at every width,
// in both glyph sets, and that the ASCII set draws nothing else unless the data
// are foreign.
func everySize(t *testing.T, foreign bool, h func(w int) int, render func(th *theme.Theme, w, h int) []string) {
	t.Helper()
	for name, ascii := range map[string]bool{"mono": false, "dark": true} { // attributes, and colours
		th, err := theme.New(name, theme.Dark, ascii)
		if err != nil {
			t.Fatal(err)
		}
		for w := 1; w <= 220; w += pace.Of(1, 17) {
			want := h(w)
			lines := render(th, w, want)
			if len(lines) != want {
				t.Fatalf("%s, ASCII %v: %d lines at width %d, want %d", name, ascii, len(lines), w, want)
			}
			for i, l := range lines {
				if n := ansi.StringWidth(l); n != w {
					t.Fatalf("%s, ASCII %v: line %d has %d cells, want %d: %q", name, ascii, i, n, w, l)
				}
				if ascii && !foreign && !plain(ansi.Strip(l)) {
					t.Fatalf("the ASCII set draws %q", ansi.Strip(l))
				}
			}
		}
	}
}

func fixed(h int) func(int) int { return func(int) int { return h } }

// What matters most stays where there is little room, in its place.
func TestKeysDropWhatMattersLeast(t *testing.T) {
	th, _ := theme.New("mono", theme.Unknown, false)
	hints := []Hint{{Key: "1-5", Title: "screens", Keep: 3}, {Key: "enter", Title: "open", Keep: 7}, {Key: "", Title: "unbound", Keep: 9}, {Key: "r", Title: "reload", Keep: 2}, {Key: "?", Title: "help", Keep: 10}}
	for w, want := range map[int]string{60: "1-5 screens  enter open  r reload  ? help", 40: "1-5 screens  enter open  ? help", 25: "enter open  ? help", 10: "? help"} {
		if got := strings.TrimSpace(ansi.Strip(Keys(th, hints, w))); got != want {
			t.Errorf("in %d cells: %q, want %q", w, got, want)
		}
	}
}

func TestFieldIsOneLineAtEveryWidth(t *testing.T) {
	for _, s := range hard {
		f := NewField(s)
		for _, at := range []int{0, 1, 2, len(f.Text) / 2, len(f.Text)} {
			f.At = at
			for _, ghost := range []string{"", "ghost 港"} {
				f.Ghost = ghost
				everySize(t, true, fixed(1), func(th *theme.Theme, w, _ int) []string {
					l := f.Render(th, w)
					if th.Name == "mono" && strings.Count(l, "\x1b["+th.SGR(theme.Select)+"m") != 1 {
						t.Fatalf("%q at %d, width %d: no cursor in %q", s, at, w, l)
					}
					return []string{l}
				})
			}
		}
	}
	f := NewField("ascii only, and long enough to be scrolled")
	everySize(t, false, fixed(1), func(th *theme.Theme, w, _ int) []string { return []string{f.Render(th, w)} })
}

// drawn is a line of a field with its cursor between brackets.
func drawn(f Field, w int) string {
	th, _ := theme.New("mono", theme.Unknown, false)
	return ansi.Strip(strings.NewReplacer("\x1b[7m", "[", "\x1b[m", "]", "\x1b[2m", "<").Replace(f.Render(th, w)))
}

func TestFieldEdits(t *testing.T) {
	for _, c := range []struct{ text, keys, want string }{
		{"", "", "[ ]"},
		{"abc", "", "abc[ ]"},
		{"abc", "left left", "a[b]c"},
		{"abc", "home", "[a]bc"},
		{"abc", "ctrl+a right", "a[b]c"},
		{"abc", "home end", "abc[ ]"},
		{"abc", "home ctrl+e", "abc[ ]"},
		{"abc", "left left left left left", "[a]bc"},
		{"abc", "right right", "abc[ ]"},
		{"abc", "backspace", "ab[ ]"},
		{"abc", "home backspace", "[a]bc"},
		{"abc", "home delete", "[b]c"},
		{"abc", "delete", "abc[ ]"},
		{"abc", "left ctrl+u", "[c]"},
		{"abc", "left left ctrl+k", "a[ ]"},
		{"one two/three", "ctrl+w", "one [ ]"},
		{"one two/three", "alt+backspace", "one two/[ ]"},
		{"one two  ", "ctrl+w", "one [ ]"},
		{"one two/three", "alt+b", "one two/[t]hree"},
		{"one two/three", "alt+b alt+b alt+f", "one two[/]three"},
		{"one two/three", "home alt+d", "[ ]two/three"},
		{"e\u0301x", "home delete", "[x]"},
		{"xe\u0301", "backspace", "x[ ]"},
		{"xe\u0301", "left", "x[e\u0301]"},
		{"港日", "left", "港[日]"},
	} {
		f := NewField(c.text)
		for _, k := range strings.Fields(c.keys) {
			if !f.Key(k) {
				t.Errorf("%s is no key of a field", k)
			}
		}
		if got := strings.TrimRight(drawn(f, 40), " "); got != strings.TrimRight(c.want, " ") {
			t.Errorf("%q, %s: %q, want %q", c.text, c.keys, got, c.want)
		}
	}
	f := NewField("x")
	for _, k := range []string{"x", "enter", "tab", "esc", "up", "ctrl+c"} {
		if f.Key(k) || f.String() != "x" {
			t.Errorf("a field takes %s", k)
		}
	}
}

func TestFieldScrollsAndCompletes(t *testing.T) {
	f := NewField("s3://acme-graphs/harbor.omni")
	for _, c := range []struct {
		at, w int
		want  string
	}{
		{28, 12, "<…]arbor.omni[ ]"}, {0, 12, "[s]3://acme-g<…]"}, {14, 12, "<…]me-grap[h]s/<…]"}, {5, 3, "<…]/[a]"}, {5, 2, "<…][a]"}, {5, 1, "[a]"}, {28, 29, "s3://acme-graphs/harbor.omni[ ]"},
	} {
		f.At = c.at
		if got := drawn(f, c.w); got != c.want {
			t.Errorf("cursor at %d in %d cells: %q, want %q", c.at, c.w, got, c.want)
		}
	}
	f = NewField("tab")
	f.Ghost = "les"
	if got := drawn(f, 8); got != "tab[l]<es]  " {
		t.Errorf("with a completion: %q", got)
	}
	draft := f
	f.Key("right")
	if f.String() != "tables" || f.Ghost != "" || f.At != 6 || draft.String() != "tab" {
		t.Errorf("accepted: %q, completion %q, and the copy is %q", f.String(), f.Ghost, draft.String())
	}
	f.Ghost = "x"
	if f.Insert("!"); f.Ghost != "" || f.Accept() {
		t.Error("a completion outlives an edit")
	}
}

func TestFieldTakesPastes(t *testing.T) {
	f := NewField("ab")
	f.At = 1
	if whole := f.Insert("\n\n1\t2\x1b[31m3\u0085\nsecond"); !whole || f.String() != "a1 2[31m3b" || f.At != 9 {
		t.Errorf("pasted: %q, at %d, whole %v", f.String(), f.At, whole)
	}
	if f.Insert(strings.Repeat("x\u00e9", 1<<19)) {
		t.Error("a megabyte finds room")
	}
	if len(f.Text) != FieldMax {
		t.Errorf("%d characters are kept, want %d", len(f.Text), FieldMax)
	}
	if n := testing.AllocsPerRun(3, func() { f.At = 0; f.Insert(strings.Repeat("y", 1)) }); n > 8 {
		t.Errorf("%.0f allocations of an insert into a full field", n)
	}
}

func FuzzField(f *testing.F) {
	for _, s := range hard {
		f.Add(s, "left backspace home", uint8(9), uint8(2))
	}
	th := mono(f, false)
	f.Fuzz(func(t *testing.T, s, keys string, w, at uint8) {
		e := NewField(s)
		e.At = int(at)
		for _, k := range strings.Fields(keys) {
			e.Key(k)
			e.Insert(k)
		}
		if n := ansi.StringWidth(e.Render(th, int(w))); n != int(w) {
			t.Errorf("%q in %d cells has %d", s, w, n)
		}
	})
}

func TestOverKeepsWhatItDoesNotCover(t *testing.T) {
	body := []string{"aaaaaaaaaa", "港港港港港", "bbbbbbbbbb", "cccccccccc"}
	box := []string{"+--+", "|xy|", "+--+"}
	for _, c := range []struct {
		at   Place
		body []string
		box  []string
		want string
	}{
		{Centre, body, box, "aaa+--+aaa|港 |xy| 港|bbb+--+bbb|cccccccccc"},
		{Bottom, body, box, "aaaaaaaaaa|港 +--+ 港|bbb|xy|bbb|ccc+--+ccc"},
		{Bottom, body[:2], box, "aaa+--+aaa|港 +--+ 港"},
		{Centre, body[:1], []string{"wider than the body"}, "wider than"},
		{Centre, body[1:2], []string{"日日"}, "港 日日 港"},
		{Centre, body[1:2], []string{"日日日日日日"}, "日日日日日"},
		{Centre, body[:1], nil, "aaaaaaaaaa"},
	} {
		got := strings.Join(Over(c.body, c.box, 10, c.at), "|")
		if got = strings.ReplaceAll(got, "|||", "||"); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestOverAtEverySize(t *testing.T) {
	everySize(t, true, func(w int) int { return w%7 + 1 }, func(th *theme.Theme, w, h int) []string {
		var body []string
		for i := range h {
			s := Clean(strings.Repeat(hard[(i+w)%len(hard)]+"x", 30), th.Glyph)
			body = append(body, Line(th, w, R(theme.Accent, Cut(s, w/2, "")), R(theme.Muted, s)))
		}
		bw := max(w*2/3, 4)
		box := Box(th, "title", []string{Line(th, bw-2, R(theme.Bad, "日本語の港日本語の港")), Line(th, bw-2, S("x"))}, bw)
		before := strings.Join(body, "\n")
		out := Over(body, box, w, Place(w%2))
		if strings.Join(body, "\n") != before {
			t.Fatal("the body was changed")
		}
		return out
	})
	// Colours go on behind the box as they were before it.
	th, err := theme.New("ansi16", theme.Dark, false)
	if err != nil {
		t.Fatal(err)
	}
	line := th.Paint(theme.Accent, "0123456789")
	if got, want := Over([]string{line}, []string{"x"}, 10, Centre)[0], th.Paint(theme.Accent, "0123")+"x"+th.Paint(theme.Accent, "56789"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestChoices(t *testing.T) {
	c := Choices{Items: []Choice{{"i", "id", "…7QX2M9", false}, {"j", "row as JSON", "", true}, {"", "command line", "omnideck rows", false}}}
	c.List.Sel = 1
	th := mono(t, false)
	lines := func(w, h int) string {
		out := c.Render(th, w, h)
		for i := range out {
			out[i] = strings.TrimRight(ansi.Strip(out[i]), " ")
		}
		return "\n" + strings.Join(out, "\n")
	}
	if got, want := lines(c.Width(th), 3), "\n  i  id            …7QX2M9\n▸ j  row as JSON\n     command line  omnideck rows"; got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
	c.Toggle = true
	if got, want := lines(20, 2), "\n  [ ] i  id        …\n▸ [✓] j  row as JS…┄"; got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
	c.List.Sel = 2
	if got, want := lines(20, 1), "\n▸ [ ]    command l…┄"; got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
	if i, ok := c.Find("j"); !ok || i != 1 {
		t.Errorf("j chooses %d", i)
	}
	if _, ok := c.Find(""); ok {
		t.Error("no key chooses something")
	}
	for _, n := range []int{0, 1, 40} {
		var items []Choice
		for i := range n {
			items = append(items, Choice{"k", hard[i%len(hard)], hard[(i*7)%len(hard)], i%2 == 0})
		}
		for _, toggle := range []bool{false, true} {
			c := Choices{Items: items, Toggle: toggle}
			c.List.Sel = n * 2 / 3
			everySize(t, true, func(w int) int { return w % 12 }, func(th *theme.Theme, w, h int) []string { return c.Render(th, w, h) })
		}
	}
	ascii := Choices{Items: []Choice{{"a", "label", "detail", true}, {"b", "other", "", false}}, Toggle: true}
	everySize(t, false, fixed(1), func(th *theme.Theme, w, h int) []string { return ascii.Render(th, w, h) })
}
