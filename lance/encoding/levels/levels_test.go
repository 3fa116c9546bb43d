package levels

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/klauspost/compress/zstd"

	"github.com/omnideck/omnideck/lance/encoding/bitpack"
	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

func flat(bits uint64) *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_Flat{Flat: &enc21pb.Flat{BitsPerValue: bits}}}
}

func raw(levels []uint16) []byte {
	var buf []byte
	for _, level := range levels {
		buf = binary.LittleEndian.AppendUint16(buf, level)
	}
	return buf
}

func runs(levels []uint16) []byte {
	var values, lengths []byte
	for i := 0; i < len(levels); {
		n := 1
		for i+n < len(levels) && levels[i+n] == levels[i] && n < 255 {
			n++
		}
		values, lengths = binary.LittleEndian.AppendUint16(values, levels[i]), append(lengths, byte(n))
		i += n
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(values))), values, lengths)
}

// form is a way to store levels.
type form struct {
	name string
	enc  *enc21pb.CompressiveEncoding
	pack func(levels []uint16) []byte
	most int // levels in a block
}

func forms(width int) []form {
	outOfLine := &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_OutOfLineBitpacking{
		OutOfLineBitpacking: &enc21pb.OutOfLineBitpacking{UncompressedBitsPerValue: 16, Values: flat(uint64(width))}}}
	return []form{
		{"raw", nil, raw, 70000},
		{"flat", flat(16), raw, 70000},
		{"inline", &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_InlineBitpacking{
			InlineBitpacking: &enc21pb.InlineBitpacking{UncompressedBitsPerValue: 16}}},
			func(l []uint16) []byte { return bitpack.AppendInline(nil, l) }, 1024},
		{"out of line", outOfLine, func(l []uint16) []byte { return bitpack.AppendOutOfLine(nil, l, width) }, 70000},
		{"rle", &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_Rle{
			Rle: &enc21pb.Rle{Values: flat(16), RunLengths: flat(8)}}}, runs, 70000},
		{"zstd", &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_General{
			General: &enc21pb.General{Compression: &enc21pb.BufferCompression{Scheme: enc21pb.CompressionScheme_ZSTD}, Values: outOfLine}}},
			func(l []uint16) []byte {
				w, _ := zstd.NewWriter(nil)
				defer w.Close()
				inner := bitpack.AppendOutOfLine(nil, l, width)
				return w.EncodeAll(inner, binary.LittleEndian.AppendUint64(nil, uint64(len(inner))))
			}, 70000},
	}
}

// some gives n levels up to max, in runs of random lengths.
func some(random *rand.Rand, n int, max uint16) []uint16 {
	var levels []uint16
	for len(levels) < n {
		run := 1 + random.IntN(1+random.IntN(400))
		levels = append(levels, slices.Repeat([]uint16{uint16(random.IntN(int(max) + 1))}, run)...)
	}
	return levels[:n]
}

var counts = []int{0, 1, 3, 7, 8, 64, 100, 1000, 1023, 1024, 1025, 2048, 4096, 5000, 65535}

func TestDecode(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for _, max := range []uint16{1, 2, 5} {
		for _, f := range forms(3) {
			d, err := New(f.enc, max)
			if err != nil {
				t.Fatal(f.name, err)
			}
			for _, n := range counts {
				if n > f.most {
					continue
				}
				want := some(random, n, max)
				got := make([]uint16, n)
				if err := d.Decode(got, f.pack(want)); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s, %d levels up to %d: %v", f.name, n, max, err)
				}
			}
		}
	}
}

func TestValidity(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, width := range []int{1, 2} {
		for _, f := range forms(width) {
			d, err := New(f.enc, 1)
			if err != nil {
				t.Fatal(f.name, err)
			}
			for _, n := range counts {
				for _, at := range []int{0, 1, 8, 13, 63, 64} {
					if n <= f.most {
						testValidity(t, fmt.Sprintf("%s of %d bits", f.name, width), d, at, some(random, n, 1), f.pack)
					}
				}
			}
		}
	}
}

// testValidity decodes into a bitmap whose bits before are set, and whose
// bits behind must stay clear.
func testValidity(t *testing.T, name string, d *Decoder, at int, levels []uint16, pack func([]uint16) []byte) {
	t.Helper()
	for _, slack := range []int{0, 16} {
		bitmap := make([]byte, (at+len(levels)+7)/8+slack)
		bitutil.SetBitsTo(bitmap, 0, int64(at), true)
		nulls, err := d.Validity(bitmap, at, len(levels), pack(levels))
		if err != nil {
			t.Fatalf("%s, %d levels at %d: %v", name, len(levels), at, err)
		}
		want := 0
		for i, level := range levels {
			want += int(level)
			if bitutil.BitIsSet(bitmap, at+i) != (level == 0) {
				t.Fatalf("%s, %d levels at %d: bit %d is wrong", name, len(levels), at, i)
			}
		}
		if all := bitutil.CountSetBits(bitmap, 0, 8*len(bitmap)); all != at+len(levels)-want || nulls != want {
			t.Fatalf("%s, %d levels at %d: %d bits set, %d nulls, want %d nulls", name, len(levels), at, all, nulls, want)
		}
	}
}

