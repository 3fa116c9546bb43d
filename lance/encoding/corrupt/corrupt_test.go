package corrupt

import (
	"errors"
	"fmt"
	"testing"
)

func TestClasses(t *testing.T) {
	damaged := fmt.Errorf("column 3: %w", New("bitpack", "at most 32", "width %d", 40))
	newer := fmt.Errorf("column 3: %w", Unsupported("block", "a %s node", "new"))
	if !errors.Is(damaged, ErrCorrupt) || errors.Is(damaged, ErrUnsupported) {
		t.Errorf("%v is not damage alone", damaged)
	}
	if !errors.Is(newer, ErrUnsupported) || errors.Is(newer, ErrCorrupt) {
		t.Errorf("%v is not unsupported alone", newer)
	}
	var detail *Error
	if !errors.As(damaged, &detail) || detail.Found != "width 40" || detail.Expected != "at most 32" || detail.Codec != "bitpack" {
		t.Errorf("%+v", detail)
	}
	if got, want := damaged.Error(), "column 3: damaged: bitpack: found width 40, expected at most 32"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := newer.Error(), "column 3: not supported: block: a new node"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
