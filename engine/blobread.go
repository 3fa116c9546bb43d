package engine

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance"
)

// Bounds of what is fetched ahead of the row being told.
const (
	blobWindowBytes = 32 << 20
	blobWindowRows  = 64
)

// blobWindow holds the bytes of the blobs of a few rows. They are fetched side
// by side in the order in which rows will be told, so that memory stays within
// a window, or within one row's blobs when those are larger.
type blobWindow struct {
	op    *operation
	bytes map[*lance.Blob][]byte
}

// need makes sure that the bytes of the first of rows are here; those behind
// it come along as far as a window reaches.
func (w *blobWindow) need(ctx context.Context, rows iter.Seq[[]*lance.Blob]) error {
	var want []*lance.Blob
	n, size := 0, uint64(0)
	for row := range rows {
		if n == 0 && w.has(row) {
			return nil
		}
		for _, b := range row {
			size += b.Size
		}
		if n > 0 && size > blobWindowBytes || n == blobWindowRows {
			break
		}
		want = append(want, row...)
		n++
	}
	got := make([][]byte, len(want))
	w.bytes = make(map[*lance.Blob][]byte, len(want))
	err := w.op.each(len(want), func(i int) error {
		data, err := want[i].Read(ctx, 0, -1)
		if err == nil && uint64(len(data)) != want[i].Size {
			err = fmt.Errorf("a blob of %d bytes was read, %d are recorded", len(data), want[i].Size)
		}
		got[i] = data
		return err
	})
	for i, b := range want {
		w.bytes[b] = got[i]
	}
	return err
}

func (w *blobWindow) has(row []*lance.Blob) bool {
	for _, b := range row {
		if _, ok := w.bytes[b]; !ok {
			return false
		}
	}
	return true
}

// batchBlobs are the blobs of one batch.
type batchBlobs struct {
	window  *blobWindow
	columns map[string][]*lance.Blob // by property
	names   []string
}

// blobsOf locates the blobs of a batch of a snapshot; no request. With names
// the batch must carry row addresses.
func (w *blobWindow) blobsOf(s *lance.Snapshot, batch arrow.RecordBatch, names []string) (*batchBlobs, error) {
	b := &batchBlobs{window: w, names: names, columns: map[string][]*lance.Blob{}}
	for _, n := range names {
		list, err := s.BlobsOf(batch, n)
		if err != nil {
			return nil, err
		}
		b.columns[n] = list
	}
	return b, nil
}

// row are the blobs of a row whose bytes the dataset keeps.
func (b *batchBlobs) row(i int) []*lance.Blob {
	var out []*lance.Blob
	for _, n := range b.names {
		if x := b.columns[n][i]; x != nil && !x.Null && x.Kind != lance.BlobExternal {
			out = append(out, x)
		}
	}
	return out
}

// fetch makes sure that the bytes of a row are here, when rows are told as they
// stand.
func (b *batchBlobs) fetch(ctx context.Context, row, rows int) error {
	if len(b.names) == 0 {
		return nil
	}
	return b.window.need(ctx, func(yield func([]*lance.Blob) bool) {
		for i := row; i < rows && yield(b.row(i)); i++ {
		}
	})
}

// text gives the bytes that were fetched: load.BlobText.
func (b *batchBlobs) text(property string, row int) (data []byte, uri string, null bool, err error) {
	x := b.columns[property][row]
	switch {
	case x == nil || x.Null:
		return nil, "", true, nil
	case x.Kind == lance.BlobExternal:
		return nil, x.URI, false, nil
	}
	data, ok := b.window.bytes[x]
	if !ok {
		return nil, "", false, fmt.Errorf("the bytes of blob %s of row %d were not fetched", property, row)
	}
	return data, "", false, nil
}

// sizes stands in for text where bytes are not read: load.BlobText.
func (b *batchBlobs) sizes(property string, row int) (data []byte, uri string, null bool, err error) {
	switch x := b.columns[property][row]; {
	case x == nil || x.Null:
		return nil, "", true, nil
	case x.Kind == lance.BlobExternal:
		return nil, x.URI, false, nil
	default:
		return nil, fmt.Sprintf("%d bytes", x.Size), false, nil
	}
}
