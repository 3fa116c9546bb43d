// Package file reads Lance data files of format 2.0, 2.1 and 2.2, and writes
// them in 2.2.
//
// # Container
//
//	page buffers, column buffers, blob payloads, global buffers     64-byte aligned (2.1 on)
//	global buffer 0: FileDescriptor protobuf, the schema            64-byte aligned (2.1 on)
//	column metadata protobufs, column 0 to N-1
//	CMO table: N × { u64 position, u64 size }                       column metadata
//	GBO table: G × { u64 position, u64 size }                       global buffers
//	footer
//
// Little-endian, 40 bytes:
//
//	 0  u64  position of column 0's metadata
//	 8  u64  position of the CMO table
//	16  u64  position of the GBO table
//	24  u32  global buffers G, at least 1
//	28  u32  columns N
//	32  u16  major version
//	34  u16  minor version
//	36       "LANC"
//
// (0,3) and (2,0) are format 2.0, (2,1) and (2,2) themselves; below (0,3) is
// the first format, which is not read. The CMO table ends where the GBO table
// begins, which ends where the footer begins. Metadata of columns lie between
// their start and the CMO table, the schema before them.
//
// # Reading
//
// Open reads the end of the file, and in most cases nothing else. Column
// metadata is parsed when a column is first read. What finds rows in a page
// (package layout) is read once for all pages that a call needs and then kept,
// up to a limit; data are read for the rows asked, near ranges together.
//
// A scan works in units of some ten thousand rows. For each unit and column
// a task decodes the rows of all its leaves; tasks run side by side, units come
// out in order. What is in flight is bounded by bytes, and a unit whose data
// turn out to be too large is halved.
//
// # Writing
//
// A Writer keeps what it is given by physical column until that is a page, of
// 8 MiB, and encodes pages side by side (package pack). What is kept is the
// batches' own memory; only many small pieces are joined. Pages, payloads of
// blobs between them, go to the file in the order in which they were begun, so
// that the bytes do not depend on who was faster.
//
// A blob v2 column is stored as descriptors. Payloads of more than 4 MiB are a
// side-car each, those of more than 64 KiB share one (both limits are the
// field's), smaller ones lie in the data file.
//
// # Hostile input
//
// Everything in a file is taken as hostile: what it claims is checked against
// the bytes that are there before memory is made for it.
package file
