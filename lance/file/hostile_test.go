package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/lance/format"
)

// peakAllocator counts what is allocated and the most that ever was.
type peakAllocator struct {
	memory.GoAllocator
	now, peak atomic.Int64
}

func (a *peakAllocator) add(n int) {
	now := a.now.Add(int64(n))
	for {
		peak := a.peak.Load()
		if now <= peak || a.peak.CompareAndSwap(peak, now) {
			return
		}
	}
}

func (a *peakAllocator) Allocate(n int) []byte {
	a.add(n)
	return a.GoAllocator.Allocate(n)
}

func (a *peakAllocator) Reallocate(n int, b []byte) []byte {
	a.add(n - len(b))
	return a.GoAllocator.Reallocate(n, b)
}

func (a *peakAllocator) Free(b []byte) { a.add(-len(b)) }

// allocated is all bytes of Go memory that were ever allocated.
func allocated() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// readHostile reads everything of a file in every way, and returns the first
// error.
func readHostile(ctx context.Context, data []byte, mem memory.Allocator, bind func(*Reader) ([]Column, error)) error {
	r, err := Open(ctx, Bytes(data), Options{Allocator: mem, Parallelism: 2, BatchBytes: 32 << 20, Name: "hostile"})
	if err != nil {
		return err
	}
	if _, err := r.Pages(); err != nil {
		return err
	}
	cols, err := bind(r)
	if err != nil {
		return err
	}
	rows := int64(0)
	for b, err := range r.Scan(ctx, cols, ScanOptions{To: -1}) {
		if err != nil {
			return err
		}
		rows += b.NumRows()
		b.Release()
		if rows > 1<<20 { // a constant page may say that, and it would only take time
			return nil
		}
	}
	if rows != r.NumRows() {
		return fmt.Errorf("%d rows of %d", rows, r.NumRows())
	}
	n := r.NumRows()
	if n == 0 {
		return nil
	}
	b, err := r.Take(ctx, cols, []int64{n - 1, 0, n / 2, 0})
	if err != nil {
		return err
	}
	b.Release()
	return nil
}

// expectable tells an error that a damaged file may give.
func expectable(err error) bool {
	return err == nil || errors.Is(err, format.ErrCorrupt) || errors.Is(err, format.ErrUnsupported)
}

// flips are the positions of a file at which bytes are flipped: all of a small
// file, else a stride of the data and a finer one of the metadata.
func flips(size int, all bool) []int {
	const data, meta = 60, 120
	var out []int
	split := max(size-3000, 0)
	step := func(from, to, n int) {
		by := max((to-from)/n, 1)
		if all {
			by = 1
		}
		for i := from; i < to; i += by {
			out = append(out, i)
		}
	}
	step(0, split, data)
	step(split, max(size-80, split), meta)
	step(max(size-80, split), size, 80)
	return out
}

// TestFlippedBytes flips bytes of every file of every case. OMNIDECK_FLIPS=all
// flips every byte, which takes an hour; with -short, and under the race
// detector, only the cases of text are done.
func TestFlippedBytes(t *testing.T) {
	files, cases := fixtures(t)
	all := os.Getenv("OMNIDECK_FLIPS") == "all"
	count, failed := 0, 0
	for _, c := range cases {
		if (testing.Short() || pace.Race) && !strings.HasPrefix(c.Case, "str") {
			continue
		}
		t.Run(c.name(), func(t *testing.T) {
			for _, o := range files.open(t, c, Options{}) {
				bind := func(*Reader) ([]Column, error) { return o.cols, nil }
				if c.Kind == "file" {
					bind = (*Reader).BindAll
				}
				n, bad := flipAll(t, o.path, files[o.path], bind, all)
				count, failed = count+n, failed+bad
			}
		})
	}
	t.Logf("%d flips, %d of which were noticed", count, failed)
}

func flipAll(t *testing.T, name string, data []byte, bind func(*Reader) ([]Column, error), all bool) (count, noticed int) {
	t.Helper()
	bad := slices.Clone(data)
	for _, i := range flips(len(data), all) {
		mask := byte(1) << (i % 8)
		if i%3 == 0 {
			mask = 0xff
		}
		bad[i] ^= mask
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		mem := &peakAllocator{}
		before := allocated()
		err := readHostile(ctx, bad, mem, bind)
		used := allocated() - before
		cancel()
		bad[i] ^= mask
		if !expectable(err) {
			t.Errorf("%s, byte %d flipped by %#x: %v", name, i, mask, err)
		}
		if now := mem.now.Load(); now != 0 {
			t.Errorf("%s, byte %d flipped by %#x: %d bytes of Arrow memory were not given back", name, i, mask, now)
		}
		if limit := int64(16<<20 + 100*len(data)); used > limit || mem.peak.Load() > limit {
			t.Errorf("%s, byte %d flipped by %#x: %d bytes allocated, %d at once in Arrow memory, for a file of %d (%v)",
				name, i, mask, used, mem.peak.Load(), len(data), err)
		}
		count++
		if err != nil {
			noticed++
		}
	}
	return count, noticed
}

// small are the paths of the small data files among our own cases.
func (a archive) small() []string {
	var names []string
	for name := range a {
		if strings.HasSuffix(name, ".lance") && len(a[name]) < 12<<10 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// FuzzOpen cuts small files and writes a patch over them.
func FuzzOpen(f *testing.F) {
	files := own(f)
	names := files.small()
	for i := range names {
		f.Add(uint16(i), uint32(0), uint32(1), []byte{0xff, 0x7f})
	}
	f.Fuzz(func(t *testing.T, which uint16, cut, at uint32, patch []byte) {
		data := slices.Clone(files[names[int(which)%len(names)]])
		data = data[:len(data)-int(cut)%len(data)]
		copy(data[int(at)%len(data):], patch)
		r, err := Open(t.Context(), Bytes(data), Options{})
		if err != nil {
			if !expectable(err) {
				t.Error(err)
			}
			return
		}
		if _, err := r.FileSchema(); !expectable(err) {
			t.Error(err)
		}
		if _, err := r.Pages(); !expectable(err) {
			t.Error(err)
		}
		if _, err := r.BindAll(); !expectable(err) {
			t.Error(err)
		}
	})
}

// FuzzScan changes bytes of small files at places that the fuzzer chooses, and
// so gets past the checks of the container.
func FuzzScan(f *testing.F) {
	files := own(f)
	names := files.small()
	for i := range names {
		f.Add(uint16(i), uint32(0), uint32(1), uint64(1), uint64(0))
	}
	f.Fuzz(func(t *testing.T, which uint16, at, and uint32, xor, xorAnd uint64) {
		data := slices.Clone(files[names[int(which)%len(names)]])
		for k := range 8 {
			data[(int(at)+k)%len(data)] ^= byte(xor >> (8 * k))
			data[(int(and)+k)%len(data)] ^= byte(xorAnd >> (8 * k))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		mem := &peakAllocator{}
		if err := readHostile(ctx, data, mem, (*Reader).BindAll); !expectable(err) {
			t.Error(err)
		}
		if now := mem.now.Load(); now != 0 {
			t.Errorf("%d bytes of Arrow memory were not given back", now)
		}
		if peak, limit := mem.peak.Load(), int64(64<<20); peak > limit {
			t.Errorf("%d bytes of Arrow memory at once for a file of %d", peak, len(data))
		}
	})
}
