package load

import (
	"errors"
	"fmt"

	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn/validate"
)

// The order in which the Rust engine asks for what is wrong within a type: names
// of members and the form of ids, of all rows; then each column in its order, of
// all rows; then ids and keys; then where blobs are.
const (
	rankFields = 0
	rankColumn = 1
	rankKey    = 1 << 20
	rankBlob   = 1<<20 + 1
)

// maker makes rows of one type.
type maker struct {
	t      *schema.Type
	key    []int // places of the key's properties, in the order of the id
	places map[string]int
	json   []*ojson.Value // of the row at hand, by property
	slab   []value.Value
	uri    func(uri string) error

	passing bool // see scanner
}

func newMaker(t *schema.Type, uri func(string) error) *maker {
	m := &maker{t: t, uri: uri, json: make([]*ojson.Value, len(t.Properties)), places: map[string]int{}}
	for i := range t.Properties {
		m.places[t.Properties[i].Name] = i
	}
	for _, k := range t.Key() {
		m.key = append(m.key, m.places[k.Name])
	}
	return m
}

// entity is a row and where it is from.
type entity struct {
	t     *schema.Type
	row   validate.Row
	named bool // it has its id: the line or a key says it
	line  int
	size  int64 // as the Rust engine reckons input
}

// entity reads the data of an entry: the values of all properties, and the id as
// far as the line or a key says it.
func (m *maker) entity(r *entry) (entity, *InputError) {
	wrong := func(rank int, property, format string, args ...any) (entity, *InputError) {
		return entity{}, &InputError{Line: r.line, Type: m.t, Property: property, Text: fmt.Sprintf(format, args...), rank: rank}
	}
	json := m.json
	clear(json)
	var id *ojson.Value
	for i := range r.data {
		d := &r.data[i]
		at, ok := m.places[d.Name]
		switch {
		case ok:
			json[at] = &d.Value
		case d.Name == "id":
			id = &d.Value
		case reserved[d.Name]:
			return wrong(rankFields, d.Name, "input field '%s' is reserved physical state", d.Name)
		default:
			return wrong(rankFields, d.Name, "unknown input field '%s' for '%s'", shorten(d.Name), m.t.Alias())
		}
	}
	if id != nil && id.Kind() != ojson.String {
		return wrong(rankFields, "id", "input entity of type '%s' field 'id' must be a string, got %s", m.t.Name, show(*id))
	}
	e := entity{t: m.t, line: r.line, row: validate.Row{Src: r.src, Dst: r.dst, Values: m.values()}}
	for i := range m.t.Properties {
		p := &m.t.Properties[i]
		var v ojson.Value
		if json[i] != nil {
			v = *json[i]
		}
		var err error
		if e.row.Values[i], err = value.Parse(p.Name, p.Type, v); err != nil {
			return wrong(rankColumn+i, p.Name, "%v", err)
		}
	}
	if id != nil {
		e.row.ID, e.named = id.Text(), true
	}
	e.size = validate.Size(m.t, &e.row) // an id that a key makes is not in it
	if bad := m.identify(&e); bad != "" {
		return wrong(rankKey, "id", "%s", bad)
	}
	if property, err := m.blobs(&e.row); err != nil {
		return wrong(rankBlob, property, "%v", err)
	}
	return e, nil
}

// values are the cells of one row, cut from a larger piece.
func (m *maker) values() []value.Value {
	n := len(m.t.Properties)
	if len(m.slab) < n {
		m.slab = make([]value.Value, 64*n)
	}
	out := m.slab[:n:n]
	if m.passing {
		clear(out)
		return out
	}
	m.slab = m.slab[n:]
	return out
}

// identify gives a node with a key its id; the text says why it cannot have one.
func (m *maker) identify(e *entity) string {
	if m.key == nil {
		return ""
	}
	key := make([]value.Value, 0, 4)
	for _, at := range m.key {
		key = append(key, e.row.Values[at])
	}
	id, err := value.ID(key)
	if err != nil {
		return err.Error()
	}
	if e.named && e.row.ID != id {
		return fmt.Sprintf("node %s explicit id '%s' does not match its canonical @key id '%s'", m.t.Name, shorten(e.row.ID), shorten(id))
	}
	e.row.ID, e.named = id, true
	return ""
}

// errNoURI is why a URI is refused where none is allowed.
var errNoURI = errors.New("bytes are given as base64: here")

// blobs refuses URIs that are not allowed.
func (m *maker) blobs(row *validate.Row) (property string, err error) {
	for i := range m.t.Properties {
		v := row.Values[i]
		if v.Kind() != value.BlobURI {
			continue
		}
		err := errNoURI
		if m.uri != nil {
			err = m.uri(v.Text())
		}
		if err != nil {
			return m.t.Properties[i].Name, fmt.Errorf("external blob URI '%s' is not allowed: %w (blob property '%s')", shorten(v.Text()), err, m.t.Properties[i].Name)
		}
	}
	return "", nil
}
