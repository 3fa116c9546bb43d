package file

import "io"

// Written is a finished data file with what a manifest's DataFile says of it.
type Written struct {
	Segments [][]byte // the bytes of the file, in order
	Size     int64    // bytes of the file
	Rows     int64
	Fields   []int32   // ids of the fields that own a column
	Columns  []int32   // the column of each
	Sidecars []Sidecar // which belong to the file and are written before it
}

// Sidecar is an object with payloads of blobs. It lies at SidecarPath.
type Sidecar struct {
	BlobID uint32
	Data   []byte
}

// Bytes is the file in one piece.
func (w *Written) Bytes() []byte {
	if len(w.Segments) == 1 {
		return w.Segments[0]
	}
	out := make([]byte, 0, w.Size)
	for _, s := range w.Segments {
		out = append(out, s...)
	}
	return out
}

// WriteTo writes the file to a stream.
func (w *Written) WriteTo(dst io.Writer) (int64, error) {
	total := int64(0)
	for _, s := range w.Segments {
		n, err := dst.Write(s)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

const (
	outputBlock = 1 << 20 // small buffers are brought together in blocks
	outputSmall = 64 << 10
	filler      = 'H' // between buffers
)

// output is a file that grows.
type output struct {
	segments [][]byte
	block    []byte // the last one, not yet among the segments
	size     int64
}

// put appends a buffer at a multiple of the alignment, and returns where.
func (o *output) put(p []byte) int64 {
	at := o.size
	o.write(p)
	for o.size%alignment != 0 {
		o.write([]byte{filler})
	}
	return at
}

// write appends bytes. Large ones are used in place.
func (o *output) write(p []byte) {
	o.size += int64(len(p))
	if len(p) >= outputSmall {
		o.flush()
		o.segments = append(o.segments, p)
		return
	}
	if len(o.block)+len(p) > cap(o.block) {
		o.flush()
		o.block = make([]byte, 0, min(max(2*cap(o.block), 4<<10, len(p)), outputBlock))
	}
	o.block = append(o.block, p...)
}

func (o *output) flush() {
	if len(o.block) > 0 {
		o.segments = append(o.segments, o.block)
		o.block = o.block[len(o.block):]
	}
}

func (o *output) all() [][]byte {
	o.flush()
	return o.segments
}
