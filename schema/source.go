package schema

import (
	"fmt"
	"slices"
	"strings"
)

// disagreement compares the schema's text with the accepted IR, whose shape has
// the hash given. "" when the text compiles to that shape; else a sentence that
// says why not, or which types and properties differ.
func disagreement(source []byte, ir *IR, shapeHash string) string {
	shape, err := compile(source, true)
	if err != nil {
		return fmt.Sprintf("the text of %d bytes does not compile: %v", len(source), err)
	}
	if shape.Hash() == shapeHash {
		return ""
	}
	return fmt.Sprintf("the text of %d bytes compiles to another shape than the accepted schema has: %s", len(source), firstThree(differences(shape.Types, ir)))
}

// firstThree lists a few of the items and counts the rest.
func firstThree(items []string) string {
	more := ""
	if n := len(items); n > 3 {
		items, more = items[:3], fmt.Sprintf(" and %d more", n-3)
	}
	return strings.Join(items, ", ") + more
}

// differences names the types and properties that only one of text and IR has,
// or that both have in different forms.
func differences(text, ir *IR) (out []string) {
	mine, theirs := text.kinds(), ir.kinds()
	for k := range mine {
		out = append(out, compareLists(mine[k], theirs[k], func(t Type) string { return t.Kind.String() + " " + t.Name }, func(a, b Type) []string {
			if slices.Equal(a.shape().Append(nil), b.shape().Append(nil)) {
				return nil
			}
			props := compareLists(a.Properties, b.Properties, func(p Property) string { return a.Name + "." + p.Name }, func(p, q Property) []string {
				if slices.Equal(p.shape().Append(nil), q.shape().Append(nil)) {
					return nil
				}
				return []string{a.Name + "." + p.Name + " differs"}
			})
			if props == nil {
				return []string{a.Kind.String() + " " + a.Name + " differs beyond its properties"}
			}
			return props
		})...)
	}
	return out
}

// compareLists compares two lists sorted by name.
func compareLists[T any](text, ir []T, name func(T) string, differ func(a, b T) []string) (out []string) {
	for len(text) > 0 || len(ir) > 0 {
		switch {
		case len(ir) == 0 || len(text) > 0 && name(text[0]) < name(ir[0]):
			out = append(out, name(text[0])+" is only in the text")
			text = text[1:]
		case len(text) == 0 || name(text[0]) > name(ir[0]):
			out = append(out, name(ir[0])+" is missing from the text")
			ir = ir[1:]
		default:
			out = append(out, differ(text[0], ir[0])...)
			text, ir = text[1:], ir[1:]
		}
	}
	return out
}
