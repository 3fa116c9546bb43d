package rowid_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/lance/rowid"
)

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func span(from, to uint64, without ...uint64) []uint64 {
	var out []uint64
	for ; from < to; from++ {
		if !slices.Contains(without, from) {
			out = append(out, from)
		}
	}
	return out
}

// The real bytes of lance-table.md §11.3.
func TestDecodeRealSegments(t *testing.T) {
	for _, c := range []struct {
		hex  string
		want []uint64
	}{
		{"0a 04 0a 02 10 32", span(0, 50)},
		{"0a 06 0a 04 08 03 10 05", span(3, 5)},
		{"0a 0e 12 0c 10 64 1a 08 0a 06 08 28 12 02 00 00", span(0, 100, 40)},
		{"0a 0d 1a 0b 10 32 1a 07 f7 ff ef ff ff fe 03", span(0, 50, 3, 20, 40)},
		{"0a 0e 22 0c 0a 0a 08 07 12 06 00 00 53 00 b7 00", []uint64{7, 90, 190}},
		{"0a 02 0a 00", nil},
		{"", nil},
	} {
		s, err := rowid.Decode(unhex(t, c.hex))
		if err != nil {
			t.Errorf("%s: %v", c.hex, err)
			continue
		}
		compare(t, s, c.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for what, text := range map[string]string{
		"no kind":                   "0a 00",
		"unknown kind":              "0a 02 32 00",
		"end before start":          "0a 04 0a 02 08 01",
		"hole outside":              "0a 0e 12 0c 10 04 1a 08 0a 06 08 28 12 02 00 00",
		"holes without width":       "0a 06 12 04 10 64 1a 00",
		"bitmap too short":          "0a 07 1a 05 10 32 1a 01 ff",
		"bitmap with bits behind":   "0a 07 1a 05 10 07 1a 01 ff",
		"sorted array that is not":  "0a 0c 22 0a 0a 08 08 07 12 04 53 00 00 00",
		"odd array":                 "0a 0a 22 08 0a 06 08 07 12 02 00",
		"array without width":       "0a 02 2a 00",
		"array beyond 64 bits":      "0a 15 2a 13 0a 11 08 ff ff ff ff ff ff ff ff ff 01 12 04 01 00 00 00",
		"cut":                       "0a 0e 12 0c 10",
		"two ranges of 2^63 and up": "0a 0e 0a 0c 08 01 10 ff ff ff ff ff ff ff ff ff 01 0a 0e 0a 0c 08 01 10 ff ff ff ff ff ff ff ff ff 01",
	} {
		if _, err := rowid.Decode(unhex(t, text)); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s: error %v, want one that wraps ErrCorrupt", what, err)
		}
	}
}

func TestDecodeVersions(t *testing.T) {
	// Two runs whose spans are neither 0-based nor contiguous: only counts matter.
	msg := &tablepb.RowDatasetVersionSequence{Runs: []*tablepb.RowDatasetVersionRun{
		{Span: bitmapSegment(1, 99, span(1, 65)), Version: 4},
		{Span: rangeSegment(0, 100), Version: 1},
		{Span: rangeSegment(5, 5), Version: 7},
		{Span: rangeSegment(9, 10), Version: 1},
	}}
	v, err := rowid.DecodeVersions(marshal(t, msg))
	if err != nil {
		t.Fatal(err)
	}
	want := append(slices.Repeat([]uint64{4}, 64), slices.Repeat([]uint64{1}, 101)...)
	if got := v.Append(nil, 0, v.Len()); !slices.Equal(got, want) {
		t.Errorf("versions %v, want %v", got, want)
	}
	if got := v.Append(nil, 63, 65); !slices.Equal(got, []uint64{4, 1}) {
		t.Errorf("versions 63..65 %v", got)
	}
	if lo, hi := v.Bounds(); lo != 1 || hi != 4 || v.At(63) != 4 || v.At(64) != 1 {
		t.Errorf("bounds %d %d, at 63 %d, at 64 %d", lo, hi, v.At(63), v.At(64))
	}
	if _, err := rowid.DecodeVersions(unhex(t, "0a 02 10 05")); !errors.Is(err, corrupt.ErrCorrupt) {
		t.Errorf("a run without span: %v", err)
	}
	empty, err := rowid.DecodeVersions(nil)
	if err != nil || empty.Len() != 0 || len(empty.Append(nil, 0, 0)) != 0 {
		t.Errorf("no bytes: %v, %d", err, empty.Len())
	}
}

// TestSequenceModel compares every access with a plain slice.
func TestSequenceModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var msg tablepb.RowIdSequence
		var want []uint64
		for range rapid.IntRange(0, 4).Draw(t, "segments") {
			seg, values := drawSegment(t)
			msg.Segments = append(msg.Segments, seg)
			want = append(want, values...)
		}
		s, err := rowid.Decode(marshal(t, &msg))
		if err != nil {
			t.Fatal(err)
		}
		compare(t, s, want)
		if len(want) > 0 {
			from := rapid.IntRange(0, len(want)-1).Draw(t, "from")
			to := rapid.IntRange(from, len(want)).Draw(t, "to")
			if got := s.Append(nil, uint64(from), uint64(to)); !slices.Equal(got, want[from:to]) {
				t.Fatalf("%d..%d: %v, want %v", from, to, got, want[from:to])
			}
		}
	})
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func compare(t fataler, s *rowid.Sequence, want []uint64) {
	t.Helper()
	if s.Len() != uint64(len(want)) {
		t.Fatalf("length %d, want %d", s.Len(), len(want))
	}
	if got := s.Append(nil, 0, s.Len()); !slices.Equal(got, want) {
		t.Fatalf("values %v, want %v", got, want)
	}
	for i, id := range want {
		if got := s.At(uint64(i)); got != id {
			t.Fatalf("at %d: %d, want %d", i, got, id)
		}
		if at, ok := s.Position(id); !ok || at != uint64(slices.Index(want, id)) {
			t.Fatalf("position of %d: %d %v, want %d", id, at, ok, slices.Index(want, id))
		}
		if _, ok := s.Position(id + 1); ok != slices.Contains(want, id+1) {
			t.Fatalf("position of %d: found %v", id+1, ok)
		}
	}
	var all []uint64
	for _, id := range s.All() {
		all = append(all, id)
	}
	if !slices.Equal(all, want) {
		t.Fatalf("all: %v, want %v", all, want)
	}
}

