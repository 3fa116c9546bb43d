package fault_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/blobtest"
	"github.com/omnideck/omnideck/blob/fault"
)

func untimed(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// patient asks again as long as the store asks for patience, which it does
// without doing anything.
type patient struct{ blob.Store }

func asking[T any](call func() (T, error)) (T, error) {
	for {
		v, err := call()
		var said *blob.StoreError
		if !errors.As(err, &said) || said.Status != 503 {
			return v, err
		}
	}
}

func (p patient) Get(ctx context.Context, key string, r blob.Range) (blob.Object, error) {
	return asking(func() (blob.Object, error) { return p.Store.Get(ctx, key, r) })
}

func (p patient) Head(ctx context.Context, key string) (blob.Attrs, error) {
	return asking(func() (blob.Attrs, error) { return p.Store.Head(ctx, key) })
}

func (p patient) Put(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	return asking(func() (blob.Attrs, error) { return p.Store.Put(ctx, key, data) })
}

func (p patient) PutIfAbsent(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	return asking(func() (blob.Attrs, error) { return p.Store.PutIfAbsent(ctx, key, data) })
}

func (p patient) Delete(ctx context.Context, key string) error {
	_, err := asking(func() (bool, error) { return true, p.Store.Delete(ctx, key) })
	return err
}

func (p patient) List(ctx context.Context, o blob.ListOptions) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) {
		told := 0
		_, _ = asking(func() (bool, error) {
			n := 0
			for e, err := range p.Store.List(ctx, o) {
				var said *blob.StoreError
				if errors.As(err, &said) && said.Status == 503 {
					return false, err
				}
				if n++; n <= told {
					continue
				}
				if told++; !yield(e, err) {
					break
				}
			}
			return true, nil
		})
	}
}

// What changes nothing but time keeps the whole contract, and so does a store that
// throttles for whoever asks again.
func TestConformanceInWeather(t *testing.T) {
	for name, over := range map[string]func(blob.Store) blob.Store{
		"slow":       func(s blob.Store) blob.Store { return fault.Slow(s, 1, time.Second, untimed) },
		"throttling": func(s blob.Store) blob.Store { return patient{fault.Throttling(s, 2, 5, 3)} },
		"prompt":     func(s blob.Store) blob.Store { return fault.Late(s, 3, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			var skip []blobtest.Option
			if name == "throttling" {
				skip = append(skip, blobtest.Skip("ListPages", "a listing is begun again from its first page, and so costs more requests"))
			}
			blobtest.Run(t, func(t *testing.T) blob.Store { return over(mem(t)) }, skip...)
		})
	}
}

// One seed is one history, another seed another.
func TestWeatherIsThatOfItsSeed(t *testing.T) {
	for _, w := range fault.Weathers(untimed)[1:4] {
		told := func(seed uint64) string {
			s := w.Over(mem(t), seed)
			var out []string
			for i := range 200 {
				key := fmt.Sprint(i % 7)
				_, err := s.Put(t.Context(), key, []byte("0123456789"))
				o, getErr := s.Get(t.Context(), key, blob.All)
				out = append(out, fmt.Sprint(err, getErr, len(o.Data)))
			}
			return strings.Join(out, "\n")
		}
		a, b, c := told(1), told(1), told(2)
		if a != b || a == c {
			t.Errorf("%s: the same seed is the same: %v, another is: %v", w.Name, a == b, a == c)
		}
	}
}

func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fault.Slow(mem(t), 1, time.Second, nil)
		seen := map[time.Duration]bool{}
		for i := range 20 {
			begin := time.Now()
			if _, err := s.Put(t.Context(), fmt.Sprint(i), nil); err != nil {
				t.Error(err)
			}
			took := time.Since(begin)
			if seen[took] = true; took > time.Second {
				t.Errorf("a call took %v", took)
			}
		}
		if len(seen) < 15 {
			t.Errorf("times are all alike: %v", seen)
		}
		for n, unknown := 0, 0; n < 100; n++ {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			key := fmt.Sprint("k", n)
			_, err := s.Put(ctx, key, nil)
			cancel()
			_, headErr := s.Inner().Head(t.Context(), key)
			if errors.Is(err, blob.ErrAmbiguous) {
				unknown++
			} else if (err == nil) != (headErr == nil) || err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, and it is there: %v", err, headErr)
			}
			if n == 99 && unknown < 5 {
				t.Errorf("%d of 100 given up were under way", unknown)
			}
		}
	})
}

