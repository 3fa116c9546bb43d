package general

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

func bareZstd(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(data, nil)
}

func prefixedZstd(t testing.TB, data []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(data))), bareZstd(t, data)...)
}

// streamZstd makes a frame that does not say its length.
func streamZstd(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	for len(data) > 0 {
		n := min(len(data), 50_000)
		if _, err := w.Write(data[:n]); err != nil {
			t.Fatal(err)
		}
		data = data[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func prefixedLZ4(t testing.TB, data []byte) []byte {
	t.Helper()
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(data)))
	block := make([]byte, lz4.CompressBlockBound(len(data)))
	n, err := lz4.CompressBlock(data, block, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 { // not compressible: one run of literals
		return append(appendLiterals(out, len(data)), data...)
	}
	return append(out, block[:n]...)
}

func samples() map[string][]byte {
	random := rand.New(rand.NewPCG(9, 9))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	return map[string][]byte{
		"one byte":      {7},
		"short":         []byte("abcabcabcabcabc"),
		"prose":         bytes.Repeat([]byte("the quick brown fox jumps over the lazy dog. "), 2000),
		"noise":         noise,
		"zeros":         make([]byte, 3_000_000), // far above what is believed unseen
		"mixed":         append(make([]byte, 1_000_000), noise...),
		"15 and 270":    append(noise[:15:15], make([]byte, 270)...),
		"length of 255": noise[:270:270],
	}
}

func TestRoundTrip(t *testing.T) {
	for name, want := range samples() {
		for form, payload := range map[string]struct {
			scheme Scheme
			bytes  []byte
		}{
			"zstd":          {Zstd, prefixedZstd(t, want)},
			"bare zstd":     {Zstd, bareZstd(t, want)},
			"streamed zstd": {Zstd, streamZstd(t, want)},
			"two frames":    {Zstd, append(streamZstd(t, want[:len(want)/2]), bareZstd(t, want[len(want)/2:])...)},
			"lz4":           {LZ4, prefixedLZ4(t, want)},
		} {
			for _, dst := range [][]byte{nil, make([]byte, 10), make([]byte, len(want)+1)} {
				got, err := payload.scheme.Decompress(dst, payload.bytes, len(want))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, %s: %d bytes, %v", name, form, len(got), err)
				}
				if cap(dst) > len(want) && len(want) > 0 && &got[0] != &dst[0] {
					t.Errorf("%s, %s: new memory although there was enough", name, form)
				}
			}
			if _, err := payload.scheme.Decompress(nil, payload.bytes, len(want)-1); !errors.Is(err, corrupt.ErrCorrupt) {
				t.Errorf("%s, %s: above the limit: %v", name, form, err)
			}
		}
	}
}

// The dictionary of "a", "bb" as Lance 10 wrote it.
func TestRealLZ4(t *testing.T) {
	payload, err := hex.DecodeString("17000000622000000014000100b00100000003000000616262")
	if err != nil {
		t.Fatal(err)
	}
	got, err := LZ4.Decompress(nil, payload, 100)
	if want := "2000000014000000000000000100000003000000616262"; err != nil || hex.EncodeToString(got) != want {
		t.Errorf("%x, %v, want %s", got, err, want)
	}
}

func TestEmpty(t *testing.T) {
	for _, s := range []Scheme{LZ4, Zstd} {
		if got, err := s.Decompress([]byte("old"), nil, 0); err != nil || len(got) != 0 {
			t.Errorf("%v: %q, %v", s, got, err)
		}
	}
	if _, err := Scheme(3).Decompress(nil, []byte{1}, 1); !errors.Is(err, corrupt.ErrUnsupported) {
		t.Errorf("scheme 3: %v", err)
	}
}

func TestLZ4Length(t *testing.T) {
	for name, data := range samples() {
		block := prefixedLZ4(t, data)[4:]
		if got := lz4Length(block); got != len(data) {
			t.Errorf("%s: %d, want %d", name, got, len(data))
		}
	}
}

// Claims that nothing bears out are refused before memory is made for them.
func TestClaims(t *testing.T) {
	const huge = 1 << 30
	zeros := make([]byte, 1000)
	claim64 := func(n uint64, rest []byte) []byte { return append(binary.LittleEndian.AppendUint64(nil, n), rest...) }
	claim32 := func(n uint32, rest []byte) []byte { return append(binary.LittleEndian.AppendUint32(nil, n), rest...) }
	fcs := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x40} // one segment of 2^30 bytes
	for name, c := range map[string]struct {
		scheme  Scheme
		payload []byte
	}{
		"zstd":              {Zstd, claim64(huge, bareZstd(t, zeros))},
		"zstd 2^63":         {Zstd, claim64(1<<63, bareZstd(t, zeros))},
		"zstd with its FCS": {Zstd, claim64(huge, append(fcs, 1, 0, 0))},
		"bare with its FCS": {Zstd, append(fcs, 1, 0, 0)},
		"bare, one block":   {Zstd, append(fcs, 0x0d, 0, 0, 1)},
		"zstd of no frame":  {Zstd, claim64(huge, zeros)},
		"lz4":               {LZ4, claim32(huge, prefixedLZ4(t, zeros)[4:])},
		"lz4 of no block":   {LZ4, claim32(huge, zeros)},
		"lz4 all 255":       {LZ4, claim32(huge, bytes.Repeat([]byte{255}, 1000))},
		"lz4 no length":     {LZ4, []byte{1, 2, 3}},
		"lz4 of 0 bytes":    {LZ4, claim32(0, bytes.Repeat([]byte{'0'}, 18))},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.scheme.Decompress(nil, c.payload, math.MaxInt)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 16<<20 {
			t.Errorf("%s: took %d bytes for a payload of %d", name, taken, len(c.payload))
		}
	}
}

