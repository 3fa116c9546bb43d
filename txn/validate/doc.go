// Package validate says whether a write keeps the rules of its schema: one
// evaluator for every kind of write, over the write's own rows and one view of
// the graph below it. It does no I/O of its own: it asks a Reader.
//
// # What a write is
//
// A Delta: for each type that it touches one Change, which is batches of rows in
// the order in which they were said, and the ids of rows that are taken away.
// A batch is what one statement or one file says; within a batch nothing comes
// after anything else. The graph that results has, of each type, the base's rows
// without those removed and without those whose id a batch names, and of the rows
// in batches with one id the last. A type that is overwritten begins from nothing.
//
// # Rules, in the order in which they are told
//
// Nodes before edges, types by name. They are asked side by side, but for the ids
// that an overwrite leaves out, which others build on.
//
//	required, type, enum, range, check, pattern, key
//	         every row of every batch, also those that a later one replaces. An upper-only
//	         @range is a lower bound in the schema itself (defect D1, copied).
//	unique   of a key and of each @unique: within one batch no two rows of equal values, whatever
//	         their ids; in the result no two rows; against rows of the base that stay. A row with
//	         a null among them is exempt. Values that a changed or removed row gives up are free.
//	         A key is not asked of the base: it makes the id.
//	endpoint src and dst of every row of every batch stand in the result; and no edge of the base
//	         that stays has an end that is removed
//	cardMax, cardMin
//	         edges of a source, an id counted once: of every source of a row in a batch, of every
//	         removed edge, and of every edge that is moved from it; not of sources that are
//	         removed themselves. Sources that an overwrite of their edges leaves without any, and
//	         sources that never had one, are not asked, as in the Rust engine.
//	exists   the id of a row that is inserted is not in the base and not said before
//
// The Rust engine asks for exists last, because there the table refuses it. Which of
// several violations is found first is not said there beyond this order; here it
// is always the same one for the same write.
//
// # What was read
//
// A Report holds the ReadSet: which tables at which version, and in them which
// ids, keys, sources and targets. What was found holds as long as none of these
// changed; a head of the branch that did not move proves that.
//
// # Whole tables
//
// The rules stand alone too (ValueRules, Unique, IDs, Degree, Endpoints), fed row
// by row. They hold what they must remember: the texts of keys, ids, or sources. Table
// asks all that need no other table, of batches, and remembers eight bytes a row;
// Faults gathers what rows break.
// Scan reads the rows of a batch as it is scanned; Record makes rows a batch.
//
// # Limits
//
// MaxRows and MaxBytes bound what a write may bring of one type; Meter counts.
//
// Sources: engine-semantics §3.5, §3.6, §3.8, §3.9 and languages.md §1.4, §3.8,
// §3.9 of the design; the words are those of the Rust engine v0.10.0 up to what
// is added in brackets.
package validate
