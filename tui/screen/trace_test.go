package screen

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/cost"
)

// TestMaskedRequestsDoNotDependOnTheirOrder: a picture lists the same requests
// in the same order whichever answer came first, and no time.
func TestMaskedRequestsDoNotDependOnTheirOrder(t *testing.T) {
	th := mono(t)
	e := &Env{Theme: th, Masked: true}
	at := time.Date(2026, 11, 29, 16, 0, 0, 0, time.UTC)
	calls := []cost.Call{
		{Op: "list", Key: "__manifest/_versions/", Class: "manifest.open", Start: at, End: at.Add(3 * time.Millisecond)},
		{Op: "get", Key: "__manifest/_versions/1.manifest", Class: "manifest.open", Start: at, End: at.Add(time.Millisecond), Read: 2048},
		{Op: "get", Key: "__manifest/_refs/branches/a.json", Class: "manifest.refs", Start: at, End: at.Add(time.Hour), Read: 1},
	}
	one := Waterfall(e, cost.Trace{Calls: calls}, 80, 0)
	back := slices.Clone(calls)
	slices.Reverse(back)
	if two := Waterfall(e, cost.Trace{Calls: back}, 80, 0); !slices.Equal(one, two) {
		t.Errorf("%q\n%q", one, two)
	}
	all := ansi.Strip(strings.Join(one, "\n"))
	if len(one) != 4 || !strings.Contains(all, "2.0 KiB") || strings.Contains(all, "ms") {
		t.Errorf("drawn:\n%s", all)
	}
	if cut := ansi.Strip(strings.Join(Waterfall(e, cost.Trace{Calls: calls}, 80, 3), "\n")); !strings.Contains(cut, "2 requests more") {
		t.Errorf("what is left out is not said:\n%s", cut)
	}
}

// TestMatrixKeepsItsSums: however narrow it is, the sums are whole and no
// operation that was asked for is left out.
func TestMatrixKeepsItsSums(t *testing.T) {
	th := mono(t)
	tr := cost.Trace{Classes: []cost.ClassCount{{Class: "manifest.open", Ops: cost.Ops{Get: 14, List: 6}}, {Class: "data", Ops: cost.Ops{Get: 3, Put: 1}}}}
	for _, w := range []int{34, 39, 46, 80} {
		all := ansi.Strip(strings.Join(Matrix(&Env{Theme: th}, tr, w), "\n"))
		for _, want := range []string{"14", "6", "20", "PUT", "1", "4", "all"} {
			if !strings.Contains(all, want) {
				t.Errorf("%d cells: %q is missing:\n%s", w, want, all)
			}
		}
		if strings.Contains(all, "…") || w < 40 && strings.Contains(all, "HEAD") {
			t.Errorf("%d cells:\n%s", w, all)
		}
	}
}
