// Package refs reads the branches and tags of one dataset. They lie under its
// main root, and nowhere else:
//
//	_refs/branches/<name>.json   {parentBranch, identifier, parentVersion, createAt, manifestSize, metadata}
//	_refs/tags/<name>.json       {branch, version, createdAt, updatedAt, manifestSize, metadata}
//	tree/<name>/                 the branch's own dataset, slashes of the name being folders
//
// In the key of a ref every byte of the name other than ASCII letters, digits
// and `.`, `-`, `_` is percent-encoded: `f/x` is `f%2Fx.json`. The ref is the
// truth: objects under tree/ that no ref names are what a killed create or
// delete left behind.
//
// A branch's identifier is its lineage and its identity: a list of pairs
// (version, 32 hex digits), the parent's list and one more pair for the fork.
// The main branch's is empty. A branch that was deleted and made again has the
// same name and another identifier. A ref without identifier is read (old
// programs wrote such), but nothing protects its data when Lance cleans up its
// parent.
//
// Listing costs one LIST (one request per hundred refs); the contents cost a
// GET each, side by side.
package refs
