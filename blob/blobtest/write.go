package blobtest

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/omnideck/omnideck/blob"
)

func testReplace(t *testing.T, s blob.Store) {
	first := put(t, s, "a/k", "one")
	second := put(t, s, "a/k", "three")
	if first.ETag == second.ETag {
		t.Errorf("two contents, one ETag %s", first.ETag)
	}
	if o := get(t, s, "a/k"); string(o.Data) != "three" || o.ETag != second.ETag {
		t.Errorf("read %q with %+v", o.Data, o.Attrs)
	}
	if got := list(t, s, blob.ListOptions{Recursive: true}); len(got) != 1 {
		t.Errorf("listed %q", got)
	}
}

func testPutIfAbsent(t *testing.T, s blob.Store) {
	a, err := s.PutIfAbsent(t.Context(), "d/k", []byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.PutIfAbsent(t.Context(), "d/k", []byte("second"))
	var oe *blob.OpError
	if !errors.Is(err, blob.ErrExists) || errors.Is(err, blob.ErrAmbiguous) || !errors.As(err, &oe) || oe.Key != "d/k" {
		t.Errorf("the second create: %v, want ErrExists", err)
	}
	if o := get(t, s, "d/k"); string(o.Data) != "first" || o.ETag != a.ETag || a.Size != 5 {
		t.Errorf("read %q %+v, created %+v", o.Data, o.Attrs, a)
	}
	if err := s.Delete(t.Context(), "d/k"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutIfAbsent(t.Context(), "d/k", []byte("third")); err != nil {
		t.Errorf("create after delete: %v", err)
	}
}

func testPutIfAbsentRace(t *testing.T, s blob.Store) {
	const rounds, racers = 20, 8
	for round := range rounds {
		key := fmt.Sprintf("race/%03d", round)
		var wins atomic.Int32
		var winner atomic.Int32
		each(racers, func(i int) {
			_, err := s.PutIfAbsent(t.Context(), key, bytes.Repeat([]byte{byte('a' + i)}, 1000))
			switch {
			case err == nil:
				wins.Add(1)
				winner.Store(int32(i))
			case !errors.Is(err, blob.ErrExists):
				t.Errorf("%s: %v", key, err)
			}
		})
		if wins.Load() != 1 {
			t.Errorf("%s: %d winners", key, wins.Load())
		}
		if o := get(t, s, key); !bytes.Equal(o.Data, bytes.Repeat([]byte{byte('a' + winner.Load())}, 1000)) {
			t.Errorf("%s does not hold what its winner wrote", key)
		}
	}
}

// testNeverAPart reads while others replace: old or new, never a mixture.
func testNeverAPart(t *testing.T, s blob.Store) {
	const size = 64 << 10
	write := func(i int) {
		if _, err := s.Put(t.Context(), "k", bytes.Repeat([]byte{byte('a' + i)}, size)); err != nil {
			t.Error(err)
		}
	}
	write(0)
	each(4, func(i int) {
		for n := range 10 {
			if i == 0 {
				write(n)
				continue
			}
			o, err := s.Get(t.Context(), "k", blob.All)
			if err != nil || len(o.Data) != size || bytes.Count(o.Data, o.Data[:1]) != size {
				t.Errorf("read %d bytes, not all alike: %v", len(o.Data), err)
			}
		}
	})
}

func testDelete(t *testing.T, s blob.Store) {
	put(t, s, "a/b/c", "x")
	put(t, s, "a/b2", "y")
	for range 2 {
		if err := s.Delete(t.Context(), "a/b/c"); err != nil {
			t.Errorf("Delete: %v", err)
		}
	}
	for _, key := range []string{"none", "no/such/folder", "a", "a/b", "a/b2/x"} {
		if err := s.Delete(t.Context(), key); err != nil {
			t.Errorf("Delete(%q) of what is no object: %v", key, err)
		}
	}
	if got := list(t, s, blob.ListOptions{Prefix: "a/"}); len(got) != 1 || got[0] != "a/b2" {
		t.Errorf("left: %q, want a/b2; a folder without objects is not listed", got)
	}
	m := blob.NewMeter(nil)
	if err := s.Delete(blob.WithMeter(t.Context(), m), "a/b2"); err != nil {
		t.Fatal(err)
	}
	if tot := m.Totals(); tot.Requests != 1 || tot.Ops[blob.OpDelete] != 1 {
		t.Errorf("one delete cost %+v", tot.Ops)
	}
}

func (su *suite) testCounts(t *testing.T, s blob.Store) {
	outer := blob.NewMeter(func(key string) string { return "class of " + key }, blob.Keep(50))
	inner := blob.NewMeter(nil, blob.Keep(50))
	ctx := blob.WithMeter(blob.WithMeter(t.Context(), outer), inner)
	ctx = blob.WithMeter(ctx, outer) // not twice
	steps := []struct {
		op            blob.Op
		key           string
		read, written int64
		err           error
		f             func() error
	}{
		{blob.OpPut, "k", 0, 10, nil, func() error { _, err := s.Put(ctx, "k", []byte("0123456789")); return err }},
		{blob.OpPut, "k2", 0, 3, nil, func() error { _, err := s.PutIfAbsent(ctx, "k2", []byte("abc")); return err }},
		{blob.OpPut, "k2", -1, 3, blob.ErrExists, func() error { _, err := s.PutIfAbsent(ctx, "k2", []byte("abc")); return err }},
		{blob.OpGet, "k", 10, 0, nil, func() error { _, err := s.Get(ctx, "k", blob.All); return err }},
		{blob.OpGet, "k", 4, 0, nil, func() error { _, err := s.Get(ctx, "k", blob.Range{Off: 2, Len: 4}); return err }},
		{blob.OpGet, "none", -1, 0, blob.ErrNotExist, func() error { _, err := s.Get(ctx, "none", blob.All); return err }},
		{blob.OpHead, "k", 0, 0, nil, func() error { _, err := s.Head(ctx, "k"); return err }},
		{blob.OpHead, "none", 0, 0, blob.ErrNotExist, func() error { _, err := s.Head(ctx, "none"); return err }},
		{blob.OpDelete, "k", 0, 0, nil, func() error { return s.Delete(ctx, "k") }},
	}
	for i, st := range steps {
		if err := st.f(); !errors.Is(err, st.err) {
			t.Fatalf("step %d: %v, want %v", i, err, st.err)
		}
		calls := inner.Calls()
		if len(calls) != i+1 {
			t.Fatalf("step %d: %d calls were counted", i, len(calls))
		}
		c := calls[i]
		if c.Op != st.op || c.Key != st.key || !su.counts(c.Written, st.written) || st.read >= 0 && !su.counts(c.Read, st.read) || !errors.Is(c.Err, st.err) ||
			c.Attempt != 1 || c.Hop != i+1 || c.Start.After(c.End) {
			t.Errorf("step %d: counted as %+v", i, c)
		}
	}
	in, out := inner.Totals(), outer.Totals()
	if in.Requests != 9 || in.InFlight != 0 || in.Retries != 0 || in.Failed != 0 || in.Hops != 9 {
		t.Errorf("totals %+v", in)
	}
	if out.Requests != in.Requests || out.BytesRead != in.BytesRead || out.Classes[blob.ClassOp{Class: "class of k", Op: blob.OpGet}] != 2 {
		t.Errorf("the outer meter says %+v, the inner %+v", out, in)
	}
	put(t, s, "side", "x")
	side := blob.NewMeter(nil)
	sctx := blob.WithMeter(t.Context(), side)
	each(20, func(int) {
		if _, err := s.Head(sctx, "side"); err != nil {
			t.Error(err)
		}
	})
	if tot := side.Totals(); tot.Requests != 20 || tot.InFlight != 0 {
		t.Errorf("20 calls side by side: %+v", tot)
	}
}
