package cache_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/blobtest"
	"github.com/omnideck/omnideck/blob/cache"
	"github.com/omnideck/omnideck/blob/memstore"
)

// remote is a memory store that calls itself remote.
type remote struct{ *memstore.Store }

func (r remote) Properties() blob.Properties {
	p := r.Store.Properties()
	p.Remote = true
	return p
}

func mem(t *testing.T) remote { return remote{memstore.New(memstore.Options{Name: t.Name()})} }

func TestConformance(t *testing.T) {
	disk := cache.OpenDisk(t.TempDir(), 0)
	blobtest.Run(t, func(t *testing.T) blob.Store { return cache.New(mem(t), cache.Options{Disk: disk}) })
}

// tester reads through a cache and says how many requests that took.
type tester struct {
	t *testing.T
	s *cache.Store
}

func (x tester) read(key string, known blob.Attrs, r blob.Range, want string, requests int64) {
	x.t.Helper()
	m := blob.NewMeter(nil)
	o, err := blob.GetImmutable(blob.WithMeter(x.t.Context(), m), x.s, key, known, r)
	if err != nil || string(o.Data) != want {
		x.t.Errorf("%s %+v: %q, %v; want %q", key, r, o.Data, err, want)
	}
	if n := m.Totals().Requests; n != requests {
		x.t.Errorf("%s %+v, known %+v: %d requests, want %d", key, r, known, n, requests)
	}
}

func TestMemory(t *testing.T) {
	inner := mem(t)
	a, err := inner.Put(t.Context(), "t/data/x.lance", []byte("0123456789"))
	if err != nil {
		t.Fatal(err)
	}
	size := blob.Attrs{Size: a.Size}
	x := tester{t, cache.New(inner, cache.Options{})}
	x.read("t/data/x.lance", size, blob.Range{Off: 2, Len: 4}, "2345", 1)
	x.read("t/data/x.lance", size, blob.Range{Off: 2, Len: 4}, "2345", 0)
	x.read("t/data/x.lance", a, blob.Range{Off: 3, Len: 2}, "34", 0)    // inside
	x.read("t/data/x.lance", a, blob.Range{Off: 5, Len: 2}, "56", 1)    // past its end
	x.read("t/data/x.lance", blob.Attrs{}, blob.Range{Len: 1}, "0", 1)  // nothing is known of it
	x.read("t/data/x.lance", blob.Attrs{}, blob.Range{Len: 1}, "0", 1)  // each time
	x.read("t/data/x.lance", size, blob.All, "0123456789", 1)           // whole
	x.read("t/data/x.lance", size, blob.Range{Off: 9, Len: 99}, "9", 0) // cut at the end, as the store does
	x.read("t/data/x.lance", size, blob.Range{Off: 7, Len: -1}, "789", 0)
	if _, err := x.s.GetImmutable(t.Context(), "t/data/x.lance", size, blob.Range{Off: 10, Len: 1}); !errors.Is(err, blob.ErrRange) {
		t.Errorf("past the end: %v", err)
	}
	if _, err := x.s.GetImmutable(t.Context(), "none", size, blob.All); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	m := blob.NewMeter(nil)
	if _, err := x.s.Get(blob.WithMeter(t.Context(), m), "t/data/x.lance", blob.All); err != nil || m.Totals().Requests != 1 {
		t.Errorf("Get must reach the store: %+v, %v", m.Totals(), err)
	}
}

