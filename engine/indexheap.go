package engine

import "container/heap"

// indexHeap gives the least of the numbers put in.
type indexHeap struct{ h ints }

func (q *indexHeap) push(i int) { heap.Push(&q.h, i) }
func (q *indexHeap) pop() int   { return heap.Pop(&q.h).(int) }
func (q *indexHeap) len() int   { return len(q.h) }

type ints []int

func (h ints) Len() int           { return len(h) }
func (h ints) Less(i, j int) bool { return h[i] < h[j] }
func (h ints) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ints) Push(x any)        { *h = append(*h, x.(int)) }
func (h *ints) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
