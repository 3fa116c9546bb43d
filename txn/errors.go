package txn

import (
	"errors"
	"fmt"
	"strings"
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
}

func (e *ReadSetChangedError) Error() string {
	return fmt.Sprintf("%s changed from %s to %s while this was being prepared; nothing was written: look at the new state and decide again",
		e.Member, orNone(e.Expected), orNone(e.Actual))
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
	Err      error // of the last attempt
}

func (e *ContentionError) Error() string {
	return fmt.Sprintf("other writers kept winning the %s, %d attempts were made; nothing was written: try again later", e.What, e.Attempts)
}

func (e *ContentionError) Is(target error) bool { return target == ErrRetry }

func (e *ContentionError) Unwrap() error { return e.Err }

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

// RecoveryRequiredError: an operation stopped part-way, this one or another that
// stands in its way. Its record is there under the operation's id.
type RecoveryRequiredError struct {
	OperationID string
	Reason      string
	Err         error
}

func (e *RecoveryRequiredError) Error() string {
	return fmt.Sprintf("operation %s stopped part-way: %s; a recovery record owns what it did: run recover, and do not repeat the write before", e.OperationID, e.Reason)
}

func (e *RecoveryRequiredError) Is(target error) bool { return target == ErrRecovery }

func (e *RecoveryRequiredError) Unwrap() error { return e.Err }

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
	return fmt.Sprintf("%s on branch %s has %d unpublished %s (%d is published, %d is the newest) that no recovery record explains; nothing was written: run repair",
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

// ResourceLimitError: the write is larger than one transaction may be.
type ResourceLimitError struct {
	Resource string // keyed rows of node:Port, bytes of line 7 …
	Limit    uint64
	Actual   uint64
}

func (e *ResourceLimitError) Error() string {
	return fmt.Sprintf("%d %s, the limit of one operation is %d; nothing was written: split the input", e.Actual, e.Resource, e.Limit)
}

func (e *ResourceLimitError) Is(target error) bool { return target == ErrCaller }

// ConstraintRule is a rule of the schema that rows can break together.
type ConstraintRule string

// The rules; Value covers what one row breaks by itself.
const (
	RuleValue       ConstraintRule = "value"
	RuleUnique      ConstraintRule = "unique"
	RuleEndpoint    ConstraintRule = "endpoint"
	RuleCardinality ConstraintRule = "cardinality"
)

// ConstraintError: the graph would break a rule of its schema.
type ConstraintError struct {
	Rule    ConstraintRule
	Type    string   // type whose rule it is: Person, WorksAt
	Columns []string // property, tuple of a @unique, src or dst
	Value   string   // as it would be printed; several columns: a tuple
	IDs     []string // unique: who holds it; at most two
	Target  string   // endpoint: type that it must exist in
	Count   uint64   // cardinality: edges that there would be
	Min     uint64
	Max     *uint64 // nil = no upper bound
	Why     string  // value: what is wrong with it
}

func (e *ConstraintError) Error() string {
	return e.rule() + "; nothing was written"
}

// rule is the sentence without its end; the wording is that of the Rust engine.
func (e *ConstraintError) rule() string {
	columns := strings.Join(e.Columns, ", ")
	switch e.Rule {
	case RuleUnique:
		held := make([]string, len(e.IDs))
		for i, id := range e.IDs {
			held[i] = "'" + id + "'"
		}
		return fmt.Sprintf("@unique violation on %s.(%s): value '%s' held by %s", e.Type, columns, e.Value, strings.Join(held, " and "))
	case RuleEndpoint:
		return fmt.Sprintf("%s of an edge %s: %s '%s' not found in %s", columns, e.Type, columns, e.Value, e.Target)
	case RuleCardinality:
		bound := fmt.Sprintf("min %d", e.Min)
		if e.Max != nil && e.Count > *e.Max {
			bound = fmt.Sprintf("max %d", *e.Max)
		}
		return fmt.Sprintf("@card violation on edge %s: source '%s' has %d edges (%s)", e.Type, e.Value, e.Count, bound)
	}
	return fmt.Sprintf("%s.%s: %s", e.Type, columns, e.Why)
}

func (e *ConstraintError) Is(target error) bool { return target == ErrCaller }

func (e *PlanError) Is(target error) bool { return target == ErrCaller }

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
