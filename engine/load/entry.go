package load

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/schema"
)

// entry is a line that says an entity of a type there is; its data is not read.
type entry struct {
	t        *schema.Type
	line     int
	src, dst string
	data     []ojson.Member
}

// reserved are names of physical columns, which no input may have.
var reserved = map[string]bool{
	"_tombstone": true, "_rowid": true, "_rowaddr": true, "_rowoffset": true,
	"_row_created_at_version": true, "_row_last_updated_at_version": true,
}

// shared is how long a line may be whose text rows keep, instead of copies of
// parts of it.
const shared = 512

// parseEntry reads a line that is not blank.
func parseEntry(ir *schema.IR, json *ojson.Parser, line []byte, n int) (entry, error) {
	parse := ojson.Parse
	if len(line) <= shared {
		parse = json.Parse
	}
	v, err := parse(line)
	var syntax *ojson.SyntaxError
	if errors.As(err, &syntax) {
		return entry{}, &SyntaxError{n, fmt.Sprintf("%s at line 1 column %d", syntax.Text, syntax.Offset+1)}
	}
	if err == nil {
		err = strict(v)
	}
	if err != nil {
		return entry{}, &SyntaxError{n, err.Error()}
	}
	r, text := envelope(ir, v)
	if text != "" {
		return entry{}, &InputError{Line: n, Text: text}
	}
	r.line = n
	return r, nil
}

// strict refuses what a reader of JSON may let pass: members that stand twice,
// numbers beyond doubles.
func strict(v ojson.Value) error {
	switch v.Kind() {
	case ojson.Number:
		if s := v.Text(); len(s) > 300 || strings.ContainsAny(s, "eE") {
			if x, err := v.Float(); err != nil || math.IsInf(x, 0) {
				return errors.New("number out of range")
			}
		}
	case ojson.Array:
		for _, item := range v.Items() {
			if err := strict(item); err != nil {
				return err
			}
		}
	case ojson.Object:
		return strictMembers(v.Members())
	}
	return nil
}

func strictMembers(members []ojson.Member) error {
	const few = 16
	var seen map[string]bool
	if len(members) > few {
		seen = make(map[string]bool, len(members))
	}
	for i, m := range members {
		twice := seen[m.Name]
		if seen != nil {
			seen[m.Name] = true
		} else {
			for j := 0; j < i && !twice; j++ {
				twice = members[j].Name == m.Name
			}
		}
		if twice {
			return fmt.Errorf("duplicate JSON member '%s'", m.Name)
		}
		if err := strict(m.Value); err != nil {
			return err
		}
	}
	return nil
}

// fields are the members of the top level.
type fields struct{ kind, edge, from, to, data *ojson.Value }

// at is where a member of a name is kept, nil when no entity has it.
func (f *fields) at(name string) **ojson.Value {
	switch name {
	case "type":
		return &f.kind
	case "edge":
		return &f.edge
	case "from":
		return &f.from
	case "to":
		return &f.to
	case "data":
		return &f.data
	}
	return nil
}

func envelope(ir *schema.IR, v ojson.Value) (entry, string) {
	if v.Kind() != ojson.Object {
		return entry{}, "graph batch record must be one JSON object"
	}
	var f fields
	members := v.Members()
	for i := range members {
		if at := f.at(members[i].Name); at != nil {
			*at = &members[i].Value
		}
	}
	if (f.kind == nil) == (f.edge == nil) {
		return entry{}, "graph batch record must contain exactly one of 'type' or 'edge'"
	}
	strange := ""
	for _, m := range members {
		if at := f.at(m.Name); strange == "" && (at == nil || f.kind != nil && (at == &f.from || at == &f.to)) {
			strange = m.Name
		}
	}
	switch {
	case reserved[strange]:
		return entry{}, fmt.Sprintf("top-level field '%s' is reserved physical state", strange)
	case strange != "":
		return entry{}, fmt.Sprintf("unknown top-level graph batch field '%s'", shorten(strange))
	}
	if f.kind != nil {
		return nodeEntry(ir, f)
	}
	return edgeEntry(ir, f)
}

func nodeEntry(ir *schema.IR, f fields) (r entry, text string) {
	name, text := textField("type", f.kind)
	if text == "" {
		r.data, text = dataField(f.data)
	}
	if text != "" {
		return r, text
	}
	t, ok := ir.Type(schema.KindNode, name)
	if !ok {
		return r, fmt.Sprintf("unknown node type '%s'", shorten(name))
	}
	r.t = t
	return r, ""
}

func edgeEntry(ir *schema.IR, f fields) (r entry, text string) {
	name, text := textField("edge", f.edge)
	if text == "" {
		r.src, text = textField("from", f.from)
	}
	if text == "" {
		r.dst, text = textField("to", f.to)
	}
	if text == "" {
		r.data, text = dataField(f.data)
	}
	for _, m := range r.data {
		if text == "" && (m.Name == "src" || m.Name == "dst") {
			text = fmt.Sprintf("edge data field '%s' is reserved structural state", m.Name)
		}
	}
	if text != "" {
		return r, text
	}
	t, ok := ir.Edge(name)
	if !ok {
		return r, fmt.Sprintf("unknown edge type '%s'", shorten(name))
	}
	r.t = t
	return r, ""
}

func textField(name string, v *ojson.Value) (out, text string) {
	switch {
	case v == nil:
		return "", fmt.Sprintf("graph batch record requires field '%s'", name)
	case v.Kind() != ojson.String:
		return "", fmt.Sprintf("graph batch field '%s' must be a string, got %s", name, show(*v))
	}
	return v.Text(), ""
}

func dataField(v *ojson.Value) (out []ojson.Member, text string) {
	switch {
	case v == nil:
		return nil, ""
	case v.Kind() != ojson.Object:
		return nil, fmt.Sprintf("graph batch field 'data' must be an object, got %s", show(*v))
	}
	return v.Members(), ""
}

// show is JSON for a message.
func show(v ojson.Value) string { return shorten(string(v.Append(nil))) }

// shorten cuts what no message needs whole.
func shorten(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
