package deletion

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// The Arrow IPC file, as far as the one shape of deletion files needs it:
//
//	"ARROW1", padding
//	messages: [ff ff ff ff] i32 length, Message, padding; then the body
//	Footer, i32 length of the footer, "ARROW1"
//
// The general readers of this format take the sizes in a file at their word,
// which a single wrong byte turns into an allocation of gigabytes.
const arrowMagic = "ARROW1"

// Slots and enums of the tables (File.fbs, Schema.fbs, Message.fbs).
const (
	footerSchema, footerBatches              = 1, 3
	schemaEndian, schemaFields, schemaMeta   = 0, 1, 2
	fieldName, fieldNullable, fieldTypeKind  = 0, 1, 2
	fieldType, fieldDictionary               = 3, 4
	intWidth, intSigned                      = 0, 1
	messageKind, messageHeader, messageBody  = 1, 2, 3
	batchLength, batchNodes, batchBuffers    = 0, 1, 2
	batchCompression                         = 3
	typeInt                                  = 2
	kindRecordBatch                          = 3
	codecLZ4, codecZstd                      = 0, 1
	blockSize, nodeSize, bufferSize, refSize = 24, 16, 16, 4
	maxRatio                                 = 256 // distinct offsets never compress better
)

// DecodeArrow reads the .arrow form. rows is the number of physical rows of
// the fragment, 0 when it is not known: offsets must be below it.
func DecodeArrow(b []byte, rows uint64) (*Set, error) {
	n := len(b)
	if n < 2*len(arrowMagic)+4 || string(b[:6]) != arrowMagic || string(b[n-6:]) != arrowMagic {
		return nil, damaged("%d bytes that do not begin and end with %q", n, arrowMagic)
	}
	size := int(int32(binary.LittleEndian.Uint32(b[n-10:])))
	if size < 0 || size > n-10 {
		return nil, damaged("a footer of %d bytes in a file of %d", size, n)
	}
	footer := &flat{b: b[n-10-size : n-10]}
	root := footer.root()
	if err := checkSchema(footer, footer.ref(root, footerSchema)); err != nil {
		return nil, err
	}
	at, blocks := footer.vector(root, footerBatches, blockSize)
	if footer.err != nil {
		return nil, footer.err
	}
	if blocks != 1 {
		return nil, damaged("%d record batches, expected 1", blocks)
	}
	off, meta, body := footer.i64(at), int64(footer.i32(at+8)), footer.i64(at+16)
	limit := int64(n)
	if off < 0 || meta < 8 || body < 0 || off > limit || meta > limit-off || body > limit-off-meta {
		return nil, damaged("a record batch of %d+%d bytes at %d in a file of %d bytes", meta, body, off, n)
	}
	offsets, err := batch(b[off:off+meta], b[off+meta:off+meta+body])
	if err != nil {
		return nil, err
	}
	return setOf(offsets, rows)
}

// checkSchema demands exactly row_id: uint32, not null, without metadata.
func checkSchema(f *flat, schema int) error {
	at, n := f.vector(schema, schemaFields, refSize)
	_, meta := f.vector(schema, schemaMeta, refSize)
	switch {
	case f.err != nil:
		return f.err
	case schema == 0 || n != 1:
		return damaged("%d columns, expected the one column row_id", n)
	case f.short(schema, schemaEndian) != 0:
		return damaged("big-endian numbers")
	case meta != 0:
		return damaged("schema metadata with %d entries, expected none", meta)
	}
	field := at + f.u32(at)
	name, nullable, kind := f.text(field, fieldName), f.small(field, fieldNullable), f.small(field, fieldTypeKind)
	t := f.ref(field, fieldType)
	width, signed := f.number(t, intWidth), f.small(t, intSigned)
	dict := f.slot(field, fieldDictionary)
	if f.err != nil {
		return f.err
	}
	if name != "row_id" || nullable != 0 || kind != typeInt || width != 32 || signed != 0 || dict != 0 {
		return damaged("column %q (type %d, width %d, signed %d, nullable %d), expected row_id: uint32, not nullable", name, kind, width, signed, nullable)
	}
	return nil
}

