package values

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/encoding/variable"
)

// Builder collects the values of one leaf. It is used by one goroutine.
type Builder struct {
	Type   *Type
	Items  *Builder   // of a Vector
	Fields []*Builder // of a Packed

	mem    memory.Allocator
	budget *Budget
	n      int
	main   buf // words, bits, indices, offsets
	data   buf // of Bytes
	valid  buf // validity bits of the items of a Vector
	validN int // items that have one; those behind are valid
	dicts  []dictRun
}

// New makes a builder, with builders for the parts of the type.
func New(t *Type, mem memory.Allocator, budget *Budget) *Builder {
	b := &Builder{Type: t, mem: mem, budget: budget}
	if t.Kind == Vector {
		b.Items = New(t.Item, mem, budget)
	}
	for _, f := range t.Fields {
		b.Fields = append(b.Fields, New(f, mem, budget))
	}
	return b
}

// Len is the number of values.
func (b *Builder) Len() int { return b.n }

// Release gives all memory back.
func (b *Builder) Release() {
	b.main.release()
	b.data.release()
	b.valid.release()
	if b.Items != nil {
		b.Items.Release()
	}
	for _, f := range b.Fields {
		f.Release()
	}
	b.n, b.validN, b.dicts = 0, 0, nil
}

// Reserve makes room for n more values; of Bytes for their offsets.
func (b *Builder) Reserve(n int) error {
	if n < 0 || int64(b.n)+int64(n) > 1<<40 {
		return ErrTooLarge
	}
	switch b.Type.Kind {
	case Fixed, Dict:
		return b.main.reserve(b.mem, b.budget, n*b.Type.Width)
	case Bool:
		return b.main.reserve(b.mem, b.budget, (b.n+n+7)/8-b.main.n)
	case Bytes:
		return b.reserveOffsets(n)
	case Vector:
		return b.Items.Reserve(n * b.Type.Dim)
	}
	for _, f := range b.Fields {
		if err := f.Reserve(n); err != nil {
			return err
		}
	}
	return nil
}

func (b *Builder) reserveOffsets(n int) error {
	size := b.Type.offsetSize()
	if err := b.main.reserve(b.mem, b.budget, (n+1)*size); err != nil {
		return err
	}
	if b.main.n == 0 {
		clear(b.main.extend(size))
	}
	return nil
}

// ReserveBytes makes room for n more bytes of Bytes.
func (b *Builder) ReserveBytes(n int) error { return b.data.reserve(b.mem, b.budget, n) }

// BytesLen is the number of bytes of a Bytes so far.
func (b *Builder) BytesLen() int { return b.data.n }

// Words takes n values of a Fixed or Dict, to be filled by the caller.
// Behind them there is room for 16 more bytes that may be overwritten.
func (b *Builder) Words(n int) ([]byte, error) {
	if err := b.Reserve(n); err != nil {
		return nil, err
	}
	b.n += n
	return b.main.extend(n * b.Type.Width), nil
}

// Bits appends n bits of src from bit number from.
func (b *Builder) Bits(src []byte, from, n int) error {
	if err := b.Reserve(n); err != nil {
		return err
	}
	b.main.extend((b.n+n+7)/8 - b.main.n)
	bitutil.CopyBitmap(src, from, n, b.main.p, b.n)
	b.n += n
	return nil
}

// Bit appends one bit.
func (b *Builder) Bit(set bool) error {
	if err := b.Reserve(1); err != nil {
		return err
	}
	b.main.extend((b.n+8)/8 - b.main.n)
	bitutil.SetBitTo(b.main.p, b.n, set)
	b.n++
	return nil
}

// Value appends one value of Bytes.
func (b *Builder) Value(v []byte) error {
	if err := b.reserveOffsets(1); err != nil {
		return err
	}
	if err := b.ReserveBytes(len(v)); err != nil {
		return err
	}
	copy(b.data.extend(len(v)), v)
	return b.Ends(1, func(ends32 []int32, ends64 []int64) {
		if ends64 != nil {
			ends64[0] = int64(b.data.n)
		} else {
			ends32[0] = int32(b.data.n)
		}
	})
}

