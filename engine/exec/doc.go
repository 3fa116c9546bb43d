// Package exec plans what a mutation and a load do, on the base that one attempt
// of a write captured: statements and lines in, rows of each table out, staged on
// the same Txn.
//
//	Mutate(ctx, t, bound, o)  → *Plan
//	Load(ctx, t, input, mode) → *Plan
//	Plan.Prepare              → files of each table, and the txn.PublishPlan
//
// # Statements
//
// Statements run in their order. An insert and an update see what stands in the
// base and what came before them; of rows with one id the last counts. Deletes
// see the base alone, and a row that several of them find is counted and taken
// away once. Removing a node removes every edge at it. The rules (package
// validate) are asked once, of everything together, and limits while rows are
// gathered; both before a byte is written.
//
// Tables that do not wait for one another are read side by side (the edge types at
// a node that is removed, the tables that rules ask), and all are staged side by
// side, under names drawn before in their order.
//
// Affected are: every insert, every row that an update matches (each time that
// one does), every node and edge removed.
//
// # What becomes of a table
//
//	inserts without a key, edges      one strict insert
//	updates of rows of the base       their addresses are known: an update
//	both                              a merge: rows in place first, then those that are new
//	inserts with a key                an upsert, which looks the ids up
//	deletes                           by address, with the predicates of the statements as text
//	load: append, merge, overwrite    strict insert, upsert, overwrite
//
// An update keeps the blobs that it does not set: their columns are left out when
// no row of the batch sets them, and read otherwise.
//
// The text of a deletion is for who reads the history: `code = 'x'` of a
// statement, `src IN ('x')` of edges that went with their node, in parentheses
// and joined by OR when several statements took rows of the table.
//
// Sources: languages.md §3.8 and §4.5, engine-semantics §3.2 and §3.4, and
// omnigraph-storage §8.2 of the design.
package exec
