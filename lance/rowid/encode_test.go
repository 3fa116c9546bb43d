package rowid_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/rowid"
)

// The bytes that Lance wrote for these ids (lance-table.md §11.3), and the
// shapes that are smallest for others.
func TestEncodeSegments(t *testing.T) {
	for _, c := range []struct {
		ids  []uint64
		hex  string
		kind byte // number of the field of the only segment; 0 = by hex
	}{
		{ids: nil, hex: ""},
		{ids: span(0, 50), hex: "0a 04 0a 02 10 32"},
		{ids: span(3, 5), hex: "0a 06 0a 04 08 03 10 05"},
		{ids: span(0, 200, 3, 5, 7, 20, 40, 90, 111), kind: 0x12},
		{ids: span(0, 200, span(30, 170, span(30, 170, 2, 4, 40, 42, 44, 46, 48, 50, 60, 62, 64, 66, 68, 130, 132)...)...), kind: 0x1a},
		{ids: []uint64{7, 90, 190, 300, 5000, 60000}, kind: 0x22},
		{ids: []uint64{9, 3, 70, 2, 61000, 5, 4}, kind: 0x2a},
		{ids: []uint64{1 << 40, 3, 1 << 50, 2}},
	} {
		b := encode(t, c.ids)
		if c.hex != "" || c.ids == nil {
			if !bytes.Equal(b, unhex(t, c.hex)) {
				t.Errorf("%v: %x, want %s", c.ids, b, c.hex)
			}
		}
		if c.kind != 0 && (b[2] != c.kind || int(b[1]) != len(b)-2) {
			t.Errorf("%d ids: % x, want one segment of kind %#x", len(c.ids), b, c.kind)
		}
		s, err := rowid.Decode(b)
		if err != nil {
			t.Errorf("%d ids: %v", len(c.ids), err)
			continue
		}
		compare(t, s, c.ids)
	}
}

func encode(t fataler, ids []uint64) []byte {
	var b rowid.Builder
	for _, id := range ids {
		b.Add(id)
	}
	out, err := b.Encode()
	if err != nil || b.Len() != uint64(len(ids)) {
		t.Fatalf("encoding %d ids: %d, %v", len(ids), b.Len(), err)
	}
	return out
}

func TestEncodeRefuses(t *testing.T) {
	for what, f := range map[string]func(*rowid.Builder){
		"2^64-1":     func(b *rowid.Builder) { b.Add(math.MaxUint64) },
		"reversed":   func(b *rowid.Builder) { b.Range(5, 4) },
		"2^64 times": func(b *rowid.Builder) { b.Range(0, math.MaxUint64); b.Range(1, math.MaxUint64) },
	} {
		var b rowid.Builder
		f(&b)
		if _, err := b.Encode(); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	var b rowid.Builder // a claim of 2^63 ids costs nothing
	b.Range(0, 1<<63)
	b.Range(1<<63+1, math.MaxUint64)
	if out, err := b.Encode(); err != nil || len(out) > 64 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

// TestEncodeModel: what was put in comes out, in no more bytes than plain
// ranges or one array would take.
func TestEncodeModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.Uint64Range(0, rapid.SampledFrom([]uint64{60, 400, 70000, 1 << 33, 1 << 60}).Draw(t, "top")), 0, 80).Draw(t, "ids")
		if rapid.Bool().Draw(t, "ascending") {
			slices.Sort(ids)
			ids = slices.Compact(ids)
		}
		b := encode(t, ids)
		s, err := rowid.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, s, ids)
		if most := 8*len(ids) + 24; len(b) > most {
			t.Fatalf("%d bytes for %d ids", len(b), len(ids))
		}
		var again rowid.Builder
		again.Sequence(s)
		c, err := again.Encode()
		if err != nil || !bytes.Equal(b, c) {
			t.Fatalf("encoded again: %x, %x, %v", b, c, err)
		}
	})
}

func TestEncodeVersionsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Uint64Range(1, 4), 0, 50).Draw(t, "versions")
		var b rowid.VersionsBuilder
		for _, v := range want {
			b.Add(1, v)
		}
		v, err := rowid.DecodeVersions(b.Encode())
		if err != nil || b.Len() != uint64(len(want)) || !slices.Equal(v.Append(nil, 0, v.Len()), want) {
			t.Fatalf("%v: %v, %v", want, v, err)
		}
		from := rapid.IntRange(0, len(want)).Draw(t, "from")
		to := rapid.IntRange(from, len(want)).Draw(t, "to")
		var part rowid.VersionsBuilder
		part.Versions(v, uint64(from), uint64(to))
		p, err := rowid.DecodeVersions(part.Encode())
		if err != nil || !slices.Equal(p.Append(nil, 0, p.Len()), want[from:to]) {
			t.Fatalf("%v %d..%d: %v, %v", want, from, to, p, err)
		}
	})
	var b rowid.VersionsBuilder // as Lance writes it (§11.1)
	b.Add(3, 1)
	if got := b.Encode(); !bytes.Equal(got, unhex(t, "0a 08 0a 04 0a 02 10 03 10 01")) {
		t.Errorf("% x", got)
	}
}

// TestEncodeRealSequences writes every sequence of the demo graph anew: the
// same values, and never more bytes than Lance took.
func TestEncodeRealSequences(t *testing.T) {
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	n, larger := 0, 0
	for key, b := range files {
		if !strings.HasSuffix(key, ".manifest") {
			continue
		}
		m, err := format.ParseManifest(b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.Fragments {
			seq, err := rowid.Decode(m.Fragments[i].RowIDs.Inline)
			if err != nil {
				t.Fatal(err)
			}
			n++
			var again rowid.Builder
			again.Sequence(seq)
			out, err := again.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if len(out) > len(m.Fragments[i].RowIDs.Inline) {
				larger++
			}
			s, err := rowid.Decode(out)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, s, seq.Append(nil, 0, seq.Len()))
		}
	}
	if n == 0 || larger > 0 {
		t.Errorf("%d sequences, %d of them longer than Lance's", n, larger)
	}
}
