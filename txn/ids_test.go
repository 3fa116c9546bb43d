package txn_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnideck/omnideck/txn"
)

// ULIDs only grow, also within a millisecond and when the clock goes back; their
// first ten characters are the time.
func TestIDs(t *testing.T) {
	at := time.UnixMilli(0x0123456789ab)
	g := txn.NewIDs(func() time.Time { return at }, &counting{})
	var all []string
	for n := range 2000 {
		if n == 1000 {
			at = at.Add(-time.Hour)
		}
		if n == 1500 {
			at = at.Add(2 * time.Hour)
		}
		id, err := g.Next()
		if err != nil || len(id) != 26 || strings.Trim(id, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") != "" {
			t.Fatalf("%q: %v", id, err)
		}
		all = append(all, id)
	}
	if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Error("they do not grow")
	}
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	ms := int64(0)
	for _, c := range all[0][:10] {
		ms = ms<<5 | int64(strings.IndexRune(alphabet, c))
	}
	if ms != 0x0123456789ab {
		t.Errorf("%s tells %#x", all[0], ms)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]bool{}
	for range 8 {
		wg.Go(func() {
			for range 200 {
				id, _ := g.Next()
				mu.Lock()
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	if wg.Wait(); len(seen) != 1600 {
		t.Errorf("%d ids are different, expected 1600", len(seen))
	}
}
