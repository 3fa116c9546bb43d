package part

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/internal/pace"
)

var filterColumns = []string{"type", "rows", "size", "share", "version", "age", "held by"}

var filterRows = [][]string{
	{"node:Port", "48 210", "61.0 KiB", "71 %", "v41", "3 m", "main …7QX2M9"},
	{"node:Vessel", "999", "900 B", "< 0.1 %", "v8", "now", "branch review/x"},
	{"edge:CallsAt", "1 000 000", "2.0 MiB", "100 %", "v137", "41 d", "-"},
	{"node:Straße", "-3", "", "unknown", "", "", "ÜBER Ümläute 港"},
	{"node:Inf", "inf", "nan", "0x10", "1e5", "5 h", ""},
}

func filtered(t *testing.T, text string) string {
	t.Helper()
	f, err := ParseFilter(text, filterColumns)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	var out []string
	for i, row := range filterRows {
		if f.Match(filterColumns, func(c int) string { return row[c] }) {
			out = append(out, fmt.Sprint(i))
		}
	}
	return strings.Join(out, "")
}

// filterTerms are filters and the numbers of the rows of filterRows that they
// leave.
var filterTerms = map[string]string{
	"":                     "01234",
	"   ":                  "01234",
	"port":                 "0",
	"PORT":                 "0",
	"node: v":              "01",
	"node:Port":            "0",
	"type:port":            "0",
	"TYPE:port":            "0",
	"rows:port":            "",
	"!node":                "2",
	"!node !edge":          "",
	"node !vessel":         "034",
	"!type:node":           "2",
	`"branch review"`:      "1",
	`"branch rev`:          "1",
	`held-by:branch`:       "1",
	`heldby:=-`:            "2",
	`held-by:"main …7"`:    "0",
	"rows:>1000":           "02",
	"rows:>=999":           "012",
	"rows:<0":              "3",
	"rows:=999":            "1",
	"rows:=48210":          "0",
	`rows:="48 210"`:       "0",
	"rows:<=999":           "13",
	"!rows:>1000":          "134",
	"size:>1KiB":           "02",
	"size:>1kib":           "02",
	"size:<1024":           "1",
	"share:>70":            "02",
	"share:<0.1":           "1",
	"share:>=100%":         "2",
	"version:>40":          "02",
	"version:>v40":         "02",
	"version:=v8":          "1",
	"age:<1h":              "01",
	"age:>=5h":             "24",
	"type:=node:port":      "0",
	"type:=port":           "",
	"type:=NODE:STRASSE":   "",
	"type:=NODE:STRAẞE":    "3",
	"über":                 "3",
	"ÜMLÄUTE":              "3",
	"港":                    "3",
	"~^node:[pv]":          "01",
	"~^edge|^node:p":       "02",
	"type:~(port|calls)":   "02",
	"!~node":               "2",
	`~"branch r"`:          "1",
	"type:>abc":            "",
	"!":                    "01234",
	"type:":                "01234",
	"!type:":               "01234",
	"~":                    "01234",
	"!type:~":              "01234",
	"rows:>":               "01234",
	"rows:=":               "01234",
	`""`:                   "01234",
	`"!node"`:              "",
	`"~^node"`:             "",
	`"rows:>5"`:            "",
	`ty"pe:port"`:          "",
	"nosuch:port":          "",
	"rows:>0 type:node":    "01",
	"version:>1000":        "", // 1e5, inf and 0x10 are no numbers that a screen writes
	"rows:<100000000000":   "0123",
	"share:=16":            "",
	"size:>0 !size:>1000B": "1",
}

// badFilters are texts that are no filter, and a part of what is said of them.
var badFilters = map[string]string{
	"~(":                      "reading a filter: ~( is not a regular expression: missing closing )",
	"type:~a**":               "invalid nested repetition operator",
	strings.Repeat("x", 1025): "too long, at most 1.0 KiB",
	`~(?=x)`:                  "not a regular expression",
	`~(a)\1`:                  "not a regular expression",
}

