package screen

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// longHistory is n commits as the engine makes them: names of branches, actors
// and tables are shared, ids and changes are not.
func longHistory(n int) []engine.LogEntry {
	branch, actor := "review/ports", "ana"
	ids := make([]string, n+1)
	for i := range ids {
		ids[i] = fmt.Sprintf("01KD8W3Q4Y8ZT5V6M2B%07d", 9_000_000-i)
	}
	out := make([]engine.LogEntry, n)
	for i := range out {
		e := &out[i]
		e.ID, e.ManifestVersion, e.Actor, e.CreatedAt = ids[i], uint64(n-i), &actor, fake.Epoch.UnixMicro()-int64(i)*60_000_000
		e.Parent = &ids[i+1]
		e.Changed = []engine.TableChange{{Table: "node:Port", FromVersion: uint64(n - i), ToVersion: uint64(n - i + 1), RowsDelta: int64(i%200) - 20}}
		if i%12 == 3 {
			e.MergedParent = &ids[min(i+1+i%7, n)]
		}
		if i%5 == 1 {
			e.Branch = &branch
		}
	}
	return out
}

// TestAMillionCommits: with a million of them loaded, no key waits for a
// filter or an order, and what is held stays small.
func TestAMillionCommits(t *testing.T) {
	st := onStage(t, fake.Harbor(), NewCommits())
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // and what pools kept over the first
	runtime.ReadMemStats(&before)
	q := st.e.Data.AskHistory(st.e, 0)
	q.Pane.Settle(q.Target, q.Gen, NewHistory(engine.LogOf(longHistory(1_000_000)), 0), nil, st.e.Now)
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 20
	t.Logf("a million commits hold %d MiB", held)
	if held > 80 {
		t.Errorf("a million commits hold %d MiB; 80 of the 150 that the program may take are theirs", held)
	}
	c := st.s.(*Commits)
	var took []time.Duration
	at := func(f func()) {
		took = append(took, pace.Thread(func() {
			f()
			c.Render(st.e, Area{W: 171, H: 54, Wide: true})
		}))
	}
	var last []Request
	for _, text := range []string{"a", "ac", "actor:ana", "actor:ana rows:>100", "actor:ana rows:>100 branch:review"} {
		at(func() { last = append(last[:0], c.SetFilter(st.e, text).Ask...) })
		at(func() { c.Do(st.e, action.Down) })
	}
	begin := time.Now()
	settleLocal(t, st.e, last)
	t.Logf("the filter took %v in its command", time.Since(begin))
	for range 60 {
		at(func() { c.Do(st.e, action.PageDown) })
		at(func() { c.Do(st.e, action.Up) })
	}
	if got := st.draw(171, 54); !strings.Contains(got, "of 1 000 000 match") {
		t.Errorf("the list does not say how much of it matches:\n%s", got)
	}
	at(func() { last = c.SetSort(st.e, 6, true).Ask })
	begin = time.Now()
	settleLocal(t, st.e, last)
	t.Logf("the order took %v in its command", time.Since(begin))
	at(func() { c.SetFilter(st.e, "") })
	at(func() { c.SetSort(st.e, -1, false) })
	at(func() { c.Do(st.e, action.FirstLine) })
	at(func() { c.NextMatch(st.e, 1) })
	slices.Sort(took)
	t.Logf("a key and its frame: median %v, worst %v of %d", took[len(took)/2], took[len(took)-1], len(took))
	pace.Check(t, "nine keys in ten", took[len(took)*9/10], 16*time.Millisecond, pace.Allowed(16*time.Millisecond))
}
