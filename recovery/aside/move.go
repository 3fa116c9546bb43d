package aside

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/omnideck/omnideck/blob"
)

const (
	tries      = 3   // of a write whose answer is lost
	mostFolder = 100 // moves of one second
)

// Options of Move.
type Options struct {
	By    string           // who asked for it; "" = nobody said
	Clock func() time.Time // nil = time.Now
	Moved func(Object)     // called after each object, on the goroutine that moves
}

// Moved is what was set aside.
type Moved struct {
	Folder  string
	Objects []Object // that are there now, and no longer in their places
}

// Move does what a plan says. What it returns says how far it came, also with an
// error; the same plan again goes on. Errors: ChangedError; RefusedError; one
// wrapping blob.ErrNotExist for an object that is neither in its place nor set
// aside; those of the store.
func Move(ctx context.Context, store blob.Store, p *Planned, o Options) (*Moved, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	var keys []string
	for _, obj := range p.Objects {
		keys = append(keys, obj.Key)
	}
	if !slices.IsSorted(keys) {
		return nil, &RefusedError{"the objects of the plan are not in the order of their keys"}
	}
	if err := check(keys, p.Why); err != nil {
		return nil, err
	}
	m := &move{store: store, o: o, out: &Moved{}}
	n, err := m.begin(ctx, p)
	if err != nil {
		return nil, err
	}
	m.out.Folder = n.folder
	for _, obj := range n.Objects {
		if err := m.one(ctx, obj); err != nil {
			return m.out, err
		}
		m.out.Objects = append(m.out.Objects, obj)
		if o.Moved != nil {
			o.Moved(obj)
		}
	}
	return m.out, nil
}

type move struct {
	store blob.Store
	o     Options
	out   *Moved
}

// begin finds the note of a halted move of the same objects, or writes one.
func (m *move) begin(ctx context.Context, p *Planned) (*filed, error) {
	all, err := notes(ctx, m.store)
	if err != nil {
		return nil, err
	}
	for _, n := range slices.Backward(all) {
		if p.Folder != "" && n.folder != p.Folder {
			continue
		}
		if n.Why == p.Why && slices.EqualFunc(n.Objects, p.Objects, func(a, b Object) bool { return a.Key == b.Key && a.Size == b.Size && a.ETag == b.ETag }) {
			return &n, nil
		}
	}
	if p.Folder != "" {
		return nil, &RefusedError{fmt.Sprintf("%s does not tell of these objects any more", p.Folder)}
	}
	n := note{Why: p.Why, When: m.o.Clock().UTC().Truncate(time.Second), By: m.o.By}
	for _, obj := range p.Objects {
		data, err := m.original(ctx, obj)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		obj.SHA256 = hex.EncodeToString(sum[:])
		n.Objects = append(n.Objects, obj)
	}
	return m.write(ctx, n)
}

// write writes the note into the first folder that is free.
func (m *move) write(ctx context.Context, n note) (*filed, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(n); err != nil {
		return nil, err
	}
	for i := 1; i <= mostFolder; i++ {
		folder := fmt.Sprintf("%s/%s-%d", Folder, n.When.Format("20060102T150405Z"), i)
		key := folder + "/" + noteName
		same, err := m.create(ctx, key, b.Bytes())
		if err != nil {
			return nil, fmt.Errorf("setting objects aside: writing %s: %w", key, err)
		}
		if same {
			return &filed{n, folder}, nil
		}
	}
	return nil, &RefusedError{fmt.Sprintf("%d moves were begun in this second", mostFolder)}
}

// create writes an object unless the key is taken, and reads back what is there:
// same reports whether it has these bytes.
func (m *move) create(ctx context.Context, key string, data []byte) (same bool, err error) {
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		_, err := m.store.PutIfAbsent(ctx, key, data)
		if err != nil && !errors.Is(err, blob.ErrExists) && !errors.Is(err, blob.ErrAmbiguous) {
			return false, err
		}
		found, readErr := m.store.Get(ctx, key, blob.All)
		switch {
		case readErr == nil:
			return bytes.Equal(found.Data, data), nil
		case !errors.Is(readErr, blob.ErrNotExist) || try == tries:
			return false, errors.Join(err, readErr)
		}
	}
}

