package rowid

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sort"

	"google.golang.org/protobuf/encoding/protowire"
)

type kind uint8

// The kinds are the numbers of the fields.
const (
	kindRange  kind = 1
	kindHoles  kind = 2
	kindBitmap kind = 3
	kindSorted kind = 4
	kindArray  kind = 5
)

// segment is one decoded segment. It refers to the bytes that it came from.
type segment struct {
	kind       kind
	first      uint64 // position of its first value in the sequence
	n          uint64 // values
	start, end uint64 // of the three ranges
	values     array  // holes, or the values
	bitmap     []byte
	ranks      []uint32 // bits set before each block of rankBlock bytes of bitmap
}

const rankBlock = 64

// parseSegment reads a U64Segment.
func parseSegment(b []byte) (segment, error) {
	var s segment
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return s, err
		}
		b = rest
		if f.typ != protowire.BytesType || f.num < 1 || f.num > 5 {
			continue
		}
		s = segment{kind: kind(f.num)}
		if s.kind <= kindBitmap {
			err = s.parseRange(f.b)
		} else {
			s.values, err = parseArray(f.b)
		}
		if err != nil {
			return s, err
		}
	}
	if s.kind == 0 {
		return s, damaged("a segment says no kind, or one that is not known")
	}
	return s, s.check()
}

// parseRange reads the fields of the three kinds of ranges.
func (s *segment) parseRange(b []byte) error {
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return err
		}
		b = rest
		switch {
		case f.is(1, protowire.VarintType):
			s.start = f.n
		case f.is(2, protowire.VarintType):
			s.end = f.n
		case f.is(3, protowire.BytesType) && s.kind == kindHoles:
			if s.values, err = parseArray(f.b); err != nil {
				return err
			}
		case f.is(3, protowire.BytesType) && s.kind == kindBitmap:
			s.bitmap = f.b
		}
	}
	return nil
}

// check validates a segment and counts its values.
func (s *segment) check() error {
	if s.end < s.start {
		return damaged("a range ends at %d, before its start %d", s.end, s.start)
	}
	span := s.end - s.start
	switch s.kind {
	case kindRange:
		s.n = span
	case kindHoles:
		return s.checkHoles(span)
	case kindBitmap:
		return s.checkBitmap(span)
	case kindSorted, kindArray:
		return s.checkArray()
	}
	return nil
}

func (s *segment) checkArray() error {
	s.n = uint64(s.values.len())
	for i := range s.values.len() {
		v := s.values.at(i)
		if v == math.MaxUint64 {
			return damaged("value %d is 2^64-1, which no range can end behind", i)
		}
		if s.kind == kindSorted && i > 0 && v <= s.values.at(i-1) {
			return damaged("a sorted array does not ascend at %d: %d after %d", i, v, s.values.at(i-1))
		}
	}
	return nil
}

func (s *segment) checkHoles(span uint64) error {
	holes := s.values.len()
	for i := range holes {
		h := s.values.at(i)
		if h < s.start || h >= s.end || i > 0 && h <= s.values.at(i-1) {
			return damaged("hole %d (%d) is outside %d..%d or does not ascend", i, h, s.start, s.end)
		}
	}
	s.n = span - uint64(holes)
	return nil
}

func (s *segment) checkBitmap(span uint64) error {
	size := uint64(len(s.bitmap))
	if span > size*8 || size != span/8+(span%8+7)/8 {
		return damaged("the bitmap of %d..%d has %d bytes", s.start, s.end, size)
	}
	if size > math.MaxUint32/8 {
		return damaged("a bitmap of %d bytes", size)
	}
	if r := span % 8; r != 0 && s.bitmap[size-1]>>r != 0 {
		return damaged("the bitmap of %d..%d has bits behind its end", s.start, s.end)
	}
	for i, b := range s.bitmap {
		if i%rankBlock == 0 {
			s.ranks = append(s.ranks, uint32(s.n))
		}
		s.n += uint64(bits.OnesCount8(b))
	}
	return nil
}

