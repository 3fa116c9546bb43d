// Package fsst packs and unpacks strings with a table of up to 255 short
// symbols, each of which becomes one byte.
//
// # Symbol table
//
// 2312 bytes, one table a page, kept in the page's description:
//
//	0      u8   n, the number of symbols, at most 255
//	1      u8   terminator of the encoder, without meaning here
//	2      u8   suffix limit of the encoder, without meaning here
//	3      u8   1: the strings are packed; 0: they are stored as they are
//	4      u32  0x46535354
//	8      n times 8 bytes: the symbols, filled up with zeros
//	8+8n   n times u8: their lengths, 1 to 8
//
// A real one begins 96 00 27 01 54 53 53 46: 150 symbols.
//
// # Strings
//
// Each string stands for itself: a byte c below 255 is the symbol c, 255 is
// followed by a byte that is taken as it is. A code of n or more, or a 255 at
// the end of a string, is damage. With a, bc as the symbols 0, 1 the bytes
// 00 01 ff 78 00 are abcxa.
package fsst

import (
	"encoding/binary"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

const (
	magic     = 0x46535354
	escape    = 255
	headSize  = 8
	maxSymbol = 8
	// invalid is the length of a code that has no symbol.
	invalid = 0
)

// Table is a symbol table. It does not change after Parse and may be used by
// several goroutines.
type Table struct {
	packed  bool
	symbols [256]uint64 // bytes as they lie in memory
	lengths [256]uint8  // 1 to 8, or invalid

	// A byte x is n or more, and so no code, if either its top bit is set and
	// its other bits plus the byte of above reach the top bit (n > 128), or one
	// of the two holds (n <= 128, and half is all ones, else 0).
	above, half uint64
}

// Parse reads a symbol table.
func Parse(table []byte) (*Table, error) {
	if len(table) < headSize {
		return nil, corrupt.New("fsst", "a symbol table of 2312 bytes", "%d bytes", len(table))
	}
	if m := binary.LittleEndian.Uint32(table[4:]); m != magic {
		return nil, corrupt.New("fsst", "the mark 46535354 in a symbol table", "%08x", m)
	}
	n := int(table[0])
	if len(table) < headSize+n*(maxSymbol+1) {
		return nil, corrupt.New("fsst", "a symbol and a length for each", "%d bytes for %d symbols", len(table), n)
	}
	if table[3] > 1 {
		return nil, corrupt.New("fsst", "0 or 1 as the switch", "%d", table[3])
	}
	t := &Table{packed: table[3] == 1}
	const ones = 0x0101010101010101
	if n <= 128 {
		t.above, t.half = uint64(128-n)*ones, ^uint64(0)
	} else {
		t.above = uint64(256-n) * ones
	}
	symbols, lengths := table[headSize:], table[headSize+n*maxSymbol:]
	for i := range n {
		if lengths[i] < 1 || lengths[i] > maxSymbol {
			return nil, corrupt.New("fsst", "1 to 8", "symbol %d of %d bytes", i, lengths[i])
		}
		t.symbols[i] = binary.NativeEndian.Uint64(symbols[i*maxSymbol:])
		t.lengths[i] = lengths[i]
	}
	return t, nil
}

// Packed tells whether strings are packed at all. If not they are stored as
// they are, and decoding copies them.
func (t *Table) Packed() bool { return t.packed }

// MaxLen is an upper bound of the length of n bytes once decoded.
func (t *Table) MaxLen(n int) int {
	if t.packed {
		return n * maxSymbol
	}
	return n
}

// Append appends the decoded string to dst.
func (t *Table) Append(dst, src []byte) ([]byte, error) {
	if !t.packed {
		return append(dst, src...), nil
	}
	dst = grow(dst, len(src))
	if len(src) < short {
		n, err := t.decode(dst[len(dst):cap(dst)], src)
		return dst[:len(dst)+n], err
	}
	var at [run + 1]uint32
	for len(src) > 0 {
		took, made, err := t.decodeRun(dst[len(dst):cap(dst)], src, &at)
		if err != nil {
			return nil, err
		}
		dst, src = dst[:len(dst)+made], src[took:]
	}
	return dst, nil
}

// short is the length below which a single string is decoded code by code.
const short = 100

// grow makes room for what n codes may become.
func grow(dst []byte, n int) []byte {
	need := n * maxSymbol
	if cap(dst)-len(dst) >= need {
		return dst
	}
	size := max(len(dst)+need, 2*cap(dst))
	return append(make([]byte, 0, size), dst...)
}

// decode decodes one string to the beginning of dst, which has room for eight
// bytes a code, and returns the length.
func (t *Table) decode(dst, src []byte) (int, error) {
	at := 0
	for i := 0; i < len(src); i++ {
		c := src[i]
		if c != escape {
			length := t.lengths[c]
			if length == invalid {
				return 0, badCode(c)
			}
			binary.NativeEndian.PutUint64(dst[at:], t.symbols[c])
			at += int(length)
			continue
		}
		i++
		if i == len(src) {
			return 0, corrupt.New("fsst", "a byte after each 255", "a string that ends with it")
		}
		dst[at] = src[i]
		at++
	}
	return at, nil
}

func badCode(c byte) error {
	return corrupt.New("fsst", "a code that the table has", "code %d", c)
}
