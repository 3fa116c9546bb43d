package lance_test

import (
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/index"
)

// indexFixtures are the datasets with indexes that pylance wrote.
func indexFixtures(t testing.TB) map[string][]byte {
	t.Helper()
	archive, err := fixtures.Shared("lance", "index-fixtures.tar.gz")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	files, err := fixtures.Unpack(archive)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// textIndexes calls f for every version of every dataset, below each root, that
// has a usable index on a column of text.
func textIndexes(t *testing.T, store blob.Store, files map[string][]byte, f func(s *lance.Snapshot, column string, x *lance.TextIndex)) {
	t.Helper()
	roots := map[string]bool{}
	for key := range files {
		if dir, _, ok := strings.Cut(key, "/_versions/"); ok && !strings.Contains(dir, "/tree/") {
			roots[dir] = true
		}
	}
	for _, root := range slices.Sorted(maps.Keys(roots)) {
		chain, err := lance.Versions(t.Context(), store, root, lance.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range chain.Versions {
			s := open(t, store, root, lance.OpenOptions{Version: v.Version})
			for _, field := range s.Schema().Fields {
				if x := s.TextIndex(field.Name); x != nil {
					f(s, field.Name, x)
				}
			}
		}
	}
}

// byValue are the addresses of live rows by the value of a column, in physical
// order, of some fragments. nil = all.
func byValue(t *testing.T, s *lance.Snapshot, column string, fragments []uint64) map[string][]uint64 {
	t.Helper()
	out := map[string][]uint64{}
	all := collect(t, s.Scan(t.Context(), lance.ScanOptions{Columns: []string{column}, WithRowAddress: true, Fragments: fragments}))
	if all.rows == 0 {
		return out
	}
	addrs := numbersOf(t, all, lance.ColRowAddress)
	values := all.cols[column].(interface {
		arrow.Array
		Value(int) string
	})
	for i := range all.rows {
		if values.IsValid(i) {
			v := strings.Clone(values.Value(i))
			out[v] = append(out[v], addrs[i])
		}
	}
	return out
}

// lookedAt counts the indexes that were compared with scans: all, those of several
// segments, those that do not cover every fragment, those over deleted rows; and the
// values that were looked up.
type lookedAt struct{ all, several, partial, dead, values int }

// count counts an index; its values are not looked up yet.
func (n *lookedAt) count(t *testing.T, s *lance.Snapshot, column string, x *lance.TextIndex) {
	t.Helper()
	n.all++
	if len(x.Covered()) < len(s.Fragments()) {
		n.partial++
	}
	if slices.ContainsFunc(s.Fragments(), func(f format.Fragment) bool { return f.Deletion != nil }) {
		n.dead++
	}
	list, err := index.Describe(s.Manifest())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		if slices.Equal(i.Columns, []string{column}) && len(i.Segments) > 1 {
			n.several++
		}
	}
}

// What an index finds is what a scan of the fragments that it covers finds:
// fresh, after appends, deletions, updates, compactions and merges, with one
// segment and with several.
func TestTextIndexFindsWhatAScanFinds(t *testing.T) {
	var n lookedAt
	check := func(s *lance.Snapshot, column string, x *lance.TextIndex) {
		n.count(t, s, column, x)
		want := byValue(t, s, column, x.Covered())
		var some []string
		var together []uint64
		for _, v := range slices.Sorted(maps.Keys(want)) {
			addrs := want[v]
			n.values++
			got, err := x.Find(t.Context(), v)
			if err != nil || !slices.Equal(got, addrs) {
				t.Fatalf("%s v%d, %s = %q: %v, %v; a scan finds %v", s.Root(), s.Version(), column, v, got, err, addrs)
			}
			if len(some) < 20 {
				some = append(some, v, v+"~", "")
				together = append(together, addrs...)
			}
			if n.values%50 == 0 {
				break
			}
		}
		together = append(together, want[""]...)
		s.Sort(together)
		if got, err := x.Find(t.Context(), some...); err != nil || !slices.Equal(got, slices.Compact(together)) && len(some) > 0 {
			t.Fatalf("%s v%d, %s in %q: %v, %v; a scan finds %v", s.Root(), s.Version(), column, some, got, err, together)
		}
		for _, nothing := range []string{"\x00", "no such value", "\xff\xff", strings.Repeat("z", 3000)} {
			if got, err := x.Find(t.Context(), nothing); err != nil || len(got) != len(want[nothing]) {
				t.Fatalf("%s v%d, %s = %q: %v, %v", s.Root(), s.Version(), column, nothing, got, err)
			}
		}
	}
	files := indexFixtures(t)
	textIndexes(t, inMemory(t, "indexes", files), files, check)
	for _, name := range []string{"maintained", "midlife"} {
		g := graph(t, name)
		textIndexes(t, inMemory(t, name, g), g, check)
	}
	t.Logf("%d indexes, %d of several segments, %d partial, %d over deleted rows, %d values", n.all, n.several, n.partial, n.dead, n.values)
	if n.all < 30 || n.several == 0 || n.partial == 0 || n.dead == 0 || n.values < 300 {
		t.Error("too little was looked at")
	}
}

// An index whose files are cut or spoilt is refused as unusable, or finds what
// a scan finds. Index files carry no checksums: a letter of a value that was
// changed within its neighbours is the one thing that nobody can notice.
func TestTextIndexInSpoiltFiles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	g := graph(t, "maintained")
	refused, right, missed := 0, 0, 0
	for _, key := range slices.Sorted(maps.Keys(g)) { // which are spoilt, and how, is drawn in this order
		data, base := g[key], path.Base(key)
		if base != "page_lookup.lance" && base != "page_data.lance" || rnd.IntN(3) > 0 {
			continue
		}
		for range 25 {
			bad := slices.Clone(data)
			switch rnd.IntN(4) {
			case 0:
				bad = bad[:rnd.IntN(len(bad))]
			case 1:
				clear(bad[rnd.IntN(len(bad)):])
			default:
				bad[rnd.IntN(len(bad))] ^= byte(1 << rnd.IntN(8))
			}
			files := map[string][]byte{}
			root := key[:strings.Index(key, "/_indices/")]
			for k, v := range g {
				if strings.HasPrefix(k, root+"/") {
					files[k] = v
				}
			}
			files[key] = bad
			s := open(t, inMemory(t, "spoilt"+strconv.Itoa(refused+right+missed), files), root, lance.OpenOptions{})
			for _, field := range s.Schema().Fields {
				x := s.TextIndex(field.Name)
				if x == nil {
					continue
				}
				for v, addrs := range byValue(t, s, field.Name, x.Covered()) {
					got, err := x.Find(t.Context(), v)
					switch {
					case err != nil && !lance.Unusable(err):
						t.Fatalf("%s: %v", key, err)
					case err != nil:
						refused++
					case slices.Equal(got, addrs):
						right++
					default:
						missed++
					}
				}
			}
		}
	}
	t.Logf("%d times refused, %d times right, %d times not what a scan finds", refused, right, missed)
	if refused < 100 || right < 100 || missed*100 > refused+right {
		t.Error("too little was spoilt, or too much believed")
	}
}
