package firstgc

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const mib = 1 << 20

// limitFor is the soft limit of memory while so many bytes are alive and the
// runtime needs others beside them. Up to ninety together, in MiB, the process
// stays below 108, which with its code is less than 150 in sight of the system; then the collector is given ever more room, and
// from 192 on as much as it has without a limit: it must not run all the time
// because a graph is large.
func limitFor(live, others uint64) int64 {
	const tight, free = 112 * mib, 192 * mib
	if live >= free {
		return math.MaxInt64
	}
	room := int64(18 * mib)
	if live > tight {
		room += int64(live-tight) * 22 / 10
	}
	return max(108*mib, int64(live+others)+room)
}

// follow sets the limit and looks at it again after each collection, unless the
// user has set one.
func follow() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	sample := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	last := int64(0)
	var look func(int)
	look = func(int) {
		metrics.Read(sample)
		others := sample[1].Value.Uint64()
		for _, s := range sample[2:] {
			others -= min(others, s.Value.Uint64())
		}
		if limit := limitFor(sample[0].Value.Uint64(), others); limit != last {
			last = limit
			debug.SetMemoryLimit(limit)
		}
		marker := new([16]byte) // see delay
		runtime.AddCleanup(marker, look, 0)
	}
	look(0)
}
