package format

import (
	"fmt"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

// ErrCorrupt marks damaged input anywhere in the Lance rooms. Damaged is never
// shown as empty: every reader that meets bytes it cannot trust wraps this.
var ErrCorrupt = corrupt.ErrCorrupt

// ErrUnsupported marks input that is whole but made for a reader that knows
// more than this one: an unknown feature flag, format version or operation.
var ErrUnsupported = corrupt.ErrUnsupported

// Corruptf makes an error that wraps ErrCorrupt. %w may be used for a cause.
func Corruptf(msg string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrCorrupt, fmt.Errorf(msg, args...))
}

// Unsupportedf makes an error that wraps ErrUnsupported.
func Unsupportedf(msg string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnsupported, fmt.Errorf(msg, args...))
}
