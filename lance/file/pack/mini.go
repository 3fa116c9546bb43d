package pack

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/omnideck/omnideck/lance/format"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

const (
	chunkBytes  = 4 << 10 // what the values of a chunk should not exceed
	chunkValues = 4096
	// Raw or packed levels of so many pairs are below 64 KiB, runs of so many
	// fewer.
	maxPairs     = 32767
	maxPairsRuns = 21840
	maxChunk     = 1<<31 - 8
	mostGrown    = 16 << 20 // bytes made at once for chunks yet to come
)

// encoder is an encoding of the values of a page in chunks.
type encoder interface {
	// take is how many of the values from at on, of which there are left, one
	// chunk should have: all, or a power of two of at least 2.
	take(at, left int) int
	// append appends the buffers of a chunk with the values [from, to), each
	// filled up to 8 bytes, and sets their sizes.
	append(dst []byte, from, to int, sizes []int) []byte
	buffers() int
	encoding() *enc21pb.CompressiveEncoding
}

// chunk is the values [from, to) and pairs [first, end) of a chunk.
type chunk struct{ from, to, first, end int }

// chunker cuts a page into chunks and writes them.
type chunker struct {
	lv       *levels
	e        encoder
	rep, def words[uint16]
	most     int // pairs in a chunk
	chunks   []chunk
	index    []byte // of repetitions
	words    []byte
	data     []byte
}

// mini makes a page of chunks. d is nil without a dictionary.
func mini(l *Leaf, lv *levels, e encoder, d *dictionary) (*Page, error) {
	c := &chunker{lv: lv, e: e, most: maxPairs}
	estimate := max(1, lv.pairs/1024)
	if lv.pairs <= 1024 {
		estimate = 1
	}
	m := &enc21pb.MiniBlockLayout{ValueCompression: e.encoding(), Layers: lv.kinds,
		NumBuffers: uint64(e.buffers()), NumItems: uint64(l.Values.N), HasLargeChunk: true}
	if lv.rep != nil {
		c.rep = chooseWords(lv.rep, estimate)
		m.RepCompression, m.RepetitionIndexDepth = c.rep.encoding(), 1
	}
	if lv.def != nil {
		c.def = chooseWords(lv.def, estimate)
		m.DefCompression = c.def.encoding()
	}
	if c.rep.how == runs || c.def.how == runs {
		c.most = maxPairsRuns
	}
	if err := c.cut(l.Values.N); err != nil {
		return nil, err
	}
	if err := c.write(); err != nil {
		return nil, err
	}
	buffers := [][]byte{c.words, c.data}
	if d != nil {
		m.Dictionary, m.NumDictionaryItems = d.encoding, uint64(d.n)
		buffers = append(buffers, d.block)
	}
	if lv.rep != nil {
		buffers = append(buffers, c.index)
	}
	return pageOf(l.Rows, buffers, m), nil
}

// cut finds the chunks. Every one has a value, all but the last a power of two
// of them.
func (c *chunker) cut(values int) error {
	at, first := 0, 0
	for at < values {
		left := values - at
		n := c.e.take(at, left)
		for {
			end := c.after(first, n)
			if n == left {
				end = c.lv.pairs
			}
			if end-first <= c.most {
				c.chunks = append(c.chunks, chunk{at, at + n, first, end})
				at, first = at+n, end
				break
			}
			// The largest power of two below.
			if n <= 2 {
				return ErrSplit
			}
			n = 1 << (bits.Len(uint(n-1)) - 1)
		}
	}
	return nil
}

// after is the pair behind the n-th pair that has a value, from first on.
func (c *chunker) after(first, n int) int {
	if c.lv.hidden == 0 {
		return first + n
	}
	for ; n > 0; first++ {
		if c.lv.def[first] <= c.lv.visible {
			n--
		}
	}
	return first
}

// write encodes the chunks and indexes them.
func (c *chunker) write() error {
	sizes := make([]int, c.e.buffers())
	c.words = make([]byte, 0, 4*len(c.chunks))
	for k, ch := range c.chunks {
		at := len(c.data)
		if err := c.chunk(ch, sizes); err != nil {
			return err
		}
		size := len(c.data) - at
		if size > maxChunk {
			return refused("values of 2 GiB and more in one chunk")
		}
		log := 0
		if k < len(c.chunks)-1 {
			log = bits.Len(uint(ch.to-ch.from)) - 1
		}
		c.words = binary.LittleEndian.AppendUint32(c.words, uint32(size/8-1)<<4|uint32(log))
		if k == 0 && len(c.chunks) > 1 {
			c.data = slices.Grow(c.data, min(size*len(c.chunks)+size, mostGrown))
		}
		if c.lv.rep != nil {
			c.indexRows(k, ch)
		}
	}
	return nil
}

// chunk appends one chunk: the header, then each buffer filled up to 8 bytes.
func (c *chunker) chunk(ch chunk, sizes []int) error {
	at := len(c.data)
	head, pairs := 2+4*len(sizes), 0
	if c.lv.rep != nil {
		head, pairs = head+2, ch.end-ch.first
	}
	if c.lv.def != nil {
		head, pairs = head+2, ch.end-ch.first
	}
	c.data = append(c.data, make([]byte, head)...)
	c.data = pad(c.data, at)
	binary.LittleEndian.PutUint16(c.data[at:], uint16(pairs))
	put := at + 2
	for _, kind := range []struct {
		levels []uint16
		words[uint16]
	}{{c.lv.rep, c.rep}, {c.lv.def, c.def}} {
		if kind.levels == nil {
			continue
		}
		start := len(c.data)
		c.data = kind.append(c.data, kind.levels[ch.first:ch.end])
		size := len(c.data) - start
		if size > 1<<16-1 {
			return format.Unsupportedf("levels of %d bytes in one chunk", size)
		}
		binary.LittleEndian.PutUint16(c.data[put:], uint16(size))
		put += 2
		c.data = pad(c.data, at)
	}
	c.data = c.e.append(c.data, ch.from, ch.to, sizes)
	for _, size := range sizes {
		binary.LittleEndian.PutUint32(c.data[put:], uint32(size))
		put += 4
	}
	return nil
}

// indexRows appends the rows that end in chunk k, and the pairs of one that
// goes on.
func (c *chunker) indexRows(k int, ch chunk) {
	rep, top := c.lv.rep[ch.first:ch.end], c.lv.maxRep
	starts, last := 0, 0
	for i, r := range rep {
		if r == top {
			starts++
			last = i
		}
	}
	ends, partial := starts, 0
	if rep[0] != top {
		ends++
	}
	if k < len(c.chunks)-1 && c.lv.rep[ch.end] != top {
		ends--
		partial = len(rep) - last
	}
	c.index = binary.LittleEndian.AppendUint64(c.index, uint64(ends))
	c.index = binary.LittleEndian.AppendUint64(c.index, uint64(partial))
}
