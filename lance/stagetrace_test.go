package lance_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/cache"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/golden"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// TestStageTraces: what each change asks of a store, from the opening of the
// version to the commit, on a table with indexes; and that it is the same when
// the table has a longer history.
func TestStageTraces(t *testing.T) {
	store, root := indexedTable(t)
	for name, most := range map[string]cost.Budget{
		// LIST and GET to open; look-up: both files of the index, the row to compare, its deletions, uncovered
		// fragments; PUT of data and deletions; LIST and PUT of the transaction, PUT of the manifest.
		"insert": {Requests: 9, Hops: 6}, "upsert": {Requests: 12, Hops: 7}, "update": {Requests: 12, Hops: 7}, "delete": {Requests: 11, Hops: 7},
		"append": {Requests: 6, Hops: 5}, "overwrite": {Requests: 6, Hops: 5},
	} {
		var points []cost.Point
		for _, depth := range []int{0, 60} {
			m := measureChange(t, deeper(t, store, root, depth), root, name)
			if err := most.Check(m); err != nil {
				t.Errorf("%s at depth %d: %v", name, depth, err)
			}
			points = append(points, cost.Point{Depth: depth, Cost: m.Requests})
			if depth == 0 {
				golden.Equal(t, "trace/lance-"+name+".golden", changeTrace(m))
			}
		}
		cost.RequireFlat(t, name, 0, points...)
	}
}

// TestWarmChanges: one process that opens once and goes on writing reads nothing
// again: neither index nor rows, not even those that it wrote itself, and
// whether they are there costs no request.
func TestWarmChanges(t *testing.T) {
	store, root := indexedTable(t)
	rows, id := oneRow(t, store, root)
	synctest.Test(t, func(t *testing.T) {
		slow := store.CloneWith(memstore.Options{Name: "slow", MaxPage: 100, Latency: func(blob.Op, string) time.Duration { return 10 * time.Millisecond }})
		s, err := lance.Open(t.Context(), cache.New(slow, cache.Options{}), root, lance.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			name := []string{"update", "insert", "upsert"}[i%3]
			key := fmt.Sprintf("%d-", i)
			m, err := cost.Measure(t.Context(), cost.Classify, func(ctx context.Context) error {
				var staged *lance.Staged
				o := lance.StageOptions{UUID: "warm-" + key}
				found, err := s.FindText(ctx, "id", []string{id, key + id}, lance.LookUpByIndex)
				switch {
				case err != nil:
				case name == "update":
					staged, err = s.StageUpdate(ctx, found.Rows[id], rows(""), o)
				case name == "insert":
					staged, err = s.StageInsert(ctx, rows(key), o)
				default:
					staged, err = s.StageUpsert(ctx, rows("", key), lance.UpsertOptions{StageOptions: o, LookUp: lance.LookUpByIndex})
				}
				if err == nil {
					s, _, err = staged.Commit(ctx, lance.CommitOptions{Exact: true})
				}
				return err
			})
			if err != nil {
				t.Fatalf("change %d, %s: %v", i, name, err)
			}
			// Data and deletions; LIST and transaction; manifest.
			if err := (cost.Budget{Requests: 5, Hops: 3}).Check(m); i > 0 && err != nil {
				t.Errorf("change %d, %s: %v", i, name, err)
			}
		}
	})
}

// indexedTable is a table of nodes with an index on id, in several fragments.
func indexedTable(t *testing.T) (*memstore.Store, string) {
	t.Helper()
	files := graph(t, "maintained")
	store := inMemory(t, "maintained", files)
	root := ""
	for _, r := range datasets(files) {
		if s := open(t, store, r, lance.OpenOptions{}); strings.HasPrefix(r, "nodes/") && s.TextIndex("id") != nil && len(blobColumns(s)) == 0 && (root == "" || len(s.Fragments()) > 1) {
			root = r
		}
	}
	return store, root
}

// oneRow is a row of a fragment that the index covers, and the rows as it is
// under other ids.
func oneRow(t *testing.T, store blob.Store, root string) (rows func(prefixes ...string) lance.Rows, id string) {
	t.Helper()
	known := open(t, store, root, lance.OpenOptions{Allocator: memory.DefaultAllocator})
	id = slices.Min(slices.Collect(maps.Keys(byValue(t, known, "id", known.TextIndex("id").Covered()))))
	batch, err := known.Take(context.Background(), nil, byValue(t, known, "id", nil)[id])
	if err != nil {
		t.Fatal(err)
	}
	return func(prefixes ...string) lance.Rows {
		return func(yield func(arrow.RecordBatch, error) bool) {
			for _, p := range prefixes {
				for batch, err := range rekeyed(lance.RowsOf(batch), p) {
					if !yield(batch, err) {
						return
					}
				}
			}
		}
	}, id
}

