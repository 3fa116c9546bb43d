package ojson

import (
	"fmt"
	"strconv"
)

// Fields are the members of one object, to be asked for by name. The first
// thing that is missing or of another kind is kept as the Reader's error; what
// is returned then is a zero value.
type Fields struct {
	r       *Reader
	path    string
	members []Member
}

// Reader keeps the first error of a reading.
type Reader struct{ err error }

// Err is the first error, nil when everything asked for was there.
func (r *Reader) Err() error { return r.err }

// Fail keeps an error about the member at path, unless there is one already.
func (r *Reader) Fail(path, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("member %s: %s", path, fmt.Sprintf(format, args...))
	}
}

// Open starts reading an object. path is "" for the outermost.
func (r *Reader) Open(v Value, path string) Fields {
	if v.kind != Object {
		r.Fail(orTop(path), "found %s, expected an object", v.kind)
	}
	return Fields{r, path, v.members}
}

func orTop(path string) string {
	if path == "" {
		return "(top)"
	}
	return path
}

// Path names a member for messages.
func (f Fields) Path(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "." + name
}

// Fail keeps an error about a member.
func (f Fields) Fail(name, format string, args ...any) { f.r.Fail(f.Path(name), format, args...) }

// find returns the member; ok is false when it is absent or null.
func (f Fields) find(name string) (v Value, ok bool) {
	n := 0
	for i := range f.members {
		if f.members[i].Name == name {
			v = f.members[i].Value
			n++
		}
	}
	if n > 1 {
		f.Fail(name, "stands %d times", n)
	}
	return v, n > 0 && v.kind != Null
}

func (f Fields) need(name string, kind Kind, required bool) (Value, bool) {
	v, ok := f.find(name)
	switch {
	case !ok && required:
		f.Fail(name, "missing or null, expected a %s", kind)
		return v, false
	case ok && v.kind != kind:
		f.Fail(name, "found %s, expected a %s", v.kind, kind)
		return v, false
	}
	return v, ok
}

// Has reports whether a member is there and not null.
func (f Fields) Has(name string) bool {
	_, ok := f.find(name)
	return ok
}

// Value is any member; ok is false when it is absent or null.
func (f Fields) Value(name string) (Value, bool) { return f.find(name) }

// Str is a required string.
func (f Fields) Str(name string) string {
	v, _ := f.need(name, String, true)
	return v.text
}

// OptStr is a string or nil.
func (f Fields) OptStr(name string) *string {
	v, ok := f.need(name, String, false)
	if !ok {
		return nil
	}
	return &v.text
}

// Bool is a required boolean.
func (f Fields) Bool(name string) bool {
	v, _ := f.need(name, Bool, true)
	return v.yes
}

// OptBool is a boolean, false when absent.
func (f Fields) OptBool(name string) bool {
	v, _ := f.need(name, Bool, false)
	return v.yes
}

// Uint is a required unsigned integer of so many bits.
func (f Fields) Uint(name string, bits int) uint64 {
	v, ok := f.need(name, Number, true)
	if !ok {
		return 0
	}
	n, err := v.Uint(bits)
	if err != nil {
		f.Fail(name, "%v", err)
	}
	return n
}

// OptUint is an unsigned integer of 64 bits or nil.
func (f Fields) OptUint(name string) *uint64 {
	if !f.Has(name) {
		return nil
	}
	n := f.Uint(name, 64)
	return &n
}

// Int is a required signed integer of 64 bits.
func (f Fields) Int(name string) int64 {
	v, ok := f.need(name, Number, true)
	if !ok {
		return 0
	}
	n, err := v.Int()
	if err != nil {
		f.Fail(name, "%v", err)
	}
	return n
}

// Object is a required object.
func (f Fields) Object(name string) Fields {
	v, _ := f.need(name, Object, true)
	return Fields{f.r, f.Path(name), v.members}
}

// OptObject is an object; ok is false when it is absent or null.
func (f Fields) OptObject(name string) (Fields, bool) {
	v, ok := f.need(name, Object, false)
	return Fields{f.r, f.Path(name), v.members}, ok
}

// Items are the elements of a required array with the path of each; required
// false allows it to be absent.
func (f Fields) Items(name string, required bool) []Value {
	v, _ := f.need(name, Array, required)
	return v.items
}

// Each opens every element of an array of objects.
func (f Fields) Each(name string, required bool, visit func(Fields)) {
	for i, v := range f.Items(name, required) {
		visit(f.r.Open(v, fmt.Sprintf("%s[%d]", f.Path(name), i)))
	}
}

// Strs are the elements of a required array of strings, never nil.
func (f Fields) Strs(name string) []string {
	out := []string{}
	for i, v := range f.Items(name, true) {
		if v.kind != String {
			f.Fail(name, "element %d: found %s, expected a string", i, v.kind)
		}
		out = append(out, v.text)
	}
	return out
}

// Uint is the number as an unsigned integer of so many bits.
func (v Value) Uint(bits int) (uint64, error) {
	if v.kind != Number {
		return 0, fmt.Errorf("found %s, expected a number", v.kind)
	}
	n, err := strconv.ParseUint(v.text, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("found %s, expected an unsigned integer of %d bits", v.text, bits)
	}
	return n, nil
}

// Int is the number as a signed integer of 64 bits.
func (v Value) Int() (int64, error) {
	if v.kind != Number {
		return 0, fmt.Errorf("found %s, expected a number", v.kind)
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil || v.text == "-0" {
		return 0, fmt.Errorf("found %s, expected a signed integer of 64 bits", v.text)
	}
	return n, nil
}

// Float is the number as a double.
func (v Value) Float() (float64, error) {
	if v.kind != Number {
		return 0, fmt.Errorf("found %s, expected a number", v.kind)
	}
	x, err := strconv.ParseFloat(v.text, 64)
	if err != nil {
		return 0, fmt.Errorf("found %s, which is beyond a double", v.text)
	}
	return x, nil
}
