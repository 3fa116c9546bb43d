package file

import (
	"context"
	"fmt"
)

// Source reads ranges of one immutable object of known size. It is safe for
// concurrent use.
type Source interface {
	// Size is the object's length in bytes.
	Size() int64
	// ReadRange returns exactly n bytes from off, or an error. The caller does
	// not write to them.
	ReadRange(ctx context.Context, off, n int64) ([]byte, error)
}

// IntoReader is what a Source may offer besides: reading into memory that the
// reader brings, so that a long scan uses the same pieces again and again.
type IntoReader interface {
	// ReadInto fills p from off, or returns an error.
	ReadInto(ctx context.Context, off int64, p []byte) error
}

// Bytes is a Source of a whole object that is in memory already. Its reads
// copy nothing.
func Bytes(b []byte) Source { return memorySource(b) }

type memorySource []byte

func (m memorySource) Size() int64 { return int64(len(m)) }

func (m memorySource) ReadRange(_ context.Context, off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > int64(len(m))-n {
		return nil, fmt.Errorf("range of %d bytes at %d in an object of %d bytes", n, off, len(m))
	}
	return m[off : off+n : off+n], nil
}
