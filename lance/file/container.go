package file

import (
	"encoding/binary"

	"github.com/omnideck/omnideck/lance/file/layout"
	"github.com/omnideck/omnideck/lance/format"
)

const (
	footerSize = 40
	entrySize  = 16 // of the CMO and GBO tables
	alignment  = 64
	magic      = "LANC"
)

// footer is the last 40 bytes.
type footer struct {
	metaStart, cmoStart, gboStart int64
	globals, columns              int64
	major, minor                  int
}

// parseFooter reads and checks the footer of a file of the given size.
func parseFooter(tail []byte, size int64) (*footer, error) {
	if size < footerSize || int64(len(tail)) < footerSize {
		return nil, format.Corruptf("a data file of %d bytes is shorter than its footer of %d", size, footerSize)
	}
	p := tail[len(tail)-footerSize:]
	if string(p[36:]) != magic {
		return nil, format.Corruptf("a data file ends in %q, found %q: it was cut or is something else", magic, p[36:])
	}
	f := &footer{
		globals: int64(binary.LittleEndian.Uint32(p[24:])),
		columns: int64(binary.LittleEndian.Uint32(p[28:])),
	}
	major, minor := binary.LittleEndian.Uint16(p[32:]), binary.LittleEndian.Uint16(p[34:])
	switch {
	case major == 0 && minor == 3, major == 2 && minor == 0:
		f.major, f.minor = 2, 0
	case major == 2 && minor <= 2:
		f.major, f.minor = 2, int(minor)
	default:
		return nil, format.Unsupportedf("a data file of format %d.%d; 2.0 (also called 0.3), 2.1 and 2.2 are read", major, minor)
	}
	meta, cmo, gbo := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:]), binary.LittleEndian.Uint64(p[16:])
	end := uint64(size - footerSize)
	if meta > cmo || cmo > gbo || gbo > end {
		return nil, format.Corruptf("column metadata at %d, its table at %d, global buffers' table at %d and footer at %d are out of order", meta, cmo, gbo, end)
	}
	f.metaStart, f.cmoStart, f.gboStart = int64(meta), int64(cmo), int64(gbo)
	if f.globals < 1 || f.gboStart+entrySize*f.globals != int64(end) {
		return nil, format.Corruptf("%d global buffers with a table from %d to %d", f.globals, gbo, end)
	}
	if f.cmoStart+entrySize*f.columns != f.gboStart {
		return nil, format.Corruptf("%d columns with a table from %d to %d", f.columns, cmo, gbo)
	}
	return f, nil
}

// parseTable reads a table of positions and sizes.
func parseTable(p []byte) []layout.Range {
	out := make([]layout.Range, len(p)/entrySize)
	for i := range out {
		e := p[i*entrySize:]
		out[i] = layout.Range{Off: int64(binary.LittleEndian.Uint64(e)), Len: int64(binary.LittleEndian.Uint64(e[8:]))}
	}
	return out
}

// checkRange checks that a range lies in [from, to).
func checkRange(r layout.Range, from, to int64, what string) error {
	if r.Off < from || r.Len < 0 || r.Off > to || r.Len > to-r.Off {
		return format.Corruptf("%s of %d bytes at %d does not lie between %d and %d", what, r.Len, r.Off, from, to)
	}
	return nil
}

// checkAligned checks the alignment that formats from 2.1 on have.
func (f *footer) checkAligned(r layout.Range, what string) error {
	if f.minor >= 1 && r.Off%alignment != 0 {
		return format.Corruptf("%s at %d is not aligned to %d bytes", what, r.Off, alignment)
	}
	return nil
}

// maxRows is the most rows of a data file: row addresses have 32 bits for them.
const maxRows = 1 << 32

func (f *footer) ranges(offsets, sizes []uint64, what string) ([]layout.Range, error) {
	if len(offsets) != len(sizes) {
		return nil, format.Corruptf("%d positions and %d sizes of buffers", len(offsets), len(sizes))
	}
	out := make([]layout.Range, len(offsets))
	for i := range offsets {
		out[i] = layout.Range{Off: int64(offsets[i]), Len: int64(sizes[i])}
		if err := checkRange(out[i], 0, f.metaStart, what); err != nil {
			return nil, err
		}
		if err := f.checkAligned(out[i], what); err != nil {
			return nil, err
		}
	}
	return out, nil
}
