// Package schema knows the accepted schema contract of a graph and the types
// in it. It does no I/O: callers fetch the objects and hand over their bytes.
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
// Whether _schema.pg compiles to the accepted shape is not judged here.
package schema
