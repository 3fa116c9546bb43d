// Package commit makes the next version of one Lance dataset: what the version
// holds (pure functions), and how it comes into being exactly once (Commit).
//
// # From a transaction to a version
//
// A transaction is a delta in unresolved form: new fragments have the id 0, the
// row ids of rows that only moved, and no version sequences. Resolve leads from
// the parent's manifest and a transaction to the next manifest: ids are taken
// from the parent's high-water marks, sequences completed, index coverage
// carried on, flags counted anew. The rules are those of lance-table.md §3.4
// and §9.4. They differ from Lance's where §12 says so:
//
//	Overwrite   fragment ids go on above the highest one ever used (Lance: from 0)
//	Restore     next_row_id is the higher of both versions' (Lance: the old one's)
//	Clone       an index keeps its first base (Lance: the newest, which has no files)
//	Rewrite     a group that an index covers in part leaves its coverage (Lance: error)
//	Update      only fragments of moved rows alone may extend an index's coverage
//
// What would make a version that cannot be read, written to or trusted is
// refused as an InvalidError before anything is stored: fragment or row ids
// used twice, rows moved but not masked, sequences of wrong lengths, files of
// another format, unknown flags.
//
// # Conflicts
//
// Conflict judges a transaction against one that landed after the version that
// it was planned on: the matrix of §3.5, a table with a rule in every cell that
// is not plain. Inserts are told apart by KeyFilter (§3.2). Two deletions in one
// fragment are united row by row when the rows differ (RebaseRows, §3.6).
//
// # The commit
//
//	LIST newer versions (exact: one key; blind: none), GET their manifests → Conflict, RebaseRows
//	PUT  _transactions/<read version>-<uuid>.txn
//	PUT  _versions/<…>.manifest, if absent
//	PUT  _versions/latest_version_hint.json   local files only, best effort
//
// The second PUT is the commit: a version exists when its manifest does. When
// it is answered with "exists", or not at all, the contested manifest is read
// back and the uuid of its transaction compared: equal means that it is ours.
// A lost attempt deletes its own .txn. A uuid that already stands in a newer
// version is recognised, so that the same commit may be begun again after a
// crash.
package commit
