package blob

import (
	"context"
	"errors"
	"fmt"
)

// ErrChanged: an object is not the one that the caller knows of.
var ErrChanged = errors.New("object changed")

// AnySize as the known size of an object: its name alone says which it is.
const AnySize = -1

// Immutable is implemented by stores that may answer from memory or disk when
// the caller says which object it means.
type Immutable interface {
	// GetImmutable is the function GetImmutable on this store.
	GetImmutable(ctx context.Context, key string, known Attrs, r Range) (Object, error)
	// PutImmutable is the function PutImmutable on this store.
	PutImmutable(ctx context.Context, key string, data []byte) (Attrs, error)
}

// GetImmutable reads a range of an object that is never rewritten under its
// name: a Lance manifest, data file, deletion file, index file or transaction.
// known is what the caller has learned about it from a listing or from the
// manifest that names it; a zero Size or an empty ETag is not known. A Size of
// AnySize is not known either, but says that the name carries a random id and
// so stands for one object alone.
//
// A store with a cache (blob/cache) may answer without a request, but only
// with bytes of an object that agrees with everything known, and only when at
// least the size is known or AnySize. An object that turns out to be another than the
// known one is an error wrapping ErrChanged. The returned bytes may be shared:
// they must not be modified.
//
// Bulk reads of which no byte is wanted twice belong to Get.
func GetImmutable(ctx context.Context, s Store, key string, known Attrs, r Range) (Object, error) {
	if c, ok := s.(Immutable); ok {
		return c.GetImmutable(ctx, key, known, r)
	}
	o, err := s.Get(ctx, key, r)
	if err != nil {
		return o, err
	}
	if err := CheckKnown(o.Attrs, known); err != nil {
		return Object{}, &OpError{Op: OpGet, Key: key, URL: s.Properties().URL, Err: err}
	}
	return o, nil
}

// putTries is how often PutImmutable writes an object.
const putTries = 3

// PutImmutable writes an object that nobody refers to yet and that will never
// have another content under its key: a Lance data file, deletion file or
// transaction. An outcome that is unknown is settled by writing the same bytes
// again. What stays unknown is no ErrAmbiguous but an ErrUnavailable, or the
// context's error: whether an object of which nobody knows is there or not
// changes nothing. A store with a cache may remember the bytes, which must not
// be modified afterwards.
func PutImmutable(ctx context.Context, s Store, key string, data []byte) (Attrs, error) {
	if c, ok := s.(Immutable); ok {
		return c.PutImmutable(ctx, key, data)
	}
	for try := 1; ; try++ {
		a, err := s.Put(ctx, key, data)
		if !errors.Is(err, ErrAmbiguous) {
			return a, err
		}
		why := ctx.Err()
		if why == nil {
			why = ErrUnavailable
		}
		if try == putTries || ctx.Err() != nil {
			return Attrs{}, &OpError{Op: OpPut, Key: key, URL: s.Properties().URL, Err: fmt.Errorf("%w: not answered: %v", why, err)}
		}
	}
}

// CheckKnown reports an object that disagrees with what was known of it, as an
// error wrapping ErrChanged.
func CheckKnown(found, known Attrs) error {
	switch {
	case known.ETag != "" && known.ETag != found.ETag:
		return fmt.Errorf("%w: ETag %s was found, %s was expected", ErrChanged, found.ETag, known.ETag)
	case known.Size > 0 && known.Size != found.Size:
		return fmt.Errorf("%w: %d bytes were found, %d were expected", ErrChanged, found.Size, known.Size)
	}
	return nil
}
