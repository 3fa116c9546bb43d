// Package sidecar reads recovery sidecars, `__recovery/{ULID}.json`: what a
// writer put down before its first effect. Bytes to structs, no I/O.
package sidecar

import (
	"errors"
	"time"
)

// Folder holds the sidecars below the graph's root; only names that end in
// .json count.
const Folder = "__recovery/"

// Version is the newest schema_version that is understood.
const Version = 9

// Kind is the writer that left the sidecar.
type Kind string

// The kinds.
const (
	Mutation      Kind = "Mutation"
	Load          Kind = "Load"
	SchemaApply   Kind = "SchemaApply"
	BranchMerge   Kind = "BranchMerge"
	EnsureIndices Kind = "EnsureIndices"
	Optimize      Kind = "Optimize"
)

// Identity of a table.
type Identity struct {
	Table       uint64 `json:"stable_table_id"`
	Incarnation uint64 `json:"table_incarnation_id"`
}

// Pin is a table that the operation may move.
type Pin struct {
	Identity  Identity
	Alias     string // table_key
	Path      string // full URI as spelled by the writer
	Expected  uint64
	Planned   uint64  // post_commit_pin
	Confirmed *uint64 // confirmed_version
	Branch    string  // "" = main
}

// Record is a sidecar.
type Record struct {
	SchemaVersion int
	OperationID   string
	StartedAt     time.Time
	Branch        string // "" = main
	Actor         *string
	Kind          Kind
	Pins          []Pin
	CommitID      string // planned graph commit; "" for Optimize
	Phase         string // Armed, EffectsConfirmed; "" for Optimize
}

// Typed outcomes of Parse; ask with errors.Is.
var (
	ErrNewer   = errors.New("sidecar of a newer version")
	ErrDamaged = errors.New("damaged sidecar")
	ErrLegacy  = errors.New("sidecar of an older version")
)

// Parse reads one sidecar. name is the object's name, with or without folder.
// The record is non-nil as far as it could be read, also beside an error.
func Parse(name string, data []byte) (*Record, []Problem, error) {
	return nil, nil, errors.ErrUnsupported
}

// Problem is a shape rule that the record breaks.
type Problem struct {
	Rule string
	Text string
}

func (p Problem) Error() string { return p.Rule + ": " + p.Text }
