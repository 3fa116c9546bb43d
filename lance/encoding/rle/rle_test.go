package rle

import (
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

// The example of the format's description: 300 times 7 and 5 times 9.
var (
	exampleValues  = []byte{7, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0}
	exampleLengths = []byte{0xff, 0x2d, 5}
	exampleWords   = append(slices.Repeat([]uint32{7}, 300), 9, 9, 9, 9, 9)
)

func TestMini(t *testing.T) {
	for n := 0; n <= len(exampleWords); n++ { // cut anywhere, as older writers need it
		got := make([]uint32, n)
		if err := Mini(got, exampleValues, exampleLengths); err != nil || !slices.Equal(got, exampleWords[:n]) {
			t.Fatalf("%d values: %v", n, err)
		}
		bytes := make([]byte, 4*n)
		if err := MiniBytes(bytes, 4, exampleValues, exampleLengths); err != nil {
			t.Fatalf("%d values as bytes: %v", n, err)
		}
		for i := range got {
			if got[i] != uint32(bytes[4*i]) {
				t.Fatalf("%d values as bytes: value %d is %d", n, i, bytes[4*i])
			}
		}
	}
}

func TestWidths(t *testing.T) {
	testWidth(t, []uint8{200, 200, 1}, []byte{200, 1})
	testWidth(t, []uint16{0x1234, 0x1234, 1}, []byte{0x34, 0x12, 1, 0})
	testWidth(t, []uint32{0x12345678, 0x12345678, 1}, []byte{0x78, 0x56, 0x34, 0x12, 1, 0, 0, 0})
	testWidth(t, []uint64{1 << 63, 1 << 63, 1}, []byte{0, 0, 0, 0, 0, 0, 0, 128, 1, 0, 0, 0, 0, 0, 0, 0})
}

func testWidth[T Word](t *testing.T, want []T, values []byte) {
	t.Helper()
	got := make([]T, 3)
	if err := Mini(got, values, []byte{2, 1}); err != nil || !slices.Equal(got, want) {
		t.Errorf("%T: %v, %v", got, got, err)
	}
	clear(got)
	block := append(append([]byte{byte(len(values)), 0, 0, 0, 0, 0, 0, 0}, values...), 2, 1)
	if err := Block(got, block); err != nil || !slices.Equal(got, want) {
		t.Errorf("%T in a block: %v, %v", got, got, err)
	}
}

func TestBlock(t *testing.T) {
	block, err := hex.DecodeString("0c00000000000000" + hex.EncodeToString(exampleValues) + "ff2d05")
	if err != nil {
		t.Fatal(err)
	}
	got := make([]uint32, len(exampleWords))
	if err := Block(got, block); err != nil || !slices.Equal(got, exampleWords) {
		t.Errorf("%v", err)
	}
	for name, err := range map[string]error{
		"one value fewer": Block(make([]uint32, 304), block),
		"one value more":  Block(make([]uint32, 306), block),
		"no size":         Block(got, block[:7]),
		"cut":             Block(got, block[:len(block)-1]),
		"other width":     Block(make([]uint16, 305), block),
		"size beyond":     Block(got, append([]byte{0xff}, block[1:]...)),
		"huge size":       Block(got, append([]byte{0, 0, 0, 0, 0, 0, 0, 0x80}, block[8:]...)),
		"too few":         Mini(make([]uint32, 306), exampleValues, exampleLengths),
		"unequal":         Mini(got, exampleValues, exampleLengths[:2]),
		"bytes too few":   MiniBytes(make([]byte, 4*306), 4, exampleValues, exampleLengths),
		"bytes unequal":   MiniBytes(make([]byte, 4), 4, exampleValues, exampleLengths[:2]),
		"no size of one":  MiniBytes(nil, 0, nil, nil),
	} {
		if !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzBlock(f *testing.F) {
	f.Add(append([]byte{12, 0, 0, 0, 0, 0, 0, 0}, append(exampleValues, exampleLengths...)...), uint16(305))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0}, uint16(0))
	f.Fuzz(func(t *testing.T, block []byte, n uint16) {
		words, bytes := make([]uint32, n), make([]byte, 4*int(n))
		err := Block(words, block)
		values, lengths, splitErr := Split(block, 4)
		if splitErr == nil {
			if mini := MiniBytes(bytes, 4, values, lengths); err == nil && mini != nil {
				t.Fatalf("a block that is no mini-block: %v", mini)
			}
		}
		if err == nil && splitErr != nil || err != nil && !errors.Is(err, corrupt.ErrCorrupt) {
			t.Fatalf("%v, %v", err, splitErr)
		}
		if err == nil {
			for i, w := range words {
				if byte(w) != bytes[4*i] || byte(w>>24) != bytes[4*i+3] {
					t.Fatalf("value %d differs", i)
				}
			}
		}
	})
}

func BenchmarkMini(b *testing.B) {
	dst := make([]uint64, 4096)
	var values, lengths []byte
	for i := range 64 {
		values, lengths = append(values, byte(i), 0, 0, 0, 0, 0, 0, 0), append(lengths, 64)
	}
	for b.Loop() {
		if err := Mini(dst, values, lengths); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*4096/b.Elapsed().Seconds()/1e9, "Gvalues/s")
}

// The example is what Lance wrote, so is what we write of its words.
func TestAppend(t *testing.T) {
	words, lengths := Append(nil, nil, exampleWords)
	if !slices.Equal(words, exampleValues) || !slices.Equal(lengths, exampleLengths) {
		t.Errorf("%x, %x", words, lengths)
	}
	if n := Runs(exampleWords, 4096); n != len(lengths) {
		t.Errorf("%d runs counted, %d written", n, len(lengths))
	}
	if n := Runs(exampleWords, 100); n != 4 { // 100, 100, 100, 5
		t.Errorf("%d runs in chunks of 100, want 4", n)
	}
	got := make([]uint32, len(exampleWords))
	if err := Block(got, AppendBlock([]byte{}, exampleWords)); err != nil || !slices.Equal(got, exampleWords) {
		t.Errorf("a block read back: %v, %v", got, err)
	}
}
