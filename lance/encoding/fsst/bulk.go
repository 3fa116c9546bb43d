package fsst

import (
	"encoding/binary"
	"math"
	"runtime"
	"unsafe"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	"github.com/omnideck/omnideck/lance/encoding/variable"
)

// run is how many bytes of input are decoded before the ends of the strings
// among them are looked up.
const run = 1024

// inside marks a position that is not the beginning of a code: the byte after
// an escape.
const inside = math.MaxUint32

// AppendAll appends the decoded strings of v: their bytes to data, and the end
// of each, its position in data, to ends. An end that O cannot hold is
// variable.ErrTooLong. On any error data and ends are returned as they were.
//
// With room for MaxLen(v.Bytes()) bytes and v.Len() ends nothing is allocated.
//
// Strings are short and of many lengths, so that the end of a loop over the
// codes of one cannot be foreseen by the processor. The codes of all strings
// are therefore decoded as one, noting where in the output each begins, and
// the ends are read off these notes.
func AppendAll[O variable.Offset](t *Table, data []byte, ends []O, v variable.View) ([]byte, []O, error) {
	if !t.packed {
		return variable.Append(data, ends, v)
	}
	n := v.Len()
	if n == 0 {
		return data, ends, nil
	}
	offsets, width := v.Offsets(), v.Width()
	start := border(offsets, width, 0)
	src := v.Data()[start:border(offsets, width, n)]
	room := grow(data, len(src))
	out, outEnds := room[len(data):cap(room)], extend(ends, n)
	var at [run + 1]uint32
	next, made := 0, 0 // the string whose end is looked for, and the bytes made
	for in := 0; ; {
		codes, bytes, err := t.decodeRun(out[made:], src[in:], &at)
		if err != nil {
			return data, ends, err
		}
		base := len(data) + made
		if base+bytes > variable.MaxOffset[O]() {
			return data, ends, variable.ErrTooLong
		}
		next, err = lookUp(outEnds[len(ends):], next, offsets, width, start+uint64(in), at[:codes+1], base)
		if err != nil {
			return data, ends, err
		}
		if in, made = in+codes, made+bytes; in == len(src) {
			return room[:len(data)+made], outEnds, nil
		}
	}
}

// extend makes ends longer by n.
func extend[O variable.Offset](ends []O, n int) []O {
	if cap(ends)-len(ends) >= n {
		return ends[:len(ends)+n]
	}
	return append(ends, make([]O, n)...)
}

// lookUp sets the ends of the strings, from string next on, that end in a run
// of codes: its input begins at position from of the offsets, its output at
// base, and at tells where in the output each byte of input begins. It
// returns the first string that ends behind the run.
func lookUp[O variable.Offset](ends []O, next int, offsets []byte, width int, from uint64, at []uint32, base int) (int, error) {
	words := offsets[width:] // the end of string k is word k
	if width == 4 {
		for ; next < len(ends); next++ {
			i := binary.LittleEndian.Uint32(words[4*next:]) - uint32(from)
			if i >= uint32(len(at)) {
				break
			}
			if at[i] == inside {
				return 0, endsInside()
			}
			ends[next] = O(base + int(at[i]))
		}
		return next, nil
	}
	for ; next < len(ends); next++ {
		i := binary.LittleEndian.Uint64(words[8*next:]) - from
		if i >= uint64(len(at)) {
			break
		}
		if at[i] == inside {
			return 0, endsInside()
		}
		ends[next] = O(base + int(at[i]))
	}
	return next, nil
}

func endsInside() error {
	return corrupt.New("fsst", "a byte after each 255", "a string that ends with it")
}

// border is the i-th offset.
func border(offsets []byte, width, i int) uint64 {
	if width == 4 {
		return uint64(binary.LittleEndian.Uint32(offsets[4*i:]))
	}
	return binary.LittleEndian.Uint64(offsets[8*i:])
}

// batch is how many codes are decoded without looking at the room left.
const batch = 8

