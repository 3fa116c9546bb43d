package validate

import (
	"strconv"
	"strings"

	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
)

// ValueRules are the rules of single values of a type: required, type, enum,
// range, check.
type ValueRules struct {
	t     *schema.Type
	rules *value.Rules
	ruled []bool // properties that have an enum, a range or a pattern
}

// NewValueRules reads the rules of a type. A pattern that cannot be evaluated is
// a violation without ids: every write of the type is refused.
func NewValueRules(t *schema.Type) (*ValueRules, *Violation) {
	rules, err := value.NewRules(t)
	if err != nil {
		v := &Violation{Rule: RulePattern, Type: t, Text: err.Error()}
		for _, c := range t.Checks() {
			v.Columns = append(v.Columns, c.Fields[0].Name())
		}
		return nil, v
	}
	r := &ValueRules{t, rules, make([]bool, len(t.Properties))}
	for _, c := range append(t.Ranges(), t.Checks()...) {
		if i, ok := placeOf(t, c.Fields[0].Name()); ok && i >= 0 {
			r.ruled[i] = true
		}
	}
	for i := range t.Properties {
		r.ruled[i] = r.ruled[i] || t.Properties[i].Type.Enum != nil
	}
	return r, nil
}

// Check tells every value of a row that breaks a rule, until found says no.
func (r *ValueRules) Check(row *Row, found func(*Violation) bool) bool {
	for i := range r.t.Properties {
		p := &r.t.Properties[i]
		v := row.Values[i]
		var err error
		switch {
		case v.Kind() == value.Null:
			if p.Type.Nullable {
				continue
			}
			_, err = value.Parse(p.Name, p.Type, ojson.Value{})
		case !fits(v, p.Type):
			err = &value.Refusal{Property: p.Name, Rule: value.RuleType, Text: "property '" + p.Name + "' is of type " + p.Type.Spell() + ", got " + spell(v)}
		case r.ruled[i]:
			err = r.rules.Check(p.Name, v)
		}
		if err != nil && !found(valueViolation(r.t, row.ID, p.Name, v, err)) {
			return false
		}
	}
	return true
}

var kinds = map[string]value.Kind{
	"String": value.Text, "Bool": value.Bool, "I32": value.Int, "I64": value.Int, "U32": value.Uint, "U64": value.Uint,
	"F32": value.Float32, "F64": value.Float64, "Date": value.Date, "DateTime": value.DateTime, "Vector": value.Vector, "Blob": value.Blob,
}

// fits reports whether a value is of the kind that a type has.
func fits(v value.Value, t schema.PropType) bool {
	switch {
	case t.List:
		return v.Kind() == value.List
	case t.Scalar.Name == "Vector":
		return v.Kind() == value.Vector && uint64(len(v.Floats())) == t.Scalar.Dim
	case t.Scalar.Name == "Blob":
		return v.Kind() == value.Blob || v.Kind() == value.BlobURI
	}
	return v.Kind() == kinds[t.Scalar.Name]
}

// Unique is one group of columns whose values together stand once: fed row by
// row, it tells the second holder of the same values. It remembers their texts
// and the ids.
type Unique struct {
	t       *schema.Type
	Columns []string
	places  []place
	holders map[string]string // key → id
}

// Groups are the groups of a type: its key first, then each @unique that is not
// the same as the key.
func Groups(t *schema.Type) []*Unique {
	var key []string
	for _, p := range t.Key() {
		key = append(key, p.Name)
	}
	var out []*Unique
	add := func(columns []string) {
		u := &Unique{t: t, Columns: columns, holders: map[string]string{}}
		for _, c := range columns {
			at, ok := placeOf(t, c)
			if !ok {
				return // the schema's own check refuses it
			}
			u.places = append(u.places, at)
		}
		out = append(out, u)
	}
	if key != nil {
		add(key)
	}
	for _, columns := range t.Unique() {
		if !sameSet(columns, key) {
			add(columns)
		}
	}
	return out
}

func sameSet(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		found := false
		for _, y := range b {
			found = found || x == y
		}
		if !found {
			return false
		}
	}
	return true
}

