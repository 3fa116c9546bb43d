// Package rowid reads and writes the per-row sequences of a fragment: stable row
// ids, and the versions in which rows were made and last written. It is a pure
// function of bytes.
//
// A row-id sequence is a protobuf message (lance.table.RowIdSequence), a list
// of segments whose values, one after the other, are the ids of the
// fragment's rows in physical order, deleted rows included:
//
//	1 range              start..end, end excluded
//	2 range_with_holes   start..end without `holes`, which ascend
//	3 range_with_bitmap  start+i for every bit i that is set, lowest bit of a byte first
//	4 sorted_array       ascending values
//	5 array              values in any order
//
// An array is 1 u16_array{base=1, offsets=2}, 2 u32_array{base=1, offsets=2} or
// 3 u64_array{values=2}; offsets and values are packed little-endian.
//
//	0a 04 0a 02 10 32                                range 0..50
//	0a 0e 12 0c 10 64 1a 08 0a 06 08 28 12 02 00 00  0..100 without 40
//	0a 0d 1a 0b 10 32 1a 07 f7 ff ef ff ff fe 03     0..50 without 3, 20, 40
//
// A version sequence (lance.table.RowDatasetVersionSequence) is a list of runs
// {span=1 segment, version=2}. Only the number of values of a span counts, not
// the values: the k-th row has the version of the run that covers position k.
//
// A range costs two bytes however many rows it claims. Lengths are therefore
// 64-bit numbers, nothing is expanded before it is asked for, and callers
// compare Len with the rows that there really are first.
//
// Writing takes, for every stretch of ascending ids, the smallest of ranges, a
// range with holes, one with a bitmap and a sorted array, and one array for all
// where ids jump so much that this is smaller. An array's base is its smallest
// value and no segment is empty: readers rely on both. Version runs are ranges
// of positions.
package rowid
