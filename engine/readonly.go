package engine

import (
	"context"

	"github.com/omnideck/omnideck/blob"
)

// lookOnly refuses every write before it reaches the store.
type lookOnly struct{ blob.Store }

func (s lookOnly) refuse(op blob.Op, key string) error {
	return &blob.OpError{Op: op, Key: key, URL: s.Properties().URL, Err: blob.ErrReadOnly}
}

func (s lookOnly) Put(_ context.Context, key string, _ []byte) (blob.Attrs, error) {
	return blob.Attrs{}, s.refuse(blob.OpPut, key)
}

func (s lookOnly) PutIfAbsent(_ context.Context, key string, _ []byte) (blob.Attrs, error) {
	return blob.Attrs{}, s.refuse(blob.OpPut, key)
}

func (s lookOnly) Delete(_ context.Context, key string) error {
	return s.refuse(blob.OpDelete, key)
}
