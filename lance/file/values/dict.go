package values

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/encoding/variable"
	"github.com/omnideck/omnideck/lance/format"
)

// Dictionary is the distinct values of a page. It does not change and may be
// used by several goroutines; its memory is the page's, not an allocator's.
type Dictionary struct {
	item  *Type
	n     int
	words []byte   // Fixed
	ends  []uint32 // Bytes: n+1 offsets into text
	text  []byte   // with slack behind the last value
	arrow *array.Data
}

// dictRun says that the indices from the builder's value number from on point
// into d.
type dictRun struct {
	from int
	d    *Dictionary
}

// NewDictionary of words: n values of item.Width bytes each.
func NewDictionary(item *Type, n int, words []byte) (*Dictionary, error) {
	if item.Kind != Fixed || int64(len(words)) != int64(n)*int64(item.Width) {
		return nil, format.Corruptf("a dictionary of %d bytes for %d values of %s", len(words), n, item.Arrow)
	}
	return &Dictionary{item: item, n: n, words: words,
		arrow: array.NewData(item.Arrow, n, []*memory.Buffer{nil, memory.NewBufferBytes(words)}, nil, 0, 0)}, nil
}

// NewTextDictionary of checked values of variable width, which are copied.
func NewTextDictionary(item *Type, v variable.View) (*Dictionary, error) {
	n, total := v.Len(), v.Bytes()
	if item.Kind != Bytes {
		return nil, format.Corruptf("a dictionary of text for values of %s", item.Arrow)
	}
	if int64(total) > math.MaxInt32 {
		return nil, format.Unsupportedf("a dictionary of %d bytes", total)
	}
	d := &Dictionary{item: item, n: n, text: make([]byte, 0, total+slack), ends: make([]uint32, 1, n+1)}
	for i := range n {
		d.text = append(d.text, v.At(i)...)
		d.ends = append(d.ends, uint32(len(d.text)))
	}
	offsets := make([]byte, 0, (n+1)*item.offsetSize())
	for _, e := range d.ends {
		if item.Large {
			offsets = binary.LittleEndian.AppendUint64(offsets, uint64(e))
		} else {
			offsets = binary.LittleEndian.AppendUint32(offsets, e)
		}
	}
	d.arrow = array.NewData(item.Arrow, n,
		[]*memory.Buffer{nil, memory.NewBufferBytes(offsets), memory.NewBufferBytes(d.text)}, nil, 0, 0)
	return d, nil
}

// Len is the number of distinct values.
func (d *Dictionary) Len() int { return d.n }

// Size is about the bytes of memory that it holds.
func (d *Dictionary) Size() int64 {
	return int64(len(d.words)) + int64(cap(d.text)) + int64(len(d.ends))*int64(4+d.item.offsetSize())
}

// Index is the type of an index.
type Index interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Lookup appends the values that the indices point at.
func Lookup[T Index](b *Builder, d *Dictionary, indices []T) error {
	var top T
	for _, i := range indices {
		top = max(top, i)
	}
	if len(indices) > 0 && uint64(top) >= uint64(d.n) {
		return format.Corruptf("a dictionary index of %d with %d values", top, d.n)
	}
	switch {
	case b.Type.Kind == Dict:
		b.point(d)
		return appendIndices(b, indices)
	case b.Type.Kind != d.item.Kind || b.Type.Width != d.item.Width || b.Type.Large != d.item.Large:
		return format.Corruptf("a dictionary of %s for values of %s", d.item.Arrow, b.Type.Arrow)
	case b.Type.Kind == Fixed:
		return lookupWords(b, d, indices)
	}
	return lookupText(b, d, indices)
}

func lookupWords[T Index](b *Builder, d *Dictionary, indices []T) error {
	p, err := b.Words(len(indices))
	if err != nil {
		return err
	}
	if w := b.Type.Width; w == 8 {
		for k, i := range indices {
			binary.LittleEndian.PutUint64(p[8*k:], binary.LittleEndian.Uint64(d.words[8*int(i):]))
		}
	} else {
		for k, i := range indices {
			copy(p[w*k:w*k+w], d.words[w*int(i):])
		}
	}
	return nil
}

func lookupText[T Index](b *Builder, d *Dictionary, indices []T) error {
	total := int64(0)
	for _, i := range indices {
		total += int64(d.ends[i+1] - d.ends[i])
	}
	if total > math.MaxInt32 {
		return ErrTooLarge
	}
	if err := b.ReserveBytes(int(total)); err != nil {
		return err
	}
	at, out := b.data.n, b.data.p
	b.data.extend(int(total))
	return b.Ends(len(indices), func(ends32 []int32, ends64 []int64) {
		for k, i := range indices {
			from := d.ends[i]
			n := int(d.ends[i+1] - from)
			if n <= slack { // there is room for 16 bytes on both sides
				*(*[slack]byte)(out[at:]) = [slack]byte(d.text[from : from+slack])
			} else {
				copy(out[at:at+n], d.text[from:])
			}
			at += n
			if ends64 != nil {
				ends64[k] = int64(at)
			} else {
				ends32[k] = int32(at)
			}
		}
	})
}

