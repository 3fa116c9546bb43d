package engine

// Kinds of blob v2 values.
const (
	blobInline uint8 = iota
	blobPacked
	blobDedicated
	blobExternal
)