// tuple are the values of a row in the group's columns; ok is false when one is
// null.
func (u *Unique) tuple(row *Row) (values []value.Value, ok bool) {
	values = make([]value.Value, len(u.places))
	for i, at := range u.places {
		switch at {
		case atID:
			values[i] = value.String(row.ID)
		case atSrc:
			values[i] = value.String(row.Src)
		case atDst:
			values[i] = value.String(row.Dst)
		default:
			values[i] = row.Values[at]
		}
		if values[i].Kind() == value.Null {
			return nil, false
		}
	}
	return values, true
}

// texts are those of the values of a tuple.
func texts(values []value.Value) ([]string, error) {
	out := make([]string, len(values))
	for i, v := range values {
		var err error
		if out[i], err = v.Key(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// joined is one text for a tuple of texts, different for different tuples.
func joined(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	var b strings.Builder
	for _, s := range texts {
		b.WriteString(strconv.Itoa(len(s)))
		b.WriteByte(':')
		b.WriteString(s)
	}
	return b.String()
}

// key is the text of a row's tuple, "" and no violation when it is exempt.
func (u *Unique) key(row *Row) (key string, values []value.Value, exempt bool, bad *Violation) {
	values, ok := u.tuple(row)
	if !ok {
		return "", nil, true, nil
	}
	ts, err := texts(values)
	if err != nil {
		return "", nil, false, &Violation{
			Rule: RuleKey, Type: u.t, IDs: []string{row.ID}, Columns: u.Columns,
			Text: err.Error() + " (" + u.t.Kind.String() + " " + u.t.Name + " '" + row.ID + "', " + tuple(u.Columns) + ")",
		}
	}
	return joined(ts), values, false, nil
}

// Add takes one more row; nil when its values were not there before.
func (u *Unique) Add(row *Row) *Violation {
	key, values, exempt, bad := u.key(row)
	if exempt || bad != nil {
		return bad
	}
	prior, twice := u.holders[key]
	u.holders[key] = row.ID
	if !twice {
		return nil
	}
	return u.violation(values, prior, row.ID)
}

func (u *Unique) violation(values []value.Value, prior, id string) *Violation {
	ts, _ := texts(values) // made before, without error
	return uniqueViolation(u.t, u.Columns, ts, prior, id)
}

// IDs finds ids that stand twice in a table. It remembers all.
type IDs struct {
	t    *schema.Type
	seen map[string]bool
}

// NewIDs begins a table.
func NewIDs(t *schema.Type) *IDs { return &IDs{t, map[string]bool{}} }

// Add takes one more row; nil when its id was not there before.
func (s *IDs) Add(id string) *Violation {
	if !s.seen[id] {
		s.seen[id] = true
		return nil
	}
	return &Violation{
		Rule: RuleDuplicate, Type: s.t, IDs: []string{id}, Columns: []string{"id"}, Value: id,
		Text: s.t.Kind.String() + " type '" + s.t.Name + "' has the id '" + id + "' in more than one row",
	}
}

// Has reports whether an id was added.
func (s *IDs) Has(id string) bool { return s.seen[id] }

// Endpoints tells the ends of an edge that from and to do not know, until found
// says no.
func Endpoints(edge *schema.Type, row *Row, from, to func(id string) bool, found func(*Violation) bool) bool {
	if !from(row.Src) && !found(endViolation(edge, row.ID, "src", row.Src, edge.From.Name)) {
		return false
	}
	return to(row.Dst) || found(endViolation(edge, row.ID, "dst", row.Dst, edge.To.Name))
}

// Degree counts the edges of each source of an edge type.
type Degree struct {
	t *schema.Type
	n map[string]uint64
}

// NewDegree begins a table; nil when the type bounds nothing.
func NewDegree(t *schema.Type) *Degree {
	if t.Card.Min == 0 && t.Card.Max == nil {
		return nil
	}
	return &Degree{t, map[string]uint64{}}
}

// Add takes n more edges of a source.
func (d *Degree) Add(src string, n uint64) { d.n[src] += n }

// Done tells the sources with too many or too few edges in the order of their
// ids, until found says no. Sources without any edge are not among them.
func (d *Degree) Done(found func(*Violation) bool) bool {
	for _, src := range sorted(d.n) {
		n := d.n[src]
		if m := d.t.Card.Max; m != nil && n > *m && !found(cardViolation(d.t, src, n, RuleCardMax, *m)) {
			return false
		}
		if m := d.t.Card.Min; n < m && !found(cardViolation(d.t, src, n, RuleCardMin, m)) {
			return false
		}
	}
	return true
}
