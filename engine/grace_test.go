package engine

import "time"

// SetGrace is the age from which on a record counts as left behind.
func (g *Graph) SetGrace(d time.Duration) { g.grace = d }
