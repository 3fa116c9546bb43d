// Package form is one entity as a form: what each property of a type takes as
// text, whether a text keeps the rules of the schema, and the mutation that
// inserts, changes or deletes the entity. It does no I/O.
//
//	f, err := New(type)                    // fields
//	entries, err := f.Read(line)           // a row as `export` spells it
//	err = f.Check(i, entry)                // what is wrong with one field
//	m, err := f.Insert(entries)            // a .gq source and its parameters
//	m, err := f.Update(before, now, where)
//	m, err := f.Delete(where)
//
// # Fields
//
// Ends of an edge first, then the key, then what is required, then the others,
// each by name. A field is written as its type demands:
//
//	String           the text itself
//	enum, Bool       one of Choices
//	I32 … F64        a JSON number
//	Date, DateTime   the texts of package schema/daytime, and no number: a
//	                 parameter takes none
//	Vector(n), [T]   JSON
//	Blob             "base64:…"
//
// Where null is allowed, an Entry that is not given is null; a text alone can
// be given and empty. Kept stands for a value that is there and is not looked
// at: it is never sent.
//
// Whatever is accepted here, package query binds and package txn/validate
// passes as a value: the tests hold the two against each other. U64 ends at
// 2^63-1, where parameters do.
//
// # Mutations
//
// No value stands in the source: each is a parameter, declared with the type of
// its property. Names of types and properties are words of the language, so a
// source holds nothing that a user typed.
//
// # Which entity
//
// A statement of .gq finds rows by one comparison of one property (of an edge
// also from and to); `id` is not among what it may name. So a node with a key of
// one property is found by it, and by any property that is @unique alone. All
// other entities (composite keys, no key, edges) are found only when one value
// of theirs happens to stand in no other row: Addresses lists what to try, as a
// condition that `rows --where` takes, and the caller asks. Where every one is
// shared, the language cannot mean this entity alone.
package form
