package file

import (
	"context"
	"errors"

	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/file/layout"
)

// recorder is a source that notes its reads, and may fail the n-th one.
type recorder struct {
	data   []byte
	mu     sync.Mutex
	reads  []layout.Range
	failAt int // counted from 1; 0 = never
}

var errScripted = errors.New("scripted failure")

func (s *recorder) Size() int64 { return int64(len(s.data)) }

func (s *recorder) note(off, n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads = append(s.reads, layout.Range{Off: off, Len: n})
	if s.failAt > 0 && len(s.reads) == s.failAt {
		return errScripted
	}
	return nil
}

func (s *recorder) ReadRange(_ context.Context, off, n int64) ([]byte, error) {
	if err := s.note(off, n); err != nil {
		return nil, err
	}
	return slices.Clone(s.data[off : off+n]), nil
}

// take returns the reads so far and forgets them.
func (s *recorder) take() []layout.Range {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.reads
	s.reads = nil
	return out
}

// into is a recorder that reads into memory of the reader.
type into struct{ *recorder }

func (s into) ReadInto(_ context.Context, off int64, p []byte) error {
	if err := s.note(off, int64(len(p))); err != nil {
		return err
	}
	copy(p, s.data[off:])
	return nil
}

// reopen opens the same file over another source.
func (o opened) reopen(t testing.TB, src Source, opts Options) opened {
	t.Helper()
	opts.Name = o.path
	r, err := Open(t.Context(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	return opened{o.path, r, o.cols}
}

// TestSmallReads reads every case through sources with ranges, in very small
// pieces, into memory of the reader and not.
func TestSmallReads(t *testing.T) {
	files, cases := fixtures(t)
	for _, c := range cases {
		t.Run(c.name(), func(t *testing.T) {
			names, want := files.expected(t, c)
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			first := int64(0)
			for _, o := range files.open(t, c, Options{}) {
				rec := &recorder{data: files[o.path]}
				n := o.r.NumRows()
				for _, src := range []Source{rec, into{rec}} {
					o := o.reopen(t, src, Options{Allocator: mem, TailBytes: 50, ReadBytes: 100, Coalesce: 1, Parallelism: 2, CacheBytes: 1})
					b := scanAll(t, o, ScanOptions{To: -1})
					diff(t, "scan", names, files.viewOf(c, o.path).rows(b), slice(want, first, first+n))
					b.Release()
					if n == 0 {
						continue
					}
					idx := []int64{n - 1, n / 2, 0}
					b, err := o.r.Take(t.Context(), o.cols, idx)
					if err != nil {
						t.Fatal(err)
					}
					diff(t, "take", names, files.viewOf(c, o.path).rows(b), pick(slice(want, first, first+n), idx))
					b.Release()
				}
				first += n
			}
		})
	}
}

// find opens the data file of a case of our own.
func find(t testing.TB, name string) (archive, opened) {
	t.Helper()
	files := own(t)
	for _, c := range files.cases(t) {
		if c.name() == name {
			return files, files.open(t, c, Options{})[0]
		}
	}
	t.Fatalf("no case %s among our own", name)
	return nil, opened{}
}

// TestReadsOfTake counts the reads of §10: the end once, then what finds rows
// in all pages at once, then the data; and the second time the data only.
func TestReadsOfTake(t *testing.T) {
	for _, c := range []struct {
		name        string
		column      string
		heads, data int // reads, ranges that touch being one
	}{
		{"int_bitpack_nulls@2.2", "int32", 1, 1},     // chunk words; chunk
		{"str_dict_nulls@2.2", "utf8", 2, 1},         // and the dictionary; chunk
		{"list_spanning@2.1", "", 2, 1},              // and the repetition index; chunk
		{"scalars_constant_nulls@2.2", "int8", 1, 0}, // levels; nothing
	} {
		t.Run(c.name, func(t *testing.T) {
			files, o := find(t, c.name)
			rec := &recorder{data: files[o.path]}
			o = o.reopen(t, rec, Options{TailBytes: 64, Coalesce: 1})
			col := o.cols[0]
			for _, k := range o.cols {
				if k.Field.Name == c.column {
					col = k
				}
			}
			if got := len(rec.take()); got > 3 {
				t.Errorf("%d reads to open", got)
			}
			for i, want := range []int{c.heads + c.data, c.data, c.data} {
				b, err := o.r.Take(t.Context(), []Column{col}, []int64{3})
				if err != nil {
					t.Fatal(err)
				}
				b.Release()
				if got := rec.take(); len(got) != want {
					t.Errorf("take %d made the reads %v, expected %d", i, got, want)
				}
			}
		})
	}
}

// TestTogether takes all columns at once: the reads are as many as for the
// columns one by one, or fewer, since near ranges are one.
func TestTogether(t *testing.T) {
	files, o := find(t, "scalars_nullable@2.2")
	rec := &recorder{data: files[o.path]}
	o = o.reopen(t, rec, Options{TailBytes: 64, Coalesce: 1 << 20})
	rec.take()
	b, err := o.r.Take(t.Context(), o.cols, []int64{0, 149})
	if err != nil {
		t.Fatal(err)
	}
	b.Release()
	if got := rec.take(); len(got) != 2 {
		t.Errorf("%d reads for heads and data with a wide gap, expected one each: %v", len(got), got)
	}
}

// TestTailServes: what the first read brought is not read again.
func TestTailServes(t *testing.T) {
	files, o := find(t, "scalars_nullable@2.2")
	rec := &recorder{data: files[o.path]}
	o = o.reopen(t, rec, Options{})
	b := scanAll(t, o, ScanOptions{To: -1})
	b.Release()
	if got := rec.take(); len(got) != 1 {
		t.Errorf("a file smaller than the tail took the reads %v", got)
	}
}

// TestBytesCopiesNothing: reads of a whole object in memory are parts of it.
func TestBytesCopiesNothing(t *testing.T) {
	data := []byte("0123456789")
	p, err := Bytes(data).ReadRange(t.Context(), 3, 4)
	if err != nil || string(p) != "3456" || &p[0] != &data[3] {
		t.Errorf("%q, %v", p, err)
	}
	for _, rg := range []layout.Range{{Off: -1, Len: 1}, {Off: 8, Len: 3}, {Off: 11, Len: 0}, {Off: 0, Len: -1}} {
		if _, err := Bytes(data).ReadRange(t.Context(), rg.Off, rg.Len); err == nil {
			t.Errorf("%v: no error", rg)
		}
	}
}

// TestFailedReads fails every read of a scan and of a take in turn.
func TestFailedReads(t *testing.T) {
	files, o := find(t, "list_sparse@2.2")
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	opts := Options{TailBytes: 64, ReadBytes: 512, Coalesce: 1, Parallelism: 2, Allocator: mem}
	for _, take := range []bool{false, true} {
		for n := 1; ; n++ {
			rec := &recorder{data: files[o.path], failAt: n}
			if err := readOnce(t, o, rec, opts, take); err == nil {
				if n < 4 {
					t.Errorf("only %d reads", n-1)
				}
				break
			} else if !errors.Is(err, errScripted) || !strings.Contains(err.Error(), o.path) {
				t.Fatalf("read %d failed: %v", n, err)
			}
		}
	}
}

func readOnce(t *testing.T, o opened, rec *recorder, opts Options, take bool) error {
	opts.Name = o.path
	r, err := Open(t.Context(), rec, opts)
	if err != nil {
		return err
	}
	if take {
		b, err := r.Take(t.Context(), o.cols, []int64{40000, 5})
		if err == nil {
			b.Release()
		}
		return err
	}
	for b, err := range r.Scan(t.Context(), o.cols, ScanOptions{To: -1}) {
		if err != nil {
			return err
		}
		b.Release()
	}
	return nil
}

// TestShortAnswer: a source that answers too little is not believed.
func TestShortAnswer(t *testing.T) {
	_, err := Open(t.Context(), short{}, Options{Name: "x"})
	if err == nil || !strings.Contains(err.Error(), "answered") {
		t.Errorf("%v", err)
	}
}

type short struct{}

func (short) Size() int64 { return 1000 }

func (short) ReadRange(context.Context, int64, int64) ([]byte, error) { return []byte("LANC"), nil }
