package lance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
)

// blobFault is what is wrong with blobs of one column of a fragment, by kind
// of fault; what is told of it is the first of them.
type blobFault struct {
	column, fault string
}

type blobFaults struct {
	key   string // object of the first
	first string // the first, in words
	rows  uint64
	more  map[string]bool // the other objects
}

// blobCheck compares the descriptors of blobs with the objects that they point
// into: each object is asked for its length once in a fragment. Payloads are
// not read: nothing would tell a good byte from a bad one, Lance keeps no check
// sums of them. Blobs outside the dataset are not looked at.
type blobCheck struct {
	c       *checker
	columns []string
	sizes   map[blobHome]uint64 // missing: absent
	asked   map[blobHome]bool
	faults  map[blobFault]*blobFaults
}

func (c *checker) newBlobCheck(columns []string) *blobCheck {
	b := &blobCheck{c: c, sizes: map[blobHome]uint64{}, asked: map[blobHome]bool{}, faults: map[blobFault]*blobFaults{}}
	for _, name := range columns {
		if c.s.Schema().Lookup(name).Blob() != format.NoBlob {
			b.columns = append(b.columns, name)
		}
	}
	return b
}

// batch checks the blobs of one batch, which carries _rowaddr.
func (b *blobCheck) batch(ctx context.Context, rec arrow.RecordBatch) error {
	for _, column := range b.columns {
		blobs, err := b.c.s.BlobsOf(rec, column)
		if err != nil {
			return err
		}
		blobs = slices.DeleteFunc(blobs, func(x *Blob) bool { return x.Null || x.Kind == BlobExternal || x.Size == 0 })
		if err := b.ask(ctx, blobs); err != nil {
			return err
		}
		for _, x := range blobs {
			b.judge(column, x)
		}
	}
	return nil
}

// blobHome is an object that holds bytes of blobs: its name below the data
// folder of a base, "" of a kind of blob that is not known.
type blobHome struct {
	base format.BaseRef
	name string
}

func (b *Blob) home() blobHome {
	switch b.Kind {
	case BlobInline:
		return blobHome{b.data.Base, b.data.Path}
	case BlobPacked, BlobDedicated:
		return blobHome{b.data.Base, file.SidecarPath(b.data.Path, b.id)}
	}
	return blobHome{}
}

// ask learns the lengths of the objects that were not asked for before.
func (b *blobCheck) ask(ctx context.Context, blobs []*Blob) error {
	var mu sync.Mutex
	g := beside.New(ctx, b.c.s.env.opts.Parallelism)
	for _, x := range blobs {
		at := x.home()
		if at.name == "" || b.asked[at] {
			continue
		}
		b.asked[at] = true
		g.Go(func(ctx context.Context) error {
			err := b.c.s.bases.try(ctx, at.base, func(p place) error {
				key := p.dataKey(at.name)
				if err := checkKey(key); err != nil {
					return err
				}
				a, err := p.store.Head(ctx, key)
				if err == nil {
					mu.Lock()
					b.sizes[at] = uint64(max(a.Size, 0))
					mu.Unlock()
				}
				return err
			})
			if ctx.Err() == nil && (errors.Is(err, blob.ErrNotExist) || errors.Is(err, format.ErrCorrupt)) {
				return nil // absent
			}
			return err
		})
	}
	return g.Wait()
}

// judge compares one descriptor with the length of its object.
func (b *blobCheck) judge(column string, x *Blob) {
	at := x.home()
	size, there := b.sizes[at]
	switch {
	case at.name == "":
		b.note(column, "whose descriptor is of a kind that is not known", x, fmt.Sprintf("kind %d", x.Kind))
	case !there:
		b.note(column, "whose object is missing", x, fmt.Sprintf("%d bytes at %d", x.Size, x.position))
	case x.position > size || x.Size > size-x.position:
		b.note(column, "whose descriptor reaches past the end of its object", x, fmt.Sprintf("%d bytes at %d of %d", x.Size, x.position, size))
	}
}

func (b *blobCheck) note(column, fault string, x *Blob, what string) {
	key := cmp.Or(x.Object(), x.data.DataPath())
	f := b.faults[blobFault{column, fault}]
	if f == nil {
		f = &blobFaults{key: key, first: fmt.Sprintf("row address %d: %s", x.Addr, what), more: map[string]bool{}}
		b.faults[blobFault{column, fault}] = f
	}
	f.rows++
	if key != f.key {
		f.more[key] = true
	}
}

// report adds a problem for each kind of fault.
func (b *blobCheck) report(fragment uint64) {
	for k, f := range b.faults {
		found := fmt.Sprintf("fragment %d, column %s: %d blobs %s, the first at %s", fragment, k.column, f.rows, k.fault, f.first)
		if len(f.more) > 0 {
			found += fmt.Sprintf("; %d other objects too", len(f.more))
		}
		b.c.add(Problem{ID: "blob", Key: f.key, Found: found, Expected: "an object that holds the bytes that the descriptor names", RowsAffected: f.rows})
	}
}
