// Package engine answers questions about a graph, which is all that a front end
// may know of it, and changes it through package txn.
//
// # Questions
//
// Open makes a Graph and asks nothing. Every other method is one operation: it
// begins cold, asks the store anew, and shares nothing with other operations but
// copies of immutable objects. It counts its requests with a meter inside those
// of the caller's context and leaves one line in the ledger, whose failure fails
// nothing. Answers are plain values that the caller owns.
//
// # Rules
//
//   - Looking writes nothing: the store is wrapped so that it cannot, and no
//     question starts a recovery. A pending recovery is a finding, and what is
//     shown is what was published last.
//   - Damaged is never shown as empty, and nothing older is shown in place of a
//     damaged newest version unless it is asked for by number. An answer that had
//     to leave something out comes with an *IncompleteError beside it, which says
//     what is missing and what in the answer is in doubt.
//   - Counts of tables are those that the graph recorded; only Verify compares
//     them with rows.
//   - A table is opened at the version and branch that the graph publishes, never
//     at its own newest. Files that a moved graph records under its old address
//     are read from here (decisions 17).
//
// # Costs, in requests of a cold process; F = fragments of `__manifest`
//
//	BranchNames                   2
//	Snapshot, Commits, Log        2 + F, on a branch one more
//	Info                          8 + F, 3 more where there are branches, 1 for each sidecar (≤ 16)
//	Fragments                     3 + F; of `__manifest` 2
//	Versions                      the chain's LIST pages; with Details the manifests of the window, or of
//	                              its newest; with Holders, beside them, the states of all branches
//	Rows                          4 + F, and the files that the window touches
//	                              with Sort, once, all of the column to sort by
//	Entity                        4 + F, and to find the row: small files with the id column, or of a large table
//	                              two of a BTREE index and its pages, and files that no index covers
//	Find                          2 + F, and for each table one and what Entity asks to find the row
//	Neighbors                     as Entity, unless Unchecked, and for each edge type and step one and its
//	                              ends, found likewise
//	ResolveAll                    of branches 1; of commits 3 + F, however many
//	Object                        1
//	Diff                          of resolved points 2 + F, and F of the older point that are no longer there; of
//	                              others as ResolveAll more; 2 for each table that moved, and files of
//	                              fragments that are not the same in both versions
//	DiffVersions                  4 + F, and such files; of `__manifest` 2, on a branch two more
//
// Nothing above Rows reads row data of node and edge tables. golden/trace has
// every request of every question on one real graph.
//
// # Writing
//
// With Options.Write, Init, Mutate, Load and LoadChunks hand the store to package
// txn, which alone writes (its comment says what each write asks for). Rows and
// rules are those of engine/exec and txn/validate. What the last write on a branch
// left is the warm beginning of the next one through the same Graph; where another
// program wrote since, only what is new of `__manifest` is read. Errors are those of
// txn: nothing was written, but where Wrote says that something may have been. A
// write of Mutate or Load that meets the record of an operation that ended half-way
// has package recovery settle it first (recover.go), when it is old; a young one it
// waits for.
//
// # Findings
//
// Info says what the doctor's level 0 can see. Ids are G and the number of
// engine-semantics §9, or of our own:
//
//	M1  the newest version of `__manifest`, or the one asked for, cannot be read
//	M2  the graph stands elsewhere than it was written
//	M3  rows of `__manifest` break a rule or are lost
//	M4  latest_version_hint.json is stale, unreadable, or knows a higher version than there is
//	M5  names in `_versions/` that are no versions
//	M6  a version is missing between others: removed history
//	M7  a branch's ref cannot be used
//	M8  the newest version demands a feature that is not known
//	M9  too much lies at the root to look at all of it
//
// # Memory
//
// Rows stream in batches. Export holds one table of up to 64 MiB, or the ids of
// a larger one (see Export); Diff holds ids and hashes of rows (see Diff). Find,
// Neighbors and blobs scan id columns. Verify with Deep holds the ids of all
// node tables.
package engine
