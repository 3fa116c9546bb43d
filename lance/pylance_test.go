package lance_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
)

// TestAgainstPylance: appends, deletions of both kinds, updates, merge-inserts,
// columns added and dropped, compaction, restore, overwrite, branches of
// branches; at every version the rows, row ids, addresses and versions are
// those that pylance reads, by scan, by range and by take.
func TestAgainstPylance(t *testing.T) {
	dir, cases := makeCases(t)
	for _, c := range cases {
		t.Run(c.Case, func(t *testing.T) {
			root := filepath.Join(dir, c.Case)
			store := local(t, root)
			for _, st := range c.States {
				checkState(t, root, store, c, st)
			}
			checkChain(t, store, c)
		})
	}
}

func checkState(t *testing.T, root string, store blob.Store, c made, st state) {
	t.Helper()
	what := fmt.Sprintf("%s, branch %q, version %d", c.Case, st.Branch, st.Version)
	s := open(t, store, "data.lance", lance.OpenOptions{Branch: st.Branch, Version: st.Version})
	if rows, known := s.CountRows(); !known && st.Rows != 0 || rows != st.Rows {
		t.Errorf("%s: %d rows, want %d", what, rows, st.Rows)
	}
	rep, err := lance.Verify(t.Context(), s, lance.VerifyOptions{Deep: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range rep.Problems {
		t.Errorf("%s: %+v", what, p)
	}
	if st.N < 0 {
		return
	}
	b, err := os.ReadFile(filepath.Join(root, fmt.Sprintf("%d.arrow", st.N)))
	if err != nil {
		t.Fatal(err)
	}
	want := arrowTable(t, b)
	o := lance.ScanOptions{WithRowID: true, WithRowAddress: true, WithVersions: true}
	got := collect(t, s.Scan(t.Context(), o))
	same(t, what+", scan", got, want)
	checkRanges(t, what, s, o, want)
	checkTakes(t, what, s, want)
}

// checkRanges scans parts, in small batches.
func checkRanges(t *testing.T, what string, s *lance.Snapshot, o lance.ScanOptions, want table) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range tries(want.rows) {
		from := rnd.IntN(want.rows + 1)
		n := 1 + rnd.IntN(min(want.rows+1, 500))
		o.Offset, o.Limit, o.BatchRows = int64(from), int64(n), 1+rnd.IntN(40)
		var rows []int
		for i := from; i < min(from+n, want.rows); i++ {
			rows = append(rows, i)
		}
		got := collect(t, s.Scan(t.Context(), o))
		same(t, fmt.Sprintf("%s, %d rows from %d", what, n, from), got, pickRows(t, want, rows))
	}
}

// tries is how often to try something random: less often when it is long.
func tries(rows int) int {
	if rows > 10000 {
		return 4
	}
	return 12
}

// checkTakes takes rows by address and by id, in any order, with duplicates.
func checkTakes(t *testing.T, what string, s *lance.Snapshot, want table) {
	t.Helper()
	if want.rows == 0 {
		return
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	most := min(2*want.rows, 500)
	addrs, ids := numbersOf(t, want, lance.ColRowAddress), numbersOf(t, want, lance.ColRowID)
	for range tries(want.rows) / 2 {
		rows := make([]int, 1+rnd.IntN(most))
		at, id := make([]uint64, len(rows)), make([]uint64, len(rows))
		for i := range rows {
			rows[i] = rnd.IntN(want.rows)
			at[i], id[i] = addrs[rows[i]], ids[rows[i]]
		}
		expect := pickRows(t, want, rows)
		rec, err := s.Take(t.Context(), want.names, at)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		same(t, what+", take by address", join(t, []arrow.RecordBatch{rec}), expect)
		rec, err = s.TakeRowIDs(t.Context(), want.names, id)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		same(t, what+", take by row id", join(t, []arrow.RecordBatch{rec}), expect)
	}
}

// checkChain lists the versions of every branch and reads them all.
func checkChain(t *testing.T, store blob.Store, c made) {
	t.Helper()
	newest := map[string]uint64{}
	for _, st := range c.States {
		newest[st.Branch] = max(newest[st.Branch], st.Version)
	}
	for branch, last := range newest {
		chain, err := lance.Versions(t.Context(), store, "data.lance", lance.ListOptions{Branch: branch})
		if err != nil {
			t.Fatal(err)
		}
		if chain.Versions[0].Version != last || len(chain.Findings) != 0 || !chain.Complete || chain.Hint == nil || chain.Hint.State != "current" {
			t.Errorf("%s, branch %q: newest %d, want %d; findings %+v, hint %+v", c.Case, branch, chain.Versions[0].Version, last, chain.Findings, chain.Hint)
		}
		i := 0
		for s, err := range lance.ReadVersions(t.Context(), store, "data.lance", chain.Versions, lance.OpenOptions{Branch: branch}) {
			if err != nil {
				t.Fatal(err)
			}
			tx, err := s.Transaction(t.Context())
			if err != nil || tx == nil || tx.Operation.Name == "None" || s.Version() != chain.Versions[i].Version {
				t.Errorf("%s, version %d: transaction %v, %v", c.Case, s.Version(), tx != nil, err)
			}
			i++
		}
		latest := open(t, store, "data.lance", lance.OpenOptions{Branch: branch})
		if latest.Version() != last || i != len(chain.Versions) {
			t.Errorf("%s, branch %q: opened as %d, want %d; %d of %d read", c.Case, branch, latest.Version(), last, i, len(chain.Versions))
		}
	}
}

// TestPylanceBlobs reads payloads of every size class.
func TestPylanceBlobs(t *testing.T) {
	dir, _ := makeCases(t)
	s := open(t, local(t, filepath.Join(dir, "blobs")), "data.lance", lance.OpenOptions{})
	want := [][]byte{{}, []byte("a"), nil, bytes.Repeat([]byte("b"), 70000), bytes.Repeat([]byte("c"), 100), bytes.Repeat([]byte("d"), 5<<20)}
	addrs := []uint64{5, 4, 3, 2, 1, 0}
	blobs, err := s.Blobs(t.Context(), "b", addrs)
	if err != nil {
		t.Fatal(err)
	}
	kinds := []uint8{lance.BlobDedicated, lance.BlobInline, lance.BlobPacked, 0, lance.BlobInline, lance.BlobInline}
	for i, b := range blobs {
		payload := want[addrs[i]]
		got, err := b.Read(t.Context(), 0, -1)
		if err != nil || !bytes.Equal(got, payload) || b.Null != (payload == nil) || b.Kind != kinds[i] && !b.Null {
			t.Errorf("row %d: %d bytes, null %v, kind %d, %v", addrs[i], len(got), b.Null, b.Kind, err)
		}
		part, err := b.Read(t.Context(), 2, 5)
		if lo := min(2, len(payload)); err != nil || !bytes.Equal(part, payload[lo:min(7, len(payload))]) {
			t.Errorf("row %d: part %q, %v", addrs[i], part, err)
		}
	}
	if slices.ContainsFunc(blobs, func(b *lance.Blob) bool { return b.Addr > 5 }) {
		t.Error("wrong addresses")
	}
}
