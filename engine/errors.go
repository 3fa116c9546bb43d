package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/blob"
)

// The errors of this package are sentences, and structs where a screen shows
// fields. Ask for them with errors.As. Errors of the store (blob.ErrNotExist,
// blob.ErrPermission, blob.ErrUnavailable …) pass through, wrapped.

// NotFoundError: something that was asked for by name is not there.
type NotFoundError struct {
	What        string   // branch, commit, version, type, table, entity, property, blob
	Name        string   // as it was asked for
	Where       string   // on which object it was looked for; may be empty
	Suggestions []string // names that exist and look alike, or all when there are few
}

func (e *NotFoundError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q not found", e.What, e.Name)
	if e.Where != "" {
		b.WriteString(" " + e.Where)
	}
	if len(e.Suggestions) > 0 {
		b.WriteString("; there is " + strings.Join(e.Suggestions, ", "))
	}
	return b.String()
}

// DamagedError: an object that must be read to answer cannot be read. When a
// version chain is damaged at its newest end, the newest readable version and
// what it holds are named; it is served only when asked for by number.
type DamagedError struct {
	Object   string  // key relative to the graph's root
	Size     int64   // bytes found; -1 when the object is missing
	Readable uint64  // newest readable version of the same chain; 0 = none, or not a chain
	Rows     *uint64 // rows that Readable holds, when known
	Hint     string  // next safe step
	Err      error   // why it cannot be read
}

func (e *DamagedError) Error() string {
	var b strings.Builder
	switch {
	case e.Size < 0:
		fmt.Fprintf(&b, "%s is missing", e.Object)
	default:
		fmt.Fprintf(&b, "%s (%d bytes) cannot be read", e.Object, e.Size)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Readable > 0 {
		fmt.Fprintf(&b, "; the newest readable version is %d", e.Readable)
		if e.Rows != nil {
			fmt.Fprintf(&b, " (%d rows)", *e.Rows)
		}
		b.WriteString(", served only when asked for by number")
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

func (e *DamagedError) Unwrap() error { return e.Err }

// UnsupportedError: the bytes are in order but say something that this
// program does not understand, so that reading on could give wrong answers.
type UnsupportedError struct {
	Object string // key of the object that says so
	What   string // "feature flag 32 (overlay files)", "internal schema v7"
	Hint   string // next safe step
	Err    error
}

func (e *UnsupportedError) Error() string {
	s := fmt.Sprintf("%s: %s is not supported", e.Object, e.What)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func (e *UnsupportedError) Unwrap() error { return e.Err }

// NotAGraphError: there is no graph at the address.
type NotAGraphError struct {
	URI  string
	Kind string // "lance": a plain Lance dataset stands there; "": nothing that we know
	Hint string
}

func (e *NotAGraphError) Error() string {
	s := e.URI + " is not a graph: __manifest/_versions/ holds no manifest"
	if e.Kind == "lance" {
		s = e.URI + " is a plain Lance dataset, not a graph"
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// ReclaimedError: a version that history names was removed by a cleanup.
type ReclaimedError struct {
	Table   string // node:Port, or __manifest
	Branch  string
	Version uint64
	Err     error
}

func (e *ReclaimedError) Error() string {
	return fmt.Sprintf("version %d of %s on branch %s was removed by cleanup: its manifest is gone while newer versions exist; ask for a newer commit", e.Version, e.Table, e.Branch)
}

func (e *ReclaimedError) Unwrap() error { return e.Err }

// UsageError: what was asked for cannot be asked for. Nothing was read.
type UsageError struct {
	What string // the argument that is wrong
	Why  string
}

func (e *UsageError) Error() string { return e.What + ": " + e.Why }

// IncompleteError comes beside an answer: what was answered was really read,
// but something could not be, so that more may be missing.
type IncompleteError struct {
	What     string   // the answer
	Problems []string // what could not be read or breaks a rule, one sentence each
	Doubtful []string // parts of the answer that may not be what is published, and why
}

func (e *IncompleteError) Error() string {
	s := fmt.Sprintf("the %s may not be complete: %s", e.What, e.Problems[0])
	if n := len(e.Problems) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more)", n)
	}
	if len(e.Doubtful) > 0 {
		s += "; doubtful: " + strings.Join(e.Doubtful, ", ")
	}
	return s
}

// RowsLostError: the rows of one fragment of a table cannot be read. Rows that
// came before it were right; other fragments can be read on request.
type RowsLostError struct {
	Table    string
	Branch   string // of the dataset
	Version  uint64
	Fragment uint64
	Key      string // object that is missing or damaged
	Rows     uint64 // rows affected, by the manifest
	Err      error
}

func (e *RowsLostError) Error() string {
	why := e.Key + ": " + e.Err.Error()
	if blob.Names(e.Err, e.Key) {
		why = e.Err.Error()
	}
	return fmt.Sprintf("%s, version %d on branch %s: fragment %d cannot be read (%s): %d rows affected; counts of the table are unverified, its other fragments and all other tables can be read",
		e.Table, e.Version, e.Branch, e.Fragment, why, e.Rows)
}

func (e *RowsLostError) Unwrap() error { return e.Err }

// NextStep is the next safe step after an error of a store, as a few words that
// begin with a verb; "" = the error says it itself, or there is none.
func NextStep(err error) string {
	var (
		said *blob.StoreError
		op   *blob.OpError
	)
	switch {
	case errors.As(err, &said) && said.Step != "":
		return said.Step
	case errors.Is(err, blob.ErrPermission) && errors.As(err, &op):
		return "check the rights on this object"
	case errors.Is(err, blob.ErrUnavailable):
		return "check the address and the network"
	}
	return ""
}

// Details is what else is known of an error of a store, in one line that may be
// long: the settings that it was reached by, and the words of the library that
// asked. "" = nothing.
func Details(err error) string {
	var said *blob.StoreError
	if errors.As(err, &said) {
		return said.Details()
	}
	return ""
}
