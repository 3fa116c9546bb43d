package blob_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/blobtest"
	"github.com/omnideck/omnideck/blob/memstore"
)

func TestLimitConformance(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Store {
		return blob.Limit(memstore.New(memstore.Options{Name: t.Name()}), 1)
	})
}

// TestLimit: never more than n at once, and listing does not hold a place
// while its entries are used.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := memstore.New(memstore.Options{
			Latency: func(blob.Op, string) time.Duration { return 10 * time.Millisecond },
		})
		s := blob.Limit(inner, 3)
		m := blob.NewMeter(nil)
		ctx := blob.WithMeter(t.Context(), m)
		for _, k := range []string{"a", "b", "c"} {
			if _, err := inner.Put(t.Context(), k, []byte(k)); err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		for range 9 {
			go func() {
				if _, err := s.Get(ctx, "a", blob.All); err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		if n := m.Totals().InFlight; n != 3 {
			t.Errorf("%d in flight, want 3", n)
		}
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if _, err := s.Head(short, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call that waited for a place: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
		if tot := m.Totals(); tot.Requests != 9 || tot.Hops != 3 {
			t.Errorf("%d requests, %d hops after %v, want 9 and 3", tot.Requests, tot.Hops, time.Since(begin))
		}
		one := blob.Limit(inner, 1)
		for e, err := range one.List(ctx, blob.ListOptions{PageSize: 1}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := one.Get(ctx, e.Key, blob.All); err != nil { // would wait for ever
				t.Error(err)
			}
		}
		for range one.List(ctx, blob.ListOptions{}) {
			break // and gives its place back
		}
		if _, err := one.Head(ctx, "a"); err != nil {
			t.Error(err)
		}
	})
}

func TestReadOnly(t *testing.T) {
	inner := memstore.New(memstore.Options{Name: "m"})
	if _, err := inner.Put(t.Context(), "k", []byte("v")); err != nil {
		t.Fatal(err)
	}
	s := blob.ReadOnly(inner)
	m := blob.NewMeter(nil)
	ctx := blob.WithMeter(t.Context(), m)
	_, e1 := s.Put(ctx, "k", nil)
	_, e2 := s.PutIfAbsent(ctx, "l", nil)
	e3 := s.Delete(ctx, "k")
	for i, err := range []error{e1, e2, e3} {
		var oe *blob.OpError
		if !errors.Is(err, blob.ErrReadOnly) || !errors.As(err, &oe) || oe.URL != "mem://m" {
			t.Errorf("write %d: %v", i, err)
		}
	}
	if m.Totals().Requests != 0 {
		t.Errorf("refused writes were sent: %+v", m.Totals())
	}
	if o, err := s.Get(ctx, "k", blob.All); err != nil || string(o.Data) != "v" {
		t.Errorf("read %q, %v", o.Data, err)
	}
	n := 0
	for range s.List(ctx, blob.ListOptions{}) {
		n++
	}
	if n != 1 {
		t.Errorf("listed %d", n)
	}
}

func TestGetImmutableWithoutACache(t *testing.T) {
	s := memstore.New(memstore.Options{})
	a, err := s.Put(t.Context(), "k", []byte("value"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		known blob.Attrs
		bad   bool
	}{
		{blob.Attrs{}, false}, {blob.Attrs{Size: 5}, false}, {a, false},
		{blob.Attrs{Size: 6}, true}, {blob.Attrs{ETag: "other"}, true}, {blob.Attrs{Size: 5, ETag: "other"}, true},
	} {
		o, err := blob.GetImmutable(t.Context(), s, "k", tt.known, blob.Range{Off: 1, Len: 2})
		if tt.bad != errors.Is(err, blob.ErrChanged) || !tt.bad && string(o.Data) != "al" {
			t.Errorf("known %+v: %q, %v", tt.known, o.Data, err)
		}
	}
}

// TestHops: the longest chain of calls, each begun after the one before had
// ended; calls side by side are one hop.
func TestHops(t *testing.T) {
	m := blob.NewMeter(nil)
	ctx := blob.WithMeter(t.Context(), m)
	a := blob.Begin(ctx, blob.Call{Op: blob.OpList})
	b := blob.Begin(ctx, blob.Call{Op: blob.OpGet})
	a.End(1, 0, nil)
	c := blob.Begin(ctx, blob.Call{Op: blob.OpGet}) // after a
	b.End(1, 0, nil)
	d := blob.Begin(ctx, blob.Call{Op: blob.OpGet, Attempt: 2}) // after a and b, beside c
	c.End(1, 0, nil)
	d.End(1, 0, blob.ErrUnavailable)
	tot := m.Totals()
	if tot.Hops != 2 || tot.Requests != 4 || tot.BytesRead != 4 || tot.Retries != 1 || tot.Failed != 1 || tot.InFlight != 0 {
		t.Errorf("%+v", tot)
	}
	blob.Begin(t.Context(), blob.Call{}).End(0, 0, nil) // counted by nobody
}

// TestCancelledIsNotFailed: a screen that was left did not find the store in
// trouble.
func TestCancelledIsNotFailed(t *testing.T) {
	m := blob.NewMeter(nil)
	ctx := blob.WithMeter(t.Context(), m)
	for _, err := range []error{context.Canceled, blob.ErrNotExist, blob.ErrExists, blob.ErrUnavailable, context.DeadlineExceeded} {
		blob.Begin(ctx, blob.Call{Op: blob.OpGet}).End(0, 0, &blob.OpError{Op: blob.OpGet, Err: err})
	}
	if tot := m.Totals(); tot.Requests != 5 || tot.Failed != 2 {
		t.Errorf("%d requests and %d failed, want 5 and the 2 of a store in trouble", tot.Requests, tot.Failed)
	}
}

func TestMeterKeepsTheLast(t *testing.T) {
	m := blob.NewMeter(func(string) string { return "c" }, blob.Keep(3))
	ctx := blob.WithMeter(t.Context(), m)
	for i := range 5 {
		blob.Begin(ctx, blob.Call{Op: blob.OpGet, Key: string(rune('a' + i))}).End(0, 0, nil)
	}
	got := ""
	for _, c := range m.Calls() {
		got += c.Key
	}
	if got != "cde" || m.Totals().Classes[blob.ClassOp{Class: "c", Op: blob.OpGet}] != 5 {
		t.Errorf("kept %s of %+v", got, m.Totals())
	}
}

func TestKeys(t *testing.T) {
	for key, ok := range map[string]bool{
		"a": true, "a/b": true, "...": true, ".a": true, "a b/%41/#": true,
		"": false, "/": false, "/a": false, "a/": false, "a//b": false, ".": false, "a/..": false, "../a": false, "a/./b": false, "a\x00": false,
	} {
		if err := blob.CheckKey(key); (err == nil) != ok || err != nil && !errors.Is(err, blob.ErrKey) {
			t.Errorf("CheckKey(%q): %v", key, err)
		}
	}
	for prefix, want := range map[string][2]string{"": {"", ""}, "a": {"", "a"}, "a/": {"a/", ""}, "a/b/c": {"a/b/", "c"}, "..": {"", ".."}} {
		f, n, err := blob.SplitPrefix(prefix)
		if err != nil || f != want[0] || n != want[1] {
			t.Errorf("SplitPrefix(%q): %q, %q, %v", prefix, f, n, err)
		}
	}
}
