package fsst

import (
	"encoding/binary"

	"github.com/omnideck/omnideck/lance/encoding/variable"
)

// AppendAll appends the decoded strings of v: their bytes to data, and the end
// of each, its position in data, to ends. An end that O cannot hold is
// variable.ErrTooLong. On any error data and ends are returned as they were.
func AppendAll[O variable.Offset](t *Table, data []byte, ends []O, v variable.View) ([]byte, []O, error) {
	if !t.packed {
		return variable.Append(data, ends, v)
	}
	offsets, width := v.Offsets(), v.Width()
	out, outEnds := grow(data, v.Bytes()), ends
	for i := range v.Len() {
		start, end := border(offsets, width, i), border(offsets, width, i+1)
		at := len(out)
		n, err := t.decode(out[at:cap(out)], v.Data()[start:end])
		if err != nil {
			return data, ends, err
		}
		out = out[:at+n]
		if len(out) > variable.MaxOffset[O]() {
			return data, ends, variable.ErrTooLong
		}
		outEnds = append(outEnds, O(len(out)))
	}
	return out, outEnds, nil
}

// border is the i-th offset.
func border(offsets []byte, width, i int) uint64 {
	if width == 4 {
		return uint64(binary.LittleEndian.Uint32(offsets[4*i:]))
	}
	return binary.LittleEndian.Uint64(offsets[8*i:])
}
