//go:build race

package tui

// underRace: the race detector makes everything slow, so that times say
// nothing, and a million of anything takes minutes.
const underRace = true
