package file

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/format"
)

// TestStopEarly leaves a scan after its first batch: no goroutine stays (the
// package's tests end with a check) and all memory is given back.
func TestStopEarly(t *testing.T) {
	files, o := find(t, "list_sparse@2.2")
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	for _, src := range []Source{Bytes(files[o.path]), into{&recorder{data: files[o.path]}}} {
		o := o.reopen(t, src, Options{Allocator: mem, TailBytes: 64})
		for b, err := range o.r.Scan(t.Context(), o.cols, ScanOptions{To: -1, BatchRows: 100}) {
			if err != nil {
				t.Fatal(err)
			}
			b.Release()
			break
		}
	}
}

// TestCancel cancels a scan between batches.
func TestCancel(t *testing.T) {
	_, o := find(t, "list_sparse@2.2")
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	o.r.opts.Allocator = mem
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rows := int64(0)
	var last error
	for b, err := range o.r.Scan(ctx, o.cols, ScanOptions{To: -1}) {
		if last = err; err != nil {
			break
		}
		rows += b.NumRows()
		b.Release()
		cancel()
	}
	if rows == o.r.NumRows() || !errors.Is(last, context.Canceled) {
		t.Errorf("%d rows of %d and the error %v after the context ended", rows, o.r.NumRows(), last)
	}
	if _, err := o.r.Take(ctx, o.cols, []int64{1}); rows > 0 && err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestCancelIsNext: what is decoded ahead does not come any more after the context
// has ended, whether or not it is ready.
func TestCancelIsNext(t *testing.T) {
	files, o := find(t, "list_sparse@2.2")
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			o := o.reopen(t, Bytes(files[o.path]), Options{Allocator: mem, Parallelism: 2})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			batches := 0
			var last error
			for b, err := range o.r.Scan(ctx, o.cols, ScanOptions{To: -1}) {
				if last = err; err != nil {
					break
				}
				b.Release()
				if batches++; batches == 2 {
					synctest.Wait() // the third is ready
					cancel()
				}
			}
			if batches != 2 || !errors.Is(last, context.Canceled) {
				t.Errorf("%d batches, then %v; want 2 and that it was cancelled", batches, last)
			}
		})
	}
}

// TestHalving scans and takes with very little memory for a batch: batches get
// smaller, and a row that does not fit by itself is an error.
func TestHalving(t *testing.T) {
	files, o := find(t, "meta_zstd@2.2")
	o = o.reopen(t, Bytes(files[o.path]), Options{BatchBytes: 8 << 10})
	c := fixtureCase{Case: "meta_zstd", Expected: "meta_zstd@2.2/expected.arrow"}
	names, want := files.expected(t, c)
	batches := 0
	at := int64(0)
	v := &viewer{}
	for b, err := range o.r.Scan(t.Context(), o.cols, ScanOptions{To: -1}) {
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "halves", names, v.rows(b), slice(want, at, at+b.NumRows()))
		at += b.NumRows()
		batches++
		b.Release()
	}
	if at != o.r.NumRows() || batches < 4 {
		t.Errorf("%d rows in %d batches", at, batches)
	}
	o = o.reopen(t, Bytes(files[o.path]), Options{BatchBytes: 10})
	for b, err := range o.r.Scan(t.Context(), o.cols, ScanOptions{To: -1}) {
		if err == nil {
			b.Release()
			continue
		}
		if !errors.Is(err, format.ErrUnsupported) || errors.Is(err, format.ErrCorrupt) {
			t.Errorf("a row that does not fit: %v", err)
		}
		return
	}
	t.Error("no error for rows that do not fit")
}

// TestManyReaders scans and takes from one Reader side by side.
func TestManyReaders(t *testing.T) {
	files, o := find(t, "list_spanning@2.1")
	o = o.reopen(t, Bytes(files[o.path]), Options{CacheBytes: 2000})
	c := fixtureCase{Case: "list_spanning", Expected: "list_spanning@2.1/expected.arrow"}
	names, want := files.expected(t, c)
	var g sync.WaitGroup
	for k := range 8 {
		g.Go(func() {
			if k%2 == 0 {
				b := scanAll(t, o, ScanOptions{To: -1, BatchRows: 10 + k})
				diff(t, "scan", names, (&viewer{}).rows(b), want)
				b.Release()
				return
			}
			idx := []int64{int64(k), 0, o.r.NumRows() - 1}
			b, err := o.r.Take(t.Context(), o.cols, idx)
			if err != nil {
				t.Error(err)
				return
			}
			diff(t, "take", names, (&viewer{}).rows(b), pick(want, idx))
			b.Release()
		})
	}
	g.Wait()
}

// TestWrongRows asks for rows that are not there.
func TestWrongRows(t *testing.T) {
	_, o := find(t, "list_nested@2.2")
	n := o.r.NumRows()
	for _, s := range []ScanOptions{{From: -1, To: 1}, {From: 0, To: n + 1}, {From: 2, To: 1}} {
		for b, err := range o.r.Scan(t.Context(), o.cols, s) {
			if err == nil {
				b.Release()
				t.Errorf("%+v: no error", s)
			}
		}
	}
	for _, rows := range [][]int64{{-1}, {n}, {0, n}} {
		if b, err := o.r.Take(t.Context(), o.cols, rows); err == nil {
			b.Release()
			t.Errorf("take %v: no error", rows)
		}
	}
	if _, err := o.r.GlobalBuffer(t.Context(), 1); err == nil {
		t.Error("global buffer 1 of 1: no error")
	}
	if p, err := o.r.GlobalBuffer(t.Context(), 0); err != nil || len(p) == 0 {
		t.Errorf("global buffer 0: %d bytes, %v", len(p), err)
	}
}

// TestNoColumns counts rows without reading any.
func TestNoColumns(t *testing.T) {
	files, o := find(t, "list_sparse@2.2")
	rec := &recorder{data: files[o.path]}
	o = o.reopen(t, rec, Options{TailBytes: 64})
	rec.take()
	rows := int64(0)
	for b, err := range o.r.Scan(t.Context(), nil, ScanOptions{To: -1}) {
		if err != nil {
			t.Fatal(err)
		}
		rows += b.NumRows()
		b.Release()
	}
	if rows != o.r.NumRows() || len(rec.take()) != 0 {
		t.Errorf("%d rows of %d", rows, o.r.NumRows())
	}
	b, err := o.r.Take(t.Context(), nil, []int64{4, 4})
	if err != nil || b.NumRows() != 2 {
		t.Fatalf("%v, %v", b, err)
	}
	b.Release()
}

// TestWrongBinding binds columns that the file does not have, or too few.
func TestWrongBinding(t *testing.T) {
	_, o := find(t, "list_nested@2.2")
	c := o.cols[1]
	for _, leaves := range [][]int{{}, {99}, {0, 1}} {
		_, err := o.r.Take(t.Context(), []Column{{c.Field, leaves}}, []int64{0})
		if !errors.Is(err, format.ErrCorrupt) || !strings.Contains(err.Error(), c.Field.Name) {
			t.Errorf("leaves %v: %v", leaves, err)
		}
	}
	if _, err := o.r.Take(t.Context(), []Column{{}}, []int64{0}); err == nil {
		t.Error("no field: no error")
	}
}
