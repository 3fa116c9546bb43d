package engine

import "github.com/omnideck/omnideck/lance"

// LookUpEverything makes look-ups use indexes however small a table is, until
// the function that it returns is called.
func LookUpEverything() (undo func()) {
	before := lookUps
	lookUps = lance.LookUpByIndex
	return func() { lookUps = before }
}
