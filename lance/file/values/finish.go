package values

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Finish makes the array and empties the builder. It takes over validity,
// which is nil when nulls is 0.
func (b *Builder) Finish(validity *memory.Buffer, nulls int) (*array.Data, error) {
	if validity != nil {
		defer validity.Release()
	}
	n := b.n
	switch b.Type.Kind {
	case Null:
		b.Release()
		return array.NewData(b.Type.Arrow, n, []*memory.Buffer{nil}, nil, n, 0), nil
	case Fixed, Bool:
		return b.data1(n, nulls, validity, b.main.take(b.mem)), nil
	case Bytes:
		if err := b.reserveOffsets(0); err != nil { // for the first offset, when there is no value
			return nil, err
		}
		return b.data1(n, nulls, validity, b.main.take(b.mem), b.data.take(b.mem)), nil
	case Dict:
		return b.finishDict(validity, nulls)
	case Vector:
		items, err := b.Items.finishItems()
		if err != nil {
			return nil, err
		}
		defer items.Release()
		b.n = 0
		return array.NewData(b.Type.Arrow, n, []*memory.Buffer{validity}, []arrow.ArrayData{items}, nulls, 0), nil
	}
	children := make([]arrow.ArrayData, len(b.Fields))
	for i, f := range b.Fields {
		c, err := f.Finish(nil, 0)
		if err != nil {
			releaseAll(children[:i])
			return nil, err
		}
		children[i] = c
	}
	defer releaseAll(children)
	b.n = 0
	return array.NewData(b.Type.Arrow, n, []*memory.Buffer{validity}, children, nulls, 0), nil
}

func releaseAll(ds []arrow.ArrayData) {
	for _, d := range ds {
		d.Release()
	}
}

// data1 makes an array of buffers that are given away.
func (b *Builder) data1(n, nulls int, validity *memory.Buffer, own ...*memory.Buffer) *array.Data {
	b.n = 0
	d := array.NewData(b.Type.Arrow, n, append([]*memory.Buffer{validity}, own...), nil, nulls, 0)
	for _, o := range own {
		o.Release()
	}
	return d
}

// finishItems is Finish of the items of a vector, with their own validity.
func (b *Builder) finishItems() (*array.Data, error) {
	if b.validN == 0 {
		b.valid.release()
		return b.Finish(nil, 0)
	}
	if err := b.allValid(b.n); err != nil {
		return nil, err
	}
	b.validN = 0
	validity := b.valid.take(b.mem)
	nulls := b.n - bitutil.CountSetBits(validity.Bytes(), 0, b.n)
	return b.Finish(validity, nulls)
}
