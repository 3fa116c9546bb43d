package lance

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance/format"
)

// blobInputType is a blob column as it is given to a file writer.
var blobInputType = arrow.StructOf(
	arrow.Field{Name: "data", Type: arrow.BinaryTypes.LargeBinary, Nullable: true},
	arrow.Field{Name: "uri", Type: arrow.BinaryTypes.String, Nullable: true},
	arrow.Field{Name: "position", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
	arrow.Field{Name: "size", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
)

// carry brings the blobs of the rows that a batch replaces where the batch has
// no such column, by field. References to objects outside stay references; of
// the others the bytes are read, because a file says where they lie in itself
// only. The arrays are the caller's, also with an error.
func (st *staging) carry(ctx context.Context, b *upsertBatch) (map[int]arrow.Array, error) {
	out := map[int]arrow.Array{}
	for i, c := range b.cols {
		if c != nil {
			continue
		}
		name := st.schema.Fields[i].Name
		arr, err := st.carryColumn(ctx, name, b.addrs)
		if err != nil {
			var limit *LimitError
			if errors.As(err, &limit) {
				return out, err
			}
			return out, fmt.Errorf("keeping the blobs of column %q of %s: %w", name, st.out.env.at(), err)
		}
		out[i] = arr
	}
	return out, nil
}

func (st *staging) carryColumn(ctx context.Context, name string, addrs []uint64) (arrow.Array, error) {
	blobs, err := st.base.Blobs(ctx, name, addrs)
	if err != nil {
		return nil, err
	}
	for _, b := range blobs {
		if b.Null || b.Kind == BlobExternal {
			continue
		}
		if b.Size > uint64(st.o.CarryBytes) {
			return nil, &LimitError{"bytes of blobs that rows keep while they are rewritten", st.o.CarryBytes, st.carried + int64(min(b.Size, 1<<62))}
		}
		if st.carried += int64(b.Size); st.carried > st.o.CarryBytes {
			return nil, &LimitError{"bytes of blobs that rows keep while they are rewritten", st.o.CarryBytes, st.carried}
		}
	}
	payloads := make([][]byte, len(blobs))
	g := beside.New(ctx, st.out.env.opts.Parallelism)
	for i, b := range blobs {
		if b.Null || b.Kind == BlobExternal {
			continue
		}
		g.Go(func(ctx context.Context) (err error) { payloads[i], err = b.Read(ctx, 0, -1); return err })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	build := array.NewStructBuilder(st.out.env.opts.Allocator, blobInputType)
	defer build.Release()
	for i, b := range blobs {
		if err := appendBlob(build, b, payloads[i]); err != nil {
			return nil, err
		}
	}
	return build.NewArray(), nil
}

// appendBlob appends one blob as a file writer wants it.
func appendBlob(build *array.StructBuilder, b *Blob, payload []byte) error {
	data, uri := build.FieldBuilder(0).(*array.BinaryBuilder), build.FieldBuilder(1).(*array.StringBuilder)
	position, size := build.FieldBuilder(2).(*array.Uint64Builder), build.FieldBuilder(3).(*array.Uint64Builder)
	build.Append(!b.Null) // a null is appended below, too
	switch {
	case b.Null:
	case b.Kind != BlobExternal:
		data.Append(payload)
		uri.AppendNull()
		position.AppendNull()
		size.AppendNull()
	case b.id != 0:
		return format.Unsupportedf("the row at address %d has a blob below base path %d of the table, which no row of another file can name", b.Addr, b.id)
	default:
		data.AppendNull()
		uri.Append(b.URI)
		position.Append(b.position)
		size.Append(b.Size)
	}
	return nil
}
