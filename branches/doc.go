// Package branches says which branches a graph has, how they hang together and
// which commits lie on them. It reads; making and deleting come with the writer.
//
// # What a branch is
//
// A graph branch is a native Lance branch of `__manifest`: the object
// `__manifest/_refs/branches/{name}.json`, '/' and other reserved characters
// percent-encoded in the file name. The ref alone decides: a tree without a ref
// is debris, a name on a data table proves nothing. main has no ref and always
// exists. `__schema_apply_lock__` is a lock, not a branch: it is listed apart.
//
// # Lines
//
// A branch continues its parent's manifest versions from the fork version on.
// Its rows are the parent's rows at the fork and its own. A table that nobody
// wrote on it keeps pointing at its owner's dataset: so one branch can need
// another's data (Needs), and a branch without a commit of its own (lazy) has
// the head that it inherited.
package branches
