// Package pace is how tests speak of time.
//
// A budget is stated for one machine, the one that the constant here describes;
// on a slower one it grows by as much as a fixed piece of work takes longer
// there. What is measured is processor time of the thread where that says it,
// so that other programs do not count; and it is measured again until it is
// within its budget once: load only adds, a regression stays.
//
// Under the race detector times say nothing: they are logged, and what is a
// long table of equal cases is a sample (see Every, Of and Stride).
package pace

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

// home is the processor time that the piece of work takes on the machine that
// budgets are stated for, when it has nothing else to do.
const home = time.Millisecond

// spread is what remains between two runs of the same on one machine.
const spread = 1.5

// Slower says how many times slower than where budgets are stated this machine
// is now, at least 1.
func Slower() float64 {
	least := time.Hour
	for range 5 {
		least = min(least, Thread(work))
	}
	return max(1, float64(least)/float64(home))
}

// work allocates, hashes and compares, as drawing and decoding do.
func work() {
	seen := map[string]int{}
	var words []string
	for i := range uint32(4000) {
		w := strconv.Itoa(int(i * 2654435761))
		seen[w]++
		words = append(words, w)
	}
	slices.Sort(words)
	if seen[words[0]] != 1 {
		panic("a number is there twice")
	}
}

// Thread is the processor time that f takes in its own thread; where threads
// have no clock it is the time on the wall.
func Thread(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := threadTime()
	f()
	return threadTime() - begin
}

// Process is the processor time that the whole process takes while f runs: for what
// goroutines do together, where nothing else runs; where processes have no clock it
// is the time on the wall.
func Process(f func()) time.Duration {
	begin := processTime()
	f()
	return processTime() - begin
}

// Within fails the test when took, which measures once, answers with more than
// the budget each of up to 20 times.
func Within(t testing.TB, what string, budget time.Duration, took func() time.Duration) {
	t.Helper()
	least, allowed := time.Hour, budget
	for n := 1; n <= 20; n++ {
		if least = min(least, took()); least <= budget || Race {
			break
		}
		if allowed = Allowed(budget); least <= allowed {
			break
		}
	}
	Check(t, what, least, budget, allowed)
}

// Allowed is what a budget comes to on this machine now.
func Allowed(budget time.Duration) time.Duration {
	return time.Duration(float64(budget) * Slower() * spread)
}

// Check logs a time, and fails the test when it is above what is allowed.
func Check(t testing.TB, what string, took, budget, allowed time.Duration) {
	t.Helper()
	if took > max(budget, allowed) && !Race {
		t.Errorf("%s: %v, the budget is %v, here %v", what, took, budget, allowed)
		return
	}
	t.Logf("%s: %v of %v", what, took, budget)
}

// Every is all of a table; under the race detector, where one goroutine draws
// or decodes one case after the other, it is about n of them, from all over
// the table and always the same, and the test says so.
func Every[T any](t testing.TB, n int, table []T) []T {
	t.Helper()
	if !Race || len(table) <= n {
		return table
	}
	out := make([]T, n)
	for i := range out {
		out[i] = table[i*len(table)/n]
	}
	t.Logf("%d of %d cases: the rest runs without the race detector", n, len(table))
	return out
}

// Of is n; under the race detector it is race: steps that are longer, or runs
// that are fewer.
func Of(n, race int) int {
	if Race {
		return race
	}
	return n
}

// Stride is what a sweep tries at its places 0, 1, 2 …; under the race detector
// at each nth of them.
func Stride(n int, try func(at int) (bool, error)) func(at int) (bool, error) {
	return func(at int) (bool, error) { return try(at * Of(1, n)) }
}
