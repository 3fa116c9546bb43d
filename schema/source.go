package schema

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// undeclared compares the schema's text with the accepted IR as far as this is
// possible without compiling it: every interface, node and edge of the IR must
// stand in the text behind its keyword, every property before a colon. A text
// that is empty, cut, or another graph's is found; one of which a type or an
// annotation was changed is not. "" when nothing is missing.
func undeclared(source string, ir *IR) string {
	declared := map[string]bool{}
	last := ""
	for _, w := range words(source) {
		declared[w], declared[last+" "+w] = true, true // the keyword may touch the name
		last = w
	}
	var missing []string
	for _, types := range [][]Type{ir.Interfaces, ir.Nodes, ir.Edges} {
		for _, t := range types {
			if !declared[t.Kind.String()+" "+t.Name] && !declared[t.Kind.String()+t.Name] {
				missing = append(missing, t.Kind.String()+" "+t.Name)
				continue
			}
			for _, p := range t.Properties {
				if !declared[p.Name+" :"] {
					missing = append(missing, t.Name+"."+p.Name)
				}
			}
		}
	}
	if len(missing) == 0 {
		return ""
	}
	slices.Sort(missing)
	more := ""
	if n := len(missing); n > 3 {
		missing, more = missing[:3], fmt.Sprintf(" and %d more", n-3)
	}
	return fmt.Sprintf("the text of %d bytes does not declare what the accepted schema has: %s%s", len(source), strings.Join(missing, ", "), more)
}

// words are the names and the colons of a text, without its comments and
// strings.
func words(source string) []string {
	code := strings.ReplaceAll(bare(source), ":", " : ")
	return strings.FieldsFunc(code, func(r rune) bool {
		return r != ':' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// bare leaves out comments and strings.
func bare(source string) string {
	var out strings.Builder
	for source != "" {
		i := strings.IndexAny(source, `"/`)
		if i < 0 {
			break
		}
		out.WriteString(source[:i])
		out.WriteByte(' ')
		rest := source[i+1:]
		switch {
		case source[i] == '"':
			source = rest[stringEnd(rest):]
		case strings.HasPrefix(rest, "/"):
			_, source, _ = strings.Cut(rest, "\n")
		case strings.HasPrefix(rest, "*"):
			_, source, _ = strings.Cut(rest[1:], "*/")
		default:
			source = rest
		}
	}
	out.WriteString(source)
	return out.String()
}

// stringEnd is where the text behind an opening quote goes on after its string.
func stringEnd(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}
