package main

import (
	"fmt"
	"slices"
)

// cost is what one run took, in milliseconds, and the most memory that it held
// at once, in MB, where that is known.
type cost struct{ wall, cpu, peak float64 }

// add takes a run that came after.
func (c *cost) add(o cost) {
	c.wall, c.cpu, c.peak = c.wall+o.wall, c.cpu+o.cpu, max(c.peak, o.peak)
}

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
