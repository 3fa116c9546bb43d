// Package schema knows the accepted schema contract of a graph: the source
// `_schema.pg`, the accepted IR `_schema.ir.json` and the marker
// `__schema_state.json`. It does no I/O.
package schema
