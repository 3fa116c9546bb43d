package part

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"github.com/omnideck/omnideck/tui/theme"
)

var roleNames = []struct {
	role theme.Role
	name string
}{
	{theme.Text, "text"}, {theme.Muted, "muted"}, {theme.Strong, "strong"}, {theme.Accent, "accent"}, {theme.Select, "select"}, {theme.Mark, "mark"},
	{theme.OK, "ok"}, {theme.Warn, "warn"}, {theme.Bad, "bad"}, {theme.Write, "write"}, {theme.Chip, "chip"}, {theme.Border, "border"},
	{theme.Match, "match"}, {theme.Travel, "travel"}, {theme.RW, "rw"}, {theme.Added, "added"}, {theme.Removed, "removed"}, {theme.Changed, "changed"},
}

// guide is the style guide: every role and the pieces, in 24 lines of 80.
func guide(t *theme.Theme) []string {
	const w = 80
	var roles [3][]Span
	for i, r := range roleNames {
		roles[i/6] = append(roles[i/6], S(" "), R(r.role, " "+r.name+" "), S(spaces(10-len(r.name))))
	}
	lanes := []Span{S(" ")}
	for i := range 8 {
		g := t.Glyph
		lanes = append(lanes, R(theme.Lane(i), [...]string{g.V, g.Commit, g.Merge + g.H + g.TR, g.System, g.TeeR + g.H + g.BR, g.V, g.Commit, g.V}[i]+" "))
	}
	lanes = append(lanes, S("   "), S(Spark(t.Glyph, []float64{1, 2, 5, 3, 8, 0, 4}, 8, 8)), S("   "), S(Gauge(t.Glyph, 0.71, 12)))
	field := NewField("log --bran")
	field.Ghost = "ch main"
	growth := func(v int64) string {
		return Growth{Name: "F", Title: "manifest fragments", Value: v, Limits: []int64{50, 200, 1000}}.Render(t, w)
	}
	offers := []Offer{
		{Kind: "action", Text: "commits", At: []int{0, 1, 2}, Detail: "history of the branch", Key: "3"},
		{Kind: "branch", Text: "review/com", At: []int{7, 8, 9}},
		{Kind: "action", Text: "compact", At: []int{0, 1, 2}, Why: "read-only", Key: "O"},
	}
	lines := []string{Line(t, w, roles[0]...), Line(t, w, roles[1]...), Line(t, w, roles[2]...), Line(t, w, lanes...)}
	lines = append(lines, Tabs(t, []string{"schema", "fragments", "versions"}, 1, w), field.Render(t, w))
	lines = append(lines, Offers(t, len(offers), func(i int) Offer { return offers[i] }, &List{}, w, 3)...)
	lines = append(lines, growth(12), growth(138), growth(768))
	lines = append(lines, Waterfall(t, opening, w, 6)...)
	lines = append(lines, Pair{Name: "depth_m", Old: "21.0", New: "24.0"}.Render(t, 8, w)...)
	lines = append(lines, Pair{Name: "status", Old: "open", New: "open"}.Render(t, 8, w)...)
	lines = append(lines, Pair{Name: "note", New: "new here", NoOld: true}.Render(t, 8, w)...)
	lines = append(lines, HexDump(t, []byte("LANC\x00\x01harbor"), 0x1f0, w)...)
	lines = append(lines, Keys(t, []Hint{{Key: "enter", Title: "open"}, {Key: "W", Title: "write", Why: "read-only"}}, w))
	menu := Choices{Items: []Choice{{"i", "id", "…7QX2M9", true}, {"j", "row as JSON", "", false}}, Toggle: true}
	menu.Items[0].Detail = Short("01K7A1B2C3D47QX2M9", t.Glyph)
	box := Box(t, "columns", menu.Render(t, 32, 2), 34)
	return Over(Fit(lines, w, 24), box, w, Bottom)
}

func TestStyleGuide(t *testing.T) {
	for _, name := range theme.Names() {
		for _, c := range []struct {
			name  string
			bg    theme.Background
			ascii bool
		}{{"unknown", theme.Unknown, false}, {"dark", theme.Dark, false}, {"light", theme.Light, false}, {"ascii", theme.Unknown, true}} {
			th, err := theme.New(name, c.bg, c.ascii)
			if err != nil {
				t.Fatal(err)
			}
			if c.bg != theme.Unknown && name != "ansi16" && name != "contrast" {
				continue // has no variants
			}
			t.Run(name+"/"+c.name, func(t *testing.T) {
				lines := guide(th)
				for i, l := range lines {
					if n := ansi.StringWidth(l); n != 80 {
						t.Errorf("line %d has %d cells", i, n)
					}
				}
				golden.RequireEqual(t, strings.Join(lines, "\n")+"\n")
			})
		}
	}
}

// TestRolesLookDifferent: with colours, what means something else looks
// different, in the guide as on the screens.
func TestRolesLookDifferent(t *testing.T) {
	for _, name := range []string{"dark", "light"} {
		th, err := theme.New(name, theme.Unknown, false)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		for _, r := range roleNames {
			if other, ok := seen[th.SGR(r.role)]; ok && r.name != "rw" && r.name != "added" && r.name != "removed" {
				t.Errorf("%s: %s looks like %s", name, r.name, other)
			}
			seen[th.SGR(r.role)] = r.name
		}
	}
}
