// Package packed holds columns of numbers close together.
package packed

import "math"

// Numbers is a column of u64 that takes four bytes a number as long as all of
// them fit. The zero value is empty.
type Numbers struct {
	narrow []uint32
	wide   []uint64 // when not nil, all numbers stand here
}

// Make is a column of n zeros.
func Make(n int) Numbers { return Numbers{narrow: make([]uint32, n)} }

// Len is how many numbers there are.
func (n *Numbers) Len() int { return len(n.narrow) + len(n.wide) }

// At is the number in a row.
func (n *Numbers) At(i int) uint64 {
	if n.wide != nil {
		return n.wide[i]
	}
	return uint64(n.narrow[i])
}

// Add appends a number.
func (n *Numbers) Add(v uint64) {
	if n.wide == nil && v <= math.MaxUint32 {
		n.narrow = append(n.narrow, uint32(v))
		return
	}
	n.widen()
	n.wide = append(n.wide, v)
}

// Set changes the number in a row.
func (n *Numbers) Set(i int, v uint64) {
	if n.wide == nil && v <= math.MaxUint32 {
		n.narrow[i] = uint32(v)
		return
	}
	n.widen()
	n.wide[i] = v
}

func (n *Numbers) widen() {
	if n.wide != nil {
		return
	}
	n.wide = make([]uint64, len(n.narrow), len(n.narrow)+len(n.narrow)/4+8)
	for i, v := range n.narrow {
		n.wide[i] = uint64(v)
	}
	n.narrow = nil
}

// Pick makes a column of some rows, as narrow as it can be.
func (n *Numbers) Pick(rows []int32) Numbers {
	if n.wide == nil {
		return Numbers{narrow: Pick(n.narrow, rows)}
	}
	out := Numbers{narrow: make([]uint32, 0, len(rows))}
	for _, r := range rows {
		out.Add(n.wide[r])
	}
	return out
}

// Pick are the values of some rows.
func Pick[T any](values []T, rows []int32) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = values[r]
	}
	return out
}
