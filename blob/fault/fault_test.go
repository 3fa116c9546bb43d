package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/blobtest"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
)

func mem(t *testing.T) *memstore.Store { return memstore.New(memstore.Options{Name: t.Name()}) }

func TestConformanceWithoutFaults(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Store { return fault.New(mem(t)) })
}

func holds(t *testing.T, s blob.Store, key, want string) {
	t.Helper()
	o, err := s.Get(t.Context(), key, blob.All)
	if want == "" {
		if !errors.Is(err, blob.ErrNotExist) {
			t.Errorf("%s: %q, %v; want nothing", key, o.Data, err)
		}
	} else if err != nil || string(o.Data) != want {
		t.Errorf("%s: %q, %v; want %q", key, o.Data, err, want)
	}
}

func TestFail(t *testing.T) {
	s := fault.New(mem(t), fault.Rule{Match: fault.Writes, At: 1, Do: fault.Fail})
	m := blob.NewMeter(nil)
	ctx := blob.WithMeter(t.Context(), m)
	for i, want := range []error{nil, fault.ErrInjected, nil} {
		if _, err := s.Put(ctx, fmt.Sprint(i), []byte("x")); !errors.Is(err, want) {
			t.Errorf("put %d: %v", i, err)
		}
		if _, err := s.Head(ctx, "0"); err != nil {
			t.Errorf("a read between: %v", err)
		}
	}
	holds(t, s.Inner(), "1", "")
	if n := m.Totals().Ops[blob.OpPut]; n != 2 || s.Fired() != 1 || s.Calls() != 6 {
		t.Errorf("%d puts were sent, fired %d, calls %d", n, s.Fired(), s.Calls())
	}
}

func TestLoseAnswer(t *testing.T) {
	s := fault.New(mem(t), fault.Rule{At: 0, Every: true, Do: fault.LoseAnswer})
	a, err := s.PutIfAbsent(t.Context(), "k", []byte("v"))
	var oe *blob.OpError
	if !errors.Is(err, blob.ErrAmbiguous) || !errors.As(err, &oe) || oe.Key != "k" || a != (blob.Attrs{}) {
		t.Errorf("create: %+v, %v", a, err)
	}
	holds(t, s.Inner(), "k", "v")
	// A lost refusal is not told from a lost success.
	if _, err := s.PutIfAbsent(t.Context(), "k", []byte("w")); !errors.Is(err, blob.ErrAmbiguous) || errors.Is(err, blob.ErrExists) {
		t.Errorf("second create: %v", err)
	}
	if _, err := s.Get(t.Context(), "k", blob.All); !errors.Is(err, blob.ErrUnavailable) || errors.Is(err, blob.ErrAmbiguous) {
		t.Errorf("read: %v", err)
	}
	if err := s.Delete(t.Context(), "k"); !errors.Is(err, blob.ErrAmbiguous) {
		t.Errorf("delete: %v", err)
	}
	holds(t, s.Inner(), "k", "")
}

func TestHalt(t *testing.T) {
	s := fault.New(mem(t), fault.Rule{At: 1, Do: fault.Halt})
	if _, err := s.Put(t.Context(), "a", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.Put(t.Context(), "b", nil); !errors.Is(err, fault.ErrHalted) {
			t.Errorf("put: %v", err)
		}
	}
	for _, err := range s.List(t.Context(), blob.ListOptions{}) {
		if !errors.Is(err, fault.ErrHalted) {
			t.Errorf("list: %v", err)
		}
	}
	if !s.Halted() || s.Fired() != 1 || s.Calls() != 2 {
		t.Errorf("halted %v, fired %d, calls %d", s.Halted(), s.Fired(), s.Calls())
	}
}