// deeper adds versions that change no rows.
func deeper(t *testing.T, store *memstore.Store, root string, n int) *memstore.Store {
	t.Helper()
	store = store.Clone()
	m := open(t, store, root, lance.OpenOptions{}).Manifest()
	for i := range n {
		value := fmt.Sprint(i)
		c, err := commit.Commit(t.Context(), store, root, "", m, &tablepb.Transaction{
			ReadVersion: m.Version, Uuid: "deeper-" + value,
			Operation: &tablepb.Transaction_UpdateConfig{UpdateConfig: &tablepb.UpdateConfig{TableMetadataUpdates: &tablepb.UpdateMap{
				UpdateEntries: []*tablepb.UpdateMapEntry{{Key: "depth", Value: &value}}}}},
		}, commit.Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		m = c.Manifest
	}
	return store
}

// measureChange counts one change of one or two rows.
func measureChange(t *testing.T, store *memstore.Store, root, name string) (m cost.Measured) {
	t.Helper()
	rows, id := oneRow(t, store, root)
	ids := []string{id}
	synctest.Test(t, func(t *testing.T) {
		slow := store.CloneWith(memstore.Options{Name: "slow", MaxPage: 100, Latency: func(blob.Op, string) time.Duration { return 10 * time.Millisecond }})
		o := lance.StageOptions{UUID: "traced", Rand: seeded(1)}
		var err error
		m, err = cost.Measure(context.Background(), cost.Classify, func(ctx context.Context) error {
			s, err := lance.Open(ctx, slow, root, lance.OpenOptions{})
			if err != nil {
				return err
			}
			staged, err := traceChange(ctx, s, name, ids, rows, o)
			if err != nil {
				return err
			}
			_, _, err = staged.Commit(ctx, lance.CommitOptions{Exact: true, Now: func() time.Time { return time.Unix(1796000000, 0) }})
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	})
	return m
}

func traceChange(ctx context.Context, s *lance.Snapshot, name string, ids []string, rows func(...string) lance.Rows, o lance.StageOptions) (*lance.Staged, error) {
	switch name {
	case "append":
		return s.StageAppend(ctx, rows("new-"), o)
	case "overwrite":
		return s.StageOverwrite(ctx, nil, rows("new-"), o)
	case "upsert":
		return s.StageUpsert(ctx, rows("", "new-"), lance.UpsertOptions{StageOptions: o, LookUp: lance.LookUpByIndex})
	}
	wanted := ids
	if name == "insert" {
		wanted = []string{"new-" + ids[0]}
	}
	found, err := s.FindText(ctx, "id", wanted, lance.LookUpByIndex)
	if err != nil {
		return nil, err
	}
	if found.Indexed == 0 || found.Doubt != "" {
		return nil, fmt.Errorf("no index was asked: %+v", found)
	}
	switch name {
	case "insert":
		return s.StageInsert(ctx, rows("new-"), o)
	case "update":
		return s.StageUpdate(ctx, found.Rows[ids[0]], rows(""), o)
	}
	return s.StageDelete(ctx, found.Rows[ids[0]], "id = '"+ids[0]+"'", o)
}

// changeTrace is the requests by hop; what runs side by side is sorted.
func changeTrace(m cost.Measured) []byte {
	calls := slices.Clone(m.Calls)
	slices.SortFunc(calls, func(a, b blob.Call) int {
		return cmp.Or(cmp.Compare(a.Hop, b.Hop), strings.Compare(string(a.Op), string(b.Op)), strings.Compare(a.Key, b.Key), cmp.Compare(a.Range.Off, b.Range.Off))
	})
	var b strings.Builder
	fmt.Fprintf(&b, "requests %d  hops %d  bytes read %d, written %d\n", m.Requests, m.Hops, m.BytesRead, m.BytesWritten)
	for _, c := range calls {
		fmt.Fprintf(&b, "%d  %-6s %-10s %s", c.Hop, c.Op, c.Class, c.Key)
		if c.Op == blob.OpGet && c.Range != blob.All {
			fmt.Fprintf(&b, "  [%d +%d]", c.Range.Off, c.Range.Len)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}
