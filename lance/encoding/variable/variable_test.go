package variable

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func word(buf []byte, width int, v int) []byte {
	if width == 4 {
		return binary.LittleEndian.AppendUint32(buf, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(buf, uint64(v))
}

// mini and block lay values out.
func mini(width int, values ...string) []byte {
	at := (len(values) + 1) * width
	buf := word(nil, width, at)
	for _, v := range values {
		at += len(v)
		buf = word(buf, width, at)
	}
	buf = append(buf, strings.Join(values, "")...)
	for len(buf)%width != 0 {
		buf = append(buf, 'H')
	}
	return buf
}

func block(width int, values ...string) []byte {
	buf := word(word(nil, width, width*8), width, (len(values)+3)*width)
	at := 0
	buf = word(buf, width, 0)
	for _, v := range values {
		at += len(v)
		buf = word(buf, width, at)
	}
	return append(buf, strings.Join(values, "")...)
}

func texts(v View) []string {
	out := make([]string, v.Len())
	for i := range out {
		out[i] = string(v.At(i))
	}
	return out
}

// The two examples of the format's description are bytes of real files.
func TestExamples(t *testing.T) {
	v, err := Mini(unhex(t, "10000000 11000000 11000000 13000000 787a7a48"), 4, 3)
	if err != nil || !slices.Equal(texts(v), []string{"x", "", "zz"}) || v.Bytes() != 3 {
		t.Errorf("mini-block: %q, %v", texts(v), err)
	}
	v, err = Block(unhex(t, "20000000 14000000 00000000 01000000 03000000 616262"), 2)
	if err != nil || !slices.Equal(texts(v), []string{"a", "bb"}) {
		t.Errorf("block: %q, %v", texts(v), err)
	}
}

func TestAppend(t *testing.T) {
	for _, values := range [][]string{{}, {""}, {"a"}, {"", "abc", "", "de"}, slices.Repeat([]string{"four", "", "x"}, 100)} {
		for _, width := range []int{4, 8} {
			for _, form := range []struct {
				name string
				view func() (View, error)
			}{
				{"mini", func() (View, error) { return Mini(mini(width, values...), width, len(values)) }},
				{"mini, odd address", func() (View, error) {
					return Mini(append([]byte{0}, mini(width, values...)...)[1:], width, len(values))
				}},
				{"block", func() (View, error) { return Block(block(width, values...), len(values)) }},
			} {
				v, err := form.view()
				if err != nil {
					t.Fatalf("%s of %d bytes, %d values: %v", form.name, width, len(values), err)
				}
				testAppend[int32](t, form.name, v, values)
				testAppend[int64](t, form.name, v, values)
			}
		}
	}
}

func testAppend[O Offset](t *testing.T, name string, v View, values []string) {
	t.Helper()
	data, ends, err := Append([]byte("before"), []O{0, 6}, v)
	if err != nil || string(data) != "before"+strings.Join(values, "") || len(ends) != 2+len(values) {
		t.Fatalf("%s: %q, %v, %v", name, data, ends, err)
	}
	for i, want := range values {
		if got := string(data[ends[i+1]:ends[i+2]]); got != want {
			t.Errorf("%s: value %d is %q, want %q", name, i, got, want)
		}
	}
}

// Offsets of Arrow may not count what the page holds; the view is then whole,
// and nothing was appended.
func TestTooLong(t *testing.T) {
	if MaxOffset[int32]() != math.MaxInt32 || MaxOffset[int64]() != math.MaxInt {
		t.Errorf("largest offsets %d, %d", MaxOffset[int32](), MaxOffset[int64]())
	}
	v := View{data: nil, offsets: word(word(nil, 8, 0), 8, math.MaxInt32+1), width: 8}
	data, ends, err := Append([]byte("x"), []int32{1}, v)
	if !errors.Is(err, ErrTooLong) || errors.Is(err, corrupt.ErrCorrupt) || string(data) != "x" || len(ends) != 1 {
		t.Errorf("%q, %v, %v", data, ends, err)
	}
}

func TestZeroView(t *testing.T) {
	var v View
	data, ends, err := Append(nil, []int32{0}, v)
	if v.Len() != 0 || v.Bytes() != 0 || err != nil || len(data) != 0 || len(ends) != 1 {
		t.Errorf("%d values of %d bytes, %v", v.Len(), v.Bytes(), err)
	}
}

func TestRefusals(t *testing.T) {
	good, tall := mini(4, "ab", "c"), block(8, "ab", "c")
	edit := func(b []byte, at int, v byte) []byte {
		b = slices.Clone(b)
		b[at] = v
		return b
	}
	miniOf := func(b []byte, width, n int) error { _, err := Mini(b, width, n); return err }
	blockOf := func(b []byte, n int) error { _, err := Block(b, n); return err }
	for name, err := range map[string]error{
		"empty":             miniOf(nil, 4, 0),
		"too many values":   miniOf(good, 4, 4),
		"negative":          miniOf(good, 4, -1),
		"very many values":  miniOf(good, 4, math.MaxInt),
		"width 2":           miniOf(good, 2, 2),
		"first in offsets":  miniOf(edit(good, 0, 11), 4, 2),
		"falling":           miniOf(edit(good, 4, 16), 4, 2),
		"last outside":      miniOf(edit(good, 8, 17), 4, 2),
		"middle outside":    miniOf(edit(good, 4, 200), 4, 2),
		"block empty":       blockOf(nil, 0),
		"block of 16 bits":  blockOf(edit(tall, 0, 16), 2),
		"block of 33 bits":  blockOf(edit(tall, 0, 33), 2),
		"block high width":  blockOf(edit(tall, 5, 1), 2),
		"start in offsets":  blockOf(edit(tall, 8, 39), 2),
		"start outside":     blockOf(edit(tall, 8, 200), 2),
		"block last":        blockOf(edit(tall, 32, 4), 2),
		"block falling":     blockOf(edit(tall, 24, 7), 2),
		"block many values": blockOf(tall, math.MaxInt),
		"block more values": blockOf(tall, 5),
		"block negative":    blockOf(tall, -1),
	} {
		if !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzMini(f *testing.F) {
	f.Add(mini(4, "ab", "", "c"), 4, 3)
	f.Add(mini(8, "ab", "", "c"), 8, 3)
	f.Fuzz(func(t *testing.T, buf []byte, width, n int) {
		v, err := Mini(buf, width, n)
		fuzzView(t, v, err, n)
	})
}

func FuzzBlock(f *testing.F) {
	f.Add(block(4, "ab", "", "c"), 3)
	f.Add(block(8, "ab", "", "c"), 3)
	f.Fuzz(func(t *testing.T, buf []byte, n int) {
		v, err := Block(buf, n)
		fuzzView(t, v, err, n)
	})
}

// fuzzView reads every value in both ways.
func fuzzView(t *testing.T, v View, err error, n int) {
	if err != nil {
		if !errors.Is(err, corrupt.ErrCorrupt) {
			t.Fatal(err)
		}
		return
	}
	data, ends, err := Append(nil, []int32{0}, v)
	if err != nil || v.Len() != n || len(data) != v.Bytes() {
		t.Fatalf("%d values of %d, %v", v.Len(), n, err)
	}
	for i := range n {
		if string(v.At(i)) != string(data[ends[i]:ends[i+1]]) {
			t.Fatalf("value %d differs", i)
		}
	}
}

func BenchmarkMiniAppend(b *testing.B) {
	for _, size := range []int{6, 36} {
		for _, width := range []int{4, 8} {
			values := slices.Repeat([]string{strings.Repeat("x", size)}, 4096/(size+width))
			buf := mini(width, values...)
			b.Run(fmt.Sprintf("%dB/%d", size, 8*width), func(b *testing.B) {
				data, ends := make([]byte, 0, len(buf)), make([]int32, 1, len(values)+1)
				b.SetBytes(int64(size * len(values)))
				for b.Loop() {
					v, err := Mini(buf, width, len(values))
					if err != nil {
						b.Fatal(err)
					}
					if _, _, err = Append(data, ends, v); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*float64(len(values))/b.Elapsed().Seconds()/1e6, "Mvalues/s")
			})
		}
	}
}

// The examples of the format's description, written by us.
func TestAppendExamples(t *testing.T) {
	mini := AppendMini(nil, 4, []byte("-xzz-"), []uint32{1, 2, 2, 4})
	if got := hex.EncodeToString(mini); got != "10000000110000001100000013000000787a7a48" {
		t.Errorf("chunk %s", got)
	}
	if n := MiniSize(4, 3, 3); n != len(mini) {
		t.Errorf("a size of %d for %d bytes", n, len(mini))
	}
	block := AppendBlock(nil, 4, []byte("--abb"), []uint32{2, 3, 5})
	if got := hex.EncodeToString(block); got != "2000000014000000000000000100000003000000616262" {
		t.Errorf("block %s", got)
	}
	for _, width := range []int{4, 8} {
		v, err := Block(AppendBlock(nil, width, []byte("--abb"), []uint32{2, 3, 5}), 2)
		if err != nil || string(v.At(0)) != "a" || string(v.At(1)) != "bb" {
			t.Errorf("a block of width %d: %v", width, err)
		}
		v, err = Mini(AppendMini(nil, width, []byte("-xzz-"), []uint32{1, 2, 2, 4}), width, 3)
		if err != nil || string(v.At(0)) != "x" || string(v.At(1)) != "" || string(v.At(2)) != "zz" {
			t.Errorf("a chunk of width %d: %v", width, err)
		}
	}
}
