// Package pb holds the protobuf descriptions of what Lance keeps in manifests,
// transactions and data files, and makes the Go code from them.
//
// The .proto files are our own: names, numbers and types are facts of the
// format, the words are ours, and only what omnideck reads is in them.
// Everything else arrives as unknown fields and is written back unchanged.
//
//	file.proto         lance.file          lance/pb/file         filepb    schema, file descriptor
//	file2.proto        lance.file.v2       lance/pb/filev2       filev2pb  column metadata, pages
//	encodings21.proto  lance.encodings21   lance/pb/encodings21  enc21pb   layouts and encodings of 2.1, 2.2
//	encodings.proto    lance.encodings     lance/pb/encodings    enc20pb   array encodings of 2.0
//	table.proto        lance.table         lance/pb/table        tablepb   manifest, fragments, indexes
//	rowids.proto       lance.table         lance/pb/table        tablepb   row-id and version sequences
//	transaction.proto  lance.table         lance/pb/table        tablepb   transactions
//
// The descriptions inside data files and index metadata are wrapped in
// google.protobuf.Any with a URL that is compared by what follows the last
// slash; AnyName gives that part.
package pb

//go:generate go run ../../internal/protogen
