// Package manifest reads and publishes `__manifest`, the Lance dataset that says
// what a graph is: which table version is published for every node and edge
// type, and the graph's commits.
//
// # Rows
//
// Every row has a unique object_id and a kind, object_type:
//
//	table            table:{id2}                       alias, folder: one per identity; rewritten by a rename
//	table_version    table_version:{id2}:{20 digits}   a published version: owner branch, row count, M
//	table_tombstone  table_tombstone:{id2}:{20 digits} the table ended before this version
//	graph_commit     the commit's ULID                 branch, manifest version, parents, actor, time
//	graph_head       graph_head:{branch or main}       the branch's last commit; rewritten by every commit
//
// id2 is hex16(stable_table_id):hex16(table_incarnation_id). Rows of other
// kinds are ignored. A new kind or column is therefore no error; a damaged row
// of a known kind is.
//
// # Reading
//
// Open makes one LIST of one key, one GET of the newest manifest and one GET of
// each data file, side by side. Deletion files are not read where the rows tell
// which of them are gone: when the manifest counts as many deleted rows in a
// fragment as the fragment has rows whose object_id stands again in a newer row
// (greater last-updated version, then greater fragment id), then exactly those
// are deleted. Anything else reads the fragment's deletion file.
//
// Whoever has an older view of the branch gives it (Options.Since): then only the
// fragments that it has not are read, and the publishes in between are folded one
// by one as this program folds its own (since.go). That two writers in turn, each
// warm, cost the same at any depth rests on this. What such rows do not tell is
// read whole.
//
// Rows are taken as they are decoded, a few thousand at a time: sound commits
// and version rows into packed columns, the few others whole. What tells
// duplicates, superseded and deleted rows is settled on these, so that reading a
// million commits takes about sixty bytes each and keeps fifty (Commits), and a
// version row takes thirty and keeps twenty (Versions).
//
// # Folding
//
// Fold is a pure function of rows. It never gives up: a row that breaks a rule
// is left out and becomes a Problem that names row and rule, and what its loss
// makes doubtful is marked on the entries (Entry.Doubt). A Problem with Refuses
// set is one for which the Rust engine refuses the whole graph.
//
// # Publishing
//
// Everything that becomes visible does so by one commit on one branch's
// `__manifest` (Publish), in three steps on one base:
//
//	plan    precondition, expected versions, edits → rows, and the state after
//	        them; what would make a graph that cannot be opened is refused
//	stage   PUT data file, deletion file of the rows replaced, and transaction, side
//	        by side; one GET more where the fragment had lost rows before and its
//	        deletions were not read; on a branch that is known the ref is read too
//	commit  PUT manifest if absent: exactly the base's version + 1
//
// The transaction is a Lance Update that rewrites rows: a row whose object_id
// stands already (the branch's head, a renamed table, a version handed to
// another owner) is masked where it lies and written again with its row id; the
// others are inserted, and only their keys are in the filter. In the file the
// rows that replace others come first. Both parts are in one order: table rows,
// versions and tombstones in the order of the edits, the commit, the head. The
// addresses of the rows that may be replaced are kept when rows are folded
// (State.at), so that nothing is looked up.
//
// The version is never rebased. When another writer made it, the next attempt
// reads what came since and plans anew. The first attempt may build on a View that
// the caller has: then nothing is read, and creating the version decides.
//
// The state after a publish is folded in memory, from the state before and the
// rows written; a reading gives the same. Its long lists are those of the state
// before with a short list beside them (late.go), so that it costs no copy of
// them.
package manifest
