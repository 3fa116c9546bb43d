package engine

import (
	"context"
	"errors"

	"github.com/omnideck/omnideck/blob"
)

// maxObject is the most that is read of an object.
const maxObject = 64 << 10

// Object reads the first n bytes of an object below the root, at most 64 KiB,
// and its size; n ≤ 0 reads that much. Key is relative to the root, as listings
// and evidence of findings spell it. One request; of an empty object a second
// one, which says that it is empty.
//
// Errors: *UsageError for a key that would leave the root or names nothing,
// *NotFoundError when there is no such object (a folder is none).
func (g *Graph) Object(ctx context.Context, key string, n int) (*Object, error) {
	return do(ctx, g, "object", func(ctx context.Context, o *operation) (*Object, error) {
		if err := blob.CheckKey(key); err != nil {
			return nil, &UsageError{What: "object " + key, Why: err.Error()}
		}
		if n <= 0 || n > maxObject {
			n = maxObject
		}
		obj, err := o.store.Get(ctx, key, blob.Range{Off: 0, Len: int64(n)})
		if errors.Is(err, blob.ErrRange) {
			obj = blob.Object{}
			obj.Attrs, err = o.store.Head(ctx, key)
			if err == nil && obj.Size > 0 {
				err = &blob.OpError{Op: blob.OpGet, Key: key, URL: o.store.Properties().URL, Err: blob.ErrChanged}
			}
		}
		switch {
		case errors.Is(err, blob.ErrNotExist):
			return nil, &NotFoundError{What: "object", Name: key, Where: "below " + o.store.Properties().URL}
		case errors.Is(err, blob.ErrKey):
			return nil, &UsageError{What: "object " + key, Why: err.Error()}
		case err != nil:
			return nil, err
		}
		return &Object{Key: key, Size: obj.Size, Bytes: obj.Data[:min(len(obj.Data), n)]}, nil
	})
}
