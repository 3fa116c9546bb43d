package engine

import "math/bits"

// histogram counts numbers of rows in buckets that double: 0, 1, 2–3, 4–7 …
// Buckets run from the smallest to the largest that is needed, empty ones
// between them included.
func histogram(rows []uint64) []Bucket {
	if len(rows) == 0 {
		return []Bucket{}
	}
	var counts [65]int
	lo, hi := 64, 0
	for _, n := range rows {
		b := bits.Len64(n)
		counts[b]++
		lo, hi = min(lo, b), max(hi, b)
	}
	out := make([]Bucket, 0, hi-lo+1)
	for b := lo; b <= hi; b++ {
		k := Bucket{Count: counts[b]}
		if b > 0 {
			k.From = 1 << (b - 1)
			k.To = k.From - 1 + k.From
		}
		out = append(out, k)
	}
	return out
}
