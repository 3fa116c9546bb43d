package commit

import (
	"fmt"

	"github.com/omnideck/omnideck/blob"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// InvalidError: a transaction does not fit the version that it is to be applied
// to, or would make one that is damaged. Nothing was stored.
type InvalidError struct {
	Operation string // Lance's word, such as Append
	Parent    uint64 // version; 0 = none
	Why       string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("%s on version %d: %s. Nothing was written; plan the transaction anew from the version that it shall follow", e.Operation, e.Parent, e.Why)
}

// ConflictError: another transaction landed first and ours may not follow it as
// it is. Nothing of ours is in any version.
type ConflictError struct {
	Where     string
	Ours      string               // operation
	Version   uint64               // that is in the way
	Theirs    *tablepb.Transaction // what made it; nil when it cannot be told
	Retryable bool                 // planned anew on the newest version it may succeed
	Why       string
}

func (e *ConflictError) Error() string {
	next := "the two exclude each other: look at the newest version before deciding again"
	if e.Retryable {
		next = "plan it anew on the newest version"
	}
	return fmt.Sprintf("%s at %s: version %d is in the way: %s; %s", e.Ours, e.Where, e.Version, e.Why, next)
}

// AmbiguousError: it could not be learned whether the version was made. Its
// transaction file stays. Committing the same transaction again on the same
// base finds out.
type AmbiguousError struct {
	Key     string // of the contested manifest
	Version uint64
	UUID    string // of our transaction
	Err     error
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("it is unknown whether transaction %s became version %d (%s): %v; read that manifest, or commit the same transaction again", e.UUID, e.Version, e.Key, e.Err)
}

func (e *AmbiguousError) Unwrap() error { return e.Err }

// Is makes it one of the outcomes that must be settled by reading.
func (e *AmbiguousError) Is(target error) bool { return target == blob.ErrAmbiguous }
