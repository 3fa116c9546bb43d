// Package lance reads and writes Lance datasets. A Snapshot is one version,
// read-only: it is scanned, rows and blobs are taken out of it, rows are found
// by the value of a column of text, the chain of versions is listed, and all of
// that is checked against the objects that there really are. A Staged is a
// transaction on a Snapshot whose files are in the store, seen by nobody, until
// Commit makes it the next version.
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
//	FindText              TextIndex.Find and a Take of the rows found, or a Scan of the column (see there)
//	                      with OpenOptions.Texts nothing for files that are remembered
//	CountRows, Fragments, Indexes, Bases, and Transaction when the manifest holds it: nothing
//	StageInsert, StageAppend, StageOverwrite
//	                      PUT of a data file for each new fragment, and of its blobs' side-cars
//	StageDelete           GET of the deletion files of the fragments touched that have one, once; PUT of the new ones
//	StageUpdate           as StageDelete, and a PUT of a data file; reads of the blobs that are kept
//	StageRestore          GET of the manifest of the version restored
//	StageUpsert           FindText of the keys, then as StageUpdate
//	Commit, Create        LIST of one key beside PUT of the transaction's file, PUT of the manifest (package commit)
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
//
// # Staging
//
// Objects of a staged transaction have random names, are written side by side,
// and are never taken away: see Staged. Everything goes into as few fragments as
// StageOptions allow, one data file each, of format 2.2. The transactions are
// those that Lance writes for the same change (lance-table.md §3.3, §5):
//
//	StageInsert     Update of new fragments alone; key filter over all keys; no row ids
//	StageUpsert     Update; new fragments hold the moved rows first, whose ids they bring, then the
//	                inserted ones; replaced rows are masked in updated_fragments, and fragments that
//	                lose their last row are in removed_fragment_ids; key filter over the inserted keys
//	StageUpdate     the same with an empty key filter
//	StageDelete     Delete; masked rows, and deleted_fragment_ids
//	StageAppend     Append
//	StageOverwrite  Overwrite
//	StageRestore    Restore
//	Create          Overwrite on version 0
//
// All of Update list every field as changed, so that no index comes to cover
// rows that it has not seen. A deletion file holds the complete set of its
// fragment, from 5000 rows on as a bitmap. What rows must look like is said at
// Rows; the rest is up to the caller: who keeps a table's keys unique looks them
// up first (FindText) and commits exactly on the version that was looked at.
package lance
