package block

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/omnideck/omnideck/lance/encoding/bitpack"
	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

func flat(bits uint64) *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_Flat{Flat: &enc21pb.Flat{BitsPerValue: bits}}}
}

func inline(bits uint64) *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_InlineBitpacking{
		InlineBitpacking: &enc21pb.InlineBitpacking{UncompressedBitsPerValue: bits}}}
}

func outOfLine(bits, width uint64) *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_OutOfLineBitpacking{
		OutOfLineBitpacking: &enc21pb.OutOfLineBitpacking{UncompressedBitsPerValue: bits, Values: flat(width)}}}
}

func runLength(bits, lengths uint64) *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_Rle{
		Rle: &enc21pb.Rle{Values: flat(bits), RunLengths: flat(lengths)}}}
}

func constantOf(value []byte) *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_Constant{Constant: &enc21pb.Constant{Value: value}}}
}

func variableOf(bits uint64) *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_Variable{
		Variable: &enc21pb.Variable{Offsets: flat(bits)}}}
}

func generalOf(scheme enc21pb.CompressionScheme, inner *enc21pb.CompressiveEncoding) *enc21pb.CompressiveEncoding {
	return &enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_General{
		General: &enc21pb.General{Compression: &enc21pb.BufferCompression{Scheme: scheme}, Values: inner}}}
}

func squeeze(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(data, binary.LittleEndian.AppendUint64(nil, uint64(len(data))))
}

func raw64(values []uint64) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, v)
	}
	return out
}

// Every node gives the same words, as words and as bytes at any address.
func TestWords(t *testing.T) {
	values := slices.Repeat([]uint64{5, 5, 5, 5}, 250)
	runs := append(binary.LittleEndian.AppendUint64(nil, 32), raw64(values[:4])...)
	runs = append(runs, 255, 255, 255, 235)
	for name, c := range map[string]struct {
		enc *enc21pb.CompressiveEncoding
		buf []byte
	}{
		"flat":            {flat(64), raw64(values)},
		"inline":          {inline(64), bitpack.AppendInline(nil, values)},
		"out of line":     {outOfLine(64, 3), bitpack.AppendOutOfLine(nil, values, 3)},
		"rle":             {runLength(64, 8), runs},
		"constant":        {constantOf(raw64(values[:1])), nil},
		"zstd":            {generalOf(enc21pb.CompressionScheme_ZSTD, flat(64)), squeeze(t, raw64(values))},
		"zstd of rle":     {generalOf(enc21pb.CompressionScheme_ZSTD, runLength(64, 8)), squeeze(t, runs)},
		"zstd in zstd":    {generalOf(2, generalOf(2, inline(64))), squeeze(t, squeeze(t, bitpack.AppendInline(nil, values)))},
		"zstd of outline": {generalOf(2, outOfLine(64, 60)), squeeze(t, bitpack.AppendOutOfLine(nil, values, 60))},
	} {
		d, err := New(c.enc)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := make([]uint64, len(values))
		if err := Words(d, got, c.buf); err != nil || !slices.Equal(got, values) {
			t.Errorf("%s: %v", name, err)
		}
		for at := range 2 {
			out := make([]byte, at+8*len(values))
			if err := d.Bytes(out[at:], c.buf); err != nil || !bytes.Equal(out[at:], raw64(values)) {
				t.Errorf("%s, as bytes at %d: %v", name, at, err)
			}
		}
		if err := Words(d, make([]uint32, len(values)), c.buf); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s as words of 32 bits: %v", name, err)
		}
		if _, err := d.View(c.buf, 1, 1000); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s as values of variable width: %v", name, err)
		}
		if name == "constant" {
			continue
		}
		if err := Words(d, got, c.buf[:len(c.buf)-1]); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s cut short: %v", name, err)
		}
	}
}

func TestWideWords(t *testing.T) {
	want := []byte("sixteen bytes 1.sixteen bytes 2.")
	for name, c := range map[string]struct {
		enc *enc21pb.CompressiveEncoding
		buf []byte
	}{
		"flat":     {flat(128), want},
		"zstd":     {generalOf(2, flat(128)), squeeze(t, want)},
		"rle":      {runLength(128, 8), slices.Concat([]byte{32, 0, 0, 0, 0, 0, 0, 0}, want, []byte{1, 1})},
		"constant": {constantOf(want[:16]), nil},
	} {
		d, err := New(c.enc)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := make([]byte, 32)
		err = d.Bytes(got, c.buf)
		if name == "constant" {
			if err != nil || !bytes.Equal(got, bytes.Repeat(want[:16], 2)) {
				t.Errorf("%s: %q, %v", name, got, err)
			}
			continue
		}
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if err := d.Bytes(make([]byte, 31), c.buf); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s into half a word: %v", name, err)
		}
		if err := d.Bytes(make([]byte, 48), c.buf); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s into more words: %v", name, err)
		}
	}
}

