package engine

import (
	"context"
	"errors"
)

var errSoon = errors.New("being built by a helper")

// Diff compares two points of the graph.
func (g *Graph) Diff(ctx context.Context, a, b At, o DiffOptions) (*Diff, error) { return nil, errSoon }

// DiffVersions compares two versions of one table on a branch.
func (g *Graph) DiffVersions(ctx context.Context, table, branch string, a, b uint64, o DiffOptions) (*VersionDiff, error) {
	return nil, errSoon
}
