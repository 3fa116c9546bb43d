package lance

import (
	"context"
	"iter"
	"time"

	"github.com/omnideck/omnideck/blob"
)

// Chain is the version history of one branch as a listing shows it: no
// manifest is read.
type Chain struct {
	Branch    string
	Versions  []ChainVersion // newest first
	Detached  []ChainVersion // never part of the history
	Leftovers []Leftover     // names that are no versions
	Hint      *Hint          // nil: no hint file
	Findings  []Finding
	Pages     int // LIST requests
}

// ChainVersion is one manifest by its name.
type ChainVersion struct {
	Version uint64
	Object
	V1 bool // legacy name
}

// Leftover is an object in _versions/ that is no version.
type Leftover struct {
	Object
	Why string
}

// Hint is the content of latest_version_hint.json, which is never trusted.
type Hint struct {
	Version uint64 // 0 when unreadable
	State   string // current, stale, ahead, unreadable
}

// Finding is one thing worth saying about a chain or a dataset.
type Finding struct {
	ID       string // gap, mixed-naming, hint-stale, hint-ahead, hint-unreadable, leftover, moved …
	Severity string // info, warn, error
	Text     string // one sentence
}

// ListOptions bound a listing.
type ListOptions struct {
	Branch   string
	Limit    int // newest so many; 0 = all
	PageSize int // keys a request; 0 = 100
}

// Versions lists the versions of a branch: only LIST requests (and one GET of
// the hint file if there is one).
func Versions(ctx context.Context, store blob.Store, root string, o ListOptions) (*Chain, error) {
	return nil, nil
}

// ReadVersion opens a listed version. The object must be the one that was
// listed: if it changed meanwhile the error wraps ErrChanged.
func ReadVersion(ctx context.Context, store blob.Store, root string, v ChainVersion, opts OpenOptions) (*Snapshot, error) {
	return nil, nil
}

// ReadVersions opens listed versions side by side and yields them in the order
// given. An unreadable one is yielded as nil with its error; the sequence goes
// on.
func ReadVersions(ctx context.Context, store blob.Store, root string, vs []ChainVersion, opts OpenOptions) iter.Seq2[*Snapshot, error] {
	return nil
}

// Age is the time since the version was written, by the store's clock.
func (v ChainVersion) Age(now time.Time) time.Duration { return now.Sub(v.ModTime) }
