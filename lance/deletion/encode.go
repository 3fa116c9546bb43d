package deletion

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
	flatbuffers "github.com/google/flatbuffers/go"
)

// BitmapFrom is the number of deleted rows from which on Lance writes the .bin
// form; either is accepted at any size.
const BitmapFrom = 5000

// New is the set of some offsets, in any order, doubles allowed.
func New(offsets []uint32) *Set {
	bits := roaring.New()
	bits.AddMany(offsets)
	return &Set{bits}
}

// All yields the offsets in ascending order.
func (s *Set) All() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if s == nil {
			return
		}
		for it := s.bits.Iterator(); it.HasNext(); {
			if !yield(it.Next()) {
				return
			}
		}
	}
}

// Union is the set of what is in one of two sets.
func (s *Set) Union(o *Set) *Set {
	switch {
	case s == nil:
		return o
	case o == nil:
		return s
	}
	return &Set{roaring.Or(s.bits, o.bits)}
}

// Intersect is the set of what is in both.
func (s *Set) Intersect(o *Set) *Set {
	if s == nil || o == nil {
		return nil
	}
	return &Set{roaring.And(s.bits, o.bits)}
}

// EncodeBitmap writes the .bin form.
func (s *Set) EncodeBitmap() ([]byte, error) {
	bits := roaring.New()
	if s != nil {
		bits = s.bits.Clone()
	}
	bits.RunOptimize()
	b, err := bits.ToBytes()
	if err != nil {
		return nil, fmt.Errorf("writing a deletion file of %d offsets: %w", s.Len(), err)
	}
	return b, nil
}

// EncodeArrow writes the .arrow form, uncompressed, the offsets ascending.
func (s *Set) EncodeArrow() []byte {
	n := int64(s.Len())
	out := padded([]byte(arrowMagic), 8)
	out = append(out, message(schemaMessage())...)
	at := int64(len(out))
	head := message(batchMessage(n))
	out = append(out, head...)
	for x := range s.All() {
		out = binary.LittleEndian.AppendUint32(out, x)
	}
	out = padded(out, 8)
	body := int64(len(out)) - at - int64(len(head))
	out = append(out, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)
	footer := footerTable(at, int32(len(head)), body)
	out = append(out, footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, arrowMagic...)
}

// padded fills up with zeros to a multiple of n.
func padded(b []byte, n int) []byte {
	return append(b, make([]byte, (n-len(b)%n)%n)...)
}

// message puts the prefix before a metadata message.
func message(meta []byte) []byte {
	meta = padded(meta, 8)
	out := binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(len(meta)))
	return append(out, meta...)
}

// What the tables hold beyond the slots that are read.
const (
	metadataV5                    = 4
	footerVersion, messageVersion = 0, 0
	kindSchema                    = 1
	fieldChildren                 = 5
)

// bodySize is what n offsets take in the body of a batch.
func bodySize(n int64) int64 { return (4*n + 7) / 8 * 8 }

func schemaMessage() []byte {
	b := flatbuffers.NewBuilder(256)
	schema := schemaTable(b)
	return finishMessage(b, kindSchema, schema, 0)
}

// schemaTable is row_id: uint32, not null, without metadata.
func schemaTable(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	name := b.CreateString("row_id")
	b.StartObject(2)
	b.PrependInt32Slot(intWidth, 32, 0)
	typ := b.EndObject()
	b.StartVector(4, 0, 4)
	children := b.EndVector(0)
	b.StartObject(7)
	b.PrependUOffsetTSlot(fieldName, name, 0)
	b.PrependByteSlot(fieldTypeKind, typeInt, 0)
	b.PrependUOffsetTSlot(fieldType, typ, 0)
	b.PrependUOffsetTSlot(fieldChildren, children, 0)
	field := b.EndObject()
	b.StartVector(4, 1, 4)
	b.PrependUOffsetT(field)
	fields := b.EndVector(1)
	b.StartObject(4)
	b.PrependUOffsetTSlot(schemaFields, fields, 0)
	return b.EndObject()
}

func batchMessage(n int64) []byte {
	b := flatbuffers.NewBuilder(256)
	b.StartVector(bufferSize, 2, 8)
	for _, size := range []int64{4 * n, 0} { // backwards: the values, no validity
		b.Prep(8, bufferSize)
		b.PrependInt64(size)
		b.PrependInt64(0)
	}
	buffers := b.EndVector(2)
	b.StartVector(nodeSize, 1, 8)
	b.Prep(8, nodeSize)
	b.PrependInt64(0)
	b.PrependInt64(n)
	nodes := b.EndVector(1)
	b.StartObject(4)
	b.PrependInt64Slot(batchLength, n, 0)
	b.PrependUOffsetTSlot(batchNodes, nodes, 0)
	b.PrependUOffsetTSlot(batchBuffers, buffers, 0)
	return finishMessage(b, kindRecordBatch, b.EndObject(), bodySize(n))
}

func finishMessage(b *flatbuffers.Builder, kind byte, header flatbuffers.UOffsetT, body int64) []byte {
	b.StartObject(5)
	b.PrependInt64Slot(messageBody, body, 0)
	b.PrependUOffsetTSlot(messageHeader, header, 0)
	b.PrependInt16Slot(messageVersion, metadataV5, 0)
	b.PrependByteSlot(messageKind, kind, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

func footerTable(at int64, meta int32, body int64) []byte {
	b := flatbuffers.NewBuilder(256)
	schema := schemaTable(b)
	b.StartVector(blockSize, 1, 8)
	b.Prep(8, blockSize)
	b.PrependInt64(body)
	b.Pad(4)
	b.PrependInt32(meta)
	b.PrependInt64(at)
	batches := b.EndVector(1)
	b.StartVector(blockSize, 0, 8)
	dictionaries := b.EndVector(0)
	b.StartObject(5)
	b.PrependInt16Slot(footerVersion, metadataV5, 0)
	b.PrependUOffsetTSlot(footerSchema, schema, 0)
	b.PrependUOffsetTSlot(footerBatches-1, dictionaries, 0)
	b.PrependUOffsetTSlot(footerBatches, batches, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}
