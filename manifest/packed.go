package manifest

import (
	"bytes"
	"encoding/binary"
	"math"
)

// ulid is the 128 bits of a ULID.
type ulid [16]byte

// ulidDigits are the 32 digits; their order is that of their values.
const ulidDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// ulidValues has the value of each digit, 0xff for what is none.
var ulidValues = func() (v [256]byte) {
	for i := range v {
		v[i] = 0xff
	}
	for i := range len(ulidDigits) {
		v[ulidDigits[i]] = byte(i)
	}
	return v
}()

// parseULID reads a ULID in canonical spelling.
func parseULID(s string) (u ulid, ok bool) {
	if len(s) != 26 || s[0] > '7' {
		return u, false
	}
	var hi, lo uint64
	bad := byte(0)
	for i := range 26 {
		v := ulidValues[s[i]]
		bad |= v
		hi, lo = hi<<5|lo>>59, lo<<5|uint64(v&31)
	}
	if bad > 31 {
		return u, false
	}
	binary.BigEndian.PutUint64(u[:8], hi)
	binary.BigEndian.PutUint64(u[8:], lo)
	return u, true
}

// String is the canonical spelling. It sorts as the bytes do.
func (u ulid) String() string {
	hi, lo := binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])
	var b [26]byte
	for i := 25; i >= 0; i-- {
		b[i] = ulidDigits[lo&31]
		hi, lo = hi>>5, lo>>5|hi<<59
	}
	return string(b[:])
}

func (u ulid) compare(o ulid) int { return bytes.Compare(u[:], o[:]) }

// table gives every different value a number, in the order in which they come.
type table[T comparable] struct {
	values []T
	known  map[T]uint32
}

func (t *table[T]) number(v T) uint32 {
	k, ok := t.known[v]
	if !ok {
		if t.known == nil {
			t.known = map[T]uint32{}
		}
		k = uint32(len(t.values))
		t.values = append(t.values, v)
		t.known[v] = k
	}
	return k
}

// repick renumbers what stands in a column so that values are numbered in the
// order of rows, and forgets those that no row has.
func repick[T any](values []T, column []uint32) []T {
	const none = math.MaxUint32
	renamed := make([]uint32, len(values))
	for i := range renamed {
		renamed[i] = none
	}
	var out []T
	for i, k := range column {
		if renamed[k] == none {
			renamed[k] = uint32(len(out))
			out = append(out, values[k])
		}
		column[i] = renamed[k]
	}
	return out
}
