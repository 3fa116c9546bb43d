package blob

import (
	"context"
	"iter"
)

// DefaultInFlight is how many requests a store is sent at once when nobody
// says otherwise.
const DefaultInFlight = 64

// Limit lets at most n requests of a store be in flight (n <= 0:
// DefaultInFlight). Waiting for a place ends with the context and sends
// nothing. A listing holds a place only while the store works on it, not while
// its entries are being used.
func Limit(s Store, n int) Store {
	if n <= 0 {
		n = DefaultInFlight
	}
	return &limited{s, make(chan struct{}, n)}
}

type limited struct {
	Store
	places chan struct{}
}

func (l *limited) enter(ctx context.Context, op Op, key string) error {
	select {
	case l.places <- struct{}{}:
		return nil
	default:
	}
	select {
	case l.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return &OpError{Op: op, Key: key, URL: l.Properties().URL, Err: ctx.Err()}
	}
}

func (l *limited) leave() { <-l.places }

func (l *limited) Get(ctx context.Context, key string, r Range) (Object, error) {
	if err := l.enter(ctx, OpGet, key); err != nil {
		return Object{}, err
	}
	defer l.leave()
	return l.Store.Get(ctx, key, r)
}

func (l *limited) Head(ctx context.Context, key string) (Attrs, error) {
	if err := l.enter(ctx, OpHead, key); err != nil {
		return Attrs{}, err
	}
	defer l.leave()
	return l.Store.Head(ctx, key)
}

func (l *limited) Put(ctx context.Context, key string, data []byte) (Attrs, error) {
	if err := l.enter(ctx, OpPut, key); err != nil {
		return Attrs{}, err
	}
	defer l.leave()
	return l.Store.Put(ctx, key, data)
}

func (l *limited) PutIfAbsent(ctx context.Context, key string, data []byte) (Attrs, error) {
	if err := l.enter(ctx, OpPut, key); err != nil {
		return Attrs{}, err
	}
	defer l.leave()
	return l.Store.PutIfAbsent(ctx, key, data)
}

func (l *limited) Delete(ctx context.Context, key string) error {
	if err := l.enter(ctx, OpDelete, key); err != nil {
		return err
	}
	defer l.leave()
	return l.Store.Delete(ctx, key)
}

func (l *limited) List(ctx context.Context, opts ListOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := l.enter(ctx, OpList, opts.Prefix); err != nil {
			yield(Entry{}, err)
			return
		}
		held := true
		defer func() {
			if held {
				l.leave()
			}
		}()
		for e, err := range l.Store.List(ctx, opts) {
			l.leave()
			held = false
			if !yield(e, err) {
				return
			}
			if err := l.enter(ctx, OpList, opts.Prefix); err != nil {
				yield(Entry{}, err)
				return
			}
			held = true
		}
	}
}

// ReadOnly refuses every write before it reaches the store, with an error
// wrapping ErrReadOnly.
func ReadOnly(s Store) Store { return &readOnly{s} }

type readOnly struct{ Store }

// GetImmutable is that of the store, which may have a cache.
func (r *readOnly) GetImmutable(ctx context.Context, key string, known Attrs, rng Range) (Object, error) {
	return GetImmutable(ctx, r.Store, key, known, rng)
}

func (r *readOnly) PutImmutable(_ context.Context, key string, _ []byte) (Attrs, error) {
	return Attrs{}, r.refuse(OpPut, key)
}

func (r *readOnly) refuse(op Op, key string) error {
	return &OpError{Op: op, Key: key, URL: r.Properties().URL, Err: ErrReadOnly}
}

func (r *readOnly) Put(_ context.Context, key string, _ []byte) (Attrs, error) {
	return Attrs{}, r.refuse(OpPut, key)
}

func (r *readOnly) PutIfAbsent(_ context.Context, key string, _ []byte) (Attrs, error) {
	return Attrs{}, r.refuse(OpPut, key)
}

func (r *readOnly) Delete(_ context.Context, key string) error {
	return r.refuse(OpDelete, key)
}
