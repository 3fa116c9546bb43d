package fsst

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// texts of many kinds.
func kinds() map[string][][]byte {
	random := rand.New(rand.NewPCG(5, 5))
	words := strings.Fields("the quick brown fox jumps over a lazy dog and then goes home to sleep near river bank while rain falls")
	out := map[string][][]byte{"none": nil, "empty": {{}, {}}, "zeros": {make([]byte, 9), {0}, make([]byte, 40)}}
	for range 2000 {
		s := ""
		for len(s) < 42 {
			s += words[random.IntN(len(words))] + " "
		}
		out["prose"] = append(out["prose"], []byte(s[:42]))
		out["hex"] = append(out["hex"], fmt.Appendf(nil, "%016x%016x", random.Uint64(), random.Uint64()))
		noise := make([]byte, random.IntN(30))
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		out["noise"] = append(out["noise"], noise)
		out["with zeros"] = append(out["with zeros"], append(append([]byte("ab\x00ab"), noise...), make([]byte, random.IntN(12))...))
	}
	return out
}

func TestPack(t *testing.T) {
	for name, values := range kinds() {
		e := Train(values[:min(len(values), 400)])
		table, err := Parse(e.AppendTable(nil))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		packed, plain := 0, 0
		for _, v := range values {
			dst := make([]byte, 2*len(v)+1)
			n := e.Pack(dst, v)
			among := append([]byte("##"), append(v, "########"...)...)[2 : 2+len(v)] // with other memory behind it
			if m := e.Pack(make([]byte, 2*len(v)+1), among); m != n {
				t.Fatalf("%s: %q has %d bytes, among others %d", name, v, n, m)
			}
			got, err := table.Append(nil, dst[:n])
			if err != nil || !bytes.Equal(got, v) {
				t.Fatalf("%s: %q became %q, %v", name, v, got, err)
			}
			packed, plain = packed+n, plain+len(v)
		}
		t.Logf("%s: %d of %d", name, packed, plain)
		if name == "prose" && packed*10 > plain*4 || name == "hex" && packed*10 > plain*6 {
			t.Errorf("%s: %d bytes became %d", name, plain, packed)
		}
	}
}

func FuzzPack(f *testing.F) {
	f.Add([]byte("abcabcabcabc"), []byte("abcabcab\x00\x00ab"))
	f.Add(bytes.Repeat([]byte{0}, 30), []byte{0, 0, 1})
	f.Fuzz(func(t *testing.T, sample, text []byte) {
		e := Train([][]byte{sample, sample})
		table, err := Parse(e.AppendTable(nil))
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]byte, 2*len(text)+1)
		if got, err := table.Append(nil, dst[:e.Pack(dst, text)]); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q became %q, %v", text, got, err)
		}
	})
}

func BenchmarkPack(b *testing.B) {
	for _, name := range []string{"prose", "hex"} {
		values := kinds()[name]
		b.Run(name, func(b *testing.B) {
			e, dst, n := Train(values[:400]), make([]byte, 100), 0
			for _, v := range values {
				n += len(v)
			}
			b.SetBytes(int64(n))
			for b.Loop() {
				for _, v := range values {
					e.Pack(dst, v)
				}
			}
		})
	}
	b.Run("train", func(b *testing.B) {
		values := kinds()["prose"][:400]
		for b.Loop() {
			Train(values)
		}
	})
}
