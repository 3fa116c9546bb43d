// Package load is the lines of JSON that `export` prints and `load` reads: one
// entity a line,
//
//	{"type":"Port","data":{"id":"NLRTM","code":"NLRTM","depth_m":8.67,…}}
//	{"edge":"Owns","from":"acme","to":"9000034","data":{"id":"01J…","since":19034}}
//
// The package does no I/O: streams are handed in, and bytes of blobs; entities
// come out as rows of txn/validate, which says what else a write must keep.
//
// # Printing
//
// Compact, every property stands in a line, null included, in column order. The
// bytes are those of the Rust engine:
//
//   - strings: raw UTF-8, escaped are only " \ and control characters (\b \f
//     \n \r \t, others \u00xx in lower hex);
//   - integers plain; Date is days, DateTime milliseconds since 1970;
//   - floats: shortest digits that read back as the same double, positional for
//     1e-5 ≤ |x| < 1e16 with at least one decimal, else with an exponent and its
//     sign (1e+16, 1.5e-7). A 32-bit float is widened first, so 0.1 prints as
//     0.10000000149011612;
//   - lists and vectors as arrays; blobs as "base64:…", external ones as their
//     URI.
//
// Which rows, and in which order, is the engine's.
//
// # Reading
//
// UTF-8, LF or CRLF, the last one optional. Lines of ASCII white space count and
// say nothing. Members come in any order, none twice at any depth; data may be
// left out; types are found by their exact name, edges in any letter case. null
// and absent are the same, but not as an id. Forms of values are those of
// schema/value. A node with a key has the id that its key makes, and may say it;
// others and edges have the id they say or get a new one; from and to are ids.
//
// Of what is wrong the Rust engine tells first: the first line that is no entity
// of a type that there is; then, type by type over all rows, names of members and
// the form of ids; columns in their order; ids against keys; URIs of blobs. So do
// we, of several types that on the first line, and we add the line, the type, and
// how many further lines are wrong. Nothing is held of an input that is wrong.
//
// A line has at most MaxLine bytes and MaxSlots pieces of structure. A load that
// is one commit brings at most 8,192 entities of a type (not an overwrite) and
// 32 MiB of a type as validate.Size counts; that is refused at the line where it
// is exceeded, before anything is written. The Rust engine refuses a little
// earlier where the capacity of its buffers, not what is in them, exceeds 32 MiB.
//
// Where one id stands in several lines: append and overwrite refuse it, a merge
// takes the last, but not of nodes with a key; these are rules of txn/validate.
//
// # Chunks
//
// MakePlan reads the whole input once, so that what is wrong with any line is said
// before anything is loaded, and Each reads it again, twice when edges stand before
// nodes, chunk by chunk; one chunk is held. Chunks are cut as late as the limits
// allow, of nodes first and then of edges, each in the order of the lines; when
// everything fits into one chunk, it is one. Where a chunk is cut, and which ids
// its entities get, hangs on the lines before and in it alone, on the graph's
// identity domain, and on the options.
//
// Proven from the graph, by Compare: that every entity of a chunk stands there, as
// its line says, at the version that is asked, so that loading it would change
// nothing. A load that was broken off goes on with what Compare says is left,
// chunk by chunk, each held against the graph as it is by then. That works also
// when lines that have not landed were changed or added meanwhile. A merge in which
// an id stands in several chunks may write the earlier ones again, and ends the
// same.
//
// Not proven: that it was this load, and in one commit, which brought an entity;
// that it stood all the time since; and anything about entities that the input does
// not name. An entity that has no id of its own is the same as one loaded before
// from the same beginning of the same lines, so a second load in chunks of the same
// file adds nothing, unless with another Salt. An edge without id of its own that
// was loaded in one commit is not recognised in chunks.
//
// So an append in chunks passes over entities that stand exactly as their lines say,
// be it that two lines say the same; what stands otherwise it refuses as ever.
//
// Rules that look at several entities are asked of each chunk: a source of edges
// with a least number (@card(2..)) must have that many within a chunk and the graph
// below it, and values of a @unique that a merge hands from one entity to another
// must do so within a chunk, or free them first.
//
// Sources: languages.md §4 and engine-semantics §3.6 of the design, and the Rust
// engine v0.10.0, whose words the tests compare with ours.
package load
