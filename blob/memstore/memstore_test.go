package memstore_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/blobtest"
	"github.com/omnideck/omnideck/blob/memstore"
)

func TestConformance(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Store { return memstore.New(memstore.Options{Name: t.Name()}) })
}

func TestConformanceUnderLimits(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Store {
		return memstore.New(memstore.Options{Name: "x", Concurrency: 2, MaxPage: 100})
	})
}

func TestCloneIsOneInstant(t *testing.T) {
	a := memstore.New(memstore.Options{})
	put(t, a, "k", "one")
	b := a.Clone()
	put(t, a, "k", "two")
	put(t, b, "l", "three")
	if got := read(t, b, "k"); got != "one" {
		t.Errorf("the clone holds %q", got)
	}
	if _, err := a.Head(t.Context(), "l"); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("a write to the clone reached the original: %v", err)
	}
}

func TestETagsAreDeterministic(t *testing.T) {
	history := func() (tags []string) {
		s := memstore.New(memstore.Options{})
		for _, v := range []string{"one", "two", "one"} {
			tags = append(tags, put(t, s, "k", v).ETag)
			if err := s.Delete(t.Context(), "k"); err != nil {
				t.Fatal(err)
			}
		}
		return tags
	}
	a, b := history(), history()
	if fmt.Sprint(a) != fmt.Sprint(b) || a[0] == a[2] {
		t.Errorf("ETags %v and %v: equal histories give equal tags, a key made anew a new one", a, b)
	}
}

func TestLatencyAndConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{
			Latency:     func(blob.Op, string) time.Duration { return 20 * time.Millisecond },
			Concurrency: 2,
		})
		put(t, s, "k", "v")
		m := blob.NewMeter(nil)
		ctx := blob.WithMeter(t.Context(), m)
		begin := time.Now()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if _, err := s.Get(ctx, "k", blob.All); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := m.Totals().InFlight; n != 2 {
			t.Errorf("%d in flight, want 2", n)
		}
		all.Wait()
		if took := time.Since(begin); took != 60*time.Millisecond {
			t.Errorf("five requests, two at a time, 20 ms each, took %v", took)
		}
		if hops := m.Totals().Hops; hops != 3 {
			t.Errorf("%d hops, want 3", hops)
		}
	})
}

func TestMaxPage(t *testing.T) {
	s := memstore.New(memstore.Options{MaxPage: 10})
	for _, err := range s.List(t.Context(), blob.ListOptions{PageSize: 11}) {
		if !errors.Is(err, blob.ErrUnavailable) {
			t.Errorf("a page of 11: %v", err)
		}
	}
	for _, err := range s.List(t.Context(), blob.ListOptions{PageSize: 10}) {
		t.Errorf("a page of 10: %v", err)
	}
}

func TestClosed(t *testing.T) {
	s := memstore.New(memstore.Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), "k", nil); !errors.Is(err, blob.ErrUnavailable) {
		t.Errorf("Put after Close: %v", err)
	}
}

func put(t *testing.T, s blob.Store, key, data string) blob.Attrs {
	t.Helper()
	a, err := s.Put(t.Context(), key, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func read(t *testing.T, s blob.Store, key string) string {
	t.Helper()
	o, err := s.Get(t.Context(), key, blob.All)
	if err != nil {
		t.Fatal(err)
	}
	return string(o.Data)
}
