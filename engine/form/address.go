package form

import (
	"cmp"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/internal/ojson"
)

// Address is a comparison that may mean one entity.
type Address struct {
	Field string // as .gq names it
	Said  string // for people: code = 'NLRTM'
	// Sure: no two entities have the same value, by a rule of the schema.
	Sure bool
	// Where is the comparison as `rows --where` takes it.
	Where string

	field *Field
	param ojson.Value
}

// addressesMax is how many comparisons are worth a try.
const addressesMax = 6

// Addresses are the comparisons that may mean the entity with these entries and
// no other: those that surely do first, then the likeliest.
func (f *Form) Addresses(entries []Entry) []Address {
	unique := map[string]bool{}
	for _, u := range f.typ.Unique() {
		if len(u) == 1 {
			unique[u[0]] = true
		}
	}
	if key := f.typ.Key(); len(key) == 1 {
		unique[key[0].Name] = true
	}
	var out []Address
	for i := range f.Fields {
		x := &f.Fields[i]
		sure := unique[x.Column]
		if !entries[i].Given || entries[i].Kept || x.rank() < 0 || strings.HasPrefix(x.prop.Scalar.Name, "F") && !sure {
			continue
		}
		param, _, err := f.value(i, entries[i])
		if err != nil { // what stands there does not keep today's rules
			if param, err = x.param(entries[i].Text); err != nil {
				continue
			}
		}
		literal := x.literal(entries[i].Text)
		out = append(out, Address{Field: x.Name, Said: x.Name + " = " + literal, Sure: sure, Where: x.Column + " = " + literal, field: x, param: param})
	}
	rank := func(a Address) int {
		switch {
		case a.Sure && a.field.Key:
			return -2
		case a.Sure:
			return -1
		}
		return a.field.rank()
	}
	slices.SortStableFunc(out, func(a, b Address) int { return cmp.Compare(rank(a), rank(b)) })
	return out[:min(len(out), addressesMax)]
}

// rank says how likely a value of the field stands in one row alone, 0 first;
// -1: it cannot be compared.
func (x *Field) rank() int {
	switch {
	case x.Kind == JSON || x.Kind == Blob:
		return -1
	case x.Key || x.Kind == End:
		return 0
	case x.Kind == Text:
		return 1
	case x.Kind == Time:
		return 2
	case x.Kind == Number:
		return 3
	}
	return 4
}

// literal is a value in the language of conditions.
func (x *Field) literal(text string) string {
	if x.Kind == Number || x.prop.Scalar.Name == "Bool" {
		return text
	}
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\t", `\t`).Replace(text) + "'"
}
