package engine

// LookUpEverything makes look-ups use indexes however small a table is, until
// the function that it returns is called.
func LookUpEverything() (undo func()) {
	bytes, fragments := scanBytes, scanFragments
	scanBytes, scanFragments = 0, 0
	return func() { scanBytes, scanFragments = bytes, fragments }
}
