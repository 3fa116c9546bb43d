package packed

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A column tells what was put in, whenever the first great number comes, and
// takes half the memory as long as none does.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var n Numbers
		var want []uint64
		for range r.IntN(40) {
			v := r.Uint64() >> (28 + r.IntN(36))
			n.Add(v)
			want = append(want, v)
		}
		for range r.IntN(4) * min(1, len(want)) {
			i, v := r.IntN(len(want)), r.Uint64()>>(28+r.IntN(36))
			n.Set(i, v)
			want[i] = v
		}
		rows := make([]int32, 0, len(want))
		var picked []uint64
		for i, v := range want {
			if v < 1<<32 {
				rows, picked = append(rows, int32(i)), append(picked, v)
			}
		}
		some := n.Pick(rows)
		if !slices.Equal(all(&n), want) || !slices.Equal(all(&some), picked) {
			t.Fatalf("%v told as %v, picked %v as %v", want, all(&n), picked, all(&some))
		}
		if some.wide != nil {
			t.Fatalf("numbers that fit four bytes take eight: %v", picked)
		}
	}
}

func all(n *Numbers) (out []uint64) {
	for i := range n.Len() {
		out = append(out, n.At(i))
	}
	return out
}
