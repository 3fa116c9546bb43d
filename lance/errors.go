package lance

import (
	"fmt"
)

// DamagedManifestError: the manifest that should be read is there, but cannot
// be understood. Nothing older is served in its place: the caller decides,
// and opens NewestReadable by number if it wants that.
type DamagedManifestError struct {
	Key            string // of the damaged manifest
	Size           int64  // bytes, as stored
	Version        uint64 // by its name
	Latest         bool   // it is the newest version of the branch
	NewestReadable uint64 // 0: none was found among those tried
	Tried          int    // older manifests that were tried
	Err            error
}

func (e *DamagedManifestError) Error() string {
	msg := fmt.Sprintf("manifest %s of version %d (%d bytes) cannot be read: %v", e.Key, e.Version, e.Size, e.Err)
	if e.NewestReadable != 0 {
		return fmt.Sprintf("%s; the newest readable version is %d: open it by number, or set the damaged file aside", msg, e.NewestReadable)
	}
	return msg
}

func (e *DamagedManifestError) Unwrap() error { return e.Err }

// FragmentError: a fragment cannot be read. Other fragments still can.
type FragmentError struct {
	Fragment uint64
	Key      string // of the object that failed
	Rows     uint64 // live rows affected, by the manifest
	Err      error
}

func (e *FragmentError) Error() string {
	return fmt.Sprintf("fragment %d: %s: %v (%d rows affected; other fragments can be read on request)", e.Fragment, e.Key, e.Err, e.Rows)
}

func (e *FragmentError) Unwrap() error { return e.Err }

// RowsMissingError: rows asked for by address or id do not exist or are
// deleted.
type RowsMissingError struct {
	ByID    bool
	Missing []uint64
}

func (e *RowsMissingError) Error() string {
	what := "addresses"
	if e.ByID {
		what = "row ids"
	}
	return fmt.Sprintf("no live row at %d of the %s asked for, the first is %d", len(e.Missing), what, e.Missing[0])
}
