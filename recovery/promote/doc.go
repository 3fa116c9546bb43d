// Package promote puts the staged schema files of a schema apply into their
// places, or takes them away.
//
// A schema apply writes three objects beside those of the accepted contract
// (package schema): `_schema.pg.staging`, `_schema.ir.json.staging`,
// `__schema_state.json.staging`. After its publish they are to be live, in this
// order. What they make is judged by the set that is staged where something is
// staged and live elsewhere: whatever promotion had reached when it was halted,
// that set is the target.
//
//	                       State          Promote          Unstage
//	staged make target     StagedTarget   makes Promoted   when the live ones are a contract
//	staged make another    StagedOther    refuses          when the live ones are a contract
//	none, live are target  Promoted       does nothing     does nothing
//	none                   NotStaged      refuses          does nothing
//
// # Promotion
//
// All six objects are read and judged before the first write. Then the live
// objects are written in order, each only when it differs; all that was staged is
// read once more in its live place; then the staged objects go, in the same
// order. A staged object whose bytes are not in its live place is never deleted.
// Halted anywhere, and with any answer lost, a second call ends it. Before each
// write the staged object is asked for once more: one that another program
// replaced or promoted meanwhile ends the call with a ChangedError.
//
// # Without a record
//
// Staged files that no record of a schema apply owns are judged by Leftover: by
// the tables that are published. It decides nothing; its answer is a value with a
// sentence and its evidence, to be carried out by Promote or Unstage.
package promote
