package values

import (
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/lance/format"
)

// ErrTooLarge: the batch does not fit its budget or its offsets. The data is
// whole; fewer rows at once may be read.
var ErrTooLarge = format.Unsupportedf("more data in one batch than is allowed")

// Budget is what the builders of a batch may allocate together. It is used by
// one goroutine.
type Budget struct{ left int64 }

// NewBudget allows so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{bytes} }

// Take uses up n bytes, or says that they are not left.
func (b *Budget) Take(n int) error {
	if int64(n) > b.left || n < 0 {
		return ErrTooLarge
	}
	b.left -= int64(n)
	return nil
}

// slack is room behind the last value that decoders may write to.
const slack = 16

// buf is a growing buffer of Arrow memory.
type buf struct {
	b *memory.Buffer
	p []byte // all the memory there is
	n int    // bytes used
}

// reserve makes room for n more bytes and some slack.
func (u *buf) reserve(mem memory.Allocator, budget *Budget, n int) error {
	need := u.n + n + slack
	if n < 0 || need < 0 {
		return ErrTooLarge
	}
	if need <= len(u.p) {
		return nil
	}
	if u.b == nil {
		u.b = memory.NewResizableBuffer(mem)
	} else if twice := 2 * len(u.p); need < twice {
		need = twice
	}
	if err := budget.Take(need - len(u.p)); err != nil {
		return err
	}
	u.b.Reserve(need)
	u.p = u.b.Buf()
	return nil
}

// extend takes n bytes that were reserved.
func (u *buf) extend(n int) []byte {
	u.n += n
	return u.p[u.n-n : u.n]
}

// bytes are the bytes used.
func (u *buf) bytes() []byte { return u.p[:u.n] }

// take hands the buffer over, cut to what is used.
func (u *buf) take(mem memory.Allocator) *memory.Buffer {
	b := u.b
	if b == nil {
		b = memory.NewResizableBuffer(mem)
	}
	b.ResizeNoShrink(u.n)
	*u = buf{}
	return b
}

func (u *buf) release() {
	if u.b != nil {
		u.b.Release()
	}
	*u = buf{}
}
