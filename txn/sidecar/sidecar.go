package sidecar

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Folder holds the sidecars below the graph's root; only names that end in
// Suffix count.
const (
	Folder = "__recovery/"
	Suffix = ".json"
)

// Version is the schema_version that is understood.
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

// protocols are the member that a kind carries; Optimize carries none.
var protocols = map[Kind]string{
	Mutation: "protocol_v3", Load: "protocol_v3", BranchMerge: "protocol_v4", SchemaApply: "protocol_v7", EnsureIndices: "protocol_v8", Optimize: "",
}

// optimizeMember is ours: the Rust engine gives its Optimize records no effects,
// and ignores it.
const optimizeMember = "go_optimize_v1"

// The phases: how far the writer came.
const (
	Armed            = "Armed"            // effects may have begun
	EffectsConfirmed = "EffectsConfirmed" // every effect is done; the publish may be
)

// Identity of a table; both numbers are non-zero.
type Identity struct{ Table, Incarnation uint64 }

func (id Identity) String() string { return fmt.Sprintf("%016x:%016x", id.Table, id.Incarnation) }

// Record is a sidecar.
type Record struct {
	SchemaVersion int
	OperationID   string
	StartedAt     time.Time // UTC, whole µs; zero when the text is no number of µs
	Branch        string    // "" = main
	Actor         *string
	Kind          Kind
	Pins          []Pin  // in staging order
	CommitID      string // commit that the operation makes; "" for Optimize
	Phase         string // Armed, EffectsConfirmed; "" for Optimize
	TargetIRHash  string // SchemaApply: the IR that it publishes
	Plan          *Plan  // nil for Optimize
	UUIDPrefix    string // Optimize: how the ids of all its transactions begin; "" = not told
}

// Pin is a table that the operation may move.
type Pin struct {
	Identity  Identity
	Alias     string  // node:Port
	Path      string  // full URI as the writer spelled the root
	Expected  uint64  // version published when it began
	Planned   uint64  // first version that it makes
	Confirmed *uint64 // version that it made; nil before confirmation
	Branch    string  // "" = main
}

// Plan is the protocol of a kind.
type Plan struct {
	Authority   Authority
	Lineage     Lineage
	Rollback    string    // id of the commit that a roll-back would make
	Outcomes    []Outcome // written before the first compensating restore
	RollingBack bool      // Outcomes is there, even when empty
	Effects     []Effect
	Delta       Delta
}

// Authority is the state that the operation was planned against.
type Authority struct {
	Branch          []Fork  // identifier of the `__manifest` branch; empty for main
	GraphHead       *string // commit of the graph_head row; nil = there was none
	IdentityDomain  string
	IRHash          string
	IdentityVersion uint64
}

// Fork is one pair of a branch identifier.
type Fork struct {
	Version uint64
	UUID    string
}

// Lineage is what the operation's commit will say.
type Lineage struct {
	Branch       string // "" = main
	Actor        *string
	MergedParent *string
	CreatedAt    int64 // µs
}

// Outcome is what a roll-back does to one table.
type Outcome struct {
	Alias    string
	From, To uint64
}

// Transaction identifies one Lance transaction.
type Transaction struct {
	ReadVersion uint64
	UUID        string
}

// EffectKind is how an effect moves its table.
type EffectKind string

// The kinds of effects.
const (
	OneTransaction    EffectKind = ""                  // Mutation, Load, EnsureIndices
	MultiCommitHead   EffectKind = "MultiCommitHead"   // BranchMerge: a chain of transactions
	RefOnlyFork       EffectKind = "RefOnlyFork"       // BranchMerge: only a branch of the table
	ExistingOverwrite EffectKind = "ExistingOverwrite" // SchemaApply
	FirstTouchDataset EffectKind = "FirstTouchDataset" // SchemaApply: a new dataset
)

// effectKinds are the kinds of effects that a kind of writer has.
var effectKinds = map[Kind][]EffectKind{
	Mutation: {OneTransaction}, Load: {OneTransaction}, EnsureIndices: {OneTransaction},
	BranchMerge: {MultiCommitHead, RefOnlyFork}, SchemaApply: {ExistingOverwrite, FirstTouchDataset},
}