// Throttled calls come in bursts and did nothing; of the failed ones half did.
func TestThrottlingAndFailing(t *testing.T) {
	s := fault.Throttling(mem(t), 1, 20, 4)
	var bursts []int
	run := 0
	for i := range 2000 {
		key := fmt.Sprint(i)
		_, err := s.PutIfAbsent(t.Context(), key, nil)
		_, headErr := s.Inner().Head(t.Context(), key)
		if (err == nil) != (headErr == nil) || err != nil && (!errors.Is(err, blob.ErrUnavailable) || !errors.Is(err, blob.ErrAmbiguous)) {
			t.Fatalf("%v, and it is there: %v", err, headErr)
		}
		if err != nil {
			run++
		} else if run > 0 {
			bursts, run = append(bursts, run), 0
		}
	}
	if least := slices.Min(bursts); least < 4 || len(bursts) < 50 {
		t.Errorf("bursts %v", bursts)
	}
	f := fault.Failing(mem(t), 1, 10)
	failed, there := 0, 0
	for i := range 2000 {
		key := fmt.Sprint(i)
		if _, err := f.Put(t.Context(), key, nil); err != nil {
			failed++
			if _, err := f.Inner().Head(t.Context(), key); err == nil {
				there++
			}
		}
	}
	if failed < 150 || failed > 250 || there < failed/3 || there > failed*2/3 {
		t.Errorf("%d failed, %d of them are there", failed, there)
	}
}

func TestCutting(t *testing.T) {
	s := fault.Cutting(mem(t), 1, 4)
	if _, err := s.Put(t.Context(), "k", []byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	cut := 0
	for range 200 {
		o, err := s.Get(t.Context(), "k", blob.All)
		if err != nil || o.Size != 10 || len(o.Data) != 10 && len(o.Data) != 5 {
			t.Fatalf("%q of %d, %v", o.Data, o.Size, err)
		}
		if len(o.Data) == 5 {
			cut++
		}
	}
	if cut < 30 || cut > 70 {
		t.Errorf("%d of 200 were cut", cut)
	}
}

const lag = 3

// listed are the names that a listing tells.
func listed(t *testing.T, s blob.Store, o blob.ListOptions) (out []string) {
	t.Helper()
	for e, err := range s.List(t.Context(), o) {
		if err != nil {
			t.Fatal(err)
		}
		key := e.Key
		if e.IsPrefix {
			key += "/"
		}
		out = append(out, key)
	}
	return out
}

// Young objects come late and deleted ones go late, each within its bound; what is
// asked for by name is told as it is.
func TestLate(t *testing.T) {
	lateIn, lateOut := 0, 0
	for seed := range uint64(20) {
		s := fault.Late(mem(t), seed, lag)
		if _, err := s.PutIfAbsent(t.Context(), "a/k", []byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Head(t.Context(), "a/k"); err != nil {
			t.Error(err)
		}
		n := 0
		for ; len(listed(t, s, blob.ListOptions{})) == 0; n++ {
			if n == lag {
				t.Fatalf("seed %d: after %d listings it is not there", seed, n)
			}
		}
		lateIn = max(lateIn, n)
		if err := s.Delete(t.Context(), "a/k"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Head(t.Context(), "a/k"); !errors.Is(err, blob.ErrNotExist) {
			t.Error(err)
		}
		for n = 0; ; n++ {
			got := listed(t, s, blob.ListOptions{Prefix: "a", Recursive: seed%2 == 0})
			if len(got) == 0 {
				break
			}
			if want := map[bool]string{true: "a/k", false: "a/"}[seed%2 == 0]; n == lag || !slices.Equal(got, []string{want}) {
				t.Fatalf("seed %d: after %d listings it tells %q", seed, n, got)
			}
		}
		lateOut = max(lateOut, n)
	}
	if lateIn != lag || lateOut != lag {
		t.Errorf("the latest came %d and went %d listings late, expected %d", lateIn, lateOut, lag)
	}
}

// At page borders entries come twice.
func TestLatePages(t *testing.T) {
	inner := mem(t)
	for i := range 5 {
		if _, err := inner.Put(t.Context(), fmt.Sprint(i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := listed(t, fault.Late(inner, 1, lag), blob.ListOptions{PageSize: 2}); strings.Join(got, "") != "0112334" {
		t.Errorf("pages of two: %q", got)
	}
}
