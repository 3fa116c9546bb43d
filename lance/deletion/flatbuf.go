package deletion

import "encoding/binary"

// flat reads tables of a FlatBuffers message, every access checked. The first
// access that leaves the bytes is kept as the error, and everything read after
// it is zero.
//
// A table begins with an i32: the distance back to its vtable, which is u16
// (bytes of the vtable), u16 (bytes of the table) and a u16 per slot, the
// distance of the slot's value from the table, 0 when absent. A value that is
// no scalar is a u32, the distance to it. A vector begins with a u32, its
// length.
type flat struct {
	b   []byte
	err error
}

// piece is n bytes at, or zeros.
func (f *flat) piece(at, n int) []byte {
	var none [8]byte
	if f.err == nil && (at < 0 || at > len(f.b)-n) {
		f.err = damaged("a reference to byte %d in a message of %d bytes", at, len(f.b))
	}
	if f.err != nil {
		return none[:n]
	}
	return f.b[at : at+n]
}

func (f *flat) u16(at int) int   { return int(binary.LittleEndian.Uint16(f.piece(at, 2))) }
func (f *flat) i32(at int) int   { return int(int32(binary.LittleEndian.Uint32(f.piece(at, 4)))) }
func (f *flat) u32(at int) int   { return int(binary.LittleEndian.Uint32(f.piece(at, 4))) }
func (f *flat) i64(at int) int64 { return int64(binary.LittleEndian.Uint64(f.piece(at, 8))) }

// root is the position of the message's table.
func (f *flat) root() int { return f.u32(0) }

// slot is the position of a slot's value, or 0 when it is absent.
func (f *flat) slot(table, slot int) int {
	if table == 0 { // itself absent
		return 0
	}
	vtable := table - f.i32(table)
	if 4+2*slot+2 > f.u16(vtable) {
		return 0
	}
	if off := f.u16(vtable + 4 + 2*slot); off != 0 {
		return table + off
	}
	return 0
}

// small is a slot of one byte, or 0.
func (f *flat) small(table, slot int) byte {
	if at := f.slot(table, slot); at != 0 {
		return f.piece(at, 1)[0]
	}
	return 0
}

// short, number and long are slots of 2, 4 and 8 bytes, or 0.
func (f *flat) short(table, slot int) int {
	if at := f.slot(table, slot); at != 0 {
		return f.u16(at)
	}
	return 0
}

func (f *flat) number(table, slot int) int {
	if at := f.slot(table, slot); at != 0 {
		return f.i32(at)
	}
	return 0
}

func (f *flat) long(table, slot int) int64 {
	if at := f.slot(table, slot); at != 0 {
		return f.i64(at)
	}
	return 0
}

// ref is the position that a slot refers to, or 0 when it is absent.
func (f *flat) ref(table, slot int) int {
	if at := f.slot(table, slot); at != 0 {
		return at + f.u32(at)
	}
	return 0
}

// vector is the first element and the length of a vector whose elements have
// size bytes; it lies whole within the message.
func (f *flat) vector(table, slot, size int) (at, n int) {
	if at = f.ref(table, slot); at == 0 {
		return 0, 0
	}
	n = f.u32(at)
	if f.err == nil && n > (len(f.b)-at-4)/size {
		f.err = damaged("a vector of %d elements in a message of %d bytes", n, len(f.b))
	}
	if f.err != nil {
		return 0, 0
	}
	return at + 4, n
}

// text is a string slot.
func (f *flat) text(table, slot int) string {
	at, n := f.vector(table, slot, 1)
	if at == 0 || f.err != nil {
		return ""
	}
	return string(f.b[at : at+n])
}
