package txn

import "github.com/omnideck/omnideck/internal/beside"

// sideBySide is how many tables are asked, staged, committed or made, and how many
// transactions of one are read, at once.
const sideBySide = 16

// Beside does f of 0 … n-1 side by side, sixteen at once, and gives the first
// error in their order after all have ended: then nothing of them is on its way
// to the store any more, and which error it is does not depend on chance.
func Beside(n int, f func(i int) error) error { return beside.All(n, sideBySide, f) }
