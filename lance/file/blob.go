package file

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/lance/format"
)

// Kinds of blobs, by where their bytes are.
const (
	BlobInline    uint8 = 0 // in the data file at Position
	BlobPacked    uint8 = 1 // in the side-car BlobID at Position, with others
	BlobDedicated uint8 = 2 // the side-car BlobID is the blob
	BlobExternal  uint8 = 3 // at URI, from Position
)

// BlobRef is one value of a blob column: where its bytes lie. Those of the
// first form are inline.
type BlobRef struct {
	Null           bool
	Kind           uint8
	Position, Size uint64 // bytes; of an external blob size 0 = to the end
	BlobID         uint32 // of the side-car, or of the base path of an external blob
	URI            string // external only
}

// BlobRefs reads the descriptors of a scanned blob column, of either form.
func BlobRefs(arr arrow.Array) ([]BlobRef, error) {
	s, ok := arr.(*array.Struct)
	if !ok {
		return nil, format.Corruptf("%s is no descriptor of blobs", arr.DataType())
	}
	t := s.DataType().(*arrow.StructType)
	out := make([]BlobRef, s.Len())
	seen := 0
	for i, f := range t.Fields() {
		col := s.Field(i)
		for k := range out {
			if !readDescriptor(&out[k], f.Name, col, k) {
				return nil, format.Corruptf("%s is no descriptor of blobs, for its field %q", t, f.Name)
			}
		}
		if f.Name == "position" || f.Name == "size" {
			seen++
		}
	}
	if seen != 2 {
		return nil, format.Corruptf("%s is no descriptor of blobs", t)
	}
	for k := range out {
		if s.IsNull(k) {
			out[k] = BlobRef{Null: true}
		}
	}
	return out, nil
}

// readDescriptor reads field name of element k and tells whether it can.
func readDescriptor(ref *BlobRef, name string, col arrow.Array, k int) bool {
	switch c := col.(type) {
	case *array.Uint8:
		ref.Kind = c.Value(k)
		return name == "kind"
	case *array.Uint64:
		if name == "position" {
			ref.Position = c.Value(k)
		} else {
			ref.Size = c.Value(k)
		}
		return name == "position" || name == "size"
	case *array.Uint32:
		ref.BlobID = c.Value(k)
		return name == "blob_id"
	case *array.String:
		ref.URI = strings.Clone(c.Value(k))
		return name == "blob_uri"
	}
	return false
}

// SidecarPath is the path of a side-car of a data file, relative to whatever
// the data file's path is relative to: a folder of the data file's name, and in
// it the bits of the id in reverse, as 32 digits. Id 0 is no side-car.
func SidecarPath(dataFilePath string, blobID uint32) string {
	name := strconv.FormatUint(uint64(bits.Reverse32(blobID)), 2)
	return strings.TrimSuffix(dataFilePath, ".lance") + "/" + strings.Repeat("0", 32-len(name)) + name + ".blob"
}
