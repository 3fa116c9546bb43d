//go:build !race

package pace

// Race says that the race detector watches this build.
const Race = false
