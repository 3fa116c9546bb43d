package format

import "time"

// Transaction is the delta that produced a version.
type Transaction struct {
	ReadVersion uint64
	UUID        string
	Tag         string
	Properties  map[string]string
	Operation   Operation
	// Inline: it was read from the manifest itself, not from _transactions/.
	Inline bool
}

// Operation is what a transaction did, in numbers. A delta is nil when the
// operation itself does not say.
type Operation struct {
	Name           string // one word: append, delete, overwrite, index, rewrite, merge, restore, reserve, update, project, config, replace, memwal, clone, bases, overlay; "none" when absent
	RowsDelta      *int64 // live rows
	FragmentsDelta *int64
	Detail         string // predicate of a delete, restored version, cloned branch …; "" when there is nothing to add
}

// Index is one segment of an index as the manifest lists it.
type Index struct {
	UUID           string // hyphenated; names the folder _indices/<uuid>
	Name           string
	Fields         []int32
	DatasetVersion uint64
	Bitmap         []byte // portable roaring bitmap of fragment ids; empty = unknown
	DetailsURL     string // type of the details message
	Details        []byte // its bytes
	IndexVersion   *int32
	CreatedAt      time.Time // zero when not recorded
	Base           BaseRef
	Files          []IndexFile
}

// IndexFile is one file of an index segment.
type IndexFile struct {
	Path string // relative to the segment's folder
	Size uint64 // bytes
}