// original reads an object, which must be the one that was shown.
func (m *move) original(ctx context.Context, obj Object) ([]byte, error) {
	o, err := m.store.Get(ctx, obj.Key, blob.All)
	if err != nil {
		return nil, fmt.Errorf("setting %s aside: %w", obj.Key, err)
	}
	if int64(len(o.Data)) != o.Size {
		return nil, fmt.Errorf("setting %s aside: %d bytes were read of an object of %d: %w", obj.Key, len(o.Data), o.Size, blob.ErrUnavailable)
	}
	return o.Data, unchanged(obj, o.Attrs)
}

func unchanged(obj Object, a blob.Attrs) error {
	if a.Size == obj.Size && a.ETag == obj.ETag {
		return nil
	}
	return &ChangedError{obj.Key, fmt.Sprintf("%d bytes, etag %s", obj.Size, obj.ETag), fmt.Sprintf("one of %d bytes, etag %s", a.Size, a.ETag)}
}

// one copies an object, compares, and deletes the original.
func (m *move) one(ctx context.Context, obj Object) error {
	copied := fmt.Sprintf("%s/%s", m.out.Folder, obj.Key)
	there, err := m.copied(ctx, copied, obj)
	if err != nil {
		return err
	}
	if there { // by a move that was halted: what it copied must be what is deleted now
		data, err := m.original(ctx, obj)
		switch {
		case errors.Is(err, blob.ErrNotExist):
			return nil
		case err == nil && !is(data, obj):
			err = &ChangedError{obj.Key, "sha256 " + obj.SHA256, "one with other bytes"}
		}
		if err != nil {
			return err
		}
		return m.remove(ctx, obj.Key)
	}
	if err := m.copy(ctx, copied, obj); err != nil {
		return err
	}
	a, err := m.store.Head(ctx, obj.Key)
	switch {
	case errors.Is(err, blob.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("setting %s aside: looking at it once more: %w", obj.Key, err)
	}
	if err := unchanged(obj, a); err != nil {
		return err
	}
	return m.remove(ctx, obj.Key)
}

// copied reports whether the copy is there; one with other bytes is an error.
func (m *move) copied(ctx context.Context, key string, obj Object) (bool, error) {
	o, err := m.store.Get(ctx, key, blob.All)
	switch {
	case errors.Is(err, blob.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("setting %s aside: reading its copy: %w", obj.Key, err)
	}
	if !is(o.Data, obj) {
		return false, fmt.Errorf("setting %s aside: its copy %s has other bytes (%d) than it had (%d, sha256 %s). The original was left as it is: %w", obj.Key, key, len(o.Data), obj.Size, obj.SHA256, blob.ErrExists)
	}
	return true, nil
}

func (m *move) copy(ctx context.Context, key string, obj Object) error {
	data, err := m.original(ctx, obj)
	if err != nil {
		return err
	}
	if !is(data, obj) {
		return &ChangedError{obj.Key, "sha256 " + obj.SHA256, "one with other bytes"}
	}
	same, err := m.create(ctx, key, data)
	if err == nil && !same {
		err = fmt.Errorf("the copy %s has other bytes: %w", key, blob.ErrExists)
	}
	if err != nil {
		return fmt.Errorf("setting %s aside: copying it. The original was left as it is: %w", obj.Key, err)
	}
	return nil
}

func is(data []byte, obj Object) bool {
	sum := sha256.Sum256(data)
	return int64(len(data)) == obj.Size && hex.EncodeToString(sum[:]) == obj.SHA256
}

// remove deletes the original. Deleting it once more settles a lost answer.
func (m *move) remove(ctx context.Context, key string) (err error) {
	for range tries {
		if err = ctx.Err(); err != nil {
			break
		}
		if err = m.store.Delete(ctx, key); !errors.Is(err, blob.ErrAmbiguous) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("setting %s aside: its copy is in place; removing it: %w", key, err)
	}
	return nil
}
