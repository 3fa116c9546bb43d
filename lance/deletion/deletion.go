package deletion

// Set is the set of deleted offsets of one fragment. A nil Set is empty.
type Set struct{}

// Len is the number of deleted rows.
func (s *Set) Len() int { return 0 }

// Contains reports whether the row at a physical offset is deleted.
func (s *Set) Contains(offset uint32) bool { return false }
