// Package value is one value of one property: from the JSON of a line of data,
// a parameter or a literal, through the rules of its type, to the Arrow column
// that is written, to the id that a key makes, and back to the JSON that export
// prints.
//
//	Parse(name, type, json)  what a line says → Value, or a Refusal
//	Of(type, go)             what a query binds → Value
//	Value.JSON               → what export prints
//	Append(builder, value)   → the column
//	At(type, array, row)     ← a column as it is scanned (no blobs)
//	Value.Key, ID            → text for uniqueness, id of a node with a key
//	NewRules(type).Check     enum, @range, @check
//
// # Forms in JSON
//
//	String, enum     string                            (enum values are a rule)
//	Bool             true, false
//	I32 I64 U32 U64  number without fraction or exponent, in range; -0 is none
//	F32 F64          any number; an F32 is rounded, and must stay finite
//	Date             text, or whole days since 1970
//	DateTime         text, or whole milliseconds since 1970
//	Vector(n)        array of n numbers
//	[T]              array of the above, none null
//	Blob             "base64:…" (standard alphabet, padded), else a URI
//	any with ?       null, which is also what an absent member is
//
// The texts of dates and times are those of package schema/daytime.
//
// # Keys
//
// The text of a value: strings as they are, integers in decimals, true and
// false, Date in days, DateTime in milliseconds, floats in the shortest decimals
// that read back, without exponent, both zeros as 0. A key of several
// properties is the compact JSON array of these texts, by property identity.
//
// # Patterns
//
// Those of @check are of Rust's crate regex, searched for anywhere. Go's regexp
// has the same kernel; \d \w \s and their negations are rewritten to the Unicode
// classes that they are there. What Go lacks is refused, never read otherwise:
// (?x), (?u), class operations (&& -- ~~, a class in a class), \b{start} and the like.
// \b and \B are those of ASCII in Go, so a text beyond ASCII cannot be judged by
// a pattern that has them.
//
// The words of a Refusal are those of the Rust engine, as far as scripts look
// for them.
package value
