package lance

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
)

// Blob is one value of a blob column: where its bytes lie. Reading them is a
// range read of its own.
type Blob struct {
	Null bool
	Kind uint8  // 0 inline, 1 packed, 2 dedicated, 3 external
	Size uint64 // bytes; of an external blob 0 = to the end of the object
	URI  string // external only
	Key  string // object that holds the bytes; "" for external
}

// Blobs are the values of a blob column at the given row addresses.
func (s *Snapshot) Blobs(ctx context.Context, column string, addrs []uint64) ([]*Blob, error) {
	return nil, nil
}

// BlobsOf are the values of a blob column of a scanned batch, which must carry
// _rowaddr. No request.
func (s *Snapshot) BlobsOf(batch arrow.RecordBatch, column string) ([]*Blob, error) {
	return nil, nil
}

// Read returns n bytes from off; n < 0 means to the end. Of a null blob it
// returns nil.
func (b *Blob) Read(ctx context.Context, off, n int64) ([]byte, error) { return nil, nil }
