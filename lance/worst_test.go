package lance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Problems that files are found to have side by side stand in one order, also those
// of one kind and key.
func TestProblemsInOneOrder(t *testing.T) {
	var want []Problem
	for _, severity := range []string{"error", "warn"} {
		for _, key := range []string{"", "data/a.lance"} {
			for n := range 3 {
				want = append(want, Problem{ID: "flags", Severity: severity, Key: key, Found: fmt.Sprint(n), Expected: "x"})
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		got := slices.Clone(want)
		r.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		if worstFirst(got); !slices.EqualFunc(got, want, func(a, b Problem) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