// The dictionary of "a", "bb" as Lance 10 wrote it, plain and under lz4.
func TestView(t *testing.T) {
	for name, c := range map[string]struct {
		enc *enc21pb.CompressiveEncoding
		buf string
	}{
		"2.1": {variableOf(32), "20000000 14000000 00000000 01000000 03000000 616262"},
		"2.2": {generalOf(enc21pb.CompressionScheme_LZ4, variableOf(32)), "17000000 6220000000140001 00b0 01000000 03000000 616262"},
	} {
		d, err := New(c.enc)
		if err != nil {
			t.Fatal(err)
		}
		buf, err := hex.DecodeString(strings.ReplaceAll(c.buf, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		v, err := d.View(buf, 2, 100)
		if err != nil || string(v.At(0)) != "a" || string(v.At(1)) != "bb" || !d.IsVariable() {
			t.Errorf("%s: %v", name, err)
		}
		for what, err := range map[string]error{
			"three values": func() error { _, err := d.View(buf, 3, 100); return err }(),
			"cut":          func() error { _, err := d.View(buf[:len(buf)-1], 2, 100); return err }(),
			"as words":     Words(d, make([]uint32, 2), buf),
			"as bytes":     d.Bytes(make([]byte, 8), buf),
		} {
			if !errors.Is(err, corrupt.ErrCorrupt) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	d, err := New(variableOf(64))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.View([]byte{32, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0}, 0, 100); !errors.Is(err, corrupt.ErrCorrupt) {
		t.Errorf("32-bit offsets described as 64: %v", err)
	}
}

func TestNewRefusals(t *testing.T) {
	deep := flat(16)
	for range maxDepth {
		deep = generalOf(2, deep)
	}
	for name, c := range map[string]struct {
		enc  *enc21pb.CompressiveEncoding
		want error
	}{
		"none":              {nil, corrupt.ErrUnsupported},
		"no node":           {&enc21pb.CompressiveEncoding{}, corrupt.ErrUnsupported},
		"1 bit":             {flat(1), corrupt.ErrCorrupt},
		"0 bits":            {flat(0), corrupt.ErrCorrupt},
		"2^40 bits":         {flat(1 << 40), corrupt.ErrCorrupt},
		"packed 24 bits":    {inline(24), corrupt.ErrCorrupt},
		"outline 17 of 16":  {outOfLine(16, 17), corrupt.ErrCorrupt},
		"runs of 16 bits":   {runLength(16, 16), corrupt.ErrUnsupported},
		"16-bit offsets":    {variableOf(16), corrupt.ErrCorrupt},
		"constant nothing":  {constantOf(nil), corrupt.ErrCorrupt},
		"too deep":          {deep, corrupt.ErrCorrupt},
		"general nothing":   {generalOf(2, nil), corrupt.ErrUnsupported},
		"fixed-size list":   {&enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_FixedSizeList{}}, corrupt.ErrUnsupported},
		"fsst":              {&enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_Fsst{}}, corrupt.ErrCorrupt},
		"packed struct":     {&enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_PackedStruct{}}, corrupt.ErrCorrupt},
		"byte stream split": {&enc21pb.CompressiveEncoding{Compression: &enc21pb.CompressiveEncoding_ByteStreamSplit{}}, corrupt.ErrCorrupt},
	} {
		if d, err := New(c.enc); !errors.Is(err, c.want) || d != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	d, err := New(generalOf(3, flat(16)))
	if err != nil {
		t.Fatal(err)
	}
	if err := Words(d, make([]uint16, 1), []byte{1, 2, 3}); !errors.Is(err, corrupt.ErrUnsupported) {
		t.Errorf("an unknown scheme: %v", err)
	}
}

func FuzzBlock(f *testing.F) {
	encs := []*enc21pb.CompressiveEncoding{
		flat(32), inline(32), outOfLine(32, 7), runLength(32, 8), constantOf([]byte{1, 2, 3, 4}),
		generalOf(1, flat(32)), generalOf(2, runLength(32, 8)), variableOf(32), generalOf(1, variableOf(32)),
	}
	f.Add([]byte{1, 0, 0, 0, 2, 0, 0, 0}, uint8(0), uint16(2))
	f.Add(bitpack.AppendInline(nil, []uint32{1, 2, 3}), uint8(1), uint16(3))
	f.Add(squeeze(f, []byte{4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3}), uint8(6), uint16(3))
	f.Fuzz(func(t *testing.T, buf []byte, which uint8, n uint16) {
		d, err := New(encs[int(which)%len(encs)])
		if err != nil {
			t.Fatal(err)
		}
		words, out := make([]uint32, n), make([]byte, 4*int(n))
		first, second := Words(d, words, buf), d.Bytes(out, buf)
		if (first == nil) != (second == nil) || first != nil && !errors.Is(first, corrupt.ErrCorrupt) {
			t.Fatalf("words: %v, bytes: %v", first, second)
		}
		for i, w := range words {
			if first == nil && binary.LittleEndian.Uint32(out[4*i:]) != w {
				t.Fatalf("word %d differs", i)
			}
		}
		if v, err := d.View(buf, int(n), 1<<20); err == nil {
			for i := range v.Len() {
				_ = v.At(i)
			}
		} else if !errors.Is(err, corrupt.ErrCorrupt) {
			t.Fatal(err)
		}
	})
}
