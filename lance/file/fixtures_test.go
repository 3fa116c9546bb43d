package file

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"go.uber.org/goleak"

	"github.com/omnideck/omnideck/internal/pace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// expected is what a case must read as, as text, and the names of its columns.
func (a archive) expected(t testing.TB, c fixtureCase) ([]string, [][]string) {
	t.Helper()
	want := readIPC(t, a[c.Expected])
	defer want.Release()
	v := &viewer{}
	return namesOf(want), v.rows(want)
}

// viewOf shows payloads where expected.arrow has them.
func (a archive) viewOf(c fixtureCase, file string) *viewer {
	if c.Case == "blob_v2_external" {
		return &viewer{}
	}
	return a.blobs(file)
}

func TestFixturesScan(t *testing.T) {
	files, cases := fixtures(t)
	for _, c := range cases {
		t.Run(c.name(), func(t *testing.T) {
			names, want := files.expected(t, c)
			for _, batch := range pace.Every(t, 1, []int{7, 0, 1, 1000}) {
				mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
				got := make([][]string, len(names))
				for _, o := range files.open(t, c, Options{Allocator: mem, Parallelism: 2}) {
					b := scanAll(t, o, ScanOptions{To: -1, BatchRows: batch})
					for i, col := range files.viewOf(c, o.path).rows(b) {
						got[i] = append(got[i], col...)
					}
					b.Release()
				}
				diff(t, "scan", names, got, want)
				mem.AssertSize(t, 0)
			}
		})
	}
}

func TestFixturesRange(t *testing.T) {
	files, cases := fixtures(t)
	for _, c := range cases {
		t.Run(c.name(), func(t *testing.T) {
			names, want := files.expected(t, c)
			rng := rand.New(rand.NewPCG(7, uint64(len(c.Case))))
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			first := int64(0)
			for _, o := range files.open(t, c, Options{Allocator: mem}) {
				n := o.r.NumRows()
				for _, rg := range rangesOf(rng, n) {
					b := scanAll(t, o, ScanOptions{From: rg.from, To: rg.to, BatchRows: 1 + rng.IntN(300)})
					diff(t, "range", names, files.viewOf(c, o.path).rows(b), slice(want, first+rg.from, first+rg.to))
					b.Release()
				}
				first += n
			}
		})
	}
}

// rangesOf are some ranges of n rows: single rows, the ends, random ones.
func rangesOf(rng *rand.Rand, n int64) []run {
	if n == 0 {
		return []run{{0, 0}}
	}
	out := []run{{0, 1}, {n - 1, n}, {n / 2, n/2 + 1}, {0, n / 2}, {n / 3, n}}
	for range 6 {
		a, b := rng.Int64N(n+1), rng.Int64N(n+1)
		out = append(out, run{min(a, b), max(a, b)})
	}
	return out
}

func TestFixturesTake(t *testing.T) {
	files, cases := fixtures(t)
	for _, c := range cases {
		t.Run(c.name(), func(t *testing.T) {
			names, want := files.expected(t, c)
			rng := rand.New(rand.NewPCG(8, uint64(len(c.Case))))
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			first := int64(0)
			for _, o := range files.open(t, c, Options{Allocator: mem}) {
				n := o.r.NumRows()
				for _, idx := range indexSets(rng, n) {
					b, err := o.r.Take(t.Context(), o.cols, idx)
					if err != nil {
						t.Fatalf("take %v: %v", idx, err)
					}
					global := make([]int64, len(idx))
					for i, k := range idx {
						global[i] = first + k
					}
					diff(t, "take", names, files.viewOf(c, o.path).rows(b), pick(want, global))
					b.Release()
				}
				first += n
			}
		})
	}
}

// indexSets are some sets of rows: none, single ones, random ones in order, in
// reverse and with duplicates.
func indexSets(rng *rand.Rand, n int64) [][]int64 {
	out := [][]int64{{}}
	if n == 0 {
		return out
	}
	out = append(out, []int64{0}, []int64{n - 1}, []int64{n - 1, 0, n - 1})
	random := make([]int64, min(n, 60))
	for i := range random {
		random[i] = rng.Int64N(n)
	}
	sorted := slices.Clone(random)
	slices.Sort(sorted)
	reversed := slices.Clone(slices.Compact(slices.Clone(sorted)))
	slices.Reverse(reversed)
	return append(out, random, sorted, reversed, slices.Compact(slices.Clone(sorted)))
}

// TestFixturesProjection reads every column alone and in another order.
func TestFixturesProjection(t *testing.T) {
	files, cases := fixtures(t)
	for _, c := range cases {
		t.Run(c.name(), func(t *testing.T) {
			names, want := files.expected(t, c)
			first := int64(0)
			for _, o := range files.open(t, c, Options{}) {
				n := o.r.NumRows()
				part := slice(want, first, first+n)
				all := o.cols
				for i := range all {
					k := (i + 1) % len(all)
					o.cols = []Column{all[k], all[i]}
					b := scanAll(t, o, ScanOptions{To: -1})
					diff(t, "projection", []string{names[k], names[i]}, files.viewOf(c, o.path).rows(b), [][]string{part[k], part[i]})
					b.Release()
				}
				first += n
			}
		})
	}
}

func TestFixturesPages(t *testing.T) {
	files, cases := fixtures(t)
	layouts := map[string]int{}
	for _, c := range cases {
		for _, o := range files.open(t, c, Options{}) {
			pages, err := o.r.Pages()
			if err != nil {
				t.Fatalf("%s: %v", c.name(), err)
			}
			for _, p := range pages {
				layouts[p.Layout]++
				if p.Layout != "constant" && p.Encoding == "" {
					t.Errorf("%s: page %d of column %d has no text for its encoding", c.name(), p.Page, p.Column)
				}
			}
		}
	}
	for _, l := range []string{"miniblock", "fullzip", "constant", "blob", "array"} {
		if layouts[l] == 0 {
			t.Errorf("no page of layout %s: %v", l, layouts)
		}
	}
}
