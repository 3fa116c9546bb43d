package press

import (
	"testing"

	"github.com/omnideck/omnideck/tui/action"
)

// TestKeyIsWhatItIsCalled: a key that the program has can be pressed by its
// name, and the message spells itself the same.
func TestKeyIsWhatItIsCalled(t *testing.T) {
	names := []string{"space", "alt+x", "ctrl+alt+x", "shift+tab", "ctrl++", "+", "é", "世", "f5", "G", "ctrl+pgup", "backspace"}
	for _, a := range action.Table {
		names = append(names, a.Keys...)
	}
	for _, name := range names {
		k, err := Key(name)
		if name == " " {
			name = "space"
		}
		if err != nil || k.String() != name {
			t.Errorf("%s: pressed %q, %v", name, k, err)
		}
	}
	for _, name := range []string{"", "entr", "jj", "ctrl+", "ctrl+nothing", "  ", "\x1b", "a\n", "\xff", "́"} {
		if k, err := Key(name); err == nil {
			t.Errorf("%q was pressed as %q", name, k)
		}
	}
}
