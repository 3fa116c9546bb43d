package load_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn/validate"
	"github.com/omnideck/omnideck/txn/validate/memgraph"
)

// mutate is what the Rust CLI says about a mutation, "" when it ran.
func (r *rust) mutate(source string) string {
	r.t.Helper()
	out, err := exec.CommandContext(r.t.Context(), r.bin, "mutate", "--store", r.graph, "-e", source).CombinedOutput()
	var exit *exec.ExitError
	if err == nil {
		return ""
	}
	said := report.FindStringSubmatch(strings.Join(strings.Fields(colour.ReplaceAllString(string(out), "")), " "))
	if !errors.As(err, &exit) || said == nil {
		r.t.Fatalf("%s\n%v: %s", source, err, out)
	}
	return said[1]
}

// statements are a random mutation, of inserts and updates or of deletes.
func statements(r *rand.Rand) string {
	n := func(most int) int { return r.IntN(most) }
	text := func() string { return []string{"t", "u", "w"}[n(3)] }
	var out []string
	deletes := n(4) == 0
	for range 1 + n(3) {
		s := ""
		switch k := n(10); {
		case deletes && k < 3:
			s = fmt.Sprintf(`delete B where k = "%d"`, n(4))
		case deletes && k < 6:
			s = fmt.Sprintf(`delete N where %s = "%d"`, []string{"from", "to"}[n(2)], n(4))
		case deletes && k < 8:
			s = fmt.Sprintf(`delete W where from = "a%d"`, n(3))
		case deletes:
			s = fmt.Sprintf(`delete A where m = "%d"`, n(3))
		case k < 4:
			s = fmt.Sprintf(`insert B { k: "%d", t: "%s"`, n(4), text())
			if n(2) == 0 {
				s += fmt.Sprintf(`, s: "%d"`, n(2))
			}
			if n(4) == 0 {
				s += fmt.Sprintf(`, n: %d`, n(7))
			}
			s += " }"
		case k < 5:
			s = fmt.Sprintf(`update B set { s: "%d" } where t = "%s"`, n(2), text())
		case k < 6:
			s = fmt.Sprintf(`update B set { t: "%s" } where k = "%d"`, text(), n(4))
		case k < 7:
			s = fmt.Sprintf(`update A set { m: "%d" } where m = "%d"`, n(3), n(3))
		case k < 8:
			s = fmt.Sprintf(`insert W { from: "a%d", to: "%d" }`, n(3), n(4))
		default:
			from, to := n(4), n(4)
			s = fmt.Sprintf(`insert N { from: "%d", to: "%d" } insert N { from: "%d", to: "%d" }`, from, to, from, (to+1)%4)
		}
		out = append(out, s)
	}
	return "query q() { " + strings.Join(out, " ") + " }"
}

var holders = regexp.MustCompile(`(violation on (\w)\..*) held by '(.*)' and '(.*)'`)

// plain is a message without what is not the same there and here: ids of edges,
// and which of two rows of one statement comes first.
func plain(said string) string {
	m := holders.FindStringSubmatch(said)
	switch {
	case m == nil:
		return said
	case m[2] == "W" || m[2] == "N":
		return m[1]
	}
	return m[1] + fmt.Sprint(min(m[3], m[4]), max(m[3], m[4]))
}

// TestMutationsLikeTheRustEngine: random mutations of several statements on one
// graph there and here, validated as they are there.
func TestMutationsLikeTheRustEngine(t *testing.T) {
	r := newRust(t, many3)
	ir := pgtest.IR(t, many3)
	lines := `{"type":"B","data":{"k":"0","t":"t"}}
{"type":"B","data":{"k":"1","t":"t"}}
{"type":"B","data":{"k":"2","t":"u"}}
{"type":"A","data":{"id":"a0","m":"0"}}
{"type":"A","data":{"id":"a1","m":"1"}}
{"edge":"N","from":"0","to":"1"}
{"edge":"N","from":"0","to":"2"}`
	ids := numbered()
	g, _, err := loaded(t, memgraph.New(ir), load.Append, lines, ids)
	if said := r.load(load.Append, lines); err != nil || said != "" {
		t.Fatal(err, said)
	}
	random, ran, refused := rand.New(rand.NewPCG(7, 2)), 0, map[string]int{}
	for range 80 {
		source := statements(random)
		said := plain(r.mutate(source))
		bound, err := bind(caseOf{Query: source}, ir)
		if err != nil {
			t.Fatal(err)
		}
		m := &mutation{g: g, ids: ids, at: map[*schema.Type]int{}}
		for _, s := range bound.Statements {
			m.run(t, s)
		}
		all, err := validate.Check(t.Context(), ir, m.d, g, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if all.Err() == nil {
			if said != "" {
				t.Errorf("%s\n the Rust engine says %s\n here it runs", source, said)
				continue
			}
			g = g.Apply(m.d)
			ran++
			continue
		}
		found := false
		for _, v := range all.Violations {
			found = found || said == plain(words(v))
		}
		if refused[string(all.Violations[0].Rule)]++; !found {
			t.Errorf("%s\n the Rust engine says %q\n here %v", source, said, all.Violations)
		}
	}
	t.Logf("%d mutations ran, refused: %v", ran, refused)
	if ran < 20 || len(refused) < 4 {
		t.Errorf("%d mutations ran, refused: %v", ran, refused)
	}
}
