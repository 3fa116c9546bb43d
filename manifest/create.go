package manifest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
)

// CreateOptions say what a new graph begins with.
type CreateOptions struct {
	Tables []Update // of main: alias, identity and first version of each
	Commit Intent   // the genesis
	Open   Options  // how to read back; its Branch, Version and Ref are not used

	Now  func() time.Time // nil = time.Now
	Rand io.Reader        // never the same bytes twice: names and identities of what is written; nil = crypto/rand
}

// Create makes `__manifest`, and with it the graph: version 1 with the tables,
// the genesis commit and the head of main. Nothing may be there yet.
//
// Repeated with the same genesis commit it finds what an earlier call made.
//
// Errors: AlreadyInitializedError; InvalidEditError; those of the store, after
// which there is no graph; one that is a blob.ErrAmbiguous says that it is not
// known whether there is: create again with the same commit.
func Create(ctx context.Context, store blob.Store, o CreateOptions) (*Published, error) {
	o.Open.Branch, o.Open.Version, o.Open.Ref = "", 0, nil
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	p, err := o.genesis()
	if err != nil {
		return nil, err
	}
	uuid, err := newUUID(o.Rand)
	if err != nil {
		return nil, err
	}
	schema := schemaOf()
	columns, err := schema.Arrow()
	if err != nil {
		return nil, err
	}
	batch := batchOf(p.rows(), columns, allocator(o.Open))
	defer batch.Release()
	snap, _, err := lance.Create(ctx, store, Folder, lance.CreateOptions{
		Schema: schema, Rows: lance.RowsOf(batch), UUID: uuid, Now: o.Now, Rand: o.Rand, Allocator: allocator(o.Open),
	})
	var lost *commit.ConflictError
	switch {
	case errors.As(err, &lost):
		return o.readBack(ctx, store, lost)
	case err != nil:
		return nil, fmt.Errorf("creating __manifest: %w", err)
	}
	return &Published{View: p.view(snap), Version: 1, Wrote: true, Attempts: 1, Object: snap.Object()}, nil
}

// genesis is the plan of version 1: each table's row is followed by that of its
// version.
func (o *CreateOptions) genesis() (*plan, error) {
	var edits []Edit
	for _, t := range o.Tables {
		reg := Registration{Identity: t.Identity, Alias: t.Alias}
		reg.Location, _ = Location(t.Alias, t.Identity)
		edits = append(edits, reg, t)
	}
	p := newPlan(&View{Head: Head{opened: o.Open}, State: State{Commits: &Commits{}}})
	if err := p.intent(&o.Commit); err != nil {
		return nil, err
	}
	if err := p.take(edits); err != nil {
		return nil, err
	}
	rows := make([]Row, 0, len(p.added))
	n := len(o.Tables)
	for i := range n {
		rows = append(rows, p.added[i], p.added[n+i])
	}
	p.added = append(rows, p.added[2*n:]...)
	return p, nil
}

// readBack finds out whether the graph that stood in the way is the one that
// was to be made: its first version holds exactly this genesis.
func (o *CreateOptions) readBack(ctx context.Context, store blob.Store, lost error) (*Published, error) {
	taken := &AlreadyInitializedError{format.Join(store.Properties().URL, Folder), lost}
	at := o.Open
	at.Version = 1
	v, err := Open(ctx, store, at)
	switch {
	case errors.Is(err, blob.ErrNotExist), errors.Is(err, format.ErrCorrupt), errors.Is(err, format.ErrUnsupported):
		return nil, taken
	case err != nil:
		return nil, fmt.Errorf("creating __manifest: another is there; reading it: %w", err)
	}
	p, err := o.genesis()
	if err != nil {
		return nil, err
	}
	mine := v.Stamp.OK() && len(v.Problems) == 0 && v.Commits.Len() == 1 && v.Commits.SameAt(0, p.after.Commits, 0) &&
		maps.Equal(v.Heads, p.after.Heads) && slices.EqualFunc(v.Tables, p.after.Tables, sameEntry)
	if !mine {
		return nil, taken
	}
	return &Published{View: v, Version: 1, Object: v.Snapshot.Object()}, nil
}

func sameEntry(a, b Entry) bool {
	return a.Identity == b.Identity && a.Alias == b.Alias && a.Version == b.Version && a.Owner == b.Owner && a.Rows == b.Rows && a.Meta.same(b.Meta)
}
