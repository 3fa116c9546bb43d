package layout

import (
	"slices"

	"github.com/omnideck/omnideck/lance/encoding/levels"
	"github.com/omnideck/omnideck/lance/format"
)

// cursor cuts the parts of a chunk one after the other.
type cursor struct {
	c  []byte
	at int
}

// next takes n bytes and what fills them up to a multiple of 8.
func (u *cursor) next(n int64) ([]byte, error) {
	if u.at > len(u.c) || n > int64(len(u.c)-u.at) {
		return nil, format.Corruptf("a buffer of %d bytes at %d of a chunk of %d bytes", n, u.at, len(u.c))
	}
	part := u.c[u.at : u.at+int(n) : u.at+int(n)]
	u.at = (u.at + int(n) + 7) &^ 7
	return part, nil
}

// levels takes n bytes and decodes count levels of them to mem.
func (u *cursor) levels(d *levels.Decoder, mem []uint16, count, n int) ([]uint16, error) {
	buf, err := u.next(int64(n))
	if err != nil {
		return mem, err
	}
	if count == 0 {
		return mem, format.Corruptf("a chunk without levels in a page that has them")
	}
	mem = slices.Grow(mem[:0], count)[:count]
	return mem, d.Decode(mem, buf)
}
