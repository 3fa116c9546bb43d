package query

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/internal/lex"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/pgtest"
)

// FuzzQuery: whatever the text and the parameters, there is an answer or an
// error with a place in the text; what was bound has values of the right kind.
func FuzzQuery(f *testing.F) {
	for _, text := range wrong {
		params, source := split(text)
		if len(source) < 300 {
			f.Add(source, params)
		}
	}
	for _, source := range cuts {
		f.Add(source, `{"a":"x","b":[1],"c":[1,2,3],"p":5}`)
	}
	m := maker{rand.New(rand.NewPCG(1, 0))}
	for i := range 100 {
		f.Add(m.query(i), `{"p":null}`)
	}
	ir := pgtest.IR(f, wide)
	f.Fuzz(func(t *testing.T, source, params string) {
		file, err := Parse(source)
		if err != nil {
			var e *lex.Error
			if !errors.As(err, &e) || e.Offset > len(source) || e.Line < 1 || e.Col < 1 {
				t.Errorf("%T %v", err, err)
			}
			return
		}
		Lint(source, ir)
		for _, q := range file.Queries {
			checked, err := Check(q, ir)
			if err != nil {
				continue
			}
			bound, err := checked.Bind([]byte(params), time.Unix(0, 0))
			if err != nil {
				continue
			}
			for _, s := range bound.Statements {
				for _, set := range s.Set {
					if set.Value == nil && !set.Property.Type.Nullable {
						t.Errorf("%s: %s is null", source, set.Property.Name)
					}
				}
			}
		}
	})
}

// TestLargeTexts: time and memory grow with the text, whatever is in it.
func TestLargeTexts(t *testing.T) {
	ir := pgtest.IR(t, wide)
	for name, make := range map[string]func(n int) string{
		"statements": func(n int) string {
			return "query q() { " + strings.Repeat("update Service set { cost: 1.0 } where slug = \"a\"\n", n) + "}"
		},
		"queries": func(n int) string { return strings.Repeat("query q() { delete Box where b = 1 }\n", n) },
		"nots": func(n int) string {
			return "query q() { match { $s: Service " + strings.Repeat("not { $s dependsOn $t } ", n) + "} return { $s } }"
		},
		"a chain from its end": func(n int) string {
			chain := ""
			for i := range n {
				chain += "$v" + strings.Repeat("x", (n-i)%7) + letters(n-i) + " dependsOn $v" + strings.Repeat("x", (n-i-1)%7) + letters(n-i-1) + "\n"
			}
			return "query q() { match { " + chain + "$v" + letters(0) + ": Service } return { 1 } }"
		},
		"open calls": func(n int) string { return "query q() { match { $s: Service } return { " + strings.Repeat("count(", n) },
		"list": func(n int) string {
			return "query q() { update Service set { marks: [" + strings.Repeat("1, ", n) + "1] } where b = 1 }"
		},
		"comments":  func(n int) string { return strings.Repeat("/* a */ // b\n", n) },
		"no string": func(n int) string { return "query q() { delete Box where note = \"" + strings.Repeat("\\n", n) },
	} {
		const n, times = 250, 16
		least := func(n int) float64 {
			source, best := make(n), time.Hour
			for range 3 {
				best = min(best, pace.Thread(func() { Lint(source, ir) }))
			}
			return best.Seconds()
		}
		small, large := least(n), least(times*n)
		if ratio := large / small; ratio > times*times/2 && large > 0.05 {
			t.Errorf("%s: %d times the text takes %.0f times as long, %.2f s", name, times, ratio, large)
		}
	}
}

// letters is a number as lower-case letters.
func letters(n int) string {
	out := ""
	for ; n > 0 || out == ""; n /= 26 {
		out += string(rune('a' + n%26))
	}
	return out
}

func BenchmarkParse(b *testing.B) {
	source := strings.Repeat("query add($code: String, $at: DateTime?) {\n    insert Port { code: $code, name: \"a name\", depth: 5.5, seen: $at }\n}\n\nquery near($n: I32) {\n    match { $p: Port { code: \"x\" } $p callsAt{1,2} $v not { $v owns $_ } $v.n >= $n }\n    return { $p.code as c, count($v) }\n    order { c desc } limit 10\n}\n", 1000)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		if _, err := Parse(source); err != nil {
			b.Fatal(err)
		}
	}
}
