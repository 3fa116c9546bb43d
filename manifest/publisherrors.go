package manifest

import (
	"fmt"
	"strings"
)

// ReadSetChangedError: what the change was planned on is no longer so. Nothing
// was published.
type ReadSetChangedError struct {
	Member   string // branch_identifier:{branch}, graph_head:{branch}, dataset_binding:{id2}
	Expected string // "" = absent
	Actual   string // "" = absent
}

func (e *ReadSetChangedError) Error() string {
	return fmt.Sprintf("publishing: %s is %s, expected %s: another writer came first and nothing was published; plan the change anew on what is there now",
		e.Member, orAbsent(e.Actual), orAbsent(e.Expected))
}

func orAbsent(s string) string {
	if s == "" {
		return "absent"
	}
	return clip(s)
}

// VersionMismatchError: another version of a table is published than the change
// was planned on (PublishedDatasetVersionMismatch). Nothing was published.
type VersionMismatchError struct {
	Identity
	Alias            string
	Expected, Actual uint64 // 0 = no such table; of an ended one its tombstone's
}

func (e *VersionMismatchError) Error() string {
	return fmt.Sprintf("publishing: version %d of %s is published, expected %d: another writer came first and nothing was published; plan the change anew on what is there now",
		e.Actual, e.Alias, e.Expected)
}

// ExhaustedError: every attempt lost to another writer. Nothing was published.
type ExhaustedError struct {
	Branch   string
	Attempts int
	Err      error // how the last one ended
}

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("publishing on branch %s: all %d attempts lost to other writers and nothing was published; try again when they are done: %v", orMain(e.Branch), e.Attempts, e.Err)
}

func (e *ExhaustedError) Unwrap() error { return e.Err }

// InvalidEditError: a change that does not fit what is there, or would make a
// graph that no program opens. Nothing was written.
type InvalidEditError struct {
	What string // alias, identity or commit that it is about
	Why  string
}

func (e *InvalidEditError) Error() string {
	return fmt.Sprintf("publishing %s: %s. Nothing was written", e.What, e.Why)
}

// UnsoundError: `__manifest` is damaged, or of a generation that is not written
// to. Nothing was written.
type UnsoundError struct {
	Branch  string
	Version uint64
	Why     []string // sentences
}

func (e *UnsoundError) Error() string {
	return fmt.Sprintf("publishing on version %d of branch %s: %s. Nothing was written; `omnideck verify` says what is wrong",
		e.Version, orMain(e.Branch), strings.Join(e.Why, "; "))
}

// AlreadyInitializedError: there is a graph.
type AlreadyInitializedError struct {
	URL string
	Err error // what stood in the way
}

func (e *AlreadyInitializedError) Error() string {
	return fmt.Sprintf("creating __manifest at %s: there is one already, and it was left as it is; open it, or choose another address", e.URL)
}

func (e *AlreadyInitializedError) Unwrap() error { return e.Err }
