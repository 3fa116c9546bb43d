package part

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/theme"
)

// lit is a text with what matched between brackets.
// matches is Rank of one candidate.
func matches(pattern, text string) (score int, at []int, ok bool) {
	for _, h := range Rank(pattern, 1, func(int) string { return text }, 1) {
		return h.Score, h.At, true
	}
	return 0, nil, false
}

func lit(pattern, text string) string {
	_, at, ok := matches(pattern, text)
	if !ok {
		return "no"
	}
	var b strings.Builder
	for _, s := range Matched(theme.Text, text, at) {
		if s.Role == theme.Match {
			b.WriteString("[" + s.Text + "]")
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

func TestFuzzyChoosesTheBestPlaces(t *testing.T) {
	for _, c := range []struct{ pattern, text, want string }{
		{"", "anything", "anything"},
		{"com", "commits", "[com]mits"},
		{"COM", "commits", "[com]mits"},
		{"sf", "show fragments", "[s]how [f]ragments"},
		{"frag", "first graphs, fragments", "first graphs, [frag]ments"},
		{"pc", "node:PortCall", "node:[P]ort[C]all"},
		{"v41", "version v4 of v41", "version v4 of [v41]"},
		{"o c", "open commits", "[o]pen [c]ommits"},
		{"xyz", "commits", "no"},
		{"moc", "commits", "no"},
		{"commitss", "commits", "no"},
		{"hafen", "Hafen 港", "[Hafen] 港"},
		{"港", "日本の港町", "日本の[港]町"},
		{"ÜBER", "über alles", "[über] alles"},
		{"e", "re\u0301sume\u0301", "r[e\u0301]sume\u0301"},
		{"σ", "ΟΔΟΣ", "ΟΔΟ[Σ]"},
	} {
		if got := lit(c.pattern, c.text); got != c.want {
			t.Errorf("%q in %q: %s, want %s", c.pattern, c.text, got, c.want)
		}
	}
}

func TestRankOrders(t *testing.T) {
	names := strings.Split("open the picker|show columns|commits|show commits of the table|compare|copy the row|second commit", "|")
	hits := Rank("com", len(names), func(i int) string { return names[i] }, 4)
	var got []string
	for _, h := range hits {
		got = append(got, names[h.Index])
	}
	if want := "commits|compare|show commits of the table|second commit"; strings.Join(got, "|") != want {
		t.Errorf("%s, want %s", strings.Join(got, "|"), want)
	}
	if hits := Rank("", 3, func(i int) string { return names[i] }, 2); len(hits) != 2 || hits[0].Index != 0 || hits[1].Index != 1 {
		t.Errorf("without a pattern: %v", hits)
	}
	if hits := Rank("com", len(names), func(i int) string { return names[i] }, 0); len(hits) != 0 {
		t.Errorf("none asked for, %d given", len(hits))
	}
}

// TestFuzzyAgainstTrying: the score is that of the best of all ways to place
// the pattern, and the positions are one of those.
func TestFuzzyAgainstTrying(t *testing.T) {
	letters := rapid.StringMatching(`[abA: ]{0,9}`)
	rapid.Check(t, func(rt *rapid.T) {
		pattern, text := rapid.StringMatching(`[abA]{1,4}`).Draw(rt, "pattern"), letters.Draw(rt, "text")
		best, found := 0, false
		var try func(i, from int, at []int)
		worth := func(at []int) int {
			n := -min(at[0], fuzzyLead) - len(text)/fuzzyLong
			for i, j := range at {
				n += fuzzyHit
				before := uint8(0)
				if j > 0 {
					before = runeKind(rune(text[j-1]))
				} else {
					n += fuzzyFirst
				}
				if startsWord(before, runeKind(rune(text[j]))) {
					n += fuzzyStart
				}
				if i > 0 && at[i-1] == j-1 {
					n += fuzzyRun
				} else if i > 0 {
					n -= j - 1 - at[i-1]
				}
			}
			return n
		}
		try = func(i, from int, at []int) {
			if i == len(pattern) {
				if n := worth(at); !found || n > best {
					best, found = n, true
				}
				return
			}
			for j := from; j < len(text); j++ {
				if strings.EqualFold(text[j:j+1], pattern[i:i+1]) {
					try(i+1, j+1, append(slices.Clone(at), j))
				}
			}
		}
		try(0, 0, nil)
		score, at, ok := matches(pattern, text)
		if ok != found {
			rt.Fatalf("%q in %q: found %v, want %v", pattern, text, ok, found)
		}
		if found && (score != best || worth(at) != best) {
			rt.Fatalf("%q in %q: score %d at %v, which is worth %d; the best is %d", pattern, text, score, at, worth(at), best)
		}
	})
}

func FuzzFuzzy(f *testing.F) {
	for _, s := range hard {
		f.Add("a港", s)
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		_, at, ok := matches(pattern, text)
		if !ok && len(at) > 0 || !slices.IsSorted(at) {
			t.Fatalf("found %v at %v", ok, at)
		}
		var b strings.Builder
		for _, s := range Matched(theme.Text, text, at) {
			b.WriteString(s.Text)
		}
		if b.String() != text {
			t.Errorf("lit, %q is %q", text, b.String())
		}
	})
}

// candidates are the lines of a palette over a large graph.
func candidates(n int) []string {
	out := make([]string, n)
	for i := range out {
		switch i % 3 {
		case 0:
			out[i] = fmt.Sprintf("branch review/ports-%d", i)
		case 1:
			out[i] = fmt.Sprintf("node:PortCall%d fragments", i)
		default:
			out[i] = fmt.Sprintf("commit 01K%07dA1B2C3D4 load append", i)
		}
	}
	return out
}

func BenchmarkRank(b *testing.B) {
	all := candidates(20_000)
	for _, pattern := range []string{"", "r", "port", "cal frag", "nothing such", "abc"} {
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				Rank(pattern, len(all), func(i int) string { return all[i] }, 50)
			}
		})
	}
}

func TestRankIsFast(t *testing.T) {
	all := candidates(20_000)
	pace.Within(t, "20 000 candidates", 16*time.Millisecond, func() time.Duration {
		return pace.Thread(func() { Rank("port", len(all), func(i int) string { return all[i] }, 50) })
	})
}

func TestOffers(t *testing.T) {
	all := []Offer{
		{Kind: "action", Text: "commits", At: []int{0, 1, 2}, Detail: "history of the branch", Key: "3"},
		{Kind: "branch", Text: "review/com", At: []int{7, 8, 9}},
		{Kind: "action", Text: "compact", Why: "read-only", Key: "O"},
	}
	var l List
	got := Offers(mono(t, false), len(all), func(i int) Offer { return all[i] }, &l, 48, 4)
	for i := range got {
		got[i] = ansi.Strip(got[i])
	}
	want := []string{
		"▸ action  commits  history of the branch      3 ",
		"  branch  review/com                            ",
		"  action  compact  (read-only)                O ",
		strings.Repeat(" ", 48),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	everySize(t, true, func(w int) int { return w % 9 }, func(th *theme.Theme, w, h int) []string {
		l := List{Sel: 7}
		return Offers(th, 30, func(i int) Offer {
			s := Clean(hard[i%len(hard)], th.Glyph)
			return Offer{Kind: "branch", Text: s, At: []int{0, 1, len(s) / 2}, Detail: s, Key: "ctrl+p"}
		}, &l, w, h)
	})
}
