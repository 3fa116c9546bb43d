package format

import (
	"encoding/hex"
	"math"
	"time"

	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// Index is one segment of an index as a manifest lists it.
type Index struct {
	UUID           string // hyphenated; names the folder _indices/<uuid>
	Name           string // several segments may share it
	Fields         []int32
	DatasetVersion uint64 // version that it was built from
	Bitmap         []byte // portable roaring bitmap of fragment ids; empty = unknown
	DetailsURL     string // type of the details message
	Details        []byte // its bytes
	IndexVersion   *int32
	CreatedAt      time.Time // zero when not recorded
	Base           BaseRef
	Files          []IndexFile
	Proto          *tablepb.IndexMetadata // what a writer carries forward
}

// IndexFile is one file of an index segment.
type IndexFile struct {
	Path string // relative to the segment's folder
	Size uint64 // bytes
}

func indexFromProto(p *tablepb.IndexMetadata) (Index, error) {
	raw := p.GetUuid().GetUuid()
	if len(raw) != 16 {
		return Index{}, Corruptf("index %q: its uuid has %d bytes, not 16", p.GetName(), len(raw))
	}
	x := Index{
		UUID: UUIDText([16]byte(raw)), Name: p.GetName(), Fields: p.GetFields(),
		DatasetVersion: p.GetDatasetVersion(), Bitmap: p.GetFragmentBitmap(),
		DetailsURL: p.GetIndexDetails().GetTypeUrl(), Details: p.GetIndexDetails().GetValue(),
		IndexVersion: p.IndexVersion, Base: baseRef(p.BaseId), Proto: p,
	}
	if ms := p.GetCreatedAt(); ms != 0 && ms <= math.MaxInt64/1000 {
		x.CreatedAt = time.UnixMilli(int64(ms)).UTC()
	}
	for _, f := range p.GetFiles() {
		x.Files = append(x.Files, IndexFile{f.GetPath(), f.GetSizeBytes()})
	}
	return x, nil
}

// UUIDText spells a UUID with hyphens in lower case.
func UUIDText(u [16]byte) string {
	var b [36]byte
	at := 0
	for i, part := range [][]byte{u[0:4], u[4:6], u[6:8], u[8:10], u[10:16]} {
		if i > 0 {
			b[at] = '-'
			at++
		}
		at += hex.Encode(b[at:], part)
	}
	return string(b[:])
}
