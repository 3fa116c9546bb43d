// Package ojson reads and writes JSON exactly as the Rust engine's serde_json
// does, where encoding/json differs and the difference counts.
//
// Reading: names are compared exactly, a name asked for may stand only once,
// members that nobody asks for are ignored, a member that may be absent may
// also be null, an integer must be written as one (1.0 and -0 are not), text
// must be UTF-8 without lone surrogates, nesting ends at 127. Whatever follows
// the value but white space is an error.
//
// Writing: members keep their order, only quotation mark, backslash and control
// characters are escaped (\b \f \n \r \t, else \u00xx), U+2028 and < > & stand
// as they are, floats are the shortest text that reads back the same, with a
// decimal point or an exponent: 0.5 2.0 0.00001 1e-6 1e+16.
//
// A value costs memory in proportion to its text.
package ojson

// Kind is the kind of a Value.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"null", "boolean", "number", "string", "array", "object"}[k]
}

// Value is one JSON value. The zero value is null.
type Value struct {
	kind    Kind
	yes     bool
	text    string // of a string: decoded; of a number: as written
	items   []Value
	members []Member
}

// Member is a name and its value.
type Member struct {
	Name  string
	Value Value
}

// Kind of the value.
func (v Value) Kind() Kind { return v.kind }

// Items of an array.
func (v Value) Items() []Value { return v.items }

// Members of an object, in the order of the text, duplicates included.
func (v Value) Members() []Member { return v.members }

// True reports the boolean true.
func (v Value) True() bool { return v.yes }

// Text of a string, or a number as written.
func (v Value) Text() string { return v.text }
