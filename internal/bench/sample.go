package main

import (
	"fmt"
	"slices"
)

// cost is what one run took, in milliseconds.
type cost struct{ wall, cpu float64 }

// sample is measured times in milliseconds.
type sample []float64

func (s sample) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func (s sample) String() string {
	if len(s) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f / %.1f / %.1f", slices.Min(s), s.median(), slices.Max(s))
}
