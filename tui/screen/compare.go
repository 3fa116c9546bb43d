package screen

import (
	"github.com/omnideck/omnideck/engine"
)

// NewCompare makes the screen that compares two pins of one kind: a is before,
// b after.
func NewCompare(a, b Pin) Screen {
	switch a.Kind {
	case PinVersion:
		return newCompareVersions(a, b)
	case PinRow:
		return newCompareRows(a, b)
	}
	return newComparePoints(pointText(a.At), pointText(b.At), &a, &b)
}

// pointText spells a point of a graph as ResolveAt reads it, beside the branch
// that a version belongs to.
func pointText(at engine.At) string {
	switch {
	case at.Commit != "":
		return at.Commit
	case at.Version != 0:
		return plainNumber(at.Version)
	}
	return branchOf(at)
}
