package txn

import (
	"errors"
	"fmt"
	"time"

	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/txn/sidecar"
	"github.com/omnideck/omnideck/txn/validate"
)

// The three classes of what stops a write. Every error of this room is one of
// them, by errors.Is.
var (
	// ErrRetry: nothing durable happened, and the attempt may be made anew on a
	// newer base. The writer's own loop does so until its budget is spent.
	ErrRetry = errors.New("nothing was written, try again")
	// ErrCaller: nothing of it is visible or pending, and trying the same again
	// ends the same way. Who asked for the write decides.
	ErrCaller = errors.New("nothing was written, the caller decides")
	// ErrRecovery: something durable may have happened and a recovery record
	// owns it. Recovery decides; the write must not be tried again before.
	ErrRecovery = errors.New("recovery decides")
)

// KeyConflictError: an entity with this id is there already, and the write may
// not replace it.
type KeyConflictError struct {
	Table string // node:Port
	ID    string // "" = not known which
}

func (e *KeyConflictError) Error() string {
	which := "an entity with one of these ids"
	if e.ID != "" {
		which = fmt.Sprintf("%q", e.ID)
	}
	return fmt.Sprintf("%s: %s exists already; append never replaces, nothing was written: use merge to update", e.Table, which)
}

func (e *KeyConflictError) Is(target error) bool { return target == ErrCaller }

// ReadSetChangedError: what the write was planned on has changed meanwhile.
type ReadSetChangedError struct {
	Member   string // graph_head:main, branch_identifier:b, schema_ir_hash, dataset_binding:…, key_fence:node:Port …
	Expected string // "" = absent
	Actual   string
	Why      string // which rows may differ; "" = the member alone is known to
}

func (e *ReadSetChangedError) Error() string {
	actual := orNone(e.Actual)
	if e.Why != "" {
		actual += " (" + e.Why + ")"
	}
	return fmt.Sprintf("%s changed from %s to %s while this was being prepared; nothing was written: look at the new state and decide again",
		e.Member, orNone(e.Expected), actual)
}

func (e *ReadSetChangedError) Is(target error) bool { return target == ErrCaller }

// PublishedVersionMismatchError: another version of a table is published than
// the plan expected.
type PublishedVersionMismatchError struct {
	Table    string
	Expected uint64
	Actual   uint64 // 0 = the table is not published
}

func (e *PublishedVersionMismatchError) Error() string {
	return fmt.Sprintf("%s is published at version %d, this plan expected %d; nothing was written: it must be planned anew", e.Table, e.Actual, e.Expected)
}

func (e *PublishedVersionMismatchError) Is(target error) bool { return target == ErrRetry }

// ContentionError: others won every attempt, before anything of this write was
// durable.
type ContentionError struct {
	What     string // publish on branch main, commit to node:Port
	Attempts int
	Err      error // of the last attempt; of another class maybe, so it is not unwrapped
}

func (e *ContentionError) Error() string {
	return fmt.Sprintf("other writers kept winning the %s, %d attempts were made; nothing was written: try again later", e.What, e.Attempts)
}

func (e *ContentionError) Is(target error) bool { return target == ErrRetry }

// PreconditionFailedError: the caller named the commit to write on, and the
// branch is at another.
type PreconditionFailedError struct {
	Branch   string // "" = main
	Expected string
	Actual   string // "" = no commit
}

func (e *PreconditionFailedError) Error() string {
	return fmt.Sprintf("this was to be written on top of commit %s, and branch %s is at %s; nothing was written: look at what came after and name the new commit",
		e.Expected, named(e.Branch), orNone(e.Actual))
}

func (e *PreconditionFailedError) Is(target error) bool { return target == ErrCaller }

// RecoveryRequiredError: an operation stopped part-way. Its record is there under
// the operation's id.
type RecoveryRequiredError struct {
	OperationID string
	// Other says that it is another operation, whose record stands in the way:
	// nothing of this write was written.
	Other  bool
	Young  bool // of another: its writer may be at work
	Reason string
	Err    error
	Graph  string // its address, for the command to type; "" = not told
}

