package action

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/omnideck/omnideck/engine"
)

// User is what a user changes of the keys: the keys of an action in the order
// in which they are shown. No key at all takes the action off the keyboard.
type User map[ID][]string

// ReadUser reads a key map:
//
//	[keys]
//	filter = ["/", "ctrl+f"]
//	follow = []
//
// All that is wrong with the text is in the error, a sentence a line.
func ReadUser(text []byte) (User, error) {
	const doing = "reading the key map: "
	if len(text) > userMax {
		return nil, fmt.Errorf(doing+"it has %d bytes, at most %d are read", len(text), userMax)
	}
	for n, line := range bytes.Split(text, []byte("\n")) { // names of thousands of parts take the reader minutes
		if len(line) > userLine {
			return nil, fmt.Errorf(doing+"line %d has %d bytes, at most %d are read", n+1, len(line), userLine)
		}
	}
	var file map[string]any
	if _, err := toml.Decode(string(text), &file); err != nil {
		return nil, fmt.Errorf(doing+"it is not TOML: %w", err)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(file)) {
		if name != "keys" {
			errs = append(errs, fmt.Errorf(doing+"found %q, expected one table [keys]", name))
		}
	}
	table, ok := file["keys"].(map[string]any)
	if !ok && file["keys"] != nil {
		errs = append(errs, errors.New(doing+"keys is not a table, expected [keys] and below it lines such as filter = [\"/\"]"))
	}
	u := User{}
	for _, id := range slices.Sorted(maps.Keys(table)) {
		keys, err := keyList(table[id])
		if err != nil {
			errs = append(errs, fmt.Errorf(doing+"of the action %q: %w", id, err))
		}
		u[ID(id)] = keys
	}
	return u, errors.Join(errs...)
}

const (
	userMax  = 1 << 16 // bytes of a key map
	userLine = 1 << 10 // bytes of a line of it
)

func keyList(v any) ([]string, error) {
	list, ok := v.([]any)
	if one, is := v.(string); is {
		list, ok = []any{one}, true
	}
	if !ok {
		return nil, fmt.Errorf("found %v, expected a list of keys such as [\"/\", \"ctrl+f\"]", v)
	}
	var out []string
	for _, k := range list {
		s, ok := k.(string)
		if !ok {
			return nil, fmt.Errorf("found the key %v, expected text such as \"ctrl+f\"", k)
		}
		out = append(out, s)
	}
	return out, nil
}

// vital are the ways out: without one of them a user could be stuck.
var vital = []ID{Leave, Interrupt, Back, Help, Command}

// Bind puts the keys of a user into the table. The error holds everything that
// is wrong: an action that does not exist, a key that no keyboard has, a key
// that means two things on one screen, a write on a key for moving or reading
// again, a way out without a key.
func Bind(u User) (*Map, error) {
	var errs []error
	table := slices.Clone(Table)
	for _, id := range slices.Sorted(maps.Keys(u)) {
		i := slices.IndexFunc(table, func(a Action) bool { return a.ID == id })
		if i < 0 {
			errs = append(errs, fmt.Errorf("there is no action %q%s", id, suggest(id)))
			continue
		}
		keys := make([]string, 0, len(u[id]))
		for _, k := range u[id] {
			name, err := keyName(k)
			if err != nil {
				errs = append(errs, fmt.Errorf("action %s: %w", id, err))
				continue
			}
			if !slices.Contains(keys, name) {
				keys = append(keys, name)
			}
		}
		table[i].Keys, table[i].Show = keys, ""
	}
	for _, id := range vital {
		if a := (&Map{table}).Get(id); len(a.Keys) == 0 {
			errs = append(errs, fmt.Errorf("action %s (%s) has no key any more, and it is a way out: give it one", id, a.Help))
		}
	}
	errs = append(errs, clashes(table, Screens)...)
	if len(errs) > 0 {
		for i, err := range errs {
			errs[i] = fmt.Errorf("binding the keys: %w", err)
		}
		return nil, errors.Join(errs...)
	}
	return &Map{table}, nil
}

// Read makes the map in force from the text of a key map: ReadUser and Bind.
func Read(text []byte) (*Map, error) {
	u, err := ReadUser(text)
	if err != nil {
		return nil, err
	}
	return Bind(u)
}

// suggest names an action that may have been meant.
func suggest(id ID) string {
	names := make([]string, len(Table))
	for i, a := range Table {
		names[i] = string(a.ID)
	}
	near := engine.Suggest(string(id), names)
	if len(near) == 0 {
		return "; docs/KEYS.md lists them all"
	}
	return "; did you mean " + near[0] + "?"
}

// special are the keys that have a name.
var special = []string{
	"enter", "esc", "tab", "space", "backspace", "delete", "insert", "up", "down", "left", "right", "home", "end", "pgup", "pgdown",
	"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
}

// keyName checks how a key is spelled, as "f", "F", "ctrl+f", "alt+left".
func keyName(k string) (string, error) {
	rest, mods := k, ""
	for _, mod := range []string{"ctrl+", "alt+", "shift+"} {
		if r, ok := strings.CutPrefix(rest, mod); ok && r != "" {
			rest, mods = r, mods+mod
		}
	}
	if rest == " " {
		rest = "space"
	}
	if slices.Contains(special, rest) {
		return mods + rest, nil
	}
	r, n := utf8.DecodeRuneInString(rest)
	if n != len(rest) || n == 0 || r == utf8.RuneError || !unicode.IsPrint(r) {
		return "", fmt.Errorf("found the key %q, expected one character or one of %s, with ctrl+, alt+ and shift+ before it in this order", k, strings.Join(special, ", "))
	}
	if strings.Contains(mods, "shift+") || mods != "" && unicode.IsUpper(r) {
		return "", fmt.Errorf("found the key %q, expected a capital letter alone, or a small one behind ctrl+ or alt+", k)
	}
	return mods + rest, nil
}

// spell is how a key is shown.
func spell(k string) string {
	switch k {
	case "pgup":
		return "PgUp"
	case "pgdown":
		return "PgDn"
	case " ":
		return "space"
	}
	if r, ok := strings.CutPrefix(k, "ctrl+"); ok {
		return "^" + r
	}
	return k
}
