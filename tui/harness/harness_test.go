package harness

import (
	"testing"
	"time"
)

// What a test does, and where it looks, is never a whole number of milliseconds
// apart, as the timers of a program are.
func TestNoLookMeetsATimer(t *testing.T) {
	for n := 1; n < 1000; n++ { // frames between two steps of a test
		if time.Duration(n)*frame%time.Millisecond == 0 {
			t.Fatalf("%d frames are %v, in which a timer may fire", n, time.Duration(n)*frame)
		}
	}
}
