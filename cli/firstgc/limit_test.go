package firstgc

import (
	"math"
	"testing"
)

// The limit never comes so near to what is alive that collections follow one
// another, and never forbids more than no limit would where much is alive.
func TestLimitLeavesRoom(t *testing.T) {
	last := int64(0)
	for live := uint64(0); live < 400*mib; live += mib / 2 {
		limit := limitFor(live, 10*mib)
		if limit < last {
			t.Fatalf("at %d MiB the limit falls to %d", live/mib, limit/mib)
		}
		last = limit
		if room := limit - int64(live) - 10*mib; room < 18*mib {
			t.Fatalf("at %d MiB alive only %d MiB are left", live/mib, room/mib)
		}
		if live <= 80*mib && limit > 108*mib {
			t.Fatalf("at %d MiB alive the process may take %d MiB", live/mib, limit/mib)
		}
		if live >= 192*mib && limit != math.MaxInt64 {
			t.Fatalf("at %d MiB alive there is still a limit of %d", live/mib, limit/mib)
		}
	}
}
