// Package aside takes objects out of a graph's way without losing them: a
// damaged manifest, a record that nobody can read (decisions 12). It moves them to
//
//	__omnideck_aside/<time>-<n>/manifest.json     why, when, by whom, and which objects: key, size, etag, sha256
//	__omnideck_aside/<time>-<n>/<key>             each object, byte for byte
//
// where <time> is UTC as 20261130T150405Z and n counts the moves of one second.
// The Rust engine ignores the folder. Nothing in it is ever written twice or
// deleted; putting an object back is a copy by hand.
//
// Plan says what would be moved, Move does it, object by object:
//
//	read all, which must be those of the plan → manifest.json, create-only
//	copy, create-only → read the copy back, compare → is the original still the same? → delete it
//
// An original goes only when its copy was read back and is equal. Halted
// anywhere, and with any answer lost, nothing is lost: the manifest says what was
// to be moved, so that a plan of the same keys, or the same plan again, goes on
// where it ended. An object that changed since the plan ends the move before that
// object is touched.
package aside
