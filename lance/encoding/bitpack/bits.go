package bitpack

import "encoding/binary"

// Bits16 unpacks a group of 16-bit words of width 1, of 128 bytes, to one bit
// for each: bit i%64 of word i/64 is value i.
func Bits16(packed []byte) (bits [Group / 64]uint64) {
	// Lane l holds value 64*o + l for each of the 16 words o. A word of 64 bits
	// has four lanes; of one row it has the bits 0, 16, 32 and 48, which the
	// multiplication brings together as bits 48 to 51.
	const ones, gather = 0x0001000100010001, 0x1000200040008
	for i := range 16 {
		lanes := binary.LittleEndian.Uint64(packed[8*i:])
		for r := range 8 { // rows r and r+8 are neighbours in the output
			four := lanes & ones * gather >> 48
			next := lanes >> 8 & ones * gather >> 48
			bits[2*r] |= four << (4 * i)
			bits[2*r+1] |= next << (4 * i)
			lanes >>= 1
		}
	}
	return bits
}
