package lance

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
)

// Kinds of blobs.
const (
	BlobInline    = 0 // in the data file
	BlobPacked    = 1 // in a side-car that several share
	BlobDedicated = 2 // in a side-car of its own
	BlobExternal  = 3 // in an object outside the dataset
)

// Blob is one value of a blob column: where its bytes lie. Reading them is a
// range read of its own.
type Blob struct {
	Null bool
	Kind uint8
	Size uint64 // bytes; of an external blob 0 = to the end of the object
	URI  string // external only: absolute, or relative to a base path of the manifest
	Addr uint64 // of the row

	s        *Snapshot
	data     *format.DataFile // file that holds the descriptor
	position uint64
	id       uint32 // side-car, or base path of an external blob (0 = none)
}

// ErrExternal: the bytes of a blob lie outside the dataset and reading there
// was not allowed.
var ErrExternal = errors.New("reading outside the dataset was not allowed; --external allows it")

// Blobs are the values of a blob column at the given row addresses.
func (s *Snapshot) Blobs(ctx context.Context, column string, addrs []uint64) ([]*Blob, error) {
	rec, err := s.Take(ctx, []string{column, ColRowAddress}, addrs)
	if err != nil {
		return nil, err
	}
	defer rec.Release()
	return s.BlobsOf(rec, column)
}

// BlobsOf are the values of a blob column of a batch of this snapshot, which
// must carry _rowaddr. No request.
func (s *Snapshot) BlobsOf(batch arrow.RecordBatch, column string) ([]*Blob, error) {
	f := s.manifest.Schema.Lookup(column)
	if f == nil {
		return nil, &NoColumnError{column, s.columnNames()}
	}
	if f.Blob() == format.NoBlob {
		return nil, fmt.Errorf("column %q is no blob column, its type is %s", column, f.LogicalType)
	}
	at := batch.Schema().FieldIndices(column)
	where := batch.Schema().FieldIndices(ColRowAddress)
	if len(at) != 1 || len(where) != 1 {
		return nil, fmt.Errorf("blobs of column %q need a batch with that column and with %s", column, ColRowAddress)
	}
	refs, err := file.BlobRefs(batch.Column(at[0]))
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", column, err)
	}
	addrs, ok := batch.Column(where[0]).(*array.Uint64)
	if !ok || addrs.Len() != len(refs) {
		return nil, fmt.Errorf("blobs of column %q: %s is of type %s", column, ColRowAddress, batch.Column(where[0]).DataType())
	}
	out := make([]*Blob, len(refs))
	for i, r := range refs {
		b := &Blob{Null: r.Null, Kind: r.Kind, Size: r.Size, URI: r.URI, Addr: addrs.Value(i), s: s, position: r.Position, id: r.BlobID}
		if !r.Null {
			if b.data, err = s.blobFile(b.Addr, f.ID); err != nil {
				return nil, err
			}
		}
		out[i] = b
	}
	return out, nil
}

// blobFile is the data file of a row's fragment that holds a column.
func (s *Snapshot) blobFile(addr uint64, field int32) (*format.DataFile, error) {
	st, err := s.fragment(addr >> 32)
	if err != nil {
		return nil, err
	}
	for i := range st.f.Files {
		for _, id := range st.f.Files[i].Fields {
			if id == field {
				return &st.f.Files[i], nil
			}
		}
	}
	return nil, format.Corruptf("fragment %d has a blob in field %d, but no data file holds that field", st.f.ID, field)
}

// Read returns n bytes from off; n < 0 means to the end. What reaches past the
// end is cut. Of a null blob it returns nil.
func (b *Blob) Read(ctx context.Context, off, n int64) ([]byte, error) {
	if off < 0 {
		return nil, fmt.Errorf("blob of row %d: offset %d", b.Addr, off)
	}
	if b.Null {
		return nil, nil
	}
	data, err := b.read(ctx, off, n)
	if err != nil {
		return nil, fmt.Errorf("blob of row %d: %w", b.Addr, err)
	}
	return data, nil
}

// Object is the key of the object that holds the bytes: the data file, or a
// side-car beside it. It is "" for null and external blobs, and where the
// object can only lie outside this store.
func (b *Blob) Object() string {
	if b.Null || b.Kind == BlobExternal {
		return ""
	}
	name := b.data.Path
	if b.Kind != BlobInline {
		name = file.SidecarPath(name, b.id)
	}
	p, _, ok, err := b.s.bases.own(b.data.Base)
	if err != nil || !ok {
		return ""
	}
	return p.dataKey(name)
}

func (b *Blob) read(ctx context.Context, off, n int64) ([]byte, error) {
	if b.position > 1<<62 || b.Size > 1<<62 {
		return nil, format.Corruptf("its descriptor says %d bytes at %d", b.Size, b.position)
	}
	if b.Kind == BlobExternal {
		return b.external(ctx, off, n)
	}
	left := int64(b.Size) - off
	if left <= 0 {
		return []byte{}, nil
	}
	if n < 0 || n > left {
		n = left
	}
	name := b.data.Path
	switch b.Kind {
	case BlobInline:
		if size := b.data.Size; size != 0 && b.position+b.Size > size {
			return nil, format.Corruptf("its descriptor says %d bytes at %d of data file %s, which has %d", b.Size, b.position, name, size)
		}
	case BlobPacked, BlobDedicated:
		name = file.SidecarPath(name, b.id)
	default:
		return nil, format.Unsupportedf("its descriptor says kind %d, known are 0 to 3", b.Kind)
	}
	var out []byte
	err := b.s.bases.try(ctx, b.data.Base, func(p place) error {
		key := p.dataKey(name)
		if err := checkKey(key); err != nil {
			return err
		}
		o, err := p.store.Get(ctx, key, blob.Range{Off: int64(b.position) + off, Len: n})
		if errors.Is(err, blob.ErrRange) || err == nil && int64(len(o.Data)) != n {
			return format.Corruptf("its descriptor says %d bytes at %d of %s, which ends before that (%w)", b.Size, b.position, key, blob.ErrRange)
		}
		out = o.Data
		return err
	})
	return out, err
}

// external reads a blob outside the dataset, or below a base path of it.
func (b *Blob) external(ctx context.Context, off, n int64) ([]byte, error) {
	if b.Size != 0 {
		left := int64(b.Size) - off
		if left <= 0 {
			return []byte{}, nil
		}
		if n < 0 || n > left {
			n = left
		}
	}
	from := int64(b.position) + off
	if b.id == 0 {
		if b.s.env.opts.External == nil {
			return nil, fmt.Errorf("its bytes lie at %s: %w", b.URI, ErrExternal)
		}
		return b.s.env.opts.External(ctx, b.URI, from, n)
	}
	var out []byte
	err := b.s.bases.try(ctx, format.BaseRef{Set: true, ID: b.id}, func(p place) error {
		key := format.Join(p.dir, b.URI)
		if err := checkKey(key); err != nil {
			return err
		}
		o, err := p.store.Get(ctx, key, blob.Range{Off: from, Len: n})
		out = o.Data
		return err
	})
	return out, err
}
