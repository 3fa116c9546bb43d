package cli

import (
	"strings"
	"testing"
)

// TestReadAtMostWaitsForNothing: only a file is read; anything else, of which a
// pipe would be waited for without end, is refused.
func TestReadAtMostWaitsForNothing(t *testing.T) {
	for _, path := range []string{t.TempDir(), "/dev/zero"} {
		if _, err := readAtMost(path, 10); err == nil || !strings.Contains(err.Error(), "expected a file") {
			t.Errorf("%s is read: %v", path, err)
		}
	}
}
