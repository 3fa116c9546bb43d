package manifest

import "strconv"

// Most metadata are plain: a flat object without blanks, of printable ASCII, of
// texts, whole numbers and nulls. Those are read without a tree of values.
// Whatever is not plain, or not sound, is left to the parser.

// kinds of plain values
const (
	plainText    = '"'
	plainEscaped = '\\' // a text with \" or \\ in it
	plainNumber  = '0'
	plainNull    = 'n'
)

// plainMembers visits the members of a plain object; false when it is none, or
// visit says so.
func plainMembers(text string, visit func(name, value string, kind byte) bool) bool {
	if len(text) < 2 || text[0] != '{' {
		return false
	}
	for rest := text[1:]; ; {
		name, kind, n := plainValue(rest)
		if kind != plainText || n >= len(rest) || rest[n] != ':' {
			return false
		}
		rest = rest[n+1:]
		value, kind, n := plainValue(rest)
		if kind == 0 || n >= len(rest) || !visit(name, value, kind) {
			return false
		}
		switch end := rest[n]; {
		case end == '}':
			return n+1 == len(rest)
		case end != ',':
			return false
		}
		rest = rest[n+1:]
	}
}

// plainValue reads one value at the beginning of s and says how long it is; a
// kind of 0 is none.
func plainValue(s string) (value string, kind byte, n int) {
	switch {
	case s == "":
		return "", 0, 0
	case s[0] == '"':
		return plainString(s)
	case len(s) >= 4 && s[:4] == "null":
		return "", plainNull, 4
	}
	if s[0] == '-' {
		n++
	}
	from := n
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if digits := n - from; digits == 0 || digits > 18 || s[from] == '0' && n > 1 {
		return "", 0, 0
	}
	return s[:n], plainNumber, n
}

func plainString(s string) (value string, kind byte, n int) {
	kind = plainText
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return s[1:i], kind, i + 1
		case c == '\\':
			if i++; i == len(s) || s[i] != '"' && s[i] != '\\' {
				return "", 0, 0
			}
			kind = plainEscaped
		case c < ' ' || c > '~':
			return "", 0, 0
		}
	}
	return "", 0, 0
}

// plainVersion reports whether metadata of a table_version is plain and sound.
func plainVersion(text string) bool {
	seen := [4]bool{}
	ok := plainMembers(text, func(name, value string, kind byte) bool {
		k, sound := -1, kind == plainText || kind == plainEscaped
		switch name {
		case "manifest_path":
			k = 0
		case "manifest_size":
			k, sound = 1, kind == plainNull || kind == plainNumber && value[0] != '-'
		case "e_tag":
			k, sound = 2, sound || kind == plainNull
		case "naming_scheme":
			k, sound = 3, sound || kind == plainNull
		default:
			return true
		}
		twice := seen[k]
		seen[k] = true
		return sound && !twice
	})
	return ok && seen[0]
}

// plainCommit reads the metadata of a graph_commit when it is plain and sound.
// Its texts are parts of text.
func plainCommit(text string, c *Commit) bool {
	var (
		seen  [4]bool
		acted bool
		actor string
	)
	*c = Commit{ID: c.ID, Branch: c.Branch, ManifestVersion: c.ManifestVersion}
	ok := plainMembers(text, func(name, value string, kind byte) bool {
		k, sound := -1, kind == plainText || kind == plainNull
		switch name {
		case "parent_commit_id":
			k, c.Parent = 0, value
		case "merged_parent_commit_id":
			k, c.MergedParent = 1, value
		case "actor_id":
			k, actor, acted = 2, value, kind == plainText
		case "created_at":
			var err error
			c.CreatedAt, err = strconv.ParseInt(value, 10, 64)
			k, sound = 3, kind == plainNumber && err == nil
		default:
			return true
		}
		twice := seen[k]
		seen[k] = true
		return sound && !twice
	})
	if acted {
		c.Actor = &actor
	}
	return ok && seen[3]
}