func drawSegment(t *rapid.T) (*tablepb.U64Segment, []uint64) {
	base := rapid.Uint64Range(0, 1<<40).Draw(t, "base")
	values := rapid.SliceOfNDistinct(rapid.Uint64Range(base, base+1500), 1, 60, rapid.ID).Draw(t, "values")
	kind := rapid.IntRange(1, 5).Draw(t, "kind")
	if kind != 5 {
		slices.Sort(values)
	}
	lo, hi := slices.Min(values), slices.Max(values)+1
	var present []uint64
	switch kind {
	case 1:
		return rangeSegment(lo, hi), span(lo, hi)
	case 2:
		present = span(lo, hi, values...)
		return &tablepb.U64Segment{Segment: &tablepb.U64Segment_RangeWithHoles{RangeWithHoles: &tablepb.U64RangeWithHoles{Start: lo, End: hi, Holes: drawArray(t, values)}}}, present
	case 3:
		return bitmapSegment(lo, hi, values), values
	case 4:
		return &tablepb.U64Segment{Segment: &tablepb.U64Segment_SortedArray{SortedArray: drawArray(t, values)}}, values
	}
	return &tablepb.U64Segment{Segment: &tablepb.U64Segment_Array{Array: drawArray(t, values)}}, values
}

func drawArray(t *rapid.T, values []uint64) *tablepb.EncodedU64Array {
	base := slices.Min(values)
	var raw []byte
	switch rapid.IntRange(1, 3).Draw(t, "width") {
	case 1:
		for _, v := range values {
			raw = binary.LittleEndian.AppendUint16(raw, uint16(v-base))
		}
		return &tablepb.EncodedU64Array{Array: &tablepb.EncodedU64Array_U16Array{U16Array: &tablepb.U16Array{Base: base, Offsets: raw}}}
	case 2:
		for _, v := range values {
			raw = binary.LittleEndian.AppendUint32(raw, uint32(v-base))
		}
		return &tablepb.EncodedU64Array{Array: &tablepb.EncodedU64Array_U32Array{U32Array: &tablepb.U32Array{Base: base, Offsets: raw}}}
	}
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, v)
	}
	return &tablepb.EncodedU64Array{Array: &tablepb.EncodedU64Array_U64Array{U64Array: &tablepb.U64Array{Values: raw}}}
}

func rangeSegment(from, to uint64) *tablepb.U64Segment {
	return &tablepb.U64Segment{Segment: &tablepb.U64Segment_Range{Range: &tablepb.U64Range{Start: from, End: to}}}
}

func bitmapSegment(from, to uint64, values []uint64) *tablepb.U64Segment {
	bits := make([]byte, (to-from+7)/8)
	for _, v := range values {
		bits[(v-from)/8] |= 1 << ((v - from) % 8)
	}
	return &tablepb.U64Segment{Segment: &tablepb.U64Segment_RangeWithBitmap{RangeWithBitmap: &tablepb.U64RangeWithBitmap{Start: from, End: to, Bitmap: bits}}}
}

func marshal(t fataler, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	return b
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x0a\x0e\x12\x0c\x10\x64\x1a\x08\x0a\x06\x08\x28\x12\x02\x00\x00"))
	f.Add([]byte("\x0a\x0d\x1a\x0b\x10\x32\x1a\x07\xf7\xff\xef\xff\xff\xfe\x03"))
	f.Add([]byte("\x0a\x0e\x22\x0c\x0a\x0a\x08\x07\x12\x06\x00\x00\x53\x00\xb7\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := rowid.Decode(b)
		if err != nil {
			if !errors.Is(err, corrupt.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		n := min(s.Len(), 2000)
		ids := s.Append(nil, 0, n)
		for i, id := range ids {
			if s.At(uint64(i)) != id {
				t.Fatalf("at %d: %d, want %d", i, s.At(uint64(i)), id)
			}
			if at, ok := s.Position(id); !ok || at > uint64(i) {
				t.Fatalf("position of %d: %d %v, want at most %d", id, at, ok, i)
			}
		}
		if s.Len() > 0 {
			s.Position(s.At(s.Len() - 1))
		}
	})
}

func FuzzDecodeVersions(f *testing.F) {
	f.Add([]byte("\x0a\x08\x0a\x04\x0a\x02\x10\x03\x10\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := rowid.DecodeVersions(b)
		if err != nil {
			if !errors.Is(err, corrupt.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		n := min(v.Len(), 1000)
		for i, x := range v.Append(nil, 0, n) {
			if v.At(uint64(i)) != x {
				t.Fatalf("at %d: %d, want %d", i, v.At(uint64(i)), x)
			}
		}
	})
}
