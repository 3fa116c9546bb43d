package firstgc

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

// TestOneCollectionBringsTheDefaultBack: after a collection the usual setting
// is in force.
func TestOneCollectionBringsTheDefaultBack(t *testing.T) {
	delay()
	if got := percent(); got != first {
		t.Fatalf("before a collection the setting is %d, want %d", got, first)
	}
	for range 1000 {
		runtime.GC()
		runtime.Gosched() // cleanups run in a goroutine of their own
		if percent() == normal {
			return
		}
	}
	t.Fatalf("after a thousand collections the setting is %d, want %d", percent(), normal)
}

func percent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
