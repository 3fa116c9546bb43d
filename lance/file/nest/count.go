package nest

import (
	"encoding/binary"
	"math/bits"
)

// Levels and codes are bytes below 128, so that eight of them can be compared
// with a limit at once: adding 128-limit to each carries into its highest bit
// if it is not below.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// notBelow marks the highest bit of each byte of x that is limit or more.
func notBelow(x uint64, limit uint8) uint64 {
	return (x&^uint64(highs) + uint64(0x80-limit)*ones | x) & highs
}

// CountBelow is the number of codes below limit, which is 1 to 128.
func CountBelow(codes []uint8, limit uint8) int {
	n := len(codes)
	for ; len(codes) >= 8; codes = codes[8:] {
		n -= bits.OnesCount64(notBelow(binary.LittleEndian.Uint64(codes), limit))
	}
	for _, c := range codes {
		if c >= limit {
			n--
		}
	}
	return n
}

// validBelow sets the bit of every code below limit.
func validBelow(bitmap, codes []uint8, limit uint8) {
	i := 0
	for ; i+8 <= len(codes); i += 8 {
		ge := notBelow(binary.LittleEndian.Uint64(codes[i:]), limit)
		bitmap[i/8] = ^uint8(ge >> 7 * 0x0102040810204080 >> 56)
	}
	for ; i < len(codes); i++ {
		if codes[i] < limit {
			bitmap[i/8] |= 1 << (i % 8)
		}
	}
}

// countFlat is count for a path without lists.
func (p *Path) countFlat(lv *Levels, shapes []Shape) {
	for i := range shapes {
		shapes[i].Len = lv.N
		if lv.Def != nil {
			shapes[i].Nulls = lv.N - CountBelow(lv.Def[:lv.N], Null(i))
		}
	}
}

// countOne is count for a list of leaves. It tells whether all pairs make
// sense: one without a value has to begin a list.
func countOne(lv *Levels, shapes []Shape) bool {
	leaf, list := &shapes[0], &shapes[1]
	leaf.Len, list.Len = lv.N, lv.N
	if lv.Rep != nil {
		list.Len = lv.N - CountBelow(lv.Rep[:lv.N], 1)
	}
	if lv.Def == nil {
		return true
	}
	def := lv.Def[:lv.N]
	leaf.Len = CountBelow(def, Null(0)+1)
	leaf.Nulls = leaf.Len - CountBelow(def, Null(0))
	list.Nulls = CountBelow(def, Null(1)+1) - CountBelow(def, Null(1))
	return lv.Rep == nil || leaf.Len == lv.N || beginsAll(lv.Rep[:lv.N], def)
}

// beginsAll tells whether every pair without a value begins a list.
func beginsAll(rep, def []uint8) bool {
	bad := uint64(0)
	i := 0
	for ; i+8 <= len(def); i += 8 {
		r, d := binary.LittleEndian.Uint64(rep[i:]), binary.LittleEndian.Uint64(def[i:])
		bad |= notBelow(d, Null(0)+1) &^ notBelow(r, 1)
	}
	for ; i < len(def); i++ {
		if def[i] > Null(0) && rep[i] == 0 {
			bad = 1
		}
	}
	return bad == 0
}