// at is value i of the segment, i < n.
func (s *segment) at(i uint64) uint64 {
	switch s.kind {
	case kindRange:
		return s.start + i
	case kindHoles:
		// The number of holes that lie before value i: hole k has
		// holes[k]-start-k values before it.
		k := sort.Search(s.values.len(), func(k int) bool { return s.values.at(k)-s.start-uint64(k) > i })
		return s.start + i + uint64(k)
	case kindBitmap:
		return s.start + s.selectBit(i)
	}
	return s.values.at(int(i))
}

// selectBit is the position of the i-th bit that is set, i < n.
func (s *segment) selectBit(i uint64) uint64 {
	block := sort.Search(len(s.ranks), func(k int) bool { return uint64(s.ranks[k]) > i }) - 1
	left := i - uint64(s.ranks[block])
	for at := block * rankBlock; ; at++ {
		b := s.bitmap[at]
		c := uint64(bits.OnesCount8(b))
		if left >= c {
			left -= c
			continue
		}
		for ; left > 0; left-- {
			b &= b - 1
		}
		return uint64(at)*8 + uint64(bits.TrailingZeros8(b))
	}
}

// position finds the place of id in the segment.
func (s *segment) position(id uint64) (uint64, bool) {
	if s.kind <= kindBitmap && (id < s.start || id >= s.end) {
		return 0, false
	}
	switch s.kind {
	case kindRange:
		return id - s.start, true
	case kindHoles:
		k, hole := s.values.search(id)
		return id - s.start - uint64(k), !hole
	case kindBitmap:
		bit := id - s.start
		at := int(bit / 8)
		if s.bitmap[at]>>(bit%8)&1 == 0 {
			return 0, false
		}
		n := uint64(s.ranks[at/rankBlock])
		for _, b := range s.bitmap[at/rankBlock*rankBlock : at] {
			n += uint64(bits.OnesCount8(b))
		}
		return n + uint64(bits.OnesCount8(s.bitmap[at]&(1<<(bit%8)-1))), true
	case kindSorted:
		k, ok := s.values.search(id)
		return uint64(k), ok
	}
	for i := range s.values.len() {
		if s.values.at(i) == id {
			return uint64(i), true
		}
	}
	return 0, false
}

// array is numbers in 2, 4 or 8 bytes each, the narrow ones above a base.
type array struct {
	base  uint64
	width int // bytes; 0 = no array
	data  []byte
}

func (a *array) len() int {
	if a.width == 0 {
		return 0
	}
	return len(a.data) / a.width
}

func (a *array) at(i int) uint64 {
	switch a.width {
	case 2:
		return a.base + uint64(binary.LittleEndian.Uint16(a.data[2*i:]))
	case 4:
		return a.base + uint64(binary.LittleEndian.Uint32(a.data[4*i:]))
	}
	return binary.LittleEndian.Uint64(a.data[8*i:])
}

// search finds v in an ascending array: its place, or where it would stand.
func (a *array) search(v uint64) (int, bool) {
	k := sort.Search(a.len(), func(k int) bool { return a.at(k) >= v })
	return k, k < a.len() && a.at(k) == v
}

// parseArray reads an EncodedU64Array.
func parseArray(b []byte) (array, error) {
	var a array
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return a, err
		}
		b = rest
		if f.typ != protowire.BytesType || f.num < 1 || f.num > 3 {
			continue
		}
		a = array{width: 1 << f.num}
		if err := a.parse(f.b); err != nil {
			return a, err
		}
	}
	if a.width == 0 {
		return a, damaged("an array says no width, or one that is not known")
	}
	return a, nil
}

func (a *array) parse(b []byte) error {
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return err
		}
		b = rest
		switch {
		case f.is(1, protowire.VarintType) && a.width < 8:
			a.base = f.n
		case f.is(2, protowire.BytesType):
			a.data = f.b
		}
	}
	if len(a.data)%a.width != 0 {
		return damaged("an array of %d-byte numbers has %d bytes", a.width, len(a.data))
	}
	if limit := uint64(1)<<(8*min(a.width, 4)) - 1; a.width < 8 && a.base > math.MaxUint64-limit {
		for i := range a.len() {
			if a.at(i) < a.base {
				return damaged("base %d of an array plus its offset %d does not fit 64 bits", a.base, i)
			}
		}
	}
	return nil
}
