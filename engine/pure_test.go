package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/index"
	"github.com/omnideck/omnideck/manifest"
)

func TestHistogramBuckets(t *testing.T) {
	got := histogram([]uint64{0, 1, 2, 3, 3, 9, math.MaxUint64})
	if len(got) != 65 || got[0] != (Bucket{0, 0, 1}) || got[1] != (Bucket{1, 1, 1}) || got[2] != (Bucket{2, 3, 3}) || got[4] != (Bucket{8, 15, 1}) || got[64] != (Bucket{1 << 63, math.MaxUint64, 1}) {
		t.Errorf("%+v", got)
	}
	if h := histogram(nil); h == nil || len(h) != 0 {
		t.Errorf("%+v", h)
	}
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOf(rapid.Uint64Range(0, 1<<40)).Draw(t, "rows")
		n := 0
		for _, b := range histogram(rows) {
			for _, r := range rows {
				if r >= b.From && r <= b.To {
					n++
				}
			}
			if b.Count > len(rows) {
				t.Fatalf("%+v", b)
			}
			n -= b.Count
		}
		if n != 0 {
			t.Fatalf("buckets do not count what lies between their ends: %d", n)
		}
	})
}

func TestSuggestions(t *testing.T) {
	names := []string{"node:Company", "node:Port", "node:Vessel", "edge:Owns", "edge:CallsAt", "edge:Partner"}
	for asked, want := range map[string]string{"Prot": "node:Port", "node:Prot": "node:Port", "port": "node:Port", "nodeVessel": "node:Vessel", "zzzzzzzz": ""} {
		if got := strings.Join(Suggest(asked, names), " "); got != want {
			t.Errorf("%s: %q, want %q", asked, got, want)
		}
	}
	if got := Suggest("zzz", []string{"b", "a"}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("a few names are all offered: %v", got)
	}
	if d := distance(strings.Repeat("a", 1<<20), "b"); d != 1<<20 {
		t.Errorf("a long name costs %d", d)
	}
}

// No commit stands before one of its children, whatever the clocks say; commits
// of a cycle are not lost.
func TestChildrenFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "n")
		entries := make([]Commit, n)
		for i := range entries {
			e := &entries[i]
			e.ID = fmt.Sprintf("%03d", i)
			e.CreatedAt = rapid.Int64Range(0, 5).Draw(t, "time")
			e.ManifestVersion = rapid.Uint64Range(0, 5).Draw(t, "version")
			for _, p := range []**string{&e.Parent, &e.MergedParent} {
				if i > 0 && rapid.Bool().Draw(t, "has") {
					id := fmt.Sprintf("%03d", rapid.IntRange(0, i-1).Draw(t, "parent"))
					*p = &id
				}
			}
		}
		ids := func(list []Commit) []string {
			out := make([]string, len(list))
			for i, e := range list {
				out[i] = e.ID
			}
			return out
		}
		cut := rapid.IntRange(0, n).Draw(t, "cut") // two branches that share some
		got := ordered(entries[:cut], entries[cut/2:])
		if !slices.Equal(slices.Sorted(slices.Values(ids(got))), ids(entries)) {
			t.Fatalf("commits were lost or doubled: %v", ids(got))
		}
		at := map[string]int{}
		for i, e := range got {
			at[e.ID] = i
		}
		for _, e := range got {
			for _, p := range []*string{e.Parent, e.MergedParent} {
				if p != nil && at[*p] <= at[e.ID] {
					t.Fatalf("%s stands before its child %s", *p, e.ID)
				}
			}
		}
		shuffled := rapid.Permutation(entries).Draw(t, "order")
		if again := ordered(shuffled); !slices.Equal(ids(again), ids(got)) {
			t.Fatalf("the order depends on the order of input: %v and %v", ids(got), ids(again))
		}
	})
	a, b := "a", "b"
	if got := ordered([]Commit{{ID: a, Parent: &b}, {ID: b, Parent: &a}}); len(got) != 2 {
		t.Errorf("a cycle: %+v", got)
	}
}

// ordered are the commits of some branches as LogAll orders them.
func ordered(lists ...[]Commit) []Commit {
	var all []*manifest.Commits
	for _, l := range lists {
		var entries []LogEntry
		for _, c := range l {
			entries = append(entries, LogEntry{Commit: c})
		}
		packed := manifest.CommitsOf(nil)
		if len(l) > 0 {
			packed, _ = LogOf(entries).graph.In(0)
		}
		all = append(all, packed)
	}
	g := branches.NewGraph(all...)
	log := inOrder(g, childrenFirst(g), 0)
	for i := range log.Len() {
		if at, ok := log.Find(log.ID(i)); !ok || at != i {
			panic(fmt.Sprintf("%s stands at %d and is found at %d", log.ID(i), i, at))
		}
	}
	return slices.Collect(log.All())
}

