package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Shrink leaves operations and faults out of a walk as long as it still fails:
// fails takes a walk and says so. What it returns fails, and with any one of its
// operations or faults left out it does not.
func Shrink(w Walk, fails func(Walk) bool) Walk {
	if calm := w; w.Woven {
		calm.Woven = false
		if fails(calm) {
			w = calm
		}
	}
	for size := max(1, len(w.Ops)/2); ; {
		next, smaller := shrinkOnce(w, size, fails)
		switch {
		case smaller:
			w = next
		case size > 1:
			size /= 2
		default:
			return w
		}
	}
}

// shrinkOnce leaves out, one after the other, runs of operations, and then faults.
func shrinkOnce(w Walk, size int, fails func(Walk) bool) (Walk, bool) {
	smaller := false
	for at := 0; at+size <= len(w.Ops); {
		next := w
		next.Ops = slices.Delete(slices.Clone(w.Ops), at, at+size)
		if len(next.Ops) > 0 && fails(next) {
			w, smaller = next, true
			continue
		}
		at++
	}
	for at := range w.Ops {
		if size > 1 || len(w.Ops[at].Faults) == 0 {
			continue
		}
		next := w
		next.Ops = slices.Clone(w.Ops)
		next.Ops[at].Faults = nil
		if fails(next) {
			w, smaller = next, true
		}
	}
	return w, smaller
}

// Replay is what Parse reads: the operations of a walk that was drawn.
func (w Walk) Replay() string {
	var out []string
	if w.Woven {
		out = append(out, "w")
	}
	for _, o := range w.Ops {
		s := fmt.Sprint(o.N)
		if len(o.Faults) == 0 {
			s += "-"
		}
		out = append(out, s)
	}
	return strings.Join(out, ",")
}

// Parse is the walk of a seed with those of its operations that are listed.
func Parse(seed uint64, list string) (Walk, error) {
	all := Draw(seed)
	w := Walk{Seed: seed}
	for word := range strings.SplitSeq(list, ",") {
		if word == "w" {
			w.Woven = true
			continue
		}
		digits, calm := strings.CutSuffix(word, "-")
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > len(all.Ops) {
			return w, fmt.Errorf("%q of %q is no operation: the walk of seed %d has 1 to %d", word, list, seed, len(all.Ops))
		}
		o := all.Ops[n-1]
		if calm {
			o.Faults = nil
		}
		w.Ops = append(w.Ops, o)
	}
	return w, nil
}

// String is the walk as it is printed: a line to take it again, and what it does.
func (w Walk) String() string {
	s := fmt.Sprintf("OMNIDECK_SEED=%d OMNIDECK_OPS=%s go test ./internal/model -run TestWalk", w.Seed, w.Replay())
	if w.Woven {
		s += "\nwoven"
	}
	for _, o := range w.Ops {
		s += "\n" + o.String()
	}
	return s
}