// The first def levels of a real file: the chunk of lance-file.md §4.5.
func TestRealLevels(t *testing.T) {
	d, err := New(flat(16), 1)
	if err != nil {
		t.Fatal(err)
	}
	bitmap := make([]byte, 1)
	if nulls, err := d.Validity(bitmap, 0, 4, []byte{0, 0, 0, 0, 1, 0, 0, 0}); err != nil || nulls != 1 || bitmap[0] != 0b1011 {
		t.Errorf("bitmap %b, %d nulls, %v", bitmap, nulls, err)
	}
}

func TestRefusals(t *testing.T) {
	decoder := func(f form, max uint16) *Decoder {
		d, err := New(f.enc, max)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, f := range forms(2) {
		d := decoder(f, 1)
		for name, buf := range map[string][]byte{
			"a level of 2": f.pack([]uint16{0, 1, 2, 0}),
			"cut short":    f.pack([]uint16{0, 1, 0, 1})[:1],
			"empty":        {},
		} {
			if err := d.Decode(make([]uint16, 4), buf); !errors.Is(err, corrupt.ErrCorrupt) {
				t.Errorf("%s, %s: %v", f.name, name, err)
			}
			if _, err := d.Validity(make([]byte, 1), 0, 4, buf); !errors.Is(err, corrupt.ErrCorrupt) {
				t.Errorf("%s, %s: validity: %v", f.name, name, err)
			}
		}
		if _, err := decoder(f, 2).Validity(make([]byte, 1), 0, 4, f.pack([]uint16{0, 1, 2, 0})); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s: a bitmap of levels up to 2: %v", f.name, err)
		}
	}
	for name, enc := range map[string]*enc21pb.CompressiveEncoding{
		"32 bits": flat(32), "1 bit": flat(1), "no node": {},
	} {
		if _, err := New(enc, 1); !errors.Is(err, corrupt.ErrCorrupt) && !errors.Is(err, corrupt.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzValidity checks that the short ways to a bitmap agree with the levels.
func FuzzValidity(f *testing.F) {
	all := slices.Concat(forms(1), forms(2))
	for i, form := range all {
		f.Add(form.pack([]uint16{0, 1, 1, 0, 0}), uint8(i), uint16(5), uint8(3))
		f.Add(form.pack(make([]uint16, 1024)), uint8(i), uint16(1024), uint8(0))
	}
	f.Fuzz(func(t *testing.T, buf []byte, which uint8, n uint16, at uint8) {
		d, err := New(all[int(which)%len(all)].enc, 1)
		if err != nil {
			t.Fatal(err)
		}
		levels := make([]uint16, n)
		bitmap := make([]byte, (int(at)+int(n)+7)/8)
		first := d.Decode(levels, buf)
		nulls, second := d.Validity(bitmap, int(at), int(n), buf)
		if (first == nil) != (second == nil) || first != nil && !errors.Is(first, corrupt.ErrCorrupt) {
			t.Fatalf("levels: %v, bitmap: %v", first, second)
		}
		if first != nil {
			return
		}
		for i, level := range levels {
			nulls -= int(level)
			if bitutil.BitIsSet(bitmap, int(at)+i) != (level == 0) {
				t.Fatalf("bit %d is wrong", i)
			}
		}
		if nulls != 0 {
			t.Errorf("%d nulls too many", nulls)
		}
	})
}

func BenchmarkValidity(b *testing.B) {
	random := rand.New(rand.NewPCG(5, 5))
	levels := make([]uint16, 1024)
	for i := range levels {
		levels[i] = uint16(random.IntN(10) / 9)
	}
	for _, f := range forms(1) {
		b.Run(f.name, func(b *testing.B) {
			d, err := New(f.enc, 1)
			if err != nil {
				b.Fatal(err)
			}
			buf, bitmap := f.pack(levels), make([]byte, 200)
			for b.Loop() {
				if _, err := d.Validity(bitmap, 3, len(levels), buf); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*1024/b.Elapsed().Seconds()/1e9, "Glevels/s")
		})
	}
}
