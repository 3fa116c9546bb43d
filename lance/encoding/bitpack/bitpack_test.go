package bitpack

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

// vectors are inline blocks that Lance 10 wrote of the values of sample.
var vectors = []struct {
	bits, width, size int
	begin             string
	crc               uint32
}{
	{8, 1, 129, "01010cc003108006600118c0", 0xdaab1f9e},
	{8, 3, 385, "03471b8924d240239104da48", 0x0be8542c},
	{8, 5, 641, "055fccc47069610e0632aba3", 0x0bf18ded},
	{16, 3, 386, "030047221b0989b42490d246", 0x709882ab},
	{16, 9, 1154, "0900ff45c3ca4ad80e61956e", 0x58f02442},
	{16, 15, 1922, "0f00ff7fe430ac9291c359a5", 0xefd16a57},
	{32, 1, 132, "01000000011806600cc03001", 0x630ec218},
	{32, 7, 900, "070000007f442423b09c5049", 0xf755e276},
	{32, 20, 2564, "14000000ffff9f24881c16ed", 0xfc80f200},
	{32, 31, 3972, "1f000000ffffff7f1d43e430", 0xe41e230e},
	{64, 5, 648, "05000000000000005f108314", 0x5b00ef7c},
	{64, 33, 4232, "2100000000000000ffffffff", 0xd2c6c49c},
	{64, 63, 8072, "3f00000000000000ffffffff", 0x050df473},
}

// sample gives n values of width bits.
func sample[T Word](n, width int) []T {
	values := make([]T, n)
	if width == 0 {
		return values
	}
	for i := range values {
		v := uint64(uint32(uint64(i) * 2654435761))
		values[i] = T(v * 2654435761 >> (64 - width))
	}
	if n > 0 {
		values[0] = T(^uint64(0) >> (64 - width))
	}
	return values
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		t.Run(fmt.Sprintf("%d of %d bits", v.width, v.bits), func(t *testing.T) {
			switch v.bits {
			case 8:
				testVector[uint8](t, v.width, v.size, v.begin, v.crc)
			case 16:
				testVector[uint16](t, v.width, v.size, v.begin, v.crc)
			case 32:
				testVector[uint32](t, v.width, v.size, v.begin, v.crc)
			case 64:
				testVector[uint64](t, v.width, v.size, v.begin, v.crc)
			}
		})
	}
}

func testVector[T Word](t *testing.T, width, size int, begin string, crc uint32) {
	values := sample[T](Group, width)
	block := AppendInline(nil, values)
	if len(block) != size || hex.EncodeToString(block[:12]) != begin || crc32.ChecksumIEEE(block) != crc {
		t.Fatalf("packed to %d bytes %x… crc %08x, want %d %s %08x",
			len(block), block[:12], crc32.ChecksumIEEE(block), size, begin, crc)
	}
	got := make([]T, Group)
	if err := Inline(got, block); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, values) {
		t.Errorf("unpacked %v…, want %v…", got[:4], values[:4])
	}
	var slow [Group]T
	unpackLanes(&slow, block[Bits[T]()/8:], width)
	if !slices.Equal(slow[:], values) {
		t.Errorf("lane by lane: unpacked %v…, want %v…", slow[:4], values[:4])
	}
}

func TestRoundTrip(t *testing.T) {
	t.Run("8", testRoundTrip[uint8])
	t.Run("16", testRoundTrip[uint16])
	t.Run("32", testRoundTrip[uint32])
	t.Run("64", testRoundTrip[uint64])
}