// Ends appends n values whose bytes were appended already: fill is given the
// place of their ends, which are positions in the bytes.
func (b *Builder) Ends(n int, fill func(ends32 []int32, ends64 []int64)) error {
	if err := b.fits(b.data.n); err != nil {
		return err
	}
	if err := b.reserveOffsets(n); err != nil {
		return err
	}
	p := b.main.extend(n * b.Type.offsetSize())
	b.n += n
	if b.Type.Large {
		fill(nil, cast[int64](p))
	} else {
		fill(cast[int32](p), nil)
	}
	return nil
}

// fits checks a position in the bytes against the offsets' type.
func (b *Builder) fits(n int) error {
	if !b.Type.Large && n > variable.MaxOffset[int32]() {
		return variable.ErrTooLong
	}
	return nil
}

// AppendTo lets f append values to bytes and ends, as the functions of the
// packages variable and fsst do. There is room for bytes bytes and n values;
// what f returns must not have moved.
func (b *Builder) AppendTo(n, bytes int,
	f32 func([]byte, []int32) ([]byte, []int32, error), f64 func([]byte, []int64) ([]byte, []int64, error),
) error {
	if err := b.reserveOffsets(n); err != nil {
		return err
	}
	if err := b.ReserveBytes(bytes); err != nil {
		return err
	}
	size := b.Type.offsetSize()
	room := b.main.p[:b.main.n+n*size]
	var data []byte
	var err error
	if at := b.main.n / size; b.Type.Large {
		data, _, err = f64(b.data.bytes(), cast[int64](room)[:at])
	} else {
		data, _, err = f32(b.data.bytes(), cast[int32](room)[:at])
	}
	if err != nil {
		return err
	}
	b.data.n = len(data)
	b.main.n += n * size
	b.n += n
	return nil
}

// Step appends n values of a Vector or Packed whose parts were appended.
func (b *Builder) Step(n int) { b.n += n }

// Valid appends the validity of the last n items (of a Vector's Items): bits
// of src from bit number from.
func (b *Builder) Valid(src []byte, from, n int) error {
	if b.validN == 0 && bitutil.CountSetBits(src, from, n) == n {
		return nil
	}
	if err := b.allValid(b.n - n); err != nil {
		return err
	}
	if err := b.growValid(b.n); err != nil {
		return err
	}
	bitutil.CopyBitmap(src, from, n, b.valid.p, b.n-n)
	return nil
}

// Nulls says that the last n items are null.
func (b *Builder) Nulls(n int) error {
	if err := b.allValid(b.n - n); err != nil {
		return err
	}
	if err := b.growValid(b.n); err != nil {
		return err
	}
	bitutil.SetBitsTo(b.valid.p, int64(b.n-n), int64(n), false)
	return nil
}

// allValid says that all items up to n whose validity was not given are valid.
func (b *Builder) allValid(n int) error {
	from := b.validN
	if from >= n {
		return nil
	}
	if err := b.growValid(n); err != nil {
		return err
	}
	bitutil.SetBitsTo(b.valid.p, int64(from), int64(n-from), true)
	return nil
}

func (b *Builder) growValid(n int) error {
	more := (n+7)/8 - b.valid.n
	if err := b.valid.reserve(b.mem, b.budget, more); err != nil {
		return err
	}
	b.valid.extend(more)
	b.validN = n
	return nil
}

func cast[T any](p []byte) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(p))), len(p)/int(unsafe.Sizeof(t)))
}

// Last is the bytes of the last n values of a Fixed.
func (b *Builder) Last(n int) []byte { return b.main.p[b.main.n-n*b.Type.Width : b.main.n] }
