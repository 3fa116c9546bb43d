//go:build !linux

package pace

import "time"

var begin = time.Now()

// threadTime is the time on the wall, because threads have no clock here; in a
// bubble of testing/synctest it stands still.
func threadTime() time.Duration { return time.Since(begin) }

func processTime() time.Duration { return time.Since(begin) }
