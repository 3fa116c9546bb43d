package fsst

import (
	"encoding/binary"
	"math/bits"
)

const (
	// TableSize is the size of a written symbol table.
	TableSize  = 2312
	maxSymbols = 255
	slotBits   = 11
	slots      = 1 << slotBits
	escaped    = 1 << 15
)

// symbol is a string of 1 to 8 bytes, the first one lowest. Only symbols of
// one byte may hold a zero: so what is read behind the end of a string, zeros,
// is never part of a match.
type symbol struct {
	bytes uint64
	n     int
}

// slot is the one symbol of three bytes and more for a hash of the first three.
type slot struct {
	bytes uint64
	shift uint8 // bits of a word that are not compared
	code  uint8
	n     uint8
}

// Encoder packs strings. It does not change after Train and may be used by
// several goroutines.
type Encoder struct {
	symbols []symbol
	slots   [slots]slot
	short   [1 << 16]uint16 // by two bytes: code, length << 8; or escaped
}

// hash places the first three bytes of a word.
func hash(word uint64) uint64 {
	return word << 40 * 0x9e3779b97f4a7c15 >> (64 - slotBits)
}

// newEncoder makes the tables of symbols, the most wanted first; one that has
// no place is left out.
func newEncoder(wanted []symbol) *Encoder {
	e := &Encoder{}
	e.slots[hash(0)].bytes = 1 // an empty slot has no match: its word has another hash
	for i := range e.short {
		e.short[i] = escape | 1<<8 | escaped
	}
	pairs := make([]symbol, 0, maxSymbols)
	for _, s := range wanted {
		if len(e.symbols) == maxSymbols {
			break
		}
		code := uint16(len(e.symbols))
		switch {
		case s.n == 1:
			for second := range 256 {
				e.short[int(s.bytes)|second<<8] = code | 1<<8
			}
		case s.n == 2:
			pairs = append(pairs, symbol{s.bytes, int(code)})
		default:
			at := &e.slots[hash(s.bytes)]
			if at.n != 0 {
				continue
			}
			*at = slot{s.bytes, uint8(64 - 8*s.n), uint8(code), uint8(s.n)}
		}
		e.symbols = append(e.symbols, s)
	}
	for _, p := range pairs { // a pair wins over its first byte
		e.short[p.bytes] = uint16(p.n) | 2<<8
	}
	return e
}

// AppendTable appends the symbol table, of TableSize bytes.
func (e *Encoder) AppendTable(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, TableSize)...)
	t := dst[at:]
	t[0], t[3] = byte(len(e.symbols)), 1
	binary.LittleEndian.PutUint32(t[4:], magic)
	for i, s := range e.symbols {
		binary.LittleEndian.PutUint64(t[headSize+i*maxSymbol:], s.bytes)
		t[headSize+len(e.symbols)*maxSymbol+i] = byte(s.n)
	}
	return dst
}

// Pack packs src to dst, which has room for twice as many bytes, and returns
// the number of bytes made.
func (e *Encoder) Pack(dst, src []byte) int {
	o, i := 0, 0
	for i+maxSymbol <= len(src) {
		code, n, lost := e.match(binary.LittleEndian.Uint64(src[i:]))
		dst[o] = code
		o++
		if lost {
			dst[o] = src[i]
			o++
		}
		i += n
	}
	if i == len(src) {
		return o
	}
	var rest uint64 // what is left, and zeros
	for k := len(src) - 1; k >= i; k-- {
		rest = rest<<8 | uint64(src[k])
	}
	for i < len(src) {
		code, n, lost := e.match(rest)
		dst[o] = code
		o++
		if lost {
			dst[o] = src[i]
			o++
		}
		i += n
		rest >>= 8 * uint(n) & 63
		if n == maxSymbol {
			rest = 0
		}
	}
	return o
}

// match finds the code for the beginning of a word and the bytes that it
// stands for; lost if it has to be followed by its byte.
func (e *Encoder) match(word uint64) (code byte, n int, lost bool) {
	s := &e.slots[hash(word)]
	if (word^s.bytes)<<(s.shift&63) == 0 {
		return s.code, int(s.n), false
	}
	v := e.short[uint16(word)]
	return byte(v), int(v >> 8 & 3), v&escaped != 0
}

// join is the symbol of two in a row, cut to 8 bytes, and whether it may be one.
func (s symbol) join(t symbol) (symbol, bool) {
	n := min(s.n+t.n, maxSymbol)
	j := symbol{s.bytes | t.bytes<<(8*uint(s.n)), n}
	return j, s.n < maxSymbol && !hasZero(j)
}

// hasZero tells whether a symbol has a zero byte.
func hasZero(s symbol) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	filled := s.bytes
	if s.n < maxSymbol {
		filled |= ^uint64(0) << (8 * uint(s.n))
	}
	return bits.OnesCount64((filled-ones)&^filled&tops) > 0
}
