package layout

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/omnideck/omnideck/lance/encoding/block"
	"github.com/omnideck/omnideck/lance/encoding/levels"
	"github.com/omnideck/omnideck/lance/file/nest"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// miniPage is a page of chunks.
type miniPage struct {
	col         Column
	m           *nest.Map
	rows, items int64
	large       bool // words and buffer sizes of 4 bytes
	rep, def    *levels.Decoder
	plan        plan      // of the values, or of the indices as words
	index       *wordPlan // with a dictionary

	dict      *block.Decoder
	dictItems int64

	words, chunks, dictBuf, repBuf Range
}

func parseMini(l *enc21pb.MiniBlockLayout, buffers []Range, rows int64, col Column) (Page, error) {
	p := &miniPage{col: col, rows: rows, large: l.GetHasLargeChunk()}
	var err error
	if p.m, err = mapOf(l.GetLayers(), col.Path); err != nil {
		return nil, err
	}
	if p.items, err = asInt(l.GetNumItems(), "values"); err != nil {
		return nil, err
	}
	if err := p.parseLevels(l); err != nil {
		return nil, err
	}
	if err := p.parseValues(l); err != nil {
		return nil, err
	}
	if got := l.GetNumBuffers(); got != uint64(p.plan.buffers()) {
		return nil, format.Corruptf("chunks of %d value buffers, where %s has %d", got, encodingText(l.GetValueCompression()), p.plan.buffers())
	}
	if err := p.assign(buffers); err != nil {
		return nil, err
	}
	if p.col.Path.Lists == 0 && p.items != p.rows {
		return nil, format.Corruptf("a page of %d rows with %d values", p.rows, p.items)
	}
	return p, nil
}

func (p *miniPage) parseLevels(l *enc21pb.MiniBlockLayout) (err error) {
	if l.GetRepCompression() != nil {
		if p.col.Path.Lists == 0 {
			return format.Corruptf("repetition levels in a column without lists")
		}
		if p.rep, err = levels.New(l.GetRepCompression(), uint16(p.col.Path.Lists)); err != nil {
			return err
		}
	}
	if l.GetDefCompression() != nil {
		if p.def, err = levels.New(l.GetDefCompression(), uint16(len(p.m.Codes)-1)); err != nil {
			return err
		}
	}
	if d := l.GetRepetitionIndexDepth(); d > 1 || (d == 1) != (p.rep != nil) {
		return format.Unsupportedf("a page with repetition levels: %t, and a repetition index of depth %d", p.rep != nil, d)
	}
	if p.col.Path.Lists > 0 && p.rep == nil {
		return format.Corruptf("a page of lists without repetition levels")
	}
	return nil
}

func (p *miniPage) parseValues(l *enc21pb.MiniBlockLayout) (err error) {
	t := p.col.Type
	if l.GetDictionary() == nil {
		p.plan, err = planValues(l.GetValueCompression(), t, maxDepth)
		return err
	}
	if p.index, err = planWords(l.GetValueCompression(), maxDepth); err != nil {
		return err
	}
	p.plan = fixedPlan{p.index}
	if w := p.index.width; w != 1 && w != 2 && w != 4 && w != 8 {
		return format.Corruptf("dictionary indices of %d bytes", w)
	}
	if p.dict, err = block.New(l.GetDictionary()); err != nil {
		return err
	}
	p.dictItems, err = asInt(l.GetNumDictionaryItems(), "dictionary values")
	return err
}

// assign gives the page's buffers their meaning.
func (p *miniPage) assign(buffers []Range) error {
	n := 2
	if p.dict != nil {
		n++
	}
	if p.rep != nil {
		n++
	}
	if err := need(buffers, n, "mini-block"); err != nil {
		return err
	}
	p.words, p.chunks = buffers[0], buffers[1]
	if p.dict != nil {
		p.dictBuf = buffers[2]
	}
	if p.rep != nil {
		p.repBuf = buffers[n-1]
	}
	return nil
}

func (p *miniPage) Rows() int64 { return p.rows }

func (p *miniPage) Heads() []Range {
	rs := []Range{p.words}
	if p.dict != nil {
		rs = append(rs, p.dictBuf)
	}
	if p.rep != nil {
		rs = append(rs, p.repBuf)
	}
	return rs
}

func (p *miniPage) Open(get Get) (Body, error) {
	b := &miniBody{miniPage: p}
	words, err := get(p.words)
	if err != nil {
		return nil, err
	}
	if err := b.cut(words); err != nil {
		return nil, err
	}
	if p.dict != nil {
		buf, err := get(p.dictBuf)
		if err != nil {
			return nil, err
		}
		if b.lookup, err = p.dictionary(buf); err != nil {
			return nil, err
		}
	}
	if p.rep != nil {
		index, err := get(p.repBuf)
		if err != nil {
			return nil, err
		}
		return b, b.indexRows(index)
	}
	return b, nil
}

// maxDictionary bounds the decompressed bytes of a dictionary.
const maxDictionary = math.MaxInt32

