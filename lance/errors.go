package lance

import (
	"errors"
	"fmt"

	"github.com/omnideck/omnideck/blob"
)

// ErrChanged: an object was replaced between two reads that belong together.
// Beginning again helps.
var ErrChanged = errors.New("the object changed while it was read")

// NotFoundError: there is no such dataset, branch or version.
type NotFoundError struct {
	Where     string // dataset and branch
	Version   uint64 // 0: not one version exists
	Leftovers int    // objects in its _versions that are no versions
}

func (e *NotFoundError) Error() string {
	switch {
	case e.Version != 0:
		return fmt.Sprintf("version %d of %s does not exist: it was cleaned up, lies before the branch began, or was never made; `versions` lists what there is", e.Version, e.Where)
	case e.Leftovers != 0:
		return fmt.Sprintf("no version at %s: its _versions holds %d objects, none of them a version", e.Where, e.Leftovers)
	}
	return fmt.Sprintf("no dataset at %s: it has no _versions", e.Where)
}

// Is makes it one of the errors that mean "not there".
func (e *NotFoundError) Is(target error) bool { return target == blob.ErrNotExist }

// DamagedManifestError: the manifest that should be read is there, but cannot
// be understood. Nothing older is served in its place: the caller decides,
// and opens NewestReadable by number if it wants that.
type DamagedManifestError struct {
	Key                string // of the damaged manifest
	Size               int64  // bytes, as stored
	Version            uint64 // by its name
	Latest             bool   // it is the newest version of the branch
	NewestReadable     uint64 // 0: none was found, or this is not the latest and none was looked for
	NewestReadableRows uint64 // rows of that version by its manifest
	Tried              int    // older manifests that were tried
	Err                error
}

func (e *DamagedManifestError) Error() string {
	msg := fmt.Sprintf("manifest %s of version %d (%d bytes) cannot be read: %v", e.Key, e.Version, e.Size, e.Err)
	switch {
	case e.NewestReadable != 0:
		return fmt.Sprintf("%s; the newest version that can be read is %d with %d rows: open it by number, or set the damaged file aside", msg, e.NewestReadable, e.NewestReadableRows)
	case e.Latest:
		return fmt.Sprintf("%s; no older version can be read among the %d tried", msg, e.Tried)
	}
	return msg
}

func (e *DamagedManifestError) Unwrap() error { return e.Err }

// MixedNamingError: _versions holds names of both schemes, so that a listing
// does not say which version is the newest.
type MixedNamingError struct {
	Where  string
	V1, V2 uint64 // newest version of each scheme
}

func (e *MixedNamingError) Error() string {
	return fmt.Sprintf("%s has manifests of both naming schemes (newest: %d in the old, %d in the new), as happens when two programs write to it; Lance refuses it too. Open a version by its number", e.Where, e.V1, e.V2)
}

// FragmentError: a fragment cannot be read. Other fragments still can.
type FragmentError struct {
	Fragment uint64
	Key      string // of the object that failed; "" when no single one did
	Rows     uint64 // live rows affected, by the manifest
	Err      error
}

func (e *FragmentError) Error() string {
	key := ""
	if e.Key != "" && !blob.Names(e.Err, e.Key) {
		key = e.Key + ": "
	}
	text := fmt.Sprintf("fragment %d: %s%v", e.Fragment, key, e.Err)
	if errors.Is(e.Err, blob.ErrUnavailable) || errors.Is(e.Err, blob.ErrPermission) {
		return text // nothing is known to be wrong with its rows
	}
	return fmt.Sprintf("%s (%d rows affected; other fragments can be read on request)", text, e.Rows)
}

func (e *FragmentError) Unwrap() error { return e.Err }

// RowsMissingError: rows asked for by address or id do not exist or are
// deleted.
type RowsMissingError struct {
	ByID    bool
	Missing []uint64
}

func (e *RowsMissingError) Error() string {
	what := "address"
	if e.ByID {
		what = "row id"
	}
	return fmt.Sprintf("%d of the rows asked for do not exist or are deleted, the first has %s %d", len(e.Missing), what, e.Missing[0])
}

// Is makes it one of the errors that mean "not there".
func (e *RowsMissingError) Is(target error) bool { return target == blob.ErrNotExist }