func TestFilterTerms(t *testing.T) {
	for text, want := range filterTerms {
		if got := filtered(t, text); got != want {
			t.Errorf("%s: rows %q, want %q", text, got, want)
		}
	}
	for text, want := range badFilters {
		if _, err := ParseFilter(text, filterColumns); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
	var none *Filter
	if !none.Empty() || !none.Match(nil, nil) || !(&Filter{}).Match(nil, nil) {
		t.Error("no filter matches something")
	}
}

// TestFilterForOtherColumns: a filter may meet rows whose columns stand in
// another order, or do not exist.
func TestFilterForOtherColumns(t *testing.T) {
	f, err := ParseFilter("rows:>5", []string{"type", "rows"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		names []string
		want  bool
	}{{[]string{"Rows", "type"}, true}, {[]string{"type", "rows"}, false}, {[]string{"type"}, false}, {nil, false}} {
		if got := f.Match(c.names, func(i int) string { return [...]string{"6", "4"}[i] }); got != c.want {
			t.Errorf("%v: %v", c.names, got)
		}
	}
}

func TestNumbersAsScreensWriteThem(t *testing.T) {
	for _, n := range []int64{0, 7, 999, 1000, 48_210, 1_234_567, -412} {
		if v, ok := number(Count(n)); !ok || v != float64(n) {
			t.Errorf("%s is read as %v, %v", Count(n), v, ok)
		}
	}
	for e := range 60 {
		n := int64(1) << e
		if v, ok := number(Bytes(n)); !ok || v != float64(n) {
			t.Errorf("%s is read as %v, %v", Bytes(n), v, ok)
		}
	}
	for s, want := range map[string]float64{"−412": -412, "+2 031": 2031, "48\u202f210": 48210, "21 ms": 0.021, "12 d": 12 * 86400, "100 %": 100, "3.1 %": 3.1, ".5": 0.5} {
		if v, ok := number(s); !ok || v != want {
			t.Errorf("%s is read as %v, %v", s, v, ok)
		}
	}
	for _, s := range []string{"", " ", "v", "vv4", "4v", "inf", "NaN", "0x10", "1e5", "1_0", "--4", "4-", "1.2.3", "12 apples", "KiB", "…7QX2M9", strings.Repeat("1", 40)} {
		if v, ok := number(s); ok {
			t.Errorf("%q is read as %v", s, v)
		}
	}
}

func FuzzFilter(f *testing.F) {
	for _, s := range []string{"port", "rows:>5", `"a b" !c`, "~a|b", "!held-by:~x", "ÜBER", "rows:=", `ty"pe`, "~(a{1000}){1000}", "~[", "!!a", "\xff:\"", "k", "\u212a"} {
		f.Add(s, "48 210", "Über \u212a İ")
	}
	f.Fuzz(func(t *testing.T, text, a, b string) {
		fl, err := ParseFilter(text, filterColumns)
		if err != nil {
			if fl != nil || !strings.HasPrefix(err.Error(), "reading a filter: ") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		row := func(c int) string { return [...]string{a, b}[c%2] }
		got := fl.Match(filterColumns, row)
		if fl.Match(filterColumns, row) != got {
			t.Errorf("%q answers differently the second time", text)
		}
		if strings.ContainsAny(text, "\"!~: \t") || text == "" {
			return
		}
		// A word is looked for as if both were folded before.
		folded := func(s string) string {
			var out strings.Builder
			for _, r := range s {
				out.WriteRune(fold(r))
			}
			return out.String()
		}
		if want := strings.Contains(folded(a), folded(text)) || strings.Contains(folded(b), folded(text)); got != want {
			t.Errorf("%q in %q and %q: %v, want %v", text, a, b, got, want)
		}
	})
}

func filterTable(n int) [][]string {
	rows := make([][]string, n)
	for i := range rows {
		rows[i] = []string{fmt.Sprintf("01K%07dA1B2C3D4", i), "v" + Count(i), "Ana Maria", "review/ports", "load append", "node:Port +12 ~3"}
	}
	return rows
}

func BenchmarkFilter(b *testing.B) {
	names := []string{"id", "version", "actor", "branch", "kind", "tables"}
	rows := filterTable(100_000)
	for _, text := range []string{"vessel", "version:>50000", "branch:main", "港"} {
		b.Run(text, func(b *testing.B) {
			f, err := ParseFilter(text, names)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, row := range rows {
					f.Match(names, func(c int) string { return row[c] })
				}
			}
		})
	}
}

func TestFilterAllocatesNothing(t *testing.T) {
	names := []string{"id", "version", "actor", "branch", "kind", "tables"}
	row := filterTable(48_211)[48_210]
	text := func(c int) string { return row[c] }
	for _, s := range []string{"vessel", "version:>50000", "branch:=main", "über", "!ana"} {
		f, err := ParseFilter(s, names)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { f.Match(names, text) }); n > 0 {
			t.Errorf("%s: %.0f allocations a row", s, n)
		}
	}
}

func TestFilterIsFast(t *testing.T) {
	names := []string{"id", "version", "actor", "branch", "kind", "tables"}
	rows := filterTable(100_000)
	f, err := ParseFilter("vessel", names)
	if err != nil {
		t.Fatal(err)
	}
	pace.Within(t, "100 000 rows of 6 columns", 100*time.Millisecond, func() time.Duration {
		return pace.Thread(func() {
			for _, row := range rows {
				f.Match(names, func(c int) string { return row[c] })
			}
		})
	})
}