// Case 9: null, empty text, empty list and NaN look different.
func TestCells(t *testing.T) {
	fields := []arrow.Field{
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "l", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "f", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "d", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		{Name: "t", Type: arrow.FixedWidthTypes.Date64, Nullable: true},
		{Name: "v", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
		{Name: "ld", Type: arrow.ListOf(arrow.FixedWidthTypes.Date32), Nullable: true},
	}
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	rows := `[
	 {"s":"","l":[],"f":0.1,"b":false,"d":-1,"t":-1,"v":[3,4],"n":18446744073709551615,"ld":[0,null]},
	 {"s":"null","l":["a\"b",null,""],"f":1e30,"b":true,"d":2147483647,"t":1709200800500,"v":[0,0],"n":0,"ld":[]},
	 {}]`
	batch, _, err := array.RecordFromJSON(mem, arrow.NewSchema(fields, nil), strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	want := [][]Cell{
		{{CellText, ""}, {CellList, "[]"}, {CellNumber, "0.1"}, {CellBool, "false"}, {CellTime, "1969-12-31"}, {CellTime, "1969-12-31T23:59:59.999Z"}, {CellVector, "2 numbers, norm 5"}, {CellNumber, "18446744073709551615"}, {CellList, `["1970-01-01",null]`}},
		{{CellText, "null"}, {CellList, `["a\"b",null,""]`}, {CellNumber, "1e+30"}, {CellBool, "true"}, {CellTime, "5881580-07-11"}, {CellTime, "2024-02-29T10:00:00.500Z"}, {CellVector, "2 numbers, norm 0"}, {CellNumber, "0"}, {CellList, "[]"}},
		make([]Cell, len(fields)),
	}
	for i := range fields {
		cell := cellsOf(batch.Column(i), nil)
		for row := range want {
			if got := cell(row); got != want[row][i] {
				t.Errorf("row %d, column %s: %+v, want %+v", row, fields[i].Name, got, want[row][i])
			}
		}
	}
	for text, x := range map[string]float64{"NaN": math.NaN(), "+Inf": math.Inf(1)} {
		if got := spellFloat(x, 64); got != text {
			t.Errorf("%g is shown as %q", x, got)
		}
	}
	blobs := cellsOf(nil, []*lance.Blob{{Null: true}, {Size: 3}, {Kind: lance.BlobExternal, URI: "s3://x/y"}, {}})
	for i, want := range []Cell{{}, {CellBlob, "3 bytes"}, {CellBlob, "s3://x/y"}, {CellBlob, "0 bytes"}} {
		if got := blobs(i); got != want {
			t.Errorf("blob %d: %+v, want %+v", i, got, want)
		}
	}
}

func TestTypeSpellings(t *testing.T) {
	for want, typ := range map[string]arrow.DataType{
		"String": arrow.BinaryTypes.String, "Bool": arrow.FixedWidthTypes.Boolean, "I32": arrow.PrimitiveTypes.Int32, "U64": arrow.PrimitiveTypes.Uint64,
		"F32": arrow.PrimitiveTypes.Float32, "Date": arrow.FixedWidthTypes.Date32, "DateTime": arrow.FixedWidthTypes.Date64,
		"[I64]": arrow.ListOf(arrow.PrimitiveTypes.Int64), "Vector(8)": arrow.FixedSizeListOf(8, arrow.PrimitiveTypes.Float32),
	} {
		if got := spellType(typ, false); got != want {
			t.Errorf("%s is spelled %s, want %s", typ, got, want)
		}
	}
	if got := spellType(arrow.StructOf(), true); got != "Blob" {
		t.Errorf("a blob is spelled %s", got)
	}
}

func TestSameRoot(t *testing.T) {
	for _, c := range []struct {
		recorded, url string
		exact, want   bool
	}{
		{"/data/g", "/data/g", true, true},
		{"file:///data/g/", "/data/g", true, true},
		{"/data/g", "/other/g", true, false},
		{"g", "/data/g", false, true},
		{"g", "/data/gg", false, false},
		{"lab/g", "s3://b/lab/g", false, true},
		{"g", "s3://b/lab/g", false, false},
		{"s3://b/g", "s3://b/g", true, true},
		{"s3://b/g", "s3://c/g", true, false},
		{"g", "mem://g", false, false},
	} {
		if got := sameRoot(c.recorded, c.url, c.exact); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestFindingsWorstFirst(t *testing.T) {
	list := worstFirst([]Finding{
		{ID: "G14", Severity: SeverityWarn}, {ID: "M1", Severity: SeverityInfo}, {ID: "G2", Severity: SeverityWarn}, {ID: "G46", Severity: SeverityError}, {ID: "M2", Severity: SeverityWarn},
	})
	var ids []string
	for _, f := range list {
		ids = append(ids, f.ID)
	}
	if got := strings.Join(ids, " "); got != "G46 G2 G14 M2 M1" {
		t.Errorf("order %s", got)
	}
}

func TestTemporaryNames(t *testing.T) {
	for name, want := range map[string]bool{"a.json#1": true, ".tmpAbC": true, "a#": false, "a#1x": false, "#1": false, "a.json": false} {
		if got := isTemporary(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestAnyOf(t *testing.T) {
	for want, owners := range map[string][]string{
		"main": {""}, "main or its branch fix/ports": {"", "fix/ports"}, "main or any of its 2 branches": {"", "a", "b"},
	} {
		if got := anyOf(owners); got != want {
			t.Errorf("%q: %q, expected %q", owners, got, want)
		}
	}
}

// A segment tells the fragments that are gone, and no size where the manifest
// has none.
func TestSegmentOf(t *testing.T) {
	s := &index.Segment{Fragments: []uint32{1, 2, 9}, Known: true}
	s.Base = format.BaseRef{Set: true, ID: 4}
	there := map[uint64]bool{1: true, 2: true}
	x := segmentOf(s, there, map[uint32]format.BasePath{4: {ID: 4, Name: "side"}})
	if x.Fragments != 3 || x.Missing != 1 || x.Bytes != nil || x.Base != "side" {
		t.Errorf("%+v", x)
	}
	s.Files, s.Bytes = []format.IndexFile{{Path: "a", Size: 7}, {Path: "b", Size: 2}}, 9
	if x = segmentOf(s, there, nil); x.Bytes == nil || *x.Bytes != 9 {
		t.Errorf("%+v", x)
	}
	s.Files[1].Size = 0
	if x = segmentOf(s, there, nil); x.Bytes != nil {
		t.Errorf("a size that is not recorded: %+v", x)
	}
}

// Keys of floats sort as the numbers do.
func TestFloatKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64().Draw(t, "a"), rapid.Float64().Draw(t, "b")
		if (a < b) != (floatKey(a) < floatKey(b)) || (a == b) != (floatKey(a) == floatKey(b)) {
			t.Fatalf("%v has key %x, %v %x", a, floatKey(a), b, floatKey(b))
		}
	})
	inf, zero := math.Inf(1), 0.0
	order := []float64{-inf, -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, zero, math.SmallestNonzeroFloat64, 1, math.MaxFloat64, inf, math.NaN()}
	for i := range order[1:] {
		if floatKey(order[i]) >= floatKey(order[i+1]) {
			t.Errorf("%v does not stand before %v", order[i], order[i+1])
		}
	}
	if floatKey(math.Copysign(0, -1)) != floatKey(0) {
		t.Error("the zeros differ")
	}
}

// Orders are kept up to a bound, those used last.
func TestOrderMemo(t *testing.T) {
	var m orderMemo
	big := make([]uint64, maxOrdered/2)
	key := func(n uint64) orderKey { return orderKey{location: "x", version: n} }
	has := func(n uint64) bool { _, ok := m.get(key(n)); return ok }
	m.put(key(1), big)
	m.put(key(2), big)
	if !has(2) || !has(1) {
		t.Error("two that fit are not kept")
	}
	m.put(key(3), big[:1]) // 1 was used last, 2 goes
	if has(2) || !has(1) || !has(3) {
		t.Errorf("%d kept", len(m.kept))
	}
	m.put(key(3), big[:2])
	if got, _ := m.get(key(3)); len(got) != 2 || len(m.kept) != 2 {
		t.Errorf("%d addresses, %d kept", len(got), len(m.kept))
	}
	m.put(key(4), make([]uint64, maxOrdered+1))
	if len(m.kept) != 0 {
		t.Errorf("more than is kept is kept: %d", len(m.kept))
	}
}
