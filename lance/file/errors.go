package file

import (
	"errors"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
	"github.com/omnideck/omnideck/lance/encoding/variable"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
)

// Error says where in a data file something is wrong. It is a
// format.ErrCorrupt or format.ErrUnsupported if its cause is one of those of
// any decoder.
type Error struct {
	File   string // the object's key, as Options.Name gave it
	Column string // of the schema; "" = the file as a whole
	Page   int    // of the physical column; -1 = none in particular
	Err    error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("read data file")
	if e.File != "" {
		b.WriteString(" " + e.File)
	}
	if e.Column != "" {
		fmt.Fprintf(&b, ", column %q", e.Column)
	}
	if e.Page >= 0 {
		fmt.Fprintf(&b, ", page %d", e.Page)
	}
	return b.String() + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Is tells the classes of the package format from those of the decoders.
func (e *Error) Is(target error) bool {
	switch target {
	case format.ErrCorrupt:
		return errors.Is(e.Err, corrupt.ErrCorrupt)
	case format.ErrUnsupported:
		return errors.Is(e.Err, corrupt.ErrUnsupported) || errors.Is(e.Err, variable.ErrTooLong)
	}
	return false
}

// tooLarge tells whether fewer rows at once might help.
func tooLarge(err error) bool {
	return errors.Is(err, values.ErrTooLarge) || errors.Is(err, variable.ErrTooLong)
}

// fail wraps an error once.
func (r *Reader) fail(column string, page int, err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &Error{File: r.opts.Name, Column: column, Page: page, Err: err}
}