// Every cut and many flips of a payload are errors or other bytes of at most
// the limit.
func TestDamage(t *testing.T) {
	for name, c := range map[string]struct {
		scheme  Scheme
		payload []byte
	}{
		"zstd": {Zstd, prefixedZstd(t, samples()["prose"])},
		"bare": {Zstd, bareZstd(t, samples()["short"])},
		"lz4":  {LZ4, prefixedLZ4(t, samples()["prose"])},
	} {
		const limit = 200_000
		for n := 1; n < len(c.payload); n += 1 + n/50 {
			if got, err := c.scheme.Decompress(nil, c.payload[:n], limit); !errors.Is(err, corrupt.ErrCorrupt) {
				t.Errorf("%s cut at %d: %d bytes, %v", name, n, len(got), err)
			}
		}
		for at := 0; at < len(c.payload); at += 1 + at/20 {
			damaged := bytes.Clone(c.payload)
			damaged[at] ^= 0x41
			got, err := c.scheme.Decompress(nil, damaged, limit)
			if err != nil && !errors.Is(err, corrupt.ErrCorrupt) && !errors.Is(err, corrupt.ErrUnsupported) || len(got) > limit {
				t.Errorf("%s flipped at %d: %d bytes, %v", name, at, len(got), err)
			}
		}
	}
}

func FuzzDecompress(f *testing.F) {
	for _, data := range [][]byte{[]byte("abcabcabcabc"), make([]byte, 5000)} {
		f.Add(prefixedZstd(f, data), true)
		f.Add(bareZstd(f, data), true)
		f.Add(streamZstd(f, data), true)
		f.Add(prefixedLZ4(f, data), false)
	}
	f.Fuzz(func(t *testing.T, payload []byte, isZstd bool) {
		const limit = 1 << 20
		scheme := LZ4
		if isZstd {
			scheme = Zstd
		}
		got, err := scheme.Decompress(nil, payload, limit)
		if err != nil && !errors.Is(err, corrupt.ErrCorrupt) || len(got) > limit {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		if err == nil && !isZstd && len(payload) > 4 {
			if n := lz4Length(payload[4:]); n != len(got) {
				t.Fatalf("a block of %d bytes is walked as %d", len(got), n)
			}
		}
		if err == nil && isZstd && len(payload) > 0 {
			frame := payload
			if !bare(payload) {
				frame = payload[8:]
			}
			if most, err := zstdMost(frame); err != nil || most < len(got) {
				t.Fatalf("frames of %d bytes can hold at most %d, %v", len(got), most, err)
			}
		}
	})
}

func BenchmarkDecompress(b *testing.B) {
	data := samples()["prose"][:4096]
	for name, c := range map[string]struct {
		scheme  Scheme
		payload []byte
	}{"zstd": {Zstd, prefixedZstd(b, data)}, "lz4": {LZ4, prefixedLZ4(b, data)}} {
		b.Run(name, func(b *testing.B) {
			var dst []byte
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				var err error
				if dst, err = c.scheme.Decompress(dst, c.payload, len(data)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What is compressed here is decompressed to what it was.
func TestAppend(t *testing.T) {
	for name, want := range samples() {
		for scheme, payload := range map[Scheme][]byte{
			LZ4:  AppendLZ4([]byte("x"), want)[1:],
			Zstd: AppendZstd([]byte("x"), want)[1:],
		} {
			got, err := scheme.Decompress(nil, payload, len(want))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %v: %d bytes of %d, %v", name, scheme, len(got), len(want), err)
			}
		}
	}
	// The dictionary of "a", "bb", as Lance 10 wrote it: it does not get shorter.
	block, _ := hex.DecodeString("2000000014000000000000000100000003000000616262")
	if got := len(AppendLZ4(nil, block)); got > 30 {
		t.Errorf("23 bytes became %d", got)
	}
}
