package part

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/tui/theme"
)

func stripped(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(ansi.Strip(l), " ") + "\n")
	}
	return b.String()
}

const ms = time.Millisecond

// opening is what a snapshot asks: three reads side by side between two that
// wait.
var opening = []Fall{
	{Op: "LIST", What: "manifest.open", From: 0, To: 21 * ms, Bytes: 61 << 10, Hop: 1},
	{Op: "GET", What: "__manifest/data/0f3c.lance", From: 22 * ms, To: 60 * ms, Bytes: 2 << 20, Hop: 2},
	{Op: "GET", What: "__manifest/data/77ab.lance", From: 22 * ms, To: 43 * ms, Bytes: 900, Hop: 2},
	{Op: "HEAD", What: "schema", From: 23 * ms, To: 44 * ms, Hop: 2, Failed: true},
	{Op: "GET", What: "nodes/a1/港の版.manifest", From: 61 * ms, To: 100 * ms, Bytes: 61 << 10, Hop: 3},
}

func TestWaterfall(t *testing.T) {
	for _, c := range []struct {
		w, h  int
		ascii bool
		want  string
	}{
		{100, 6, false, `
 hop op   call                       0                                      100 ms  took    bytes
 1   LIST manifest.open              █████████▌                                    21 ms 61.0 KiB
     GET  __manifest/data/77ab.lance          ██████████▍                          21 ms    900 B
 2   GET  __manifest/data/0f3c.lance          ██████████████████                   38 ms  2.0 MiB
     HEAD schema                               █████████▊                          21 ms      0 B ✗
 3   GET  nodes/a1/港の版.manifest                              ██████████████████ 39 ms 61.0 KiB
`},
		{60, 4, true, `
 hop op   call                 0    100 ms  took    bytes
 2   GET  __man~ata/0f3c.lance   #####     38 ms  2.0 MiB
 3   GET  nodes/~の版.manifest       ##### 39 ms 61.0 KiB
 : 3 calls more
`},
		{40, 6, false, `
 hop op   call         0 100 ms  took
 1   LIST man…est.open █▋       21 ms
     GET  __m…ab.lance  ██▌     21 ms
 2   GET  __m…3c.lance  ███▊    38 ms
     HEAD schema        ██▌     21 ms ✗
 3   GET  node…anifest     ████ 39 ms
`},
		{24, 6, true, `
 hop op   call   took
 1   LIST ~open 21 ms
     GET  ~ance 21 ms
 2   GET  ~ance 38 ms
     HEAD ~hema 21 ms x
 3   GET  n~est 39 ms
`},
	} {
		got := "\n" + stripped(Waterfall(mono(t, c.ascii), opening, c.w, c.h))
		if got != c.want {
			t.Errorf("at %d cells:%s\nwant%s", c.w, got, c.want)
		}
	}
}

func TestWaterfallAtEverySize(t *testing.T) {
	many := make([]Fall, 0, 500)
	for i := range 500 {
		from := time.Duration(i) * 17 * ms
		many = append(many, Fall{Op: "GET", What: hard[i%len(hard)], From: from, To: from + time.Duration(i%40)*ms, Bytes: int64(i) << (i % 50), Hop: i/3 + 1, Failed: i%9 == 0})
	}
	odd := []Fall{{Op: "\x1b[31m港港港港港港", From: -ms, To: -2 * ms, Bytes: -1, Hop: -1}, {To: math.MaxInt64, Bytes: math.MaxInt64, Hop: math.MaxInt}}
	for _, calls := range [][]Fall{nil, opening, many, odd} {
		everySize(t, true, func(w int) int { return w % 13 }, func(th *theme.Theme, w, h int) []string { return Waterfall(th, calls, w, h) })
	}
	everySize(t, false, fixed(5), func(th *theme.Theme, w, h int) []string { return Waterfall(th, opening[:4], w, h) })
}

func TestMillis(t *testing.T) {
	for d, want := range map[time.Duration]string{-1: "0.0 ms", 400 * time.Microsecond: "0.4 ms", 9949 * time.Microsecond: "9.9 ms", 9950 * time.Microsecond: "10 ms", 21 * ms: "21 ms", 12345 * ms: "12 345 ms", 100 * time.Second: "1 m 40 s"} {
		if got := Millis(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestSpark(t *testing.T) {
	uni, asc := mono(t, false).Glyph, mono(t, true).Glyph
	for _, c := range []struct {
		values []float64
		most   float64
		w      int
		want   string
	}{
		{[]float64{0, 1, 2, 4, 8, 16, math.NaN(), math.Inf(1), -1}, 8, 9, " ▁▂▄██ █ "},
		{[]float64{1, 2, 3}, 3, 5, "  ▃▅█"},
		{[]float64{1, 2, 3}, 3, 2, "▅█"},
		{[]float64{0.001}, 1000, 1, "▁"},
		{[]float64{1}, 0, 1, " "},
		{nil, 1, 3, "   "},
		{[]float64{1}, 1, 0, ""},
	} {
		if got := Spark(uni, c.values, c.most, c.w); got != c.want {
			t.Errorf("%v of %v in %d: %q, want %q", c.values, c.most, c.w, got, c.want)
		}
		if got := Spark(asc, c.values, c.most, c.w); !plain(got) || len(got) != c.w {
			t.Errorf("ASCII: %q", got)
		}
	}
}

func TestGrowth(t *testing.T) {
	g := Growth{Name: "F", Title: "manifest fragments", Limits: []int64{50, 200, 1000}}
	for _, c := range []struct {
		value int64
		role  theme.Role
		chip  string
		long  string
	}{
		{-1, theme.Muted, "F ?", " F ? manifest fragments, not read"},
		{0, theme.OK, "F 0", " F 0 manifest fragments            │                        │ of 50"},
		{49, theme.OK, "F 49", " F 49 manifest fragments           │███████████████████████▌│ of 50"},
		{50, theme.Warn, "F 50 !", " F 50 ! manifest fragments        │██████                  │ of 200"},
		{138, theme.Warn, "F 138 !", " F 138 ! manifest fragments       │████████████████▌       │ of 200"},
		{200, theme.Bad, "F 200 ✗", " F 200 ✗ manifest fragments      │████▊                   │ of 1000"},
		{48_210, theme.Bad, "F 48 210 ✗✗", " F 48 210 ✗✗ manifest fragments │█████████████████████│ past 1000"},
	} {
		g.Value = c.value
		if chip := g.Chip(mono(t, false)); chip.Text != c.chip || chip.Role != c.role {
			t.Errorf("%d: %q in role %d, want %q in %d", c.value, chip.Text, chip.Role, c.chip, c.role)
		}
		w := 68
		if c.value > 1000 {
			w = 66
		}
		if got := strings.TrimRight(ansi.Strip(g.Render(mono(t, false), w)), " "); got != c.long {
			t.Errorf("%d:\n%q, want\n%q", c.value, got, c.long)
		}
		everySize(t, false, fixed(1), func(th *theme.Theme, w, _ int) []string { return []string{g.Render(th, w)} })
	}
	if c := (Growth{Name: "V", Value: 1000, More: true, Limits: g.Limits}).Chip(mono(t, false)); c.Text != "V 1000+ ✗✗" {
		t.Errorf("a number that was not counted to its end: %q", c.Text)
	}
	if g := (Growth{Name: "V", Title: "objects", Value: 3}); g.Level() != 0 || !strings.Contains(ansi.Strip(g.Render(mono(t, false), 20)), "V 3 objects") {
		t.Error("a number without limits")
	}
}
