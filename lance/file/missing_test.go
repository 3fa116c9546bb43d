package file

import (
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/format"
)

// TestMissingLeaves leaves out one physical column after the other: it reads
// as null, what is around it keeps its shape, and the rest its values.
func TestMissingLeaves(t *testing.T) {
	for _, name := range []string{"struct_nested@2.2", "list_of_struct@2.1", "fsl_struct@2.2"} {
		t.Run(name, func(t *testing.T) {
			_, o := find(t, name)
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			o.r.opts.Allocator = mem
			for i, c := range o.cols {
				for k := range c.Leaves {
					missing := Column{c.Field, append([]int{}, c.Leaves...)}
					missing.Leaves[k] = -1
					whole := scanAll(t, opened{o.path, o.r, []Column{c}}, ScanOptions{To: -1})
					part := scanAll(t, opened{o.path, o.r, []Column{missing}}, ScanOptions{To: -1})
					leaf := 0
					sameBut(t, whole.Column(0), part.Column(0), k, &leaf)
					if leaf != len(c.Leaves) {
						t.Errorf("column %d: %d leaves compared of %d", i, leaf, len(c.Leaves))
					}
					whole.Release()
					part.Release()
				}
			}
		})
	}
}

// leavesOf is the number of leaves of a type.
func leavesOf(dt arrow.DataType) int {
	switch t := dt.(type) {
	case *arrow.StructType:
		n := 0
		for _, f := range t.Fields() {
			n += leavesOf(f.Type)
		}
		return n
	case arrow.ListLikeType:
		return leavesOf(t.Elem())
	}
	return 1
}

// sameBut compares arrays, but for the tree whose only leaf is number missing,
// which has to be null.
func sameBut(t *testing.T, whole, part arrow.Array, missing int, leaf *int) {
	t.Helper()
	if whole.Len() != part.Len() {
		t.Fatalf("%d elements, want %d", part.Len(), whole.Len())
	}
	if *leaf == missing && leavesOf(whole.DataType()) == 1 {
		if part.NullN() != part.Len() {
			t.Errorf("%d of %d elements of leaf %d are null", part.NullN(), part.Len(), missing)
		}
		*leaf++
		return
	}
	if whole.NullN() != part.NullN() {
		t.Errorf("%d nulls of %s, want %d", part.NullN(), whole.DataType(), whole.NullN())
	}
	switch w := whole.(type) {
	case *array.Struct:
		for i := range w.NumField() {
			sameBut(t, w.Field(i), part.(*array.Struct).Field(i), missing, leaf)
		}
	case array.ListLike:
		sameBut(t, w.ListValues(), part.(array.ListLike).ListValues(), missing, leaf)
	default:
		v := &viewer{}
		for i := range part.Len() {
			if got, want := v.text(part, i), v.text(whole, i); got != want {
				t.Fatalf("leaf %d, element %d: %s, want %s", *leaf, i, got, want)
			}
		}
		*leaf++
	}
}

// TestMapWithoutKeys: a map cannot be without its keys; its values may miss.
func TestMapWithoutKeys(t *testing.T) {
	_, o := find(t, "map_basic@2.2")
	for _, c := range o.cols {
		if len(c.Leaves) != 2 {
			continue
		}
		for k, ok := range []bool{false, true} {
			missing := Column{c.Field, append([]int{}, c.Leaves...)}
			missing.Leaves[k] = -1
			b, err := o.r.Take(t.Context(), []Column{missing}, []int64{0, 1, 2, 3})
			if (err == nil) != ok || err != nil && !errors.Is(err, format.ErrCorrupt) {
				t.Errorf("leaf %d missing: %v", k, err)
			}
			if err == nil {
				b.Release()
			}
		}
	}
}
