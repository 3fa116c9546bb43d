// Package deletion reads and writes the deletion file of a fragment: the complete
// set of physical offsets of its deleted rows. It is a pure function of bytes.
//
// Two forms:
//
//	.arrow  Arrow IPC file: exactly one record batch with exactly one column
//	        `row_id`, uint32, not nullable, without schema metadata. The offsets
//	        stand in any order; the body may be compressed.
//	.bin    one portable 32-bit Roaring bitmap, nothing behind it:
//	        3a 30 00 00 | 01 00 00 00 | 00 00 87 13 | 10 00 00 00 | …
//	        cookie 12346, one container, key 0 and cardinality-1 4999, offset 16
//
// Lance refuses every deviation from the first form, and so does this package.
package deletion

import (
	"bytes"
	"fmt"
	"iter"
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

// Set is the set of deleted offsets of one fragment. It is immutable; a nil Set
// is empty.
type Set struct{ bits *roaring.Bitmap }

// DecodeBitmap reads the .bin form; rows as in DecodeArrow.
func DecodeBitmap(b []byte, rows uint64) (s *Set, err error) {
	defer recovered(&s, &err)
	bits := roaring.New()
	n, err := bits.ReadFrom(bytes.NewReader(b))
	switch {
	case err != nil:
		return nil, damaged("no Roaring bitmap: %w", err)
	case n != int64(len(b)):
		return nil, damaged("the bitmap has %d bytes, the file %d", n, len(b))
	}
	if err := bits.Validate(); err != nil {
		return nil, damaged("a malformed Roaring bitmap: %w", err)
	}
	return newSet(bits, rows)
}

func newSet(bits *roaring.Bitmap, rows uint64) (*Set, error) {
	if !bits.IsEmpty() && uint64(bits.Maximum()) >= bound(rows) {
		return nil, damaged("offset %d is deleted, but the fragment has %d rows", bits.Maximum(), rows)
	}
	return &Set{bits}, nil
}

// bound is one more than the greatest offset there may be.
func bound(rows uint64) uint64 {
	if rows == 0 || rows > math.MaxUint32 {
		return math.MaxUint32 + 1
	}
	return rows
}

// Len is the number of deleted rows.
func (s *Set) Len() uint64 {
	if s == nil {
		return 0
	}
	return s.bits.GetCardinality()
}

// Contains reports whether the row at a physical offset is deleted.
func (s *Set) Contains(offset uint32) bool { return s != nil && s.bits.Contains(offset) }

// Before is the number of deleted rows below a physical offset.
func (s *Set) Before(offset uint32) uint64 {
	if s == nil || offset == 0 {
		return 0
	}
	return s.bits.Rank(offset - 1)
}

// Live yields the runs from..to (to excluded) of rows that are not deleted
// among the physical rows from..to, in ascending order.
func (s *Set) Live(from, to uint64) iter.Seq2[uint64, uint64] {
	return func(yield func(uint64, uint64) bool) {
		at := from
		if s != nil && from < to && from <= math.MaxUint32 {
			it := s.bits.Iterator()
			it.AdvanceIfNeeded(uint32(from))
			for it.HasNext() {
				x := uint64(it.Next())
				if x >= to {
					break
				}
				if at < x && !yield(at, x) {
					return
				}
				at = x + 1
			}
		}
		if at < to {
			yield(at, to)
		}
	}
}

// damaged makes the package's errors.
func damaged(msg string, args ...any) error {
	return fmt.Errorf("%w: deletion file: %w", corrupt.ErrCorrupt, fmt.Errorf(msg, args...))
}

// recovered turns a panic of a library that met malformed bytes into an error.
func recovered(s **Set, err *error) {
	if p := recover(); p != nil {
		*s, *err = nil, damaged("malformed: %v", p)
	}
}
