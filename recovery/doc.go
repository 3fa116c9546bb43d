// Package recovery finishes or undoes what an operation left half done, as its
// record in `__recovery/` tells it. It starts nothing by itself: Look says what
// every record means, Execute does what was shown.
//
// # A record, from beginning to end
//
//	read       LIST and GET; one that vanishes in between is none, one that cannot
//	           be read or breaks a rule of its shape is refused and stays
//	place      whose tables it names: this graph's here, this graph's before it was
//	           moved (decisions 41: only after a confirmation), another graph's
//	age        one younger than the grace may be that of a writer at work
//	observe    the schema files, then the branch and its lineage; of each table its
//	           ref, newest version, and the transactions above the pin
//	interpret  txn.Interpret: the one judge
//	act        below
//	audit      one row in `_graph_commit_recoveries.lance` (package audit)
//	retire     DELETE of the object as it was listed
//	look back  LIST of the newest version of each table: when its writer, who was
//	           slow, moved one since it was observed, the record is written again
//	           and judged anew; so it is when that cannot be read, and stays
//
// What an act does, in this order; after each step the next pass finds what is
// left to do and never decides otherwise:
//
//	forward         publish the recorded delta, on the exact head; promote staged schema files
//	back            remove untouched branches and datasets that only it made; write the outcomes
//	                into the record; when it is young, publish a commit without a table, after
//	                which a writer at work cannot publish any more; restore each table at
//	                exactly HEAD + 1; publish the restored versions; remove staged schema files
//	finalize        restore forward what a recovery took back after it was published; promote or
//	                remove staged files
//	discard         remove untouched branches that it made
//	orphan discard  a commit on main without a table
//
// # Beside others
//
// A publish decides; whatever is lost is observed and interpreted afresh
// (decisions 26). Two that recover one record do the same under the same ids:
// commits, restores and audit rows that are there are found and not made again.
// A commit that recovery mints has an id that follows from the operation's, so
// that also a pass that died after it finds it.
//
// As long as a record is there nobody else makes branches of tables, datasets or
// schema files in the place of those that it names. So whatever goes or is put in
// place is asked for together with the record, each time: by then another recovery
// may have settled it, and the next writer's have the same names. What is decided,
// and what is published of a roll-back, is so for the branch with the identifier
// that was judged, not for one of that name made since.
//
// # What was shown
//
// Execute compares each record with the Item that was shown. When something
// else is right meanwhile, twice, the record is left, with a *ChangedError; that it is
// gone, or has become a matter of retiring it, is no such change.
package recovery
