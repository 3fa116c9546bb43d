package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/lance/format"
)

// TestOpenRefuses patches the end of a sound file, one thing at a time.
func TestOpenRefuses(t *testing.T) {
	files, o := find(t, "list_nested@2.2")
	sound := files[o.path]
	n := len(sound)
	put := func(at int, v uint64, size int) func([]byte) []byte {
		return func(b []byte) []byte {
			copy(b[at:at+size], le(size, v))
			return b
		}
	}
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(sound[at:]) }
	gbo, cmo := int(u64(n-24)), int(u64(n-32))
	cases := []struct {
		what   string
		change func([]byte) []byte
		class  error
		text   string
	}{
		{"empty", func([]byte) []byte { return nil }, format.ErrCorrupt, "0 bytes"},
		{"39 bytes", func(b []byte) []byte { return b[n-39:] }, format.ErrCorrupt, "39 bytes"},
		{"cut", func(b []byte) []byte { return b[:n-1] }, format.ErrCorrupt, "LANC"},
		{"head lost", func(b []byte) []byte { return b[64:] }, format.ErrCorrupt, ""},
		{"format 0.2", put(n-8, 2<<16, 4), format.ErrUnsupported, "0.2"},
		{"format 2.3", put(n-8, 2|3<<16, 4), format.ErrUnsupported, "2.3"},
		{"metadata behind the table", put(n-40, u64(n-32)+1, 8), format.ErrCorrupt, "out of order"},
		{"table behind the file", put(n-24, 1<<63, 8), format.ErrCorrupt, "out of order"},
		{"no global buffer", put(n-16, 0, 4), format.ErrCorrupt, "0 global buffers"},
		{"too many global buffers", put(n-16, 1<<31, 4), format.ErrCorrupt, "global buffers"},
		{"too many columns", put(n-12, 1<<31, 4), format.ErrCorrupt, "columns"},
		{"schema unaligned", put(gbo, u64(gbo)-8, 8), format.ErrCorrupt, "not aligned"},
		{"schema behind the metadata", put(gbo, uint64(n+63)&^63, 8), format.ErrCorrupt, "the schema"},
		{"schema too long", put(gbo+8, 1<<62, 8), format.ErrCorrupt, "the schema"},
		{"column metadata outside", put(cmo, 0, 8), format.ErrCorrupt, "column metadata"},
		{"column metadata too long", put(cmo+8, 1<<40, 8), format.ErrCorrupt, "column metadata"},
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			err := readHostile(t.Context(), c.change(slices.Clone(sound)), &peakAllocator{}, (*Reader).BindAll)
			if !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "hostile") {
				t.Errorf("got %v, expected %v about %q", err, c.class, c.text)
			}
		})
	}
}

// TestCuts cuts a file at every length: an error each, never more.
func TestCuts(t *testing.T) {
	files, o := find(t, "packed_struct_var@2.2")
	sound := files[o.path]
	for n := range sound {
		if err := readHostile(t.Context(), sound[:n], &peakAllocator{}, (*Reader).BindAll); !errors.Is(err, format.ErrCorrupt) {
			t.Errorf("%d of %d bytes: %v", n, len(sound), err)
		}
	}
}

func TestVersions(t *testing.T) {
	for name, want := range map[string]string{"list_of_struct@2.0": "2.0", "list_of_struct@2.1": "2.1", "list_nested@2.2": "2.2"} {
		_, o := find(t, name)
		if major, minor := o.r.Version(); fmt.Sprintf("%d.%d", major, minor) != want {
			t.Errorf("%s says %d.%d", name, major, minor)
		}
	}
}

// TestBindByID binds fields by id alone, and leaves what the file lacks.
func TestBindByID(t *testing.T) {
	leaf := func(id int32) *format.Field { return &format.Field{ID: id, LogicalType: "int32"} }
	list := &format.Field{ID: 2, LogicalType: "list", Children: []*format.Field{leaf(3)}}
	tree := &format.Field{ID: 1, LogicalType: "struct", Children: []*format.Field{list, leaf(4)}}
	packed := &format.Field{ID: 5, LogicalType: "struct", Children: []*format.Field{leaf(6), leaf(7)},
		Metadata: map[string]string{"lance-encoding:packed": "True"}}
	fields := []*format.Field{leaf(0), tree, packed}
	for _, c := range []struct {
		ids, at []int32
		minor   int
		want    string
	}{
		{[]int32{0, 3, 4, 5}, []int32{0, 1, 2, 3}, 2, "[[0] [1 2] [3]]"},
		{[]int32{5, 4, 3, 0}, []int32{0, 1, 2, 3}, 2, "[[3] [2 1] [0]]"},
		{[]int32{4, -2, 0}, []int32{1, 0, -1}, 1, "[[-1] [-1 1] [-1]]"},
		{[]int32{0, 1, 2, 3, 4, 5}, []int32{0, 1, 2, 3, 4, 5}, 0, "[[0] [1 2 3 4] [5]]"},
		{[]int32{0, 3}, []int32{7}, 2, "[[7] [-1 -1] [-1]]"},
	} {
		var got [][]int
		for _, col := range BindByID(fields, c.ids, c.at, 2, c.minor) {
			got = append(got, col.Leaves)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%v at %v: %v, expected %s", c.ids, c.at, got, c.want)
		}
	}
}

// TestSidecarPath: the digits are the bits of the id in reverse.
func TestSidecarPath(t *testing.T) {
	for id, want := range map[uint32]string{
		1: "data/x/10000000000000000000000000000000.blob",
		2: "data/x/01000000000000000000000000000000.blob",
		3: "data/x/11000000000000000000000000000000.blob",
	} {
		if got := SidecarPath("data/x.lance", id); got != want {
			t.Errorf("%d: %s, expected %s", id, got, want)
		}
	}
}
