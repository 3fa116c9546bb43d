// Package audit is the book in which every completed recovery has a row: the
// Lance dataset `_graph_commit_recoveries.lance` at the graph's root, as the Rust
// engine makes it. Nobody reads it to decide anything about rows of the graph;
// recovery reads it so that nothing is booked twice.
//
//	graph_commit_id          text        commit that holds the outcome
//	recovery_kind            text        RolledForward, RolledBack, OrphanedBranchDiscarded
//	recovery_for_actor       text, null  of the operation
//	operation_id             text        of the record
//	sidecar_writer_kind      text        Mutation, Load, …
//	per_table_outcomes_json  text        [{"table_key":…,"from_version":…,"to_version":…}, …]
//	created_at               timestamp   µs, without a zone
//
// The dataset is made by the first row: version 1 without rows, data format 2.2,
// stable row ids; then one Append a row.
//
// # One row per operation and kind
//
// Two appends never conflict in Lance. So Write scans version V for its row and,
// when there is none, commits exactly V + 1: whoever appended meanwhile makes that
// fail, and the scan begins again. A lost answer is settled in the same way. What
// this cannot hinder is a program that appends without looking, after us; the
// Rust engine looks before it appends, but not in one step.
//
// # Requests
//
//	a row that is there  LIST, GET of the manifest, GET of each fragment's file
//	a new row            the same; PUT data, LIST beside PUT transaction, PUT manifest
//	the first row        LIST; LIST beside PUT transaction, PUT manifest; then a new row
package audit
