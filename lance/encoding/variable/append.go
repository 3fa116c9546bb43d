package variable

import "encoding/binary"

// filler fills a chunk's buffer up to whole words.
const filler = 'H'

// MiniSize is the size of the buffer of a chunk of n values with so many
// bytes in all, for words of width bytes.
func MiniSize(width, n, bytes int) int {
	return ((n+1)*width + bytes + width - 1) / width * width
}

// AppendMini appends the buffer of a chunk: value i lies at offsets[i] to
// offsets[i+1] of data. All of it must be below the limit of a word.
func AppendMini(dst []byte, width int, data []byte, offsets []uint32) []byte {
	first, last := offsets[0], offsets[len(offsets)-1]
	dst = appendOffsets(dst, width, offsets, uint64(len(offsets)*width))
	dst = append(dst, data[first:last]...)
	for range (width - int(last-first)%width) % width {
		dst = append(dst, filler)
	}
	return dst
}

// AppendBlock appends a block of the values that lie at offsets[i] to
// offsets[i+1] of data.
func AppendBlock(dst []byte, width int, data []byte, offsets []uint32) []byte {
	start := uint64((2 + len(offsets)) * width)
	if width == 4 {
		dst = binary.LittleEndian.AppendUint32(dst, 32)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(start))
	} else {
		dst = binary.LittleEndian.AppendUint64(dst, 64)
		dst = binary.LittleEndian.AppendUint64(dst, start)
	}
	dst = appendOffsets(dst, width, offsets, 0)
	return append(dst, data[offsets[0]:offsets[len(offsets)-1]]...)
}

// appendOffsets appends the offsets moved so that the first one is base.
func appendOffsets(dst []byte, width int, offsets []uint32, base uint64) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, len(offsets)*width)...)
	out := dst[at:]
	if width == 4 {
		shift := uint32(base) - offsets[0]
		for i, o := range offsets {
			binary.LittleEndian.PutUint32(out[4*i:], o+shift)
		}
		return dst
	}
	for i, o := range offsets {
		binary.LittleEndian.PutUint64(out[8*i:], uint64(o-offsets[0])+base)
	}
	return dst
}