// decodeRun decodes up to run bytes of src to dst, which has room for eight
// times as many. It sets at[i] to where in dst what byte i of src stands for
// begins, and for the end of the run to its own end. It returns how many bytes
// it took, whole codes of them, and made.
func (t *Table) decodeRun(dst, src []byte, at *[run + 1]uint32) (took, made int, err error) {
	n := min(len(src), run)
	i, o := 0, 0
	for i < n {
		i, o = t.decodeBatches(dst, src[:n], at, i, o)
		// Where the batches stopped there is an escape close by, or the end.
		for stop := min(i+batch, n); i < stop; {
			c := src[i]
			at[i] = uint32(o)
			switch {
			case c != escape:
				if t.lengths[c] == invalid {
					return 0, 0, badCode(c)
				}
				binary.NativeEndian.PutUint64(dst[o:], t.symbols[c])
				i, o = i+1, o+int(t.lengths[c])
			case i+1 == len(src):
				return 0, 0, endsInside()
			case i+1 == n: // the run ends between the two
				n, stop = i, i
			default:
				dst[o] = src[i+1]
				at[i+1] = inside
				i, o = i+2, o+1
			}
		}
	}
	at[i] = uint32(o)
	return i, o, nil
}

// decodeBatches decodes batches of codes from byte i of src on, to o of dst,
// while there are whole ones with room, in which every code has a symbol. It
// returns how far it came.
//
// A batch reads eight bytes of src, writes eight notes, and moves o by at most
// 64 with eight words written at most 56 behind o and so 64 long. The number
// of batches is bounded beforehand so that all of this is inside src, at and
// dst, whatever the codes are; that is why it can do without checks.
func (t *Table) decodeBatches(dst, src []byte, at *[run + 1]uint32, i, o int) (int, int) {
	const low, tops = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	room := min((min(len(src), run)-i)/batch, (len(dst)-o)/(batch*maxSymbol))
	if room <= 0 || !unaligned {
		return i, o
	}
	out := unsafe.Pointer(unsafe.SliceData(dst))
	in, notes := unsafe.Pointer(&src[i]), unsafe.Pointer(&at[i])
	for stop := i + room*batch; ; {
		// A byte of y has its top bit set where one of x is no code; see Table.
		x := *(*uint64)(in)
		y := x&low + t.above
		if (y&x|t.half&(y|x))&tops != 0 {
			return i, o
		}
		var c byte
		c = *(*byte)(unsafe.Add(in, 0))
		*(*uint32)(unsafe.Add(notes, 0)) = uint32(o)
		*(*uint64)(unsafe.Add(out, o)) = t.symbols[c]
		o += int(t.lengths[c])
		c = *(*byte)(unsafe.Add(in, 1))
		*(*uint32)(unsafe.Add(notes, 4)) = uint32(o)
		*(*uint64)(unsafe.Add(out, o)) = t.symbols[c]
		o += int(t.lengths[c])
		c = *(*byte)(unsafe.Add(in, 2))
		*(*uint32)(unsafe.Add(notes, 8)) = uint32(o)
		*(*uint64)(unsafe.Add(out, o)) = t.symbols[c]
		o += int(t.lengths[c])
		c = *(*byte)(unsafe.Add(in, 3))
		*(*uint32)(unsafe.Add(notes, 12)) = uint32(o)
		*(*uint64)(unsafe.Add(out, o)) = t.symbols[c]
		o += int(t.lengths[c])
		c = *(*byte)(unsafe.Add(in, 4))
		*(*uint32)(unsafe.Add(notes, 16)) = uint32(o)
		*(*uint64)(unsafe.Add(out, o)) = t.symbols[c]
		o += int(t.lengths[c])
		c = *(*byte)(unsafe.Add(in, 5))
		*(*uint32)(unsafe.Add(notes, 20)) = uint32(o)
		*(*uint64)(unsafe.Add(out, o)) = t.symbols[c]
		o += int(t.lengths[c])
		c = *(*byte)(unsafe.Add(in, 6))
		*(*uint32)(unsafe.Add(notes, 24)) = uint32(o)
		*(*uint64)(unsafe.Add(out, o)) = t.symbols[c]
		o += int(t.lengths[c])
		c = *(*byte)(unsafe.Add(in, 7))
		*(*uint32)(unsafe.Add(notes, 28)) = uint32(o)
		*(*uint64)(unsafe.Add(out, o)) = t.symbols[c]
		o += int(t.lengths[c])
		if i += batch; i == stop {
			return i, o
		}
		in, notes = unsafe.Add(in, batch), unsafe.Add(notes, 4*batch)
	}
}

// unaligned tells whether words may be read and written at any address.
const unaligned = runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"
