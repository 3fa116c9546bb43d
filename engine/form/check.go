package form

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/schema/value"
)

// Check says what is wrong with an entry: a sentence for the field; nil for
// nothing.
func (f *Form) Check(i int, e Entry) error {
	if e.Kept {
		return nil
	}
	_, _, err := f.value(i, e)
	return err
}

// value reads an entry: as a parameter, and as the value that comes of it.
func (f *Form) value(i int, e Entry) (ojson.Value, value.Value, error) {
	x := &f.Fields[i]
	if e.Kept {
		return ojson.Value{}, value.Value{}, errors.New("it stands for a value that is there, and there is none")
	}
	if !e.Given {
		if !x.Nullable {
			return ojson.Value{}, value.Value{}, errors.New("required")
		}
		return ojson.Value{}, value.Value{}, nil
	}
	param, err := x.param(e.Text)
	if err != nil {
		return param, value.Value{}, err
	}
	if x.Kind == End {
		return param, value.String(e.Text), nil
	}
	v, err := value.Parse(x.Name, x.prop, param)
	if err != nil {
		return param, v, x.plain(err)
	}
	return param, v, f.rules.Check(x.Name, v)
}

// param is the JSON of a parameter that a text stands for.
func (x *Field) param(text string) (ojson.Value, error) {
	if !utf8.ValidString(text) {
		return ojson.Value{}, errors.New("it is not UTF-8")
	}
	none := ojson.Value{}
	trimmed := strings.TrimSpace(text)
	switch x.Kind {
	case End:
		if text == "" {
			return none, errors.New("required")
		}
	case Choice:
		if x.prop.Scalar.Name == "Bool" {
			if text != "true" && text != "false" {
				return none, errors.New("expected true or false")
			}
			return ojson.Yes(text == "true"), nil
		}
	case Time:
		return ojson.Str(trimmed), nil
	case Number:
		v, err := ojson.Parse([]byte(trimmed))
		if err != nil || v.Kind() != ojson.Number {
			return none, errors.New("expected " + x.Accepts)
		}
		return v, x.within(v)
	case JSON:
		v, err := ojson.Parse([]byte(trimmed))
		if err != nil {
			return none, fmt.Errorf("expected %s: %w", x.Accepts, err)
		}
		for n, item := range v.Items() {
			if err := x.member(item); err != nil {
				return none, fmt.Errorf("element %d: %w", n+1, err)
			}
		}
		return v, nil
	}
	return ojson.Str(text), nil
}

// member holds an element of a list against what parameters take, where that is
// less than what data takes.
func (x *Field) member(v ojson.Value) error {
	switch name := x.prop.Scalar.Name; {
	case (name == "Date" || name == "DateTime") && v.Kind() == ojson.Number:
		return errors.New("expected a text, as in [\"2026-11-29\"]")
	case v.Kind() == ojson.Number:
		return x.within(v)
	}
	return nil
}

// within refuses a whole number that no parameter holds.
func (x *Field) within(v ojson.Value) error {
	if n, err := v.Uint(64); err == nil && n > 1<<63-1 && x.prop.Scalar.Name == "U64" {
		return fmt.Errorf("%s: parameters of a mutation end at 9223372036854775807; load takes more", v.Text())
	}
	return nil
}

// plain is a refusal in words for someone who looks at the field.
func (x *Field) plain(err error) error {
	var r *value.Refusal
	if !errors.As(err, &r) || r.Rule != value.RuleType {
		return err
	}
	switch x.Kind {
	case Number:
		return errors.New("expected " + x.Accepts)
	case JSON:
		return errors.New("expected " + x.Accepts + ": " + r.Text)
	}
	return err
}

// ID is the id that an insert makes; "" when it is a fresh one, or when the key
// is not whole yet.
func (f *Form) ID(entries []Entry) string {
	var key []value.Value
	for _, k := range f.typ.Key() {
		for i := range f.Fields {
			if f.Fields[i].Name == k.Name {
				_, v, err := f.value(i, entries[i])
				if err != nil {
					return ""
				}
				key = append(key, v)
			}
		}
	}
	if len(key) == 0 {
		return ""
	}
	id, err := value.ID(key)
	if err != nil {
		return ""
	}
	return id
}