func (e *RecoveryRequiredError) Error() string {
	record := sidecar.Folder + e.OperationID + sidecar.Suffix
	if e.Other {
		wait := ""
		if e.Young {
			wait = "its writer may be at work: wait for it; "
		}
		return fmt.Sprintf("operation %s stands in the way: %s; nothing was written: %s`%s` shows what is right about %s; write again after that", e.OperationID, e.Reason, wait, recoverLine(e.Graph), record)
	}
	return fmt.Sprintf("operation %s stopped part-way: %s; what it did belongs to the record %s: do not repeat the write before that is recovered, by `%s` or by the Rust CLI when it opens the graph at its full address", e.OperationID, e.Reason, record, recoverLine(e.Graph))
}

func (e *RecoveryRequiredError) Is(target error) bool { return target == ErrRecovery }

func (e *RecoveryRequiredError) Unwrap() error { return e.Err }

// recoverLine is the command that shows what recovery would do.
func recoverLine(graph string) string {
	if graph == "" {
		return shell.Line("recover")
	}
	return shell.Line("recover", graph)
}

// DriftError: a table has versions that are not published, and no recovery
// record explains them.
type DriftError struct {
	Table     string
	Branch    string // "" = main
	Published uint64
	Head      uint64
}

func (e *DriftError) Error() string {
	n, versions := e.Head-e.Published, "versions"
	if n == 1 {
		versions = "version"
	}
	return fmt.Sprintf("%s on branch %s has %d unpublished %s (%d is published, %d is the newest) that no recovery record explains; nothing was written: `omnigraph repair` tells what they are",
		e.Table, named(e.Branch), n, versions, e.Published, e.Head)
}

func (e *DriftError) Is(target error) bool { return target == ErrCaller }

// InvariantError: what cannot be is. Nobody may act on the table.
type InvariantError struct {
	Table string
	What  string // found, expected
}

func (e *InvariantError) Error() string {
	return fmt.Sprintf("%s: %s, which no sound history leads to; nothing was written, and nothing will be to this table: run verify", e.Table, e.What)
}

func (e *InvariantError) Is(target error) bool { return target == ErrCaller }

// ResourceLimitError: the write is larger than one operation may be. Limit says
// of what.
type ResourceLimitError struct{ Limit *validate.LimitError }

func (e *ResourceLimitError) Error() string { return e.Limit.Error() }

func (e *ResourceLimitError) Is(target error) bool { return target == ErrCaller }

func (e *ResourceLimitError) Unwrap() error { return e.Limit }

// ConstraintError: the graph would break rules of its schema.
type ConstraintError struct {
	Violations []*validate.Violation // never empty
	More       bool                  // there may be more
}

func (e *ConstraintError) Error() string {
	s := e.Violations[0].Text
	if n := len(e.Violations) - 1; e.More {
		s += fmt.Sprintf(" (and at least %d more)", n)
	} else if n > 0 {
		s += fmt.Sprintf(" (and %d more)", n)
	}
	return s + "; nothing was written"
}

func (e *ConstraintError) Is(target error) bool { return target == ErrCaller }

func (e *ConstraintError) Unwrap() error { return e.Violations[0] }

func (e *PlanError) Is(target error) bool { return target == ErrCaller }

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// LockedError: a schema apply holds its lock, or one that died left it.
type LockedError struct {
	Key   string
	Since time.Time
	Graph string // as RecoveryRequiredError's
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("a schema apply holds the lock %s since %s, so that nothing may be written; nothing was: wait for it; `%s` shows whether it may have died, and what is safe then", e.Key, e.Since.UTC().Format(time.RFC3339), recoverLine(e.Graph))
}

func (e *LockedError) Is(target error) bool { return target == ErrCaller }

// SchemaError: the schema contract of the graph is not proven.
type SchemaError struct{ Why string }

func (e *SchemaError) Error() string {
	return fmt.Sprintf("the schema of this graph cannot be relied upon: %s; nothing was written: run verify", e.Why)
}

func (e *SchemaError) Is(target error) bool { return target == ErrCaller }

// UnforkedError: the branch reads the table from another branch's dataset, and a
// write would have to fork it first.
type UnforkedError struct {
	Table  string
	Branch string
	Owner  string // "" = main
}

func (e *UnforkedError) Error() string {
	return fmt.Sprintf("%s on branch %s is still that of branch %s, and this program does not fork a table for its first write on a branch; nothing was written: make the first write with omnigraph, or write on branch %s",
		e.Table, named(e.Branch), named(e.Owner), named(e.Owner))
}

func (e *UnforkedError) Is(target error) bool { return target == ErrCaller }
