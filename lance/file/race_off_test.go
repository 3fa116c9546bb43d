//go:build !race

package file

// underRace: the race detector makes everything slow.
const underRace = false
