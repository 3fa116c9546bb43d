package branches

import (
	"context"
	"errors"
	"time"

	"github.com/omnideck/omnideck/blob"
)

// LockName is the native branch that a schema apply holds while it runs.
const LockName = "__schema_apply_lock__"

// Listing is the set of branches by name alone.
type Listing struct {
	Names    []string // decoded, byte order, main among them
	Locked   bool     // LockName is there
	Problems []Problem
}

// Problem is something wrong with a ref or a name.
type Problem struct {
	Key  string // object
	Name string // branch, "" when the name cannot be decoded
	Text string // found, expected
}

func (p Problem) Error() string { return p.Key + ": " + p.Text }

// Names lists the branches: one LIST for every page of 100 refs.
func Names(ctx context.Context, store blob.Store) (*Listing, error) {
	return nil, errors.ErrUnsupported
}

// Fork is one pair of a branch identifier.
type Fork struct {
	Version uint64 // parent's version
	UUID    string // 32 hex digits
}

// Ref is the content of a branch's ref.
type Ref struct {
	Name          string
	Parent        string // "" = main
	ParentVersion uint64 // fork version
	Identifier    []Fork // the branch's identity; empty for main
	Created       time.Time
	ManifestSize  uint64 // bytes of the parent's manifest
	Metadata      map[string]string
	Key           string
}

// Branch is a listed branch: main, or one with a ref.
type Branch struct {
	Name string
	Ref  *Ref  // nil for main, and when Err is set
	Err  error // why the ref cannot be read
}

// List is Names and every ref: one GET each, side by side. The lock is
// among the branches of Refs when it is there, never in Names.
func List(ctx context.Context, store blob.Store) (*Listing, []Branch, error) {
	return nil, nil, errors.ErrUnsupported
}
