package engine

import (
	"context"

	"github.com/omnideck/omnideck/engine/load"
)

// ChunkPlan is how LoadChunks would split an input.
type ChunkPlan struct {
	Branch string   `json:"branch"`
	Mode   LoadMode `json:"mode"`
	Chunks int      `json:"chunks"` // each of them one commit
	Lines  int      `json:"lines"`
	Nodes  int64    `json:"nodes"`
	Edges  int64    `json:"edges"`
}

// PlanChunks reads all lines as LoadChunks does before its first commit. Which
// chunks stand in the graph already only LoadChunks finds.
//
// Errors: as LoadChunks before its first commit.
func (g *Graph) PlanChunks(ctx context.Context, l LoadOptions) (*ChunkPlan, error) {
	if l.Mode != LoadAppend && l.Mode != LoadMerge {
		return nil, &UsageError{What: "load in chunks", Why: "only append and merge can be split; an overwrite is one commit"}
	}
	if g.door == nil {
		return nil, &ReadOnlyError{g.uri}
	}
	ir, err := g.contractForLoad(ctx, l.WriteOptions)
	if err != nil {
		return nil, err
	}
	plan, err := load.MakePlan(l.Input, ir, load.ChunkOptions{Mode: l.Mode})
	if err != nil {
		return nil, overLimit(err)
	}
	return &ChunkPlan{Branch: nameOf(l.Branch), Mode: l.Mode, Chunks: len(plan.Chunks), Lines: plan.Lines, Nodes: plan.Nodes, Edges: plan.Edges}, nil
}
