package exec

import "github.com/apache/arrow-go/v18/arrow/memory"

// Allocate makes batches with another allocator from now on, and returns how to
// go back.
func Allocate(a memory.Allocator) (back func()) {
	was := allocator
	allocator = a
	return func() { allocator = was }
}
