package txn_test

import (
	"testing"
	"time"

	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// A record is as old as it says; one of a clock that is ahead, as its object is:
// else nobody would ever act on it, and every wait for it would be in vain.
func TestLeftOfARecord(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, c := range []struct {
		began, written time.Time
		left           time.Duration
	}{
		{ago(10 * time.Second), ago(10 * time.Second), 20 * time.Second},
		{ago(10 * time.Second), ago(time.Hour), 20 * time.Second}, // the store's clock is behind
		{ago(time.Minute), ago(10 * time.Second), 0},              // confirmed later, or a copy
		{ago(-time.Hour), ago(10 * time.Second), 20 * time.Second},
		{ago(-time.Hour), ago(time.Minute), 0},
		{ago(-time.Hour), ago(-time.Minute), 30 * time.Second},
		{ago(-time.Hour), time.Time{}, 30 * time.Second},
	} {
		if left := txn.Left(&sidecar.Record{StartedAt: c.began}, c.written, now, 0); left != c.left {
			t.Errorf("begun %v, written %v: %s left, want %s", c.began, c.written, left, c.left)
		}
	}
}
