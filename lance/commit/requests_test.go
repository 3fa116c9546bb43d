package commit_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/lance/commit"
)

// TestRequests: what a commit asks of the store, and how long it waits for it,
// whatever the length of the history.
func TestRequests(t *testing.T) {
	for _, depth := range []int{1, 40} {
		synctest.Test(t, func(t *testing.T) {
			s, m := newTable(t)
			for v := range depth {
				m = mustCommit(t, s, m, appendTxn(m.Version, fmt.Sprint("d", v), 1), exactly()).Manifest
			}
			slow := s.CloneWith(memstore.Options{Latency: func(blob.Op, string) time.Duration { return 20 * time.Millisecond }})
			for name, c := range map[string]struct {
				o    commit.Options
				want []string
				hops int
			}{
				"exact":  {exactly(), []string{"list", "put", "put"}, 2},
				"rebase": {opts(), []string{"get", "list", "put", "put"}, 4},
			} {
				s := slow.Clone()
				if name == "rebase" {
					mustCommit(t, s, m, appendTxn(m.Version, "rival", 1), exactly())
				}
				meter := blob.NewMeter(nil, blob.Keep(100))
				begin := time.Now()
				c2, err := commit.Commit(blob.WithMeter(t.Context(), meter), s, "t", "", m, appendTxn(m.Version, name, 1), c.o)
				if err != nil || c2.Found {
					t.Fatalf("%s: %+v, %v", name, c2, err)
				}
				var got []string
				for _, call := range meter.Calls() {
					got = append(got, string(call.Op))
				}
				slices.Sort(got)
				if took := time.Since(begin); !slices.Equal(got, c.want) || took != time.Duration(c.hops)*20*time.Millisecond {
					t.Errorf("%s at depth %d: %v in %v, want %v in %d hops", name, depth, got, took, c.want, c.hops)
				}
			}
		})
	}
}
