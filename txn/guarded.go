package txn

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/omnideck/omnideck/blob"
)

// guarded is a store whose objects go and change only while the record of an
// operation is there as it was judged: as long as it is, nobody else makes
// branches, datasets or schema files in the place of those that it names.
type guarded struct {
	blob.Store
	r *Redo
}

// Guarded is the store through which what a record names is removed and put in
// place. Before each such call it reads the record; when it is gone or another,
// nothing is changed, and the error says to judge anew (Overtaken).
func (r *Redo) Guarded() blob.Store { return &guarded{r.store, r} }

// Put writes an object.
func (g *guarded) Put(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	if err := g.r.Stands(ctx); err != nil {
		return blob.Attrs{}, err
	}
	return g.Store.Put(ctx, key, data)
}

// Delete removes an object.
func (g *guarded) Delete(ctx context.Context, key string) error {
	if err := g.r.Stands(ctx); err != nil {
		return err
	}
	return g.Store.Delete(ctx, key)
}

// Stands is nil when the record is there as it was judged, or as Decide wrote it;
// when it is not, its error says to judge anew.
func (r *Redo) Stands(ctx context.Context) error {
	switch obj, err := r.store.Get(ctx, r.key, blob.All); {
	case errors.Is(err, blob.ErrNotExist):
		return &overtaken{fmt.Sprintf("the record %s is gone", r.key)}
	case err != nil:
		return fmt.Errorf("reading the record %s before what it says is done: %w", r.key, err)
	case !bytes.Equal(obj.Data, r.record) && (r.decided == nil || !bytes.Equal(obj.Data, r.decided)):
		return &overtaken{fmt.Sprintf("the record %s is another than the one that was judged", r.key)}
	}
	return nil
}