// point makes d the dictionary of the indices that follow.
func (b *Builder) point(d *Dictionary) {
	if k := len(b.dicts); k == 0 || b.dicts[k-1].d != d {
		b.dicts = append(b.dicts, dictRun{b.n, d})
	}
}

func appendIndices[T Index](b *Builder, indices []T) error {
	var t T
	p, err := b.Words(len(indices))
	if err != nil {
		return err
	}
	if b.Type.Width*8 != bitsOf(t) {
		return format.Corruptf("dictionary indices of %d bits for %s", bitsOf(t), b.Type.Arrow)
	}
	copy(cast[T](p), indices)
	return nil
}

func bitsOf[T Index](t T) int {
	switch any(t).(type) {
	case uint8:
		return 8
	case uint16:
		return 16
	case uint32:
		return 32
	}
	return 64
}

// finishDict makes the array of indices with its dictionary. Those of several
// pages become one.
func (b *Builder) finishDict(validity *memory.Buffer, nulls int) (*array.Data, error) {
	n, t := b.n, b.Type.Arrow.(*arrow.DictionaryType)
	var dict *array.Data
	if len(b.dicts) == 1 {
		dict = b.dicts[0].d.arrow
		dict.Retain()
	} else {
		var err error
		if dict, err = b.unify(t); err != nil {
			return nil, err
		}
	}
	defer dict.Release()
	indices := b.main.take(b.mem)
	defer indices.Release()
	b.n, b.dicts = 0, nil
	return array.NewDataWithDictionary(t, n, []*memory.Buffer{validity, indices}, nulls, 0, dict), nil
}

// unify makes one dictionary of the values in use, of several pages, and
// rewrites the indices.
func (b *Builder) unify(t *arrow.DictionaryType) (*array.Data, error) {
	u := &unifier{out: New(b.Type.Item, b.mem, b.budget), seen: map[string]uint64{}, most: mostValues(t.IndexType)}
	for k, run := range b.dicts {
		end := b.n
		if k+1 < len(b.dicts) {
			end = b.dicts[k+1].from
		}
		if err := u.rewrite(b, run, end); err != nil {
			u.out.Release()
			return nil, err
		}
	}
	return u.out.Finish(nil, 0)
}

// mostValues is how many values an index can tell apart.
func mostValues(index arrow.DataType) uint64 {
	bits := index.(arrow.FixedWidthDataType).BitWidth()
	if arrow.IsSignedInteger(index.ID()) {
		bits--
	}
	return 1 << min(bits, 62)
}

// unifier collects distinct values.
type unifier struct {
	out  *Builder
	seen map[string]uint64
	most uint64
}

// rewrite points the indices of a run of b at the common values.
func (u *unifier) rewrite(b *Builder, run dictRun, end int) error {
	table := make([]uint64, run.d.n) // index + 1
	w := b.Type.Width
	for i := run.from; i < end; i++ {
		p := b.main.p[i*w : i*w+w]
		var word [8]byte
		copy(word[:], p)
		old := binary.LittleEndian.Uint64(word[:])
		if table[old] == 0 {
			at, err := u.add(run.d.value(old))
			if err != nil {
				return err
			}
			table[old] = at + 1
		}
		binary.LittleEndian.PutUint64(word[:], table[old]-1)
		copy(p, word[:])
	}
	return nil
}

// add is the index of a value.
func (u *unifier) add(v []byte) (uint64, error) {
	if at, ok := u.seen[string(v)]; ok {
		return at, nil
	}
	at := uint64(len(u.seen))
	if at >= u.most {
		return 0, fmt.Errorf("the dictionaries of several pages have more than %d values together: %w", u.most, ErrTooLarge)
	}
	u.seen[string(v)] = at
	if u.out.Type.Kind == Bytes {
		return at, u.out.Value(v)
	}
	p, err := u.out.Words(1)
	copy(p, v)
	return at, err
}

// value is the bytes of value i.
func (d *Dictionary) value(i uint64) []byte {
	if d.item.Kind == Bytes {
		return d.text[d.ends[i]:d.ends[i+1]]
	}
	w := uint64(d.item.Width)
	return d.words[i*w : i*w+w]
}
