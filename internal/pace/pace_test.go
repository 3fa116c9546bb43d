package pace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// judged is a test that only remembers that it failed.
type judged struct {
	testing.TB
	failed string
}

func (*judged) Helper()                          {}
func (*judged) Logf(string, ...any)              {}
func (j *judged) Errorf(f string, args ...any)   { j.failed = fmt.Sprintf(f, args...) }
func spend(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

// TestWithin: one good run is enough, a hundred times the budget is too much on
// any machine that is not a hundred times slower.
func TestWithin(t *testing.T) {
	times := []time.Duration{time.Minute, time.Hour, time.Millisecond, time.Hour}
	next := func() time.Duration { d := times[0]; times = times[1:]; return d }
	var j judged
	if Within(&j, "once", time.Millisecond, next); j.failed != "" || len(times) != 1 && !Race {
		t.Errorf("failed: %q, %d runs", j.failed, 4-len(times))
	}
	if Within(&j, "never", time.Millisecond, spend(time.Minute)); strings.Contains(j.failed, "never: 1m0s, the budget is 1ms") == Race {
		t.Errorf("said %q", j.failed)
	}
}

// TestThread: the clock counts work of this thread and no waiting.
func TestThread(t *testing.T) {
	if took := Thread(work); took <= 0 {
		t.Errorf("work took %v", took)
	}
	t.Logf("the piece of work takes %v, %.2f times what it does at home", Thread(work), Slower())
}

func TestEvery(t *testing.T) {
	table := []int{0, 1, 2, 3, 4, 5, 6}
	want := table
	if Race {
		want = []int{0, 2, 4}
	}
	if got := Every(t, 3, table); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Every(t, 7, table); !slices.Equal(got, table) {
		t.Errorf("%v, want all", got)
	}
}

// A sweep ends with the first place that is not reached.
func TestStride(t *testing.T) {
	var tried []int
	try := Stride(3, func(at int) (bool, error) { tried = append(tried, at); return at < 6, nil })
	for n := 0; ; n++ {
		if more, err := try(n); err != nil || !more {
			break
		}
	}
	want := []int{0, 1, 2, 3, 4, 5, 6}
	if Race {
		want = []int{0, 3, 6}
	}
	if !slices.Equal(tried, want) {
		t.Errorf("%v, want %v", tried, want)
	}
}
