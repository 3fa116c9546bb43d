// Package corrupt has the errors of every decoder: for bytes that no writer
// can have meant, and for bytes that only a newer reader understands.
package corrupt

import (
	"errors"
	"fmt"
)

// ErrCorrupt marks damaged input. Ask for it with errors.Is.
var ErrCorrupt = errors.New("damaged")

// ErrUnsupported marks input that is whole but made for a reader that knows
// more than this one.
var ErrUnsupported = errors.New("not supported")

// Error says what a decoder found and what it expected. It is an ErrCorrupt.
type Error struct {
	Codec    string // the decoder, such as "bitpack"
	Found    string // what is there, such as "width 40"
	Expected string // what may be there, such as "at most 32"
}

func (e *Error) Error() string {
	return fmt.Sprintf("damaged: %s: found %s, expected %s", e.Codec, e.Found, e.Expected)
}

// Is makes every Error an ErrCorrupt.
func (e *Error) Is(target error) bool { return target == ErrCorrupt }

// New makes an Error. found is a format for args; expected is taken as it is.
func New(codec, expected, found string, args ...any) error {
	return &Error{Codec: codec, Found: fmt.Sprintf(found, args...), Expected: expected}
}

// Unsupported makes an error that wraps ErrUnsupported.
func Unsupported(codec, found string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrUnsupported, codec, fmt.Sprintf(found, args...))
}
