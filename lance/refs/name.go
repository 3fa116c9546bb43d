package refs

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/omnideck/omnideck/lance/format"
)

const (
	suffix      = ".json"
	branchesDir = format.RefsDir + "/branches/"
	tagsDir     = format.RefsDir + "/tags/"
)

// BranchKey is the key of a branch's ref, relative to the main root.
func BranchKey(name string) string { return branchesDir + encode(name) + suffix }

func encode(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; plain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func plain(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '-' || c == '_'
}

// decode undoes encode. Characters that encode would have encoded are taken
// literally.
func decode(text string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '%' {
			var v byte
			if i+2 >= len(text) || !hex(text[i+1], &v) || !hex(text[i+2], &v) {
				return "", fmt.Errorf("%q holds a %% that two hex digits do not follow", text)
			}
			c, i = v, i+2
		}
		b.WriteByte(c)
	}
	if !utf8.ValidString(b.String()) {
		return "", fmt.Errorf("%q does not decode to UTF-8", text)
	}
	return b.String(), nil
}

// hex shifts a hex digit into v.
func hex(c byte, v *byte) bool {
	switch {
	case c >= '0' && c <= '9':
		*v = *v<<4 | (c - '0')
	case c >= 'a' && c <= 'f':
		*v = *v<<4 | (c - 'a' + 10)
	case c >= 'A' && c <= 'F':
		*v = *v<<4 | (c - 'A' + 10)
	default:
		return false
	}
	return true
}

// CheckBranchName says why Lance would not take a name for a branch, or nil.
func CheckBranchName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a branch name cannot be empty")
	case name == "main":
		return fmt.Errorf("main is the root of the dataset, not a branch")
	case strings.HasPrefix(name, "/"), strings.HasSuffix(name, "/"), strings.Contains(name, "//"):
		return fmt.Errorf("branch name %q has an empty part", name)
	case strings.Contains(name, ".."), strings.Contains(name, `\`):
		return fmt.Errorf("branch name %q holds `..` or a backslash", name)
	case strings.HasSuffix(name, ".lock"):
		return fmt.Errorf("branch name %q ends in .lock", name)
	}
	return checkLetters("branch", name, "/")
}

// CheckTagName says why Lance would not take a name for a tag, or nil.
func CheckTagName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a tag name cannot be empty")
	case strings.HasPrefix(name, "."), strings.HasSuffix(name, "."), strings.Contains(name, ".."):
		return fmt.Errorf("tag name %q begins or ends with a dot, or holds `..`", name)
	case strings.HasSuffix(name, ".lock"):
		return fmt.Errorf("tag name %q ends in .lock", name)
	}
	return checkLetters("tag", name, "")
}

func checkLetters(what, name, also string) error {
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune(".-_"+also, r) {
			return fmt.Errorf("%s name %q holds %q; allowed are letters, digits and . - _ %s", what, name, r, also)
		}
	}
	return nil
}