// testRoundTrip packs every width, from memory at every alignment.
func testRoundTrip[T Word](t *testing.T) {
	for width := range Bits[T]() + 1 {
		for _, n := range []int{0, 1, 100, 1023, 1024} {
			values := sample[T](n, width)
			got := make([]T, n)
			block := append(make([]byte, width%8), AppendInline(nil, values)...)[width%8:]
			if err := Inline(got, block); err != nil || !slices.Equal(got, values) {
				t.Fatalf("inline, width %d, %d values: %v", width, n, err)
			}
		}
		for _, n := range []int{0, 1, 100, 900, 1023, 1024, 1025, 2047, 3000} {
			values := sample[T](n, width)
			got := make([]T, n)
			block := append(make([]byte, width%8), AppendOutOfLine(nil, values, width)...)[width%8:]
			if err := OutOfLine(got, block, width); err != nil || !slices.Equal(got, values) {
				t.Fatalf("out of line, width %d, %d values: %v", width, n, err)
			}
		}
	}
}

// The rest of an out-of-line block may be packed even where raw is shorter,
// and raw even where it is longer.
func TestOutOfLineRest(t *testing.T) {
	values := sample[uint16](1030, 5)
	packed := Append(Append(nil, values[:Group], 5), values[Group:], 5)
	raw := Append(nil, values[:Group], 5)
	for _, v := range values[Group:] {
		raw = append(raw, byte(v), byte(v>>8))
	}
	for _, block := range [][]byte{packed, raw} {
		got := make([]uint16, len(values))
		if err := OutOfLine(got, block, 5); err != nil || !slices.Equal(got, values) {
			t.Errorf("%d bytes: %v", len(block), err)
		}
	}
}

func TestRefusals(t *testing.T) {
	group := AppendInline(nil, sample[uint16](Group, 5))
	dst := make([]uint16, Group)
	for name, err := range map[string]error{
		"no header":      Inline(dst, nil),
		"half a header":  Inline(dst, []byte{5}),
		"cut short":      Inline(dst, group[:len(group)-1]),
		"width 17":       Inline(dst, append([]byte{17, 0}, make([]byte, 17*128)...)),
		"width 65285":    Inline(dst, append([]byte{5, 0xff}, make([]byte, 17*128)...)),
		"1025 values":    Inline(make([]uint16, 1025), group),
		"unpack short":   Unpack(dst, make([]byte, 127), 1),
		"unpack width":   Unpack(dst, make([]byte, 17*128), 17),
		"negative width": Unpack(dst, make([]byte, 128), -1),
		"rest of 3":      OutOfLine(make([]uint16, 1026), make([]byte, 128+3), 1),
		"rest missing":   OutOfLine(make([]uint16, 1026), make([]byte, 128), 1),
		"out of width":   OutOfLine(dst, make([]byte, 17*128), 17),
		"out too long":   OutOfLine(dst, make([]byte, 129), 1),
	} {
		var detail *corrupt.Error
		if !errors.Is(err, corrupt.ErrCorrupt) || !errors.As(err, &detail) || detail.Codec != "bitpack" {
			t.Errorf("%s: %v, want an error of bitpack that wraps ErrCorrupt", name, err)
		}
	}
}

// FuzzInline unpacks blocks of noise of any header and length.
func FuzzInline(f *testing.F) {
	f.Add(uint8(5), uint8(0), uint64(1), uint16(641), uint16(1024))
	f.Add(uint8(9), uint8(0), uint64(1), uint16(1154), uint16(1000))
	f.Add(uint8(20), uint8(0), uint64(1), uint16(2564), uint16(1))
	f.Add(uint8(33), uint8(0), uint64(1), uint16(4232), uint16(7))
	f.Add(uint8(5), uint8(1), uint64(1), uint16(4232), uint16(7))
	f.Fuzz(func(t *testing.T, width, second uint8, seed uint64, size, n uint16) {
		block := make([]byte, size%8300)
		random := rand.New(rand.NewPCG(seed, seed))
		for i := range block {
			block[i] = byte(random.Uint32())
		}
		copy(block, []byte{width, second, 0, 0, 0, 0, 0, 0})
		count := int(n) % 1100
		fuzzInline[uint8](t, block, count)
		fuzzInline[uint16](t, block, count)
		fuzzInline[uint32](t, block, count)
		fuzzInline[uint64](t, block, count)
	})
}