// TestAnotherObjectUnderTheName: a deleted and re-created branch reuses names
// and numbers. Nobody is given bytes of the object that was there before.
func TestAnotherObjectUnderTheName(t *testing.T) {
	inner := mem(t)
	const key = "tree/b/_versions/1.manifest"
	put := func(data string) blob.Attrs {
		a, err := inner.Put(t.Context(), key, []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	x := tester{t, cache.New(inner, cache.Options{Disk: cache.OpenDisk(t.TempDir(), 0)})}
	old := put("first")
	x.read(key, old, blob.All, "first", 1)
	x.read(key, old, blob.All, "first", 0)
	now := put("secnd") // as long
	x.read(key, now, blob.All, "secnd", 1)
	x.read(key, now, blob.All, "secnd", 0)
	x.read(key, old, blob.All, "first", 0) // from disk: exactly the object that was asked for
	y := tester{t, cache.New(inner, cache.Options{})}
	if _, err := y.s.GetImmutable(t.Context(), key, old, blob.All); !errors.Is(err, blob.ErrChanged) {
		t.Errorf("an object that is gone: %v, want ErrChanged", err)
	}
	if _, err := y.s.GetImmutable(t.Context(), key, blob.Attrs{Size: 99}, blob.All); !errors.Is(err, blob.ErrChanged) {
		t.Errorf("another size: %v, want ErrChanged", err)
	}
}

// What was written is known, here and to later operations of the session, but
// not when the store did not take it.
func TestWritten(t *testing.T) {
	inner := mem(t)
	session := cache.New(inner, cache.Options{})
	s := session.Operation()
	a, err := blob.PutImmutable(t.Context(), s, "t/data/x.lance", []byte("0123456789"))
	if err != nil || a.Size != 10 {
		t.Fatal(a, err)
	}
	tester{t, s}.read("t/data/x.lance", blob.Attrs{Size: 10}, blob.All, "0123456789", 0)
	tester{t, session.Operation()}.read("t/data/x.lance", blob.Attrs{Size: 10, ETag: a.ETag}, blob.Range{Off: 2, Len: 3}, "234", 0)
	tester{t, s}.read("t/data/x.lance", blob.Attrs{}, blob.All, "0123456789", 1)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := blob.PutImmutable(gone, s, "t/data/y.lance", []byte("abc")); err == nil {
		t.Error("written although the caller was gone")
	}
	if _, err := blob.GetImmutable(t.Context(), s, "t/data/y.lance", blob.Attrs{Size: 3}, blob.All); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("not written, and there: %v", err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	inner := mem(t)
	known := map[string]blob.Attrs{}
	for i := range 6 {
		key := fmt.Sprint("k", i)
		a, err := inner.Put(t.Context(), key, []byte(strings.Repeat(fmt.Sprint(i), 250)))
		if err != nil {
			t.Fatal(err)
		}
		known[key] = a
	}
	big, err := inner.Put(t.Context(), "big", make([]byte, 251))
	if err != nil {
		t.Fatal(err)
	}
	x := tester{t, cache.New(inner, cache.Options{Bytes: 1000})}
	for i := range 4 {
		x.read(fmt.Sprint("k", i), known[fmt.Sprint("k", i)], blob.All, strings.Repeat(fmt.Sprint(i), 250), 1)
	}
	x.read("k0", known["k0"], blob.All, strings.Repeat("0", 250), 0) // used last
	x.read("k4", known["k4"], blob.All, strings.Repeat("4", 250), 1) // k1 goes
	x.read("k0", known["k0"], blob.All, strings.Repeat("0", 250), 0)
	x.read("k1", known["k1"], blob.All, strings.Repeat("1", 250), 1)
	x.read("big", big, blob.All, string(make([]byte, 251)), 1) // a quarter of the bound is the most for one
	x.read("big", big, blob.All, string(make([]byte, 251)), 1)
	if st := x.s.Stats(); st.Bytes != 1000 || st.Memory != 2 || st.Store != 8 {
		t.Errorf("stats %+v", st)
	}
}

// TestSharedFlight: the same question asked by many at once is one request;
// when the one whose request it is gives up, another asks again.
func TestSharedFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := remote{memstore.New(memstore.Options{
			Latency: func(op blob.Op, _ string) time.Duration {
				return map[blob.Op]time.Duration{blob.OpGet: time.Second}[op]
			},
		})}
		a, err := inner.Put(t.Context(), "k", []byte("v"))
		if err != nil {
			t.Fatal(err)
		}
		s := cache.New(inner, cache.Options{})
		m := blob.NewMeter(nil)
		ctx := blob.WithMeter(t.Context(), m)
		first, cancel := context.WithCancel(ctx)
		errs := make(chan error, 10)
		go func() {
			_, err := s.GetImmutable(first, "k", a, blob.All)
			errs <- err
		}()
		synctest.Wait()
		for range 8 {
			go func() {
				o, err := s.GetImmutable(ctx, "k", a, blob.All)
				if err == nil && string(o.Data) != "v" {
					err = fmt.Errorf("read %q", o.Data)
				}
				errs <- err
			}()
		}
		short, cancel2 := context.WithTimeout(ctx, time.Millisecond)
		defer cancel2()
		if _, err := s.GetImmutable(short, "k", a, blob.All); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one that would not wait: %v", err)
		}
		cancel()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("the one that gave up: %v", err)
		}
		for range 8 {
			if err := <-errs; err != nil {
				t.Errorf("one that waited: %v", err)
			}
		}
		if n := m.Totals().Requests; n != 2 {
			t.Errorf("%d requests, want the one given up and one more", n)
		}
	})
}

func TestDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	inner := mem(t)
	a, err := inner.Put(t.Context(), "m", []byte("0123456789"))
	if err != nil {
		t.Fatal(err)
	}
	fresh := func(s blob.Store) tester { return tester{t, cache.New(s, cache.Options{Disk: cache.OpenDisk(dir, 0)})} }
	fresh(inner).read("m", a, blob.All, "0123456789", 1)
	fresh(inner).read("m", a, blob.All, "0123456789", 0)
	fresh(inner).read("m", a, blob.Range{Off: 0, Len: 10}, "0123456789", 0) // the same bytes
	fresh(inner).read("m", a, blob.Range{Off: 2, Len: 3}, "234", 1)
	fresh(inner).read("m", a, blob.Range{Off: 2, Len: 3}, "234", 0)
	fresh(inner).read("m", blob.Attrs{Size: a.Size}, blob.All, "0123456789", 1) // the size alone is not enough
	// Another store with an equal object is another store.
	other := remote{inner.Store.CloneWith(memstore.Options{Name: "other"})}
	fresh(other).read("m", a, blob.All, "0123456789", 1)
	// A local store is not kept twice.
	local := memstore.New(memstore.Options{Name: "local"})
	b, err := local.Put(t.Context(), "m", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	fresh(local).read("m", b, blob.All, "x", 1)
	if len(files(t, dir)) != len(before) {
		t.Error("an object of a local store was kept on disk")
	}
}

func files(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			paths = append(paths, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestDiskIsNotTrusted: whatever happens to a file, the object's own bytes are
// what is read.
func TestDiskIsNotTrusted(t *testing.T) {
	dir := t.TempDir()
	inner := mem(t)
	a, err := inner.Put(t.Context(), "m", []byte("value"))
	if err != nil {
		t.Fatal(err)
	}
	fresh := func() tester { return tester{t, cache.New(inner, cache.Options{Disk: cache.OpenDisk(dir, 0)})} }
	fresh().read("m", a, blob.All, "value", 1)
	path := files(t, dir)[0]
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := [][]byte{nil, good[:1], good[:40], good[:len(good)-1], append(append([]byte{}, good...), 'x')}
	for i := range good {
		b := append([]byte{}, good...)
		b[i] ^= 0x41
		damaged = append(damaged, b)
	}
	for i, b := range damaged {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		m := blob.NewMeter(nil)
		o, err := fresh().s.GetImmutable(blob.WithMeter(t.Context(), m), "m", a, blob.All)
		if err != nil || string(o.Data) != "value" || m.Totals().Requests != 1 {
			t.Fatalf("damage %d: %q, %v, %d requests", i, o.Data, err, m.Totals().Requests)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != string(good) {
			t.Fatalf("damage %d was not repaired: %v", i, err)
		}
	}
	// A cache that cannot be written is no cache, and no failure.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	fresh().read("m", a, blob.All, "value", 1)
}

func TestDiskIsBounded(t *testing.T) {
	dir := t.TempDir()
	inner := mem(t)
	const bound, each = 20_000, 1_000
	disk := cache.OpenDisk(dir, bound)
	for i := range 100 {
		key := fmt.Sprint(i)
		a, err := inner.Put(t.Context(), key, []byte(strings.Repeat("x", each)))
		if err != nil {
			t.Fatal(err)
		}
		tester{t, cache.New(inner, cache.Options{Disk: disk})}.read(key, a, blob.All, strings.Repeat("x", each), 1)
	}
	var total int64
	for _, p := range files(t, dir) {
		fi, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		total += fi.Size()
	}
	if total > bound*13/10 || total < bound/2 {
		t.Errorf("%d bytes are kept, the bound is %d", total, bound)
	}
	huge, err := inner.Put(t.Context(), "huge", make([]byte, bound/8+1))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		tester{t, cache.New(inner, cache.Options{Disk: disk})}.read("huge", huge, blob.All, string(make([]byte, bound/8+1)), 1)
	}
}

// TestOperations: an operation is answered from what was read before it began;
// what another one reads beside it is charged to both.
func TestOperations(t *testing.T) {
	inner := mem(t)
	a, err := inner.Put(t.Context(), "data/x", []byte("value"))
	if err != nil {
		t.Fatal(err)
	}
	session := cache.New(inner, cache.Options{})
	read := func(s *cache.Store) int64 {
		m := blob.NewMeter(nil)
		o, err := s.GetImmutable(blob.WithMeter(t.Context(), m), "data/x", blob.Attrs{Size: a.Size}, blob.All)
		if err != nil || string(o.Data) != "value" {
			t.Fatalf("%q, %v", o.Data, err)
		}
		return m.Totals().Requests
	}
	first, beside := session.Operation(), session.Operation()
	for i, step := range []struct {
		op   *cache.Store
		want int64
	}{{first, 1}, {first, 0}, {beside, 1}, {beside, 0}, {session, 0}} {
		if got := read(step.op); got != step.want {
			t.Errorf("step %d cost %d requests, want %d", i, got, step.want)
		}
	}
	if got := read(session.Operation()); got != 0 {
		t.Errorf("an operation that began afterwards cost %d requests, want none", got)
	}
	if b := session.Stats().Bytes; b != a.Size {
		t.Errorf("the session holds %d bytes of one object of %d", b, a.Size)
	}
}
