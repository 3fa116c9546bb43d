// Package sidecar reads and writes recovery sidecars,
// `__recovery/{operation id}.json`: the plan that a writer put down before its
// first effect. Bytes to structs and back; no store, no clock.
//
// # Form (schema version 9)
//
//	envelope    schema_version, operation_id (ULID, the file's name), started_at (text, µs), branch|null,
//	            actor_id|null, writer_kind, tables[] (pins), schema_apply_manifest_published
//	protocol    one member by kind: Mutation and Load protocol_v3, BranchMerge protocol_v4,
//	            SchemaApply protocol_v7, EnsureIndices protocol_v8, Optimize none
//	pin         identity, table_key, table_path (full URI), expected_version, post_commit_pin,
//	            confirmed_version?, table_branch? (absent = main)
//	protocol_*  authority, lineage, rollback_graph_commit_id, rollback_audit_outcomes?, effect_phase,
//	            target_schema_ir_hash (v7), effects[], intended_delta
//	go_optimize_v1  {uuid_prefix}: ours, on Optimize records; see txn
//
// Only names that end in .json count: `{ULID}.json#1` is what a killed put left.
// Members that are not known are ignored, a newer schema_version is not. They
// are not kept: a record that is read and written again is without them, as it
// is when the Rust engine does so.
//
// # Outcomes
//
// Parse ends in a Record and Problems, the shape rules of §7.2 of the storage
// page that the record breaks; or in one of the errors ErrDamaged (cut, no JSON,
// a member missing), ErrNewer (a later version; nothing but the version is
// taken) and ErrLegacy (before version 9; the envelope is taken). The Rust
// engine refuses every write for a problem or an error. A record whose paths
// name another root is not a problem of its shape: Place tells.
//
// # Writing
//
// Encode applies the same rules first; a record that breaks one is a ShapeError
// and not written. The bytes are those of the Rust engine's serde: members in
// its order, two spaces, no newline at the end, what is absent left out (null
// where a member is always there).
package sidecar