// dictionary decodes the dictionary of the page.
func (p *miniPage) dictionary(buf []byte) (*values.Dictionary, error) {
	item := p.col.Type
	if item.Kind == values.Dict {
		item = item.Item
	}
	if p.dict.IsVariable() {
		if p.dictItems > maxDictionary {
			return nil, format.Corruptf("a dictionary of %d values", p.dictItems)
		}
		v, err := p.dict.View(buf, int(p.dictItems), maxDictionary)
		if err != nil {
			return nil, err
		}
		return values.NewTextDictionary(item, v)
	}
	size := int64(p.dict.Bits() / 8)
	// Distinct values do not pack any better than this.
	if most := min(1024*int64(len(buf))+64<<10, maxDictionary); p.dictItems > most/size {
		return nil, format.Corruptf("a dictionary of %d values of %d bytes in %d bytes", p.dictItems, size, len(buf))
	}
	words := grown(nil, int(p.dictItems*size))
	if err := p.dict.Bytes(words, buf); err != nil {
		return nil, err
	}
	return values.NewDictionary(item, int(p.dictItems), words)
}

// miniBody knows where chunks begin, in bytes, values and rows.
type miniBody struct {
	*miniPage
	lookup *values.Dictionary
	bytes  []int64 // n+1 positions in the chunks' buffer
	vals   []int64 // n+1 numbers of first values
	log    int     // log2 of the values of every chunk but the last; -1 if they differ
	first  []int64 // with lists: n+1 numbers of the first rows that start in a chunk
	pre    []bool  // with lists: chunk k begins with the rest of a row; pre[n] is false
}

// cut finds the chunks from their words.
func (b *miniBody) cut(words []byte) error {
	size := 2
	if b.large {
		size = 4
	}
	n := len(words) / size
	if n == 0 || len(words)%size != 0 {
		return format.Corruptf("chunk words of %d bytes in all", len(words))
	}
	b.bytes, b.vals = make([]int64, n+1), make([]int64, n+1)
	pos, seen := int64(0), int64(0)
	for k := range n {
		var w uint32
		if b.large {
			w = binary.LittleEndian.Uint32(words[4*k:])
		} else {
			w = uint32(binary.LittleEndian.Uint16(words[2*k:]))
		}
		log := int(w & 15)
		if k == 0 {
			b.log = log
		} else if k < n-1 && log != b.log {
			b.log = -1
		}
		b.bytes[k], b.vals[k] = pos, seen
		pos += (int64(w>>4) + 1) * 8
		if k < n-1 {
			seen += 1 << log
		}
	}
	left := b.items - seen
	if pos != b.chunks.Len || left < 0 || left > math.MaxInt32 {
		return format.Corruptf("chunks of %d bytes and %d values before the last in a page of %d bytes and %d values",
			pos, seen, b.chunks.Len, b.items)
	}
	b.bytes[n], b.vals[n] = pos, b.items
	return nil
}

// indexRows reads the repetition index.
func (b *miniBody) indexRows(index []byte) error {
	n := len(b.vals) - 1
	if len(index) != 16*n {
		return format.Corruptf("a repetition index of %d bytes for %d chunks", len(index), n)
	}
	b.first, b.pre = make([]int64, n+1), make([]bool, n+1)
	row, ended := int64(0), int64(0)
	for k := range n {
		b.first[k] = row
		ends, err := asInt(binary.LittleEndian.Uint64(index[16*k:]), "rows")
		if err != nil {
			return err
		}
		partial := binary.LittleEndian.Uint64(index[16*k+8:]) > 0
		starts := ends
		if partial {
			starts++
		}
		if b.pre[k] {
			starts--
		}
		if starts < 0 || partial && k == n-1 {
			return format.Corruptf("chunk %d of %d in the repetition index ends %d rows and has a partial one: %t", k, n, ends, partial)
		}
		b.pre[k+1] = partial
		row, ended = row+starts, ended+ends
	}
	b.first[n] = row
	if ended != b.rows || row != b.rows {
		return format.Corruptf("a repetition index of %d rows in a page of %d", ended, b.rows)
	}
	return nil
}

func (b *miniBody) Size() int64 {
	n := 16*int64(len(b.vals)) + 9*int64(len(b.first))
	if b.lookup != nil {
		n += b.lookup.Size()
	}
	return n
}

// chunkOf is the chunk with value v of a page without lists.
func (b *miniBody) chunkOf(v int64) int {
	if b.log >= 0 {
		return min(int(v>>b.log), len(b.vals)-2)
	}
	return sort.Search(len(b.vals)-2, func(k int) bool { return b.vals[k+1] > v })
}

// startOf is the chunk in which row r of a page with lists starts.
func (b *miniBody) startOf(r int64) int {
	return sort.Search(len(b.first)-2, func(k int) bool { return b.first[k+1] > r })
}

// span is the chunks [k, end) that hold rows [from, to), which are not none.
func (b *miniBody) span(from, to int64) (k, end int) {
	if b.first == nil {
		return b.chunkOf(from), b.chunkOf(to-1) + 1
	}
	k, end = b.startOf(from), b.startOf(to-1)+1
	for to == b.first[end] && b.pre[end] { // the last row goes on
		end++
	}
	return k, end
}

func (b *miniBody) Expect(from, to int64) (n, encoded int64) {
	k, end := b.span(from, to)
	if b.first == nil {
		return to - from, b.bytes[end] - b.bytes[k]
	}
	rows := max(b.first[end]-b.first[k], 1)
	values := float64(b.vals[end]-b.vals[k]) * float64(to-from) / float64(rows)
	return int64(values*1.02) + 16, b.bytes[end] - b.bytes[k]
}

func (b *miniBody) Ranges(rs []Range, from, to int64) ([]Range, error) {
	if from < 0 || to > b.rows || from >= to {
		return nil, format.Corruptf("rows %d to %d of a page of %d", from, to, b.rows)
	}
	k, end := b.span(from, to)
	r, err := b.chunks.part(b.bytes[k], b.bytes[end]-b.bytes[k])
	return append(rs, r), err
}