// batch reads the offsets of the only record batch: its message and its body.
func batch(meta, body []byte) ([]byte, error) {
	if binary.LittleEndian.Uint32(meta) == math.MaxUint32 {
		meta = meta[4:]
	}
	m := &flat{b: meta[4:]}
	root := m.root()
	kind, rec := m.small(root, messageKind), m.ref(root, messageHeader)
	length := m.long(rec, batchLength)
	nodes, nn := m.vector(rec, batchNodes, nodeSize)
	bufs, nb := m.vector(rec, batchBuffers, bufferSize)
	if m.err != nil {
		return nil, m.err
	}
	if kind != kindRecordBatch || nn != 1 || nb != 2 {
		return nil, damaged("a message of kind %d with %d columns and %d buffers, expected a record batch (3) with 1 and 2", kind, nn, nb)
	}
	if got, nulls := m.i64(nodes), m.i64(nodes+8); got != length || nulls != 0 || length < 0 || length > math.MaxUint32 {
		return nil, damaged("a batch of %d rows with a column of %d, %d of them null", length, got, nulls)
	}
	off, size := m.i64(bufs+bufferSize), m.i64(bufs+bufferSize+8)
	if off < 0 || size < 0 || off > int64(len(body)) || size > int64(len(body))-off {
		return nil, damaged("values at %d..%d of a body of %d bytes", off, off+size, len(body))
	}
	values, err := unpack(m, m.ref(rec, batchCompression), body[off:off+size], 4*length)
	if err != nil {
		return nil, err
	}
	if int64(len(values)) < 4*length {
		return nil, damaged("%d bytes for %d offsets of 4 bytes", len(values), length)
	}
	return values[:4*length], nil
}

// unpack undoes the compression of a buffer that must hold at least need
// bytes: an i64, the unpacked length or -1, then the bytes.
func unpack(m *flat, compression int, b []byte, need int64) ([]byte, error) {
	if m.err != nil || compression == 0 || len(b) == 0 {
		return b, m.err
	}
	codec := m.small(compression, 0)
	if m.err != nil {
		return nil, m.err
	}
	if len(b) < 8 {
		return nil, damaged("a compressed buffer of %d bytes", len(b))
	}
	size, packed := int64(binary.LittleEndian.Uint64(b)), b[8:]
	if size == -1 {
		return packed, nil
	}
	// Padding of the unpacked buffer is not counted as need.
	if size < need || size > need+64 || size > maxRatio*int64(len(packed)) {
		return nil, damaged("%d packed bytes that claim to be %d, where %d are needed", len(packed), size, need)
	}
	out := make([]byte, size)
	var err error
	switch codec {
	case codecZstd:
		d := decoders.Get().(*zstd.Decoder)
		if err = d.Reset(bytes.NewReader(packed)); err == nil {
			_, err = io.ReadFull(d, out)
		}
		if d.Reset(nil) == nil {
			decoders.Put(d)
		}
	case codecLZ4:
		_, err = io.ReadFull(lz4.NewReader(bytes.NewReader(packed)), out)
	default:
		return nil, damaged("compression %d, known are 0 (lz4) and 1 (zstd)", codec)
	}
	if err != nil {
		return nil, damaged("its values do not unpack: %w", err)
	}
	return out, nil
}

// decoders are kept, because making one costs more than a small file.
var decoders = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
	if err != nil {
		panic(err) // only for options that contradict each other
	}
	return d
}}

// setOf makes the set of little-endian offsets in any order.
func setOf(values []byte, rows uint64) (*Set, error) {
	n := len(values) / 4
	offsets := make([]uint32, n)
	for i := range offsets {
		offsets[i] = binary.LittleEndian.Uint32(values[4*i:])
	}
	bits := roaring.New()
	bits.AddMany(offsets)
	if got := bits.GetCardinality(); got != uint64(n) {
		return nil, damaged("%d offsets, only %d of them different", n, got)
	}
	return newSet(bits, rows)
}
