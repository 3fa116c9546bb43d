package rowid

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"sort"

	"google.golang.org/protobuf/encoding/protowire"
)

// Sequence is the row ids of a fragment in physical order. It is immutable and
// refers to the bytes that it was decoded from.
type Sequence struct {
	segs []segment
	n    uint64
}

// Decode reads a serialized RowIdSequence. No bytes are an empty sequence.
func Decode(b []byte) (*Sequence, error) {
	s := new(Sequence)
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return nil, err
		}
		b = rest
		if !f.is(1, protowire.BytesType) {
			continue
		}
		seg, err := parseSegment(f.b)
		if err != nil {
			return nil, err
		}
		if seg.n == 0 {
			continue
		}
		if seg.first = s.n; seg.n > math.MaxUint64-s.n {
			return nil, damaged("more than 2^64 values")
		}
		s.n += seg.n
		s.segs = append(s.segs, seg)
	}
	return s, nil
}

// Len is the number of ids, by the sequence's own claim.
func (s *Sequence) Len() uint64 { return s.n }

// find is the segment that holds position i, i < Len.
func (s *Sequence) find(i uint64) *segment {
	if len(s.segs) == 1 {
		return &s.segs[0]
	}
	k := sort.Search(len(s.segs), func(k int) bool { return s.segs[k].first+s.segs[k].n > i })
	return &s.segs[k]
}

// At is the id at position i. i must be less than Len.
func (s *Sequence) At(i uint64) uint64 {
	seg := s.find(i)
	return seg.at(i - seg.first)
}

// Position is the first position of id.
func (s *Sequence) Position(id uint64) (uint64, bool) {
	for k := range s.segs {
		if at, ok := s.segs[k].position(id); ok {
			return s.segs[k].first + at, true
		}
	}
	return 0, false
}

// Append appends the ids at positions from..to (to excluded, at most Len).
func (s *Sequence) Append(dst []uint64, from, to uint64) []uint64 {
	for from < to {
		seg := s.find(from)
		lo, hi := from-seg.first, min(to-seg.first, seg.n)
		dst = seg.append(dst, lo, hi)
		from = seg.first + hi
	}
	return dst
}

// append appends the values lo..hi of a segment.
func (s *segment) append(dst []uint64, lo, hi uint64) []uint64 {
	switch s.kind {
	case kindRange:
		for v := s.start + lo; lo < hi; lo++ {
			dst = append(dst, v)
			v++
		}
	case kindHoles, kindBitmap:
		for from, to := range s.runsFrom(lo) {
			for ; from < to && lo < hi; lo++ {
				dst = append(dst, from)
				from++
			}
			if lo == hi {
				break
			}
		}
	default:
		for ; lo < hi; lo++ {
			dst = append(dst, s.values.at(int(lo)))
		}
	}
	return dst
}

// All yields position and id of every value in order.
func (s *Sequence) All() iter.Seq2[uint64, uint64] {
	return func(yield func(uint64, uint64) bool) {
		at := uint64(0)
		for from, to := range s.Runs() {
			for ; from < to; from++ {
				if !yield(at, from) {
					return
				}
				at++
			}
		}
	}
}

// Runs yields the sequence as runs of consecutive ids from..to (to excluded),
// in order. A run costs the bytes that encode it, not the rows that it spans.
func (s *Sequence) Runs() iter.Seq2[uint64, uint64] {
	return func(yield func(uint64, uint64) bool) {
		for k := range s.segs {
			for from, to := range s.segs[k].runsFrom(0) {
				if !yield(from, to) {
					return
				}
			}
		}
	}
}

// runsFrom yields the runs of a segment from value lo on, lo < n.
func (s *segment) runsFrom(lo uint64) iter.Seq2[uint64, uint64] {
	return func(yield func(uint64, uint64) bool) {
		switch s.kind {
		case kindRange:
			yield(s.start+lo, s.end)
		case kindHoles:
			s.holeRuns(s.at(lo), yield)
		case kindBitmap:
			s.bitRuns(s.at(lo)-s.start, yield)
		default:
			for i := int(lo); i < s.values.len(); {
				from := s.values.at(i)
				to := from + 1
				for i++; i < s.values.len() && to != 0 && s.values.at(i) == to; i++ {
					to++
				}
				if !yield(from, to) {
					return
				}
			}
		}
	}
}

func (s *segment) holeRuns(v uint64, yield func(uint64, uint64) bool) {
	k, _ := s.values.search(v)
	for ; k < s.values.len(); k++ {
		h := s.values.at(k)
		if v < h && !yield(v, h) {
			return
		}
		v = h + 1
	}
	if v < s.end {
		yield(v, s.end)
	}
}

// bitRuns yields the runs of set bits from bit on.
func (s *segment) bitRuns(bit uint64, yield func(uint64, uint64) bool) {
	span := s.end - s.start
	for {
		from := s.nextBit(bit, span, 0)
		if from >= span {
			return
		}
		to := s.nextBit(from, span, math.MaxUint64)
		if !yield(s.start+from, s.start+to) {
			return
		}
		bit = to
	}
}

// nextBit is the first bit from at on that is set (flip 0) or clear (flip all
// ones), or span.
func (s *segment) nextBit(at, span, flip uint64) uint64 {
	for at < span {
		w := (s.word(at/8) ^ flip) >> (at % 8)
		if w != 0 {
			return min(at+uint64(bits.TrailingZeros64(w)), span)
		}
		at += 64 - at%8
	}
	return span
}

// word is the 64 bits from byte i on, zeros behind the end.
func (s *segment) word(i uint64) uint64 {
	if i+8 <= uint64(len(s.bitmap)) {
		return binary.LittleEndian.Uint64(s.bitmap[i:])
	}
	var b [8]byte
	copy(b[:], s.bitmap[i:])
	return binary.LittleEndian.Uint64(b[:])
}
