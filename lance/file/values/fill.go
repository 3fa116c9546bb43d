package values

import (
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/omnideck/omnideck/lance/format"
)

// Zeros appends n values of which nothing is stored: zeros, empty texts.
func (b *Builder) Zeros(n int) error {
	switch b.Type.Kind {
	case Null:
		b.n += n
		return nil
	case Fixed, Dict:
		p, err := b.Words(n)
		clear(p)
		return err
	case Bool:
		return b.repeatBit(false, n)
	case Bytes:
		return b.repeatEnd(n)
	case Vector:
		if err := b.Items.Zeros(n * b.Type.Dim); err != nil {
			return err
		}
	default:
		for _, f := range b.Fields {
			if err := f.Zeros(n); err != nil {
				return err
			}
		}
	}
	b.n += n
	return nil
}

// Repeat appends a value n times, given as its Arrow bytes (of a Bool one byte
// 0 or 1).
func (b *Builder) Repeat(value []byte, n int) error {
	switch t := b.Type; {
	case t.Kind == Fixed && len(value) == t.Width:
		p, err := b.Words(n)
		if err == nil {
			tile(p, value)
		}
		return err
	case t.Kind == Bool && len(value) == 1 && value[0] <= 1:
		return b.repeatBit(value[0] == 1, n)
	case t.Kind == Bytes:
		return b.repeatBytes(value, n)
	}
	return format.Corruptf("a constant of %d bytes for values of %s", len(value), b.Type.Arrow)
}

// tile fills p, which is a multiple of value, with it.
func tile(p, value []byte) {
	for done := copy(p, value); done > 0 && done < len(p); {
		done += copy(p[done:], p[:done])
	}
}

func (b *Builder) repeatBit(set bool, n int) error {
	if err := b.Reserve(n); err != nil {
		return err
	}
	b.main.extend((b.n+n+7)/8 - b.main.n)
	bitutil.SetBitsTo(b.main.p, int64(b.n), int64(n), set)
	b.n += n
	return nil
}

// repeatEnd appends n empty texts.
func (b *Builder) repeatEnd(n int) error {
	end := b.data.n
	return b.Ends(n, func(ends32 []int32, ends64 []int64) {
		for i := range ends32 {
			ends32[i] = int32(end)
		}
		for i := range ends64 {
			ends64[i] = int64(end)
		}
	})
}

func (b *Builder) repeatBytes(value []byte, n int) error {
	total := int64(len(value)) * int64(n)
	if total > 1<<40 {
		return ErrTooLarge
	}
	if err := b.fits(b.data.n + int(total)); err != nil {
		return err
	}
	if err := b.ReserveBytes(int(total)); err != nil {
		return err
	}
	end, size := b.data.n, len(value)
	tile(b.data.extend(int(total)), value)
	return b.Ends(n, func(ends32 []int32, ends64 []int64) {
		for i := range ends32 {
			end += size
			ends32[i] = int32(end)
		}
		for i := range ends64 {
			end += size
			ends64[i] = int64(end)
		}
	})
}
