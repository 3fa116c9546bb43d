package commit_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// The vectors of omnigraph-storage.md §6.3.
func TestKeyFilterVectors(t *testing.T) {
	for key, want := range map[string]struct {
		block int
		bits  [8]int
	}{"Cy": {690, [8]int{30, 19, 3, 5, 4, 15, 9, 27}}, "graph_head:main": {978, [8]int{1, 10, 13, 25, 21, 28, 4, 5}}} {
		var f commit.KeyFilter
		f.AddString(key)
		expect := make([]byte, 32768)
		for lane, bit := range want.bits {
			expect[want.block*32+lane*4+bit/8] |= 1 << (bit % 8)
		}
		p := f.Proto(0)
		if got := p.GetBloom(); !bytes.Equal(got.GetBitmap(), expect) || got.GetNumBits() != 262144 || got.GetNumberOfItems() != 8192 || got.GetProbability() != 0.00057 || !slices.Equal(p.GetFieldIds(), []int32{0}) {
			t.Errorf("%s: the filter differs", key)
		}
		var g commit.KeyFilter
		if g.Add([]byte(key)); !proto.Equal(g.Proto(0), p) {
			t.Errorf("%s: bytes and text make different filters", key)
		}
	}
}

// TestKeyFiltersOfTheRustEngine rebuilds the filter of every Update of the demo
// graph from the rows that it inserted.
func TestKeyFiltersOfTheRustEngine(t *testing.T) {
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	store, err := fixtures.Store(memstore.Options{Name: "demo"}, files)
	if err != nil {
		t.Fatal(err)
	}
	filters, keys := 0, 0
	for key, b := range files {
		if !strings.HasSuffix(key, ".manifest") {
			continue
		}
		m, err := format.ParseManifest(b)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := m.Transaction()
		if err != nil {
			t.Fatal(err)
		}
		want := tx.Proto.GetUpdate().GetInsertedRows()
		if want == nil {
			continue
		}
		root, _, _ := strings.Cut(strings.TrimSuffix(key[:strings.Index(key, "_versions/")], "/"), "/tree/")
		s, err := lance.Open(t.Context(), store, root, lance.OpenOptions{Branch: m.Branch, Version: m.Version})
		if err != nil {
			t.Fatal(err)
		}
		var f commit.KeyFilter
		n := 0
		name := s.Schema().PrimaryKey()[0].Name
		for rec, err := range s.Scan(t.Context(), lance.ScanOptions{Columns: []string{name}, WithVersions: true}) {
			if err != nil {
				t.Fatal(err)
			}
			ids := rec.Column(0).(*array.String)
			made := rec.Column(rec.Schema().FieldIndices(lance.ColCreatedAt)[0]).(*array.Uint64)
			for i := range ids.Len() {
				if made.Value(i) == m.Version {
					f.AddString(ids.Value(i))
					n++
				}
			}
			rec.Release()
		}
		if !proto.Equal(f.Proto(want.GetFieldIds()...), want) {
			t.Errorf("%s: the filter over %d inserted keys differs", key, n)
		}
		filters++
		keys += n
	}
	t.Logf("%d filters, %d keys", filters, keys)
	if filters == 0 || keys == 0 {
		t.Error("nothing was compared")
	}
}

// TestFiltersMeet: every rule by which two filters are compared.
func TestFiltersMeet(t *testing.T) {
	of := func(keys ...string) *tablepb.KeyExistenceFilter {
		var f commit.KeyFilter
		for _, k := range keys {
			f.AddString(k)
		}
		return f.Proto(0)
	}
	exact := func(hashes ...uint64) *tablepb.KeyExistenceFilter {
		return &tablepb.KeyExistenceFilter{FieldIds: []int32{0}, Data: &tablepb.KeyExistenceFilter_Exact{Exact: &tablepb.ExactKeySetFilter{KeyHashes: hashes}}}
	}
	small := proto.CloneOf(of("a"))
	small.GetBloom().Bitmap = small.GetBloom().Bitmap[:16384]
	rare := proto.CloneOf(of("a"))
	rare.GetBloom().Probability = 0.01
	other := proto.CloneOf(of("a"))
	other.FieldIds = []int32{1}
	base, err := format.ParseManifest(mustEncode(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		ours, theirs *tablepb.KeyExistenceFilter
		why          string
	}{
		{of("a"), of("b"), ""}, {of("a", "b"), of("c", "b"), "same key"}, {of(), of("a"), ""}, {of("a"), other, "different columns"},
		{of("a"), small, "cannot be compared"}, {of("b"), rare, "cannot be compared"}, {exact(1, 2), exact(3), ""}, {exact(1, 2), exact(2), "same key"},
		{exact(1), of("a"), "cannot be compared"}, {of("a"), nil, "not recorded"}, {nil, of("a"), ""}, {nil, nil, ""},
	} {
		v := commit.Conflict(txn(1, "x", &tablepb.Update{InsertedRows: c.ours}), txn(1, "y", &tablepb.Update{InsertedRows: c.theirs}), commit.Facts{Base: base})
		if (v.Outcome == commit.OK) != (c.why == "") || !strings.Contains(v.Why, c.why) {
			t.Errorf("%d: %+v, want %q", i, v, c.why)
		}
	}
	// How often filters meet without a common key is what Lance measured too.
	met := 0
	for round := range 100 {
		var a, b commit.KeyFilter
		for i := range 32 {
			a.AddString(fmt.Sprint("a", round, "-", i))
			b.AddString(fmt.Sprint("b", round, "-", i))
		}
		v := commit.Conflict(txn(1, "x", &tablepb.Update{InsertedRows: a.Proto(0)}), txn(1, "y", &tablepb.Update{InsertedRows: b.Proto(0)}), commit.Facts{Base: base})
		if v.Outcome != commit.OK {
			met++
		}
	}
	if met < 5 || met > 45 { // 19 % of 32 × 32 keys
		t.Errorf("filters of 32 different keys each met %d times of 100", met)
	}
}
