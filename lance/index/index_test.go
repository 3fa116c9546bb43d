package index_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/index"
)

func TestKindOf(t *testing.T) {
	for url, want := range map[string]index.Kind{
		"/lance.table.BTreeIndexDetails":                        index.BTree,
		"type.googleapis.com/lance.index.pb.vectorindexdetails": index.Vector,
		"/lance.table.InvertedIndexDetails":                     index.FullText,
		"/lance.table.FragmentReuseIndexDetails":                index.Reuse,
		"/someone.Else":                                         index.Unknown,
		"":                                                      index.Unknown,
	} {
		if got := index.KindOf(url); got != want {
			t.Errorf("%q: %s, want %s", url, got, want)
		}
	}
}

// TestIndexFixtures describes every version of every dataset of the index
// fixtures.
func TestIndexFixtures(t *testing.T) {
	archive, err := fixtures.Shared("lance", "index-fixtures.tar.gz")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	files, err := fixtures.Unpack(archive)
	if err != nil {
		t.Fatal(err)
	}
	kinds, segments, partial := map[index.Kind]int{}, 0, 0
	for key, b := range files {
		if !strings.HasSuffix(key, ".manifest") {
			continue
		}
		m, err := format.ParseManifest(b)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		list, err := index.Describe(m)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		rows, _ := m.Rows()
		for _, x := range list {
			kinds[x.Kind]++
			segments += len(x.Segments)
			if len(x.Uncovered) > 0 {
				partial++
			}
			if x.CoveredRows+x.UncoveredRows != rows || len(x.Covered)+len(x.Uncovered) != len(m.Fragments) {
				t.Errorf("%s: index %s covers %d and leaves %d of %d rows", key, x.Name, x.CoveredRows, x.UncoveredRows, rows)
			}
			if !x.Known || len(x.Problems) > 0 || x.Bytes == 0 || strings.HasPrefix(x.Columns[0], "#") {
				t.Errorf("%s: %+v", key, x)
			}
		}
	}
	t.Logf("kinds %v, %d segments, %d indexes that do not cover everything", kinds, segments, partial)
	for _, k := range []index.Kind{index.BTree, index.FullText, index.Vector, index.NGram, index.Bitmap, index.LabelList} {
		if kinds[k] == 0 {
			t.Errorf("no index of kind %s among the fixtures", k)
		}
	}
	if partial == 0 || kinds[index.Unknown] > 0 {
		t.Errorf("%d partial, %d unknown", partial, kinds[index.Unknown])
	}
}

// TestDescribeFindsOverlap builds a manifest whose segments overlap.
func TestDescribe(t *testing.T) {
	m := parse(t, manifestWith(t, []byte{0, 1, 2}, []byte{2, 9}))
	list, err := index.Describe(m)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	x := list[0]
	if d := cmp.Diff([]uint64{0, 1, 2}, x.Covered); d != "" || len(x.Uncovered) != 1 || x.UncoveredRows != 10 || len(x.Problems) != 1 || !strings.Contains(x.Problems[0], "both cover fragment 2") {
		t.Errorf("%+v\n%s", x, d)
	}
	unknown, err := index.Describe(parse(t, manifestWith(t, nil)))
	if err != nil || unknown[0].Known || len(unknown[0].Uncovered) != 4 {
		t.Errorf("%+v, %v", unknown, err)
	}
	for _, bad := range [][]byte{{1}, {0x3a, 0x30, 0, 0, 0, 0, 0, 0, 0}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}} {
		if _, err := index.Describe(parse(t, manifestRaw(t, bad))); !errors.Is(err, format.ErrCorrupt) {
			t.Errorf("bitmap %x: %v", bad, err)
		}
	}
}
