package engine

import (
	"context"
	"time"
)

// SetGrace is the age from which on a record counts as left behind.
func (g *Graph) SetGrace(d time.Duration) { g.grace = d }

// SetSleep is how the graph waits.
func (g *Graph) SetSleep(f func(context.Context, time.Duration) error) { g.sleep = f }
