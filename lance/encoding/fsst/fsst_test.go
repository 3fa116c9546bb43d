package fsst

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	"github.com/omnideck/omnideck/lance/encoding/variable"
)

// makeTable is a symbol table of the format.
func makeTable(packed bool, symbols ...string) []byte {
	table := make([]byte, 2312)
	table[0] = byte(len(symbols))
	if packed {
		table[3] = 1
	}
	binary.LittleEndian.PutUint32(table[4:], magic)
	for i, s := range symbols {
		copy(table[headSize+i*maxSymbol:], s)
		table[headSize+len(symbols)*maxSymbol+i] = byte(len(s))
	}
	return table
}

// pack encodes with the longest symbol that fits.
func pack(s string, symbols []string) []byte {
	var out []byte
	for len(s) > 0 {
		best := -1
		for i, symbol := range symbols {
			if strings.HasPrefix(s, symbol) && (best < 0 || len(symbol) > len(symbols[best])) {
				best = i
			}
		}
		if best < 0 {
			out, s = append(out, escape, s[0]), s[1:]
			continue
		}
		out, s = append(out, byte(best)), s[len(symbols[best]):]
	}
	return out
}

// chunk lays values out as a mini-block of variable width.
func chunk(t testing.TB, width int, values ...[]byte) variable.View {
	t.Helper()
	head := (len(values) + 1) * width
	buf, at := make([]byte, head), head
	for i := range len(values) + 1 {
		if width == 4 {
			binary.LittleEndian.PutUint32(buf[4*i:], uint32(at))
		} else {
			binary.LittleEndian.PutUint64(buf[8*i:], uint64(at))
		}
		if i < len(values) {
			buf, at = append(buf, values[i]...), at+len(values[i])
		}
	}
	v, err := variable.Mini(buf, width, len(values))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func parse(t testing.TB, table []byte) *Table {
	t.Helper()
	parsed, err := Parse(table)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// prose is what Lance wrote: a table, a chunk, and the strings in it.
func prose(t testing.TB) (*Table, variable.View, []string) {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	want := strings.Split(strings.TrimSuffix(string(read("prose.txt")), "\n"), "\n")
	v, err := variable.Mini(read("prose.chunk"), 4, len(want))
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, read("prose.table")), v, want
}

func texts[O variable.Offset](data []byte, ends []O) []string {
	var out []string
	for i := 1; i < len(ends); i++ {
		out = append(out, string(data[ends[i-1]:ends[i]]))
	}
	return out
}

func TestLanceChunk(t *testing.T) {
	table, v, want := prose(t)
	data, ends, err := AppendAll(table, nil, []int32{0}, v)
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(data, ends); !slices.Equal(got, want) {
		t.Errorf("got %q…, want %q…", got[:3], want[:3])
	}
	for i, s := range want {
		if got, err := table.Append([]byte("before "), v.At(i)); err != nil || string(got) != "before "+s {
			t.Fatalf("value %d: %q, %v, want %q", i, got, err, s)
		}
	}
}

func TestAppendAll(t *testing.T) {
	symbols := []string{"a", "bc", "longest!", "\x00", "ß"}
	table := parse(t, makeTable(true, symbols...))
	for _, values := range [][]string{
		{},
		{""},
		{"a", "", "bc", "abcxa"},
		{"longest!", strings.Repeat("longest!", 100), "l", "longest"},
		{strings.Repeat("q", 1000), "\x00\xff", strings.Repeat("a", 33)},
		strings.Split(strings.Repeat("abcdefgh longest! ", 50), " "),
	} {
		var packed [][]byte
		for _, s := range values {
			packed = append(packed, pack(s, symbols))
		}
		for _, width := range []int{4, 8} {
			v := chunk(t, width, packed...)
			data, ends, err := AppendAll(table, []byte("xyz"), []int64{0, 3}, v)
			if err != nil {
				t.Fatal(err)
			}
			if got := texts(data, ends); !slices.Equal(got, append([]string{"xyz"}, values...)) {
				t.Errorf("width %d: %q, want %q", width, got, values)
			}
		}
	}
}

// A caller who makes room for MaxLen gets its own memory back.
func TestRoomIsEnough(t *testing.T) {
	table := parse(t, makeTable(true, "12345678"))
	v := chunk(t, 4, bytes.Repeat([]byte{0}, 100), []byte{0}, nil, []byte{255, 7})
	room := make([]byte, 2, 2+table.MaxLen(v.Bytes()))
	data, _, err := AppendAll(table, room, make([]int32, 1, 5), v)
	if err != nil || &data[0] != &room[0] {
		t.Errorf("moved out of room that was enough: %v", err)
	}
}

func TestStored(t *testing.T) {
	table := parse(t, makeTable(false, "a"))
	if table.Packed() || table.MaxLen(7) != 7 {
		t.Errorf("packed %v, 7 bytes become %d", table.Packed(), table.MaxLen(7))
	}
	data, ends, err := AppendAll(table, nil, []int32{0}, chunk(t, 4, []byte{0, 255}, []byte("b")))
	if err != nil || !slices.Equal(texts(data, ends), []string{"\x00\xff", "b"}) {
		t.Errorf("%q, %v", texts(data, ends), err)
	}
	if got, err := table.Append(nil, []byte{255}); err != nil || string(got) != "\xff" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDamage(t *testing.T) {
	table := parse(t, makeTable(true, "a", "bc"))
	for name, value := range map[string][]byte{
		"code 2 of 2":            {0, 1, 2},
		"code 254":               {254},
		"escape at the end":      {0, 255},
		"escape escape":          {255, 255, 255},
		"late code":              append(bytes.Repeat([]byte{0}, 40), 9),
		"early code":             append([]byte{9}, bytes.Repeat([]byte{0}, 40)...),
		"escape at the late end": append(bytes.Repeat([]byte{1}, 40), 255),
	} {
		before, ends := []byte("kept"), []int32{0, 4}
		v := chunk(t, 4, []byte{0}, value, bytes.Repeat([]byte{0}, 50))
		data, after, err := AppendAll(table, before, ends, v)
		if !errors.Is(err, corrupt.ErrCorrupt) || string(data) != "kept" || len(after) != 2 {
			t.Errorf("%s: %q, %v, %v", name, data, after, err)
		}
		if _, err := table.Append(nil, value); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s: one value: %v", name, err)
		}
	}
}

func TestParseRefusals(t *testing.T) {
	good := makeTable(true, "a", "bc")
	edit := func(at int, b byte) []byte {
		table := bytes.Clone(good)
		table[at] = b
		return table
	}
	for name, table := range map[string][]byte{
		"empty":        {},
		"no mark":      edit(4, 0),
		"switch 2":     edit(3, 2),
		"cut":          good[:headSize+17],
		"length 0":     edit(headSize+16, 0),
		"length 9":     edit(headSize+17, 9),
		"more symbols": append([]byte{255}, good[1:100]...),
	} {
		if _, err := Parse(table); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Parse(makeTable(true)); err != nil {
		t.Errorf("no symbols: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(makeTable(true, "a", "bc", "longest!"))
	f.Add(makeTable(false)[:8])
	f.Fuzz(func(t *testing.T, table []byte) {
		if _, err := Parse(table); err != nil && !errors.Is(err, corrupt.ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

// FuzzAppendAll compares with a decoder of the plainest kind. The table is
// made of symbols: lengths, taken modulo 8, and as many bytes.
func FuzzAppendAll(f *testing.F) {
	f.Add([]byte{0, 'a', 1, 'b', 'c', 7, 'l', 'o', 'n', 'g', 'e', 's', 't', '!'}, []byte{0, 1, 255, 9, 2, 2, 2, 2, 2, 2}, uint16(3), uint16(5))
	f.Add([]byte{0, 'a'}, bytes.Repeat([]byte{0}, 100), uint16(0), uint16(90))
	f.Add(bytes.Repeat([]byte{0}, 510), bytes.Repeat([]byte{254, 128, 1}, 1000), uint16(100), uint16(2000))
	f.Add(bytes.Repeat([]byte{0}, 260), append(bytes.Repeat([]byte{127, 126, 1}, 100), 130), uint16(100), uint16(2000))
	f.Fuzz(func(t *testing.T, symbols, text []byte, cut1, cut2 uint16) {
		var list []string
		for len(symbols) > 0 && len(list) < 255 {
			n := min(1+int(symbols[0])%8, len(symbols)-1)
			if n > 0 {
				list = append(list, string(symbols[1:1+n]))
			}
			symbols = symbols[1+n:]
		}
		parsed := parse(t, makeTable(true, list...))
		a := min(int(cut1), len(text))
		b := min(a+int(cut2), len(text))
		parts := [][]byte{text[:a], text[a:b], text[b:]}
		var want []string
		good := true
		for _, part := range parts {
			s, ok := plain(parsed, part)
			want, good = append(want, s), good && ok
		}
		for i, part := range parts {
			got, err := parsed.Append(nil, part)
			if s, ok := plain(parsed, part); (err == nil) != ok || ok && string(got) != s {
				t.Fatalf("part %d alone: %q, %v, want %q", i, got, err, s)
			}
		}
		data, ends, err := AppendAll(parsed, nil, []int64{0}, chunk(t, 8, parts...))
		if (err == nil) != good {
			t.Fatalf("%v, but the plain decoder says %v", err, good)
		}
		if err == nil && !slices.Equal(texts(data, ends), want) {
			t.Errorf("%q, want %q", texts(data, ends), want)
		}
	})
}

func plain(t *Table, src []byte) (string, bool) {
	if !t.packed {
		return string(src), true
	}
	var out []byte
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == escape && i+1 == len(src):
			return "", false
		case c == escape:
			i++
			out = append(out, src[i])
		case t.lengths[c] == invalid:
			return "", false
		default:
			var symbol [8]byte
			binary.NativeEndian.PutUint64(symbol[:], t.symbols[c])
			out = append(out, symbol[:t.lengths[c]]...)
		}
	}
	return string(out), true
}

// BenchmarkAppendAll decodes chunks of strings of random lengths, more of
// them than a processor can remember the branches of.
func BenchmarkAppendAll(b *testing.B) {
	table, _, text := prose(b)
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields(strings.Join(text, " "))
	sentence := func() string {
		var picked []string
		for range 3 + random.IntN(9) {
			picked = append(picked, words[random.IntN(len(words))])
		}
		return strings.Join(picked, " ")
	}
	b.Run("prose", func(b *testing.B) { benchmark(b, table, sentence) })

	// A table as training makes it of hexadecimal digits: the digits and pairs.
	const digits = "0123456789abcdef"
	symbols := strings.Split(digits, "")
	for _, x := range digits {
		for _, y := range digits[:14] {
			symbols = append(symbols, string(x)+string(y))
		}
	}
	uuid := func() string { return fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64()) }
	b.Run("hex", func(b *testing.B) { benchmark(b, parse(b, makeTable(true, symbols...)), uuid) })

	// Nothing that the table knows.
	b.Run("escapes", func(b *testing.B) { benchmark(b, parse(b, makeTable(true, "\xfe")), sentence) })
}

func benchmark(b *testing.B, table *Table, next func() string) {
	var symbols []string
	for c, n := range table.lengths {
		if n != invalid {
			symbol := binary.NativeEndian.AppendUint64(nil, table.symbols[c])
			symbols = append(symbols, string(symbol[:n]))
		}
	}
	var views []variable.View
	size, count := 0, 0
	for range 60 {
		var packed [][]byte
		for range 256 {
			s := next()
			packed = append(packed, pack(s, symbols))
			size, count = size+len(s), count+1
		}
		views = append(views, chunk(b, 4, packed...))
	}
	data, ends := make([]byte, 0, size+table.MaxLen(views[0].Bytes())*2), make([]int32, 1, count+1)
	b.SetBytes(int64(size))
	b.ResetTimer()
	for b.Loop() {
		data, ends = data[:0], ends[:1]
		for _, v := range views {
			var err error
			if data, ends, err = AppendAll(table, data, ends, v); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)*float64(count)/b.Elapsed().Seconds()/1e6, "Mstrings/s")
}
