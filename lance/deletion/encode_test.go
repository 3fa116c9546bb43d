package deletion_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/lance/deletion"
)

// TestEncodeModel: both forms hold what was put in, and the general reader of
// Arrow files reads the one alike.
func TestEncodeModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		offsets := rapid.SliceOfN(rapid.Uint32Range(0, rapid.SampledFrom([]uint32{50, 70000, 1<<32 - 1}).Draw(rt, "top")), 0, 60).Draw(rt, "offsets")
		s := deletion.New(offsets)
		want := slices.Compact(slices.Sorted(slices.Values(offsets)))
		for name, decode := range map[string]func() (*deletion.Set, error){
			"arrow": func() (*deletion.Set, error) { return deletion.DecodeArrow(s.EncodeArrow(), 0) },
			"bin": func() (*deletion.Set, error) {
				b, err := s.EncodeBitmap()
				if err != nil {
					return nil, err
				}
				return deletion.DecodeBitmap(b, 0)
			},
		} {
			got, err := decode()
			if err != nil || !slices.Equal(slices.Collect(got.All()), want) || got.Len() != uint64(len(want)) {
				rt.Fatalf("%s: %v, %v, want %v", name, slices.Collect(got.All()), err, want)
			}
		}
		if got := general(t, s.EncodeArrow()); !slices.Equal(got, want) {
			rt.Fatalf("the general reader: %v, want %v", got, want)
		}
	})
}

func TestSets(t *testing.T) {
	a, b := deletion.New([]uint32{5, 1, 70000}), deletion.New([]uint32{1, 2})
	for what, c := range map[string]struct {
		s    *deletion.Set
		want []uint32
	}{
		"union": {a.Union(b), []uint32{1, 2, 5, 70000}}, "with nothing": {a.Union(nil), []uint32{1, 5, 70000}}, "of nothing": {(*deletion.Set)(nil).Union(b), []uint32{1, 2}},
		"both": {a.Intersect(b), []uint32{1}}, "none": {a.Intersect(deletion.New([]uint32{3})), nil}, "with no set": {a.Intersect(nil), nil},
		"left as it was": {a, []uint32{1, 5, 70000}},
	} {
		if got := slices.Collect(c.s.All()); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
	var none *deletion.Set
	if got, err := deletion.DecodeArrow(none.EncodeArrow(), 1); err != nil || got.Len() != 0 {
		t.Errorf("no set: %v, %v", got, err)
	}
}
