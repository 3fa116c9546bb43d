// Package firstgc spares short runs the garbage collector.
//
// A verb that looks at a graph allocates a few megabytes and ends. With the
// default setting the first collection comes at 4 MiB, which the packages of
// the cloud drivers reach before main begins, and costs a quarter of the whole
// run. So the first collection waits until the heap holds 16 MiB, and from then
// on the default is in force again: long runs use no more memory than before.
//
// It works only when it runs before those packages do. Packages that are ready
// are initialised in the order of their import paths, and this one depends on
// nothing but the runtime's packages. GOGC in the environment is obeyed.
package firstgc

import (
	"os"
	"runtime"
	"runtime/debug"
)

const (
	first  = 400 // per cent of the 4 MiB minimum: 16 MiB
	normal = 100
)

func init() {
	if os.Getenv("GOGC") == "" {
		delay()
	}
	follow()
}

// delay raises the first threshold; the collection that it leads to frees a
// marker, and with it goes the raise.
func delay() {
	debug.SetGCPercent(first)
	marker := new([16]byte) // no pointers and not tiny: freed by itself
	runtime.AddCleanup(marker, func(int) { debug.SetGCPercent(normal) }, 0)
}
