// Package press reads the names of keys, as Bubble Tea spells them, into the
// messages that a terminal would send: for snap, and for tests.
package press

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// named are the keys that are no character.
var named = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "space": tea.KeySpace, "backspace": tea.KeyBackspace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "delete": tea.KeyDelete, "insert": tea.KeyInsert,
	"f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f6": tea.KeyF6,
	"f7": tea.KeyF7, "f8": tea.KeyF8, "f9": tea.KeyF9, "f10": tea.KeyF10, "f11": tea.KeyF11, "f12": tea.KeyF12,
}

// mods are the keys that are held.
var mods = []struct {
	lead string
	mod  tea.KeyMod
}{{"ctrl+", tea.ModCtrl}, {"alt+", tea.ModAlt}, {"shift+", tea.ModShift}}

// Key is the message of one key: a character, a name such as enter or pgdown,
// or one of them behind ctrl+, alt+ or shift+.
func Key(name string) (tea.KeyPressMsg, error) {
	k := tea.Key{}
	rest := name
held:
	for {
		for _, m := range mods {
			if after, ok := strings.CutPrefix(rest, m.lead); ok && after != "" {
				k.Mod |= m.mod
				rest = after
				continue held
			}
		}
		break
	}
	if rest == " " {
		rest = "space"
	}
	if code, ok := named[rest]; ok {
		k.Code = code
		if code == tea.KeySpace && k.Mod == 0 {
			k.Text = " "
		}
		return tea.KeyPressMsg(k), nil
	}
	r, n := utf8.DecodeRuneInString(rest)
	if n != len(rest) || n == 0 || r == utf8.RuneError || !unicode.IsPrint(r) || unicode.IsSpace(r) || unicode.IsMark(r) {
		return tea.KeyPressMsg{}, fmt.Errorf("reading the key %q: expected one character, or enter, esc, tab, space, backspace, delete, insert, up, down, left, right, home, end, pgup, pgdown or f1 to f12, maybe behind ctrl+, alt+ or shift+", name)
	}
	k.Code = r
	if k.Mod == 0 {
		k.Text = rest
	}
	return tea.KeyPressMsg(k), nil
}
