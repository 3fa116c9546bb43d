// Package out prints what verbs answer: JSON documents, streams of lines, and
// text for people.
//
// # JSON
//
// A document is one object, two spaces of indent, a newline at its end, the
// members in the order given, as the Rust CLI prints (serde's pretty form):
// empty arrays and objects on one line, no escaping of <, > and &, no escaping
// of U+2028 and U+2029, \b \t \n \f \r by letter and other control characters
// as \u00xx in lower case.
//
// # Text
//
// Text from a store is hostile: before it reaches a terminal every control
// character and every character that turns the direction of writing is shown
// as an escape. Widths are cells, not bytes. Colours come from a theme and
// only repeat what a word or a sign already says.
package out

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Member is one member of a document. A member without a name stands for all
// members of its value, which must encode as an object.
type Member struct {
	Name  string
	Value any
}

// M is a named member.
func M(name string, value any) Member { return Member{name, value} }

// All stands for the members of v.
func All(v any) Member { return Member{Value: v} }

// Compact encodes one value on one line, without a newline at its end.
func Compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the answer as JSON: %w", err)
	}
	return plainSeparators(bytes.TrimSuffix(b.Bytes(), []byte{'\n'})), nil
}

// plainSeparators writes U+2028 and U+2029 as themselves. encoding/json
// escapes them for the sake of JavaScript; serde does not.
func plainSeparators(b []byte) []byte {
	if !bytes.Contains(b, []byte(`\u202`)) {
		return b
	}
	o := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 >= len(b) {
			o = append(o, b[i])
			continue
		}
		switch {
		case bytes.HasPrefix(b[i:], []byte(`\u2028`)):
			o, i = append(o, "\u2028"...), i+5
		case bytes.HasPrefix(b[i:], []byte(`\u2029`)):
			o, i = append(o, "\u2029"...), i+5
		default:
			o, i = append(o, b[i], b[i+1]), i+1
		}
	}
	return o
}

// Object encodes members as one object on one line.
func Object(members ...Member) ([]byte, error) {
	o := []byte{'{'}
	for _, m := range members {
		v, err := Compact(m.Value)
		if err != nil {
			return nil, err
		}
		if m.Name != "" {
			name, err := Compact(m.Name)
			if err != nil {
				return nil, err
			}
			o = append(append(append(comma(o), name...), ':'), v...)
			continue
		}
		if len(v) < 2 || v[0] != '{' {
			return nil, fmt.Errorf("encode the answer as JSON: %T is not an object", m.Value)
		}
		if v = v[1 : len(v)-1]; len(v) > 0 {
			o = append(comma(o), v...)
		}
	}
	return append(o, '}'), nil
}

func comma(o []byte) []byte {
	if len(o) > 1 {
		return append(o, ',')
	}
	return o
}

// Document prints members as one indented object and a newline.
func Document(w io.Writer, members ...Member) error {
	o, err := Object(members...)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, o, "", "  "); err != nil {
		return fmt.Errorf("indent the answer: %w", err)
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

// Array prints a document whose one large member is an array, item by item,
// so that no more than one item is held in memory.
type Array struct {
	w     io.Writer
	items int
}

// NewArray begins a document with the given members and then the array.
func NewArray(w io.Writer, name string, before ...Member) (*Array, error) {
	a := &Array{w: w}
	if _, err := io.WriteString(w, "{\n"); err != nil {
		return nil, err
	}
	for _, m := range before {
		if err := a.member(m, ",\n"); err != nil {
			return nil, err
		}
	}
	key, err := Compact(name)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(w, "  %s: [", key)
	return a, err
}

// member prints one member at the depth of the document, and after it end.
func (a *Array) member(m Member, end string) error {
	o, err := Object(m)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, o, "", "  "); err != nil {
		return fmt.Errorf("indent the answer: %w", err)
	}
	s := bytes.TrimSuffix(bytes.TrimPrefix(b.Bytes(), []byte("{\n")), []byte("\n}"))
	_, err = a.w.Write(append(s, end...))
	return err
}

// Add prints one item, which must be valid JSON.
func (a *Array) Add(item []byte) error {
	var b bytes.Buffer
	if a.items > 0 {
		b.WriteByte(',')
	}
	b.WriteString("\n    ")
	if err := json.Indent(&b, item, "    ", "  "); err != nil {
		return fmt.Errorf("indent an item of the answer: %w", err)
	}
	a.items++
	_, err := a.w.Write(b.Bytes())
	return err
}

// Close ends the array and prints the members after it.
func (a *Array) Close(after ...Member) error {
	end := "]"
	if a.items > 0 {
		end = "\n  ]"
	}
	if _, err := io.WriteString(a.w, end); err != nil {
		return err
	}
	for _, m := range after {
		if _, err := io.WriteString(a.w, ",\n"); err != nil {
			return err
		}
		if err := a.member(m, ""); err != nil {
			return err
		}
	}
	_, err := io.WriteString(a.w, "\n}\n")
	return err
}