// fuzzInline unpacks fast and slowly and compares.
func fuzzInline[T Word](t *testing.T, block []byte, n int) {
	got := make([]T, n)
	if err := Inline(got, block); err != nil {
		if !errors.Is(err, corrupt.ErrCorrupt) {
			t.Fatal(err)
		}
		return
	}
	var want [Group]T
	size := Bits[T]() / 8
	if width := int(header(block, size)); width > 0 {
		unpackLanes(&want, block[size:], width)
	}
	if !slices.Equal(got, want[:n]) {
		t.Errorf("%d bits: %v, want %v", Bits[T](), got, want[:n])
	}
}

func FuzzOutOfLine(f *testing.F) {
	f.Add(AppendOutOfLine(nil, sample[uint32](3000, 20), 20), 3000, 20)
	f.Add(AppendOutOfLine(nil, sample[uint32](1030, 3), 3), 1030, 3)
	f.Fuzz(func(t *testing.T, block []byte, n, width int) {
		got := make([]uint32, max(n, 0)%5000)
		if err := OutOfLine(got, block, width); err != nil {
			if !errors.Is(err, corrupt.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		// Whatever was accepted packs to the same bytes, or raw ones.
		if again := AppendOutOfLine(nil, got, width); len(again) == len(block) && width > 0 {
			back := make([]uint32, len(got))
			if err := OutOfLine(back, again, width); err != nil || !slices.Equal(got, back) {
				t.Errorf("came back different: %v", err)
			}
		}
	})
}

func BenchmarkUnpack(b *testing.B) {
	for _, width := range []int{1, 3, 7} {
		b.Run(fmt.Sprintf("u8/%d", width), benchmarkUnpack[uint8](width))
	}
	for _, width := range []int{1, 7, 13} {
		b.Run(fmt.Sprintf("u16/%d", width), benchmarkUnpack[uint16](width))
	}
	for _, width := range []int{1, 7, 20, 32} {
		b.Run(fmt.Sprintf("u32/%d", width), benchmarkUnpack[uint32](width))
	}
	for _, width := range []int{1, 5, 20, 33, 62} {
		b.Run(fmt.Sprintf("u64/%d", width), benchmarkUnpack[uint64](width))
	}
}

func benchmarkUnpack[T Word](width int) func(*testing.B) {
	return func(b *testing.B) {
		const groups = 16
		values := sample[T](Group, width)
		packed := bytes.Repeat(Append(nil, values, width), groups)
		dst := make([]T, groups*Group)
		for b.Loop() {
			for g := range groups {
				if err := Unpack(dst[g*Group:], packed[g*Size(width):], width); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.N)*groups*Group/b.Elapsed().Seconds()/1e9, "Gvalues/s")
	}
}

func TestBits16(t *testing.T) {
	values := sample[uint16](Group, 1)
	for word, bits := range Bits16(Append(nil, values, 1)) {
		for i := range 64 {
			if uint16(bits>>i)&1 != values[64*word+i] {
				t.Fatalf("value %d is wrong", 64*word+i)
			}
		}
	}
}

// Lane by lane and several lanes at once give the same bytes.
func TestPackAlike(t *testing.T) {
	packAlike[uint8](t)
	packAlike[uint16](t)
	packAlike[uint32](t)
	packAlike[uint64](t)
}

func packAlike[T Word](t *testing.T) {
	t.Helper()
	values := sample[T](Group, Bits[T]())
	for width := 1; width <= Bits[T](); width++ {
		want := make([]byte, Size(width))
		packLanes(want, (*[Group]T)(values), width)
		if got := Append([]byte("x"), values, width)[1:]; !bytes.Equal(got, want) {
			t.Errorf("%d bits at width %d: the packers differ", Bits[T](), width)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	values := sample[uint64](Group, 20)
	dst := make([]byte, 0, Size(20))
	b.SetBytes(8 * Group)
	for b.Loop() {
		dst = Append(dst[:0], values, 20)
	}
}
