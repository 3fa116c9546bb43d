package lance

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
)

// A struct column may have members in several data files of a fragment, when
// members were added to it later. Each file then gives a struct with some of
// them; a row is null when it is null in every file that has any.

// share is what one data file holds of a field.
type share struct {
	leaves []int // as in file.Column
	arr    arrow.Array
}

func (s share) has() bool { return holds(s.leaves) }

// holds reports whether any leaf is in the file.
func holds(leaves []int) bool {
	return slices.ContainsFunc(leaves, func(leaf int) bool { return leaf >= 0 })
}

// columnsOf puts the columns of several files of a fragment into the order of
// the projection. get returns column i of part k, not retained; the result is.
func columnsOf(parts []part, fields int, mem memory.Allocator, get func(part, column int) arrow.Array) (cols []arrow.Array, err error) {
	shares := make([][]share, fields)
	which := make([]file.Column, fields)
	for k := range parts {
		for i, field := range parts[k].at {
			shares[field] = append(shares[field], share{parts[k].cols[i].Leaves, get(k, i)})
			which[field] = parts[k].cols[i]
		}
	}
	cols = make([]arrow.Array, fields)
	for i, s := range shares {
		if cols[i], err = merge(which[i].Field, s, mem); err != nil {
			for _, c := range cols[:i] {
				c.Release()
			}
			return nil, err
		}
	}
	return cols, nil
}

// merge makes one array of what several files hold of a field.
func merge(f *format.Field, shares []share, mem memory.Allocator) (arrow.Array, error) {
	held := slices.DeleteFunc(slices.Clone(shares), func(s share) bool { return !s.has() })
	if len(held) == 0 {
		held = shares[:1] // null everywhere
	}
	if len(held) == 1 {
		held[0].arr.Retain()
		return held[0].arr, nil
	}
	if !mergeable(f, held) {
		return nil, format.Unsupportedf("parts of column %q of type %s lie in several data files; only the members of a struct can be put together", f.Name, f.LogicalType)
	}
	children := make([]arrow.Array, 0, len(f.Children))
	defer func() {
		for _, c := range children {
			c.Release()
		}
	}()
	at := 0
	for i, child := range f.Children {
		n := leavesOf(child)
		parts := make([]share, len(held))
		for k, s := range held {
			parts[k] = share{s.leaves[at : at+n], s.arr.(*array.Struct).Field(i)}
		}
		c, err := merge(child, parts, mem)
		if err != nil {
			return nil, err
		}
		children = append(children, c)
		at += n
	}
	nulls, count := anyValid(held, mem)
	if nulls != nil {
		defer nulls.Release()
	}
	return array.NewStructArrayWithFieldsAndNulls(children, held[0].arr.DataType().(*arrow.StructType).Fields(), nulls, count, 0)
}

// mergeable reports whether every share is a struct with a leaf for each leaf
// of the field.
func mergeable(f *format.Field, shares []share) bool {
	for _, s := range shares {
		st, ok := s.arr.(*array.Struct)
		if !ok || f.Blob() != format.NoBlob || st.NumField() != len(f.Children) || len(s.leaves) != leavesOf(f) || s.arr.Len() != shares[0].arr.Len() {
			return false
		}
	}
	return len(f.Children) > 0 && !f.Packed()
}

// leavesOf is the number of columns that a field owns in a file of 2.1 or
// later.
func leavesOf(f *format.Field) int {
	if len(f.Children) == 0 || f.Packed() || f.Blob() != format.NoBlob {
		return 1
	}
	n := 0
	for _, c := range f.Children {
		n += leavesOf(c)
	}
	return n
}

// anyValid is the validity of rows that are valid in any share; nil when all
// are.
func anyValid(shares []share, mem memory.Allocator) (*memory.Buffer, int) {
	for _, s := range shares {
		if s.arr.NullN() == 0 {
			return nil, 0
		}
	}
	n := shares[0].arr.Len()
	buf := memory.NewResizableBuffer(mem)
	buf.Resize(int(bitutil.BytesForBits(int64(n))))
	clear(buf.Bytes())
	nulls := 0
	for i := range n {
		if slices.ContainsFunc(shares, func(s share) bool { return s.arr.IsValid(i) }) {
			bitutil.SetBit(buf.Bytes(), i)
		} else {
			nulls++
		}
	}
	return buf, nulls
}