func TestRival(t *testing.T) {
	rival := fault.Rival(func(ctx context.Context, inner blob.Store) error {
		_, err := inner.PutIfAbsent(ctx, "k", []byte("theirs"))
		return err
	})
	s := fault.New(mem(t), fault.Rule{Match: func(c fault.Call) bool { return c.IfAbsent && c.Key == "k" }, Do: rival})
	if _, err := s.PutIfAbsent(t.Context(), "k", []byte("ours")); !errors.Is(err, blob.ErrExists) {
		t.Errorf("create after a rival: %v", err)
	}
	holds(t, s, "k", "theirs")
	broken := fault.New(s, fault.Rule{Do: fault.Rival(func(context.Context, blob.Store) error { return errors.New("broke") })})
	if _, err := broken.Head(t.Context(), "k"); err == nil {
		t.Error("a rival that fails goes unnoticed")
	}
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fault.New(mem(t), fault.Rule{Every: true, Do: fault.Delay(time.Second)})
		begin := time.Now()
		if _, err := s.Put(t.Context(), "k", []byte("v")); err != nil || time.Since(begin) != time.Second {
			t.Errorf("put after %v: %v", time.Since(begin), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := s.Delete(ctx, "k"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("delete: %v", err)
		}
		holds(t, s.Inner(), "k", "v")
	})
}

func TestCut(t *testing.T) {
	s := fault.New(mem(t), fault.Rule{Match: fault.Reads, Do: fault.Cut(3)})
	if _, err := s.Put(t.Context(), "k", []byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	o, err := s.Get(t.Context(), "k", blob.All)
	if err != nil || string(o.Data) != "012" || o.Size != 10 {
		t.Errorf("cut read: %q of %d, %v", o.Data, o.Size, err)
	}
	holds(t, s, "k", "0123456789")
}

// TestPages: each page of a listing is a place of its own.
func TestPages(t *testing.T) {
	inner := mem(t)
	for i := range 5 {
		if _, err := inner.Put(t.Context(), fmt.Sprint(i), nil); err != nil {
			t.Fatal(err)
		}
	}
	var seen []int
	places, err := fault.Sweep(100, func(at int) (bool, error) {
		s := fault.New(inner, fault.Rule{At: at, Do: fault.Fail})
		n := 0
		var last error
		for _, err := range s.List(t.Context(), blob.ListOptions{PageSize: 2}) {
			if last = err; err == nil {
				n++
			}
		}
		if errors.Is(last, fault.ErrInjected) != (s.Fired() == 1) {
			return false, fmt.Errorf("fired %d, error %w", s.Fired(), last)
		}
		seen = append(seen, n)
		return s.Fired() > 0, nil
	})
	if err != nil || places != 3 || fmt.Sprint(seen) != "[0 2 4 5]" {
		t.Errorf("%d places, entries before each %v, %v", places, seen, err)
	}
}

func TestSweep(t *testing.T) {
	run := func(s blob.Store) error {
		for i := range 4 {
			if _, err := s.PutIfAbsent(t.Context(), fmt.Sprint(i), []byte("x")); err != nil {
				return err
			}
		}
		return nil
	}
	places, err := fault.Sweep(100, func(at int) (bool, error) {
		s := fault.New(mem(t), fault.Rule{At: at, Do: fault.Halt})
		err := run(s)
		if s.Halted() != (err != nil) {
			return false, fmt.Errorf("halted %v, but %w", s.Halted(), err)
		}
		return s.Halted(), nil
	})
	if err != nil || places != 4 {
		t.Errorf("%d places, %v", places, err)
	}
	if places, err = fault.Sweep(3, func(int) (bool, error) { return true, nil }); err == nil {
		t.Errorf("an endless sweep ended well at %d", places)
	}
	wrong := errors.New("wrong")
	if places, err = fault.Sweep(9, func(at int) (bool, error) {
		if at == 2 {
			return true, wrong
		}
		return true, nil
	}); !errors.Is(err, wrong) || places != 2 {
		t.Errorf("a failed check: place %d, %v", places, err)
	}
}
