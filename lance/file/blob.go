package file

import "github.com/apache/arrow-go/v18/arrow"

// BlobRef is one value of a blob column: where its bytes lie.
type BlobRef struct {
	Null           bool
	Kind           uint8  // 0 inline, 1 packed, 2 dedicated, 3 external
	Position, Size uint64 // bytes; of an external blob size 0 = to the end
	BlobID         uint32 // of the side-car, or of the base path of an external blob
	URI            string // external only
}

// BlobRefs reads the descriptors of a scanned blob column, of either form.
func BlobRefs(arr arrow.Array) ([]BlobRef, error) { return nil, errNotBuilt }

// SidecarPath is the path of a side-car of a data file, relative to whatever
// the data file's path is relative to.
func SidecarPath(dataFilePath string, blobID uint32) string { return "" }