// Effect is one durable movement of a table.
type Effect struct {
	Identity         Identity
	Alias            string
	Kind             EffectKind
	Planned          []Transaction // one, but for MultiCommitHead 1…1024 and RefOnlyFork none
	Confirmed        *Transaction
	ConfirmedVersion *uint64 // MultiCommitHead
	Fork             *uint64 // version that a first touch of a branch forks from
	ConfirmedBranch  []Fork  // identifier of the fork that was made
	BranchConfirmed  bool    // ConfirmedBranch is there
}

// Delta is what the publish changes in `__manifest`.
type Delta struct {
	Updates       []Slot
	Registrations []Registration
	Renames       []Rename
	Tombstones    []Tombstone
}

// Slot is one table update, filled in at confirmation.
type Slot struct {
	Identity  Identity
	Alias     string
	Expected  uint64
	Branch    string // "" = main
	Confirmed *Output
}

// Output is the table version to publish.
type Output struct {
	Version      uint64
	Branch       string // "" = main
	Rows         uint64
	ManifestPath string
	ManifestSize *uint64
	ETag         *string
	NamingScheme *string
}

// Registration is a new table.
type Registration struct {
	Identity Identity
	Alias    string
	Location string // relative to the graph's root
	Branch   string
}

// Rename gives a table another alias.
type Rename struct {
	Identity Identity
	From     string // alias before
	Expected uint64
	Alias    string
	Location string
}

// Tombstone ends a table.
type Tombstone struct {
	Identity Identity
	Alias    string
	Version  uint64
}

// The errors of Parse, to be asked for with errors.Is.
var (
	ErrDamaged = errors.New("damaged recovery record")
	ErrNewer   = errors.New("recovery record of a newer version")
	ErrLegacy  = errors.New("recovery record of an older version")
)

// ParseError says why a sidecar cannot be read in full. It wraps one of the
// three errors above.
type ParseError struct {
	Name  string
	Size  int // bytes
	Found int
	Class error
	Err   error // what is wrong, for ErrDamaged
}

func (e *ParseError) Error() string {
	switch e.Class {
	case ErrNewer:
		return fmt.Sprintf("%s is of version %d, this program knows up to %d: look and recover with a newer program; nothing was removed", e.Name, e.Found, Version)
	case ErrLegacy:
		return fmt.Sprintf("%s is of version %d, expected %d: an older release left it, which lacks the identities that recovery needs; review it before setting it aside", e.Name, e.Found, Version)
	}
	return fmt.Sprintf("%s (%d bytes) cannot be read as a recovery record: %v; it is neither ignored nor removed, writes are refused while it is there", e.Name, e.Size, e.Err)
}

// Why is what is wrong with a record, without its name: of a *ParseError, a Problem
// or whatever else kept it from being read.
func Why(err error) string {
	var e *ParseError
	if !errors.As(err, &e) {
		return err.Error()
	}
	switch e.Class {
	case ErrNewer:
		return fmt.Sprintf("it is of version %d, this program knows up to %d", e.Found, Version)
	case ErrLegacy:
		return fmt.Sprintf("it is of version %d, expected %d: an older release left it, which lacks the identities that recovery needs", e.Found, Version)
	}
	size := "1 byte"
	if e.Size != 1 {
		size = fmt.Sprintf("%d bytes", e.Size)
	}
	return size + ", " + e.Err.Error()
}

// Unwrap makes class and cause findable.
func (e *ParseError) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Class}
	}
	return []error{e.Class, e.Err}
}

// IDTime is when the operation began by its id.
func (r *Record) IDTime() (t time.Time, ok bool) {
	id, err := ulid.ParseStrict(r.OperationID)
	if err != nil {
		return time.Time{}, false
	}
	return ulid.Time(id.Time()).UTC(), true
}

// stem is the operation id that a file name promises.
func stem(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	return strings.TrimSuffix(name, Suffix)
}
