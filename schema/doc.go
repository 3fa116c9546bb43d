// Package schema knows the schema of a graph: the language .pg, the accepted
// contract at the graph's root, and the types in it. It does no I/O: callers
// fetch the objects and hand over their bytes.
//
// # The language
//
// Text and tokens are those of internal/lex. {x} stands any number of times,
// [x] may be missing, of alternatives the first that matches counts.
//
//	File       = {Interface | Node | Edge}
//	Interface  = "interface" Type "{" {Property} "}"
//	Node       = "node" Type {Annotation} ["implements" Type {"," Type}] "{" {Property | Rule} "}"
//	Edge       = "edge" Type ":" Type "->" Type [Card] {Annotation} ["{" {Property | Rule} "}"]
//	Card       = "@card" "(" int ".." [int] ")"
//	Property   = ident ":" ("[" Base "]" | "enum" "(" value {"," value} ")" | "Vector" "(" int ")" | Base) ["?"] {Annotation}
//	Base       = "String" | "Blob" | "Bool" | "I32" | "I64" | "U32" | "U64" | "F32" | "F64" | "DateTime" | "Date"
//	Rule       = "@" Name "(" Arg {"," Arg} ")"      Name = "key" | "unique" | "index" | "range" | "check"
//	Arg        = Bounds | Literal | ident            Bounds = num ".." [num] | ".." num      num = ["-"] (float | int)
//	Annotation = "@" ident ["(" (Literal | ident) {"," ident "=" Literal} ")"]     not when it starts a Rule
//	Literal    = string | float | int | "true" | "false"
//
// A @card that is not of its form is an annotation of that name and bounds
// nothing; ..n is a lower bound (defect D1); both as in the Rust engine, since
// the fingerprint depends on it.
//
// Compile refuses the first thing that is wrong in this order: the grammar of
// the whole text; values in it, from its beginning (escapes, numbers, enum
// values, reserved names, arguments of rules); interfaces and their
// properties; names of columns that every table has (defect D12, refused here
// and not by the storage); annotations; rules; duplicate names and ends of
// edges; properties that do not resolve or stand twice; edges that differ in
// letter case alone. A SourceError says where. maxPieces and maxProperties
// bound what a text and its interfaces may ask for.
//
// # The three objects at the graph's root
//
//	_schema.pg           the source text, verbatim
//	_schema.ir.json      the accepted IR: types, properties and tables with identities
//	__schema_state.json  hashes of both, versions, identity domain; promoted last
//
// Each has a twin with suffix .staging while a schema apply is under way: staged
// before the publish, renamed over the live names after it, in the above order.
//
// # Hashes
//
// schema_ir_hash is "sha256:" and the hex SHA-256 of the IR's compact JSON, made
// anew from its values in the member order of this package; members that the
// file has beyond those do not count. schema_shape_hash is the same over the
// shape: the IR without identities (no ids, references by name, lists of
// references sorted by name).
//
// # Trust
//
// Load judges. Types come from an IR that is sound in itself, has the recorded
// hashes, and names exactly the tables that `__manifest` publishes. If the live
// objects do not fit but the staged ones do, and they hash to what a pending
// schema apply published, these are used and Contract.Staged says so. An IR that
// is sound and fits the tables though its marker or the source is lost is used
// with Contract.Unconfirmed. Otherwise there are no types: Contract.IR is nil
// and Problems say why. Missing is never taken for empty.
//
// The text must compile to the accepted shape. A text of an accepted graph may
// have a @unique in a body over a Blob, which was let pass before 0.10.
package schema
