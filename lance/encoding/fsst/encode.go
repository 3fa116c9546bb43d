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
	shift uint32 // bits of a word that are not compared
	found uint32 // like a short one
}

// Encoder packs strings. It does not change after Train and may be used by
// several goroutines.
type Encoder struct {
	symbols []symbol
	slots   [slots]slot
	short   [1 << 16]uint16 // by two bytes: code, length << 8, escaped if there is none
}

// hash places the first three bytes of a word.
func hash(word uint64) uint64 {
	return word << 40 * 0x9e3779b97f4a7c15 >> (64 - slotBits)
}

// use makes the tables of symbols, the most wanted first; one that has no place
// is left out.
func (e *Encoder) use(wanted []symbol) {
	e.symbols = e.symbols[:0]
	clear(e.slots[:])
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
			if at.found != 0 {
				continue
			}
			*at = slot{s.bytes, uint32(64 - 8*s.n), uint32(code) | uint32(s.n)<<8}
		}
		e.symbols = append(e.symbols, s)
	}
	for _, p := range pairs { // a pair wins over its first byte
		e.short[p.bytes] = uint16(p.n) | 2<<8
	}
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

// Pack packs src to dst, which has room for twice as many bytes and one more,
// and returns the number of bytes made.
func (e *Encoder) Pack(dst, src []byte) int {
	dst = dst[:2*len(src)+1]
	o, i := 0, 0
	for i+maxSymbol <= len(src) {
		word := binary.LittleEndian.Uint64(src[i:])
		v := e.match(word)
		dst[o], dst[o+1] = byte(v), byte(word)
		o += 1 + int(v>>15) // the byte itself only counts behind an escape
		i += int(v >> 8 & 15)
	}
	if i == len(src) {
		return o
	}
	rest := lastWord(src, i)
	for i < len(src) {
		v := e.match(rest)
		dst[o], dst[o+1] = byte(v), byte(rest)
		o += 1 + int(v>>15)
		n := v >> 8 & 15
		i += int(n)
		rest = rest >> 1 >> (8*n - 1) // n may be 8
	}
	return o
}

// lastWord is the fewer than eight bytes from i on, and zeros. What lies behind
// src in its memory may be read, but does not count.
func lastWord(src []byte, i int) (word uint64) {
	if cap(src)-i >= maxSymbol {
		return binary.LittleEndian.Uint64(src[i:i+maxSymbol]) & (1<<(8*uint(len(src)-i)) - 1)
	}
	for k := len(src) - 1; k >= i; k-- {
		word = word<<8 | uint64(src[k])
	}
	return word
}

// match finds the beginning of a word: code, length << 8, and escaped if the
// code has to be followed by the byte.
func (e *Encoder) match(word uint64) uint32 {
	s := &e.slots[hash(word)]
	found, v := s.found, uint32(e.short[uint16(word)])
	if (word^s.bytes)<<(s.shift&63) == 0 {
		v = found
	}
	return v
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
