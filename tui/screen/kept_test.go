package screen

import (
	"strings"
	"testing"

	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// Words that were kept narrow rows that are not there yet: the first page is
// asked for all the same.
func TestKeptWordsAskForTheirRows(t *testing.T) {
	b := newWalk(t, fake.Harbor(), NewTable("node:Port").Show("rows")).load().filter("yokohama")
	kept := b.top().(Keeper).Keep()
	again := NewTable("node:Port").Show("rows")
	again.Restore(kept)
	if got := newWalk(t, fake.Harbor(), again).load().text(80, 21); !strings.Contains(got, "Yokohama") && !strings.Contains(got, "yokohama") {
		t.Errorf("the rows that match are not there:\n%s", got)
	}
}

// A click at either line of a finding selects it, one at a table the table.
func TestClicksOnTheOverview(t *testing.T) {
	o := NewOverview()
	b := newWalk(t, fake.Harbor(), o).load()
	lines, hit := strings.Split(b.text(80, 21), "\n"), map[string]int{}
	for y := 0; y < len(lines); y++ {
		l := lines[y]
		want, second := "", y > 0 && strings.HasPrefix(l, "         ") && strings.Contains(lines[y-1], "! G")
		switch {
		case second:
			want = "finding/"
		case strings.Contains(l, " rows  v"):
			want = "table/"
		default:
			continue
		}
		if !o.Click(b.e, 12, y) {
			t.Fatalf("a click at %q does nothing", l)
		}
		if got := o.items(b.e)[o.list.Sel].key; !strings.HasPrefix(got, want) {
			t.Errorf("a click at %q selects %s", l, got)
		}
		hit[want]++
		lines = strings.Split(b.text(80, 21), "\n")
	}
	if hit["finding/"] == 0 || hit["table/"] == 0 {
		t.Errorf("clicked: %v\n%s", hit, strings.Join(lines, "\n"))
	}
}
