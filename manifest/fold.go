package manifest

// Fold turns rows into the visible state. It is a pure function: the order of
// rows does not matter. Rows with Deleted set only feed State.Versions.
func Fold(rows []Row) (State, []Problem) { return State{}, nil }
