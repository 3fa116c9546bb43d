// Package format turns the bytes of a Lance dataset's manifests and
// transactions into structs and back, and versions and files into names. It
// does no I/O and keeps no state.
//
// # Manifest file
//
// One object per version. All integers are little-endian.
//
//	[u32 length][IndexSection]    optional
//	[u32 length][Transaction]     optional
//	[u32 length][Manifest]        ends exactly 16 bytes before the end
//	i64  position of the Manifest's length
//	u16  major, u16 minor         0, 2; not checked
//	"LANC"
//
// Manifest.index_section and .transaction_section hold the position of the
// u32 length of their block; 0 is a position like any other. Blocks may stand
// in any order but lie whole before the Manifest. Padding between the Manifest
// and the footer, or bytes behind the footer, make the file damaged. We write
// them in the order above, always with a transaction, without an index section
// where there is no index; fields of messages that this program does not know
// are written back as they came.
//
// # Names
//
//	_versions/<20 digits of 2^64-1-version>.manifest   V2: the newest is the first key
//	_versions/<version>.manifest                       V1
//	_versions/d<version>.manifest                      detached, bit 63 of version set
//	_transactions/<read version>-<uuid>.txn            a bare Transaction
//	data/<name>.lance                                  data file
//	_deletions/<fragment>-<read version>-<id>.arrow    deleted offsets (.bin: roaring)
//	_indices/<uuid>/                                   files of an index segment
//	_refs/branches/<percent-encoded name>.json, _refs/tags/<name>.json
//	tree/<branch>/                                     a branch: a dataset of its own
//
// # Schema
//
// Fields are stored flat in depth-first order; an id binds a column to data
// files, a name does not. Logical types are texts (see Field.ArrowField).
//
// Everything here may be handed hostile bytes: the answer is a value or an
// error that wraps ErrCorrupt or ErrUnsupported, never a panic.
package format
