package screen

import (
	"testing"
	"time"
)

// The chip of the header says the same in both lengths: how many records there are,
// and how many of them are refused, or how long it is since or until.
func TestChip(t *testing.T) {
	th := mono(t)
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	old, young := LeftRecord{Began: now.Add(-5 * time.Hour)}, LeftRecord{Began: now, Until: now.Add(30 * time.Second)}
	refused := LeftRecord{Began: now.Add(-time.Hour), Refused: true}
	for _, c := range []struct {
		left        []LeftRecord
		long, short string
	}{
		{nil, "", ""},
		{[]LeftRecord{old}, "! 1 recovery pending, 5 h old", "! 1 recov 5 h"},
		{[]LeftRecord{old, young}, "! 2 recoveries pending, 5 h old", "! 2 recov 5 h"},
		{[]LeftRecord{young}, "! 1 recovery pending, may be acted on in 30 s", "! 1 recov in 30 s"},
		{[]LeftRecord{refused}, "✗ 1 recovery pending, refused", "✗ 1 recov refused"},
		{[]LeftRecord{old, refused}, "✗ 2 recoveries pending, 1 refused", "✗ 2 recov, 1 refused"},
		{[]LeftRecord{refused, refused}, "✗ 2 recoveries pending, refused", "✗ 2 recov refused"},
	} {
		chip := (&Left{Records: c.left}).Chip(th, now)
		if chip.Long.Text != c.long || chip.Short.Text != c.short {
			t.Errorf("%+v: %q and %q, want %q and %q", c.left, chip.Long.Text, chip.Short.Text, c.long, c.short)
		}
	}
}
