// Package lance reads Lance datasets: it opens a version, scans it, takes rows
// and blobs out of it, finds rows by the value of a column of text through an
// index, lists the chain of versions, and checks all of that against the
// objects that there really are. It never writes.
//
// # What a call costs
//
//	Open, latest          LIST of one key, GET of one manifest
//	Open, at a version    GET (a second one for a name of the old scheme)
//	Versions              LIST pages of at most 100 keys; GET of the hint file if there is one
//	Scan                  per fragment: one GET of each small file (see below); of a large file
//	                      one GET of its end, then ranges; one GET of its deletion file
//	Take                  the same for the fragments touched
//	TextIndex.Find        two GETs a segment, once; of a large one one or two GETs for each run of pages that
//	                      may hold a key; one GET of the deletion file of each fragment in which rows were found
//	CountRows, Fragments, Indexes, Bases, and Transaction when the manifest holds it: nothing
//
// A data file is small when the manifest records at most 1 MiB for it (256 KiB
// in a local folder). Objects are fetched side by side, OpenOptions.Parallelism
// at once, and never more of them than 64 MiB ahead of the consumer.
//
// # Latest
//
// The newest version is the first key of _versions, because names count down.
// When the first key is no such name, everything is listed. A newest manifest
// that cannot be understood is a DamagedManifestError: an older version is
// never served in its place. Listing and reading must see one state of the
// object, judged by its ETag.
//
// # Where files lie
//
// A file without base id lies in the folder of the branch. One with a base id
// is looked for under this dataset's own root first: a base without name is
// the main root, one with a name is tree/<name>. Only when it is not there the
// recorded path is used, through OpenOptions.OpenBase. A recorded path that is
// not this place makes a moved dataset (Bases).
//
// # Rows
//
// Columns are bound to data files by field id. A field that no file of a
// fragment holds reads as null. Physical rows less the deleted ones are the
// rows; a fragment that cannot be read is a FragmentError and leaves the
// others readable. The address of a row is fragment<<32 | physical offset; with
// stable row ids the id is another number, kept in the fragment's sequence.
package lance
