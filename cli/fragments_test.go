package cli

import (
	"testing"
	"time"

	"github.com/omnideck/omnideck/engine"
)

// A segment says what it covers, and nothing that the manifest does not.
func TestSegmentLine(t *testing.T) {
	bytes := uint64(2048)
	for want, x := range map[string]engine.IndexSegment{
		"segment u  of version 7  covers 1 fragment":                                                                {UUID: "u", Version: 7, Fragments: 1},
		"segment u  of version 7  covers 3 fragments, 2 of them gone, 2.0 KiB, built 2026-01-02 03:04:05Z, of side": {UUID: "u", Version: 7, Fragments: 3, Missing: 2, Bytes: &bytes, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Base: "side"},
	} {
		if got := segmentLine(x); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
