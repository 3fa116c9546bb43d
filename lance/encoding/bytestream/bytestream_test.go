package bytestream

import (
	"errors"
	"slices"
	"testing"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

// split is the other way, written the plainest way.
func split[T Word](values []T, size int) []byte {
	out := make([]byte, len(values)*size)
	for i, v := range values {
		for j := range size {
			out[j*len(values)+i] = byte(v >> (8 * j))
		}
	}
	return out
}

func TestExample(t *testing.T) {
	got := make([]uint32, 2)
	if err := Join(got, []byte{1, 0x11, 2, 0x12, 3, 0x13, 4, 0x14}); err != nil || got[0] != 0x04030201 || got[1] != 0x14131211 {
		t.Errorf("%x, %v", got, err)
	}
}

func TestJoin(t *testing.T) {
	for n := range 70 {
		want32, want64 := make([]uint32, n), make([]uint64, n)
		for i := range n {
			want64[i] = uint64(i+1) * 0x9e3779b97f4a7c15
			want32[i] = uint32(want64[i])
		}
		got32, got64 := make([]uint32, n), make([]uint64, n)
		if err := Join(got32, split(want32, 4)); err != nil || !slices.Equal(got32, want32) {
			t.Errorf("%d of 32 bits: %v", n, err)
		}
		if err := Join(got64, split(want64, 8)); err != nil || !slices.Equal(got64, want64) {
			t.Errorf("%d of 64 bits: %v", n, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, size := range []int{0, 7, 9, 16} {
		if err := Join(make([]uint32, 2), make([]byte, size)); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%d bytes for 2 values: %v", size, err)
		}
	}
}

func FuzzJoin(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, uint8(2))
	f.Fuzz(func(t *testing.T, src []byte, n uint8) {
		dst := make([]uint32, n)
		if err := Join(dst, src); err == nil {
			if !slices.Equal(split(dst, 4), src) {
				t.Error("came back different")
			}
		} else if !errors.Is(err, corrupt.ErrCorrupt) || len(src) == 4*int(n) {
			t.Error(err)
		}
		wide := make([]uint64, n)
		if err := Join(wide, src); err == nil && !slices.Equal(split(wide, 8), src) {
			t.Error("came back different")
		}
	})
}

func BenchmarkJoin(b *testing.B) {
	src := make([]byte, 8192)
	b.Run("32", func(b *testing.B) { benchmark(b, make([]uint32, 2048), src) })
	b.Run("64", func(b *testing.B) { benchmark(b, make([]uint64, 1024), src) })
}

func benchmark[T Word](b *testing.B, dst []T, src []byte) {
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if err := Join(dst, src); err != nil {
			b.Fatal(err)
		}
	}
}
