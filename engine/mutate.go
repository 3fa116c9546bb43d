package engine

import (
	"context"
	"fmt"

	"github.com/omnideck/omnideck/engine/exec"
	"github.com/omnideck/omnideck/query"
	"github.com/omnideck/omnideck/txn"
)

// MutateOptions say what to run.
type MutateOptions struct {
	WriteOptions
	Source string // .gq
	Name   string // of the query; "" = the only one
	Params []byte // a JSON object; nil = none
}

// Mutate runs a mutation as one commit. When nothing is affected there is none
// (Receipt.Commit). Receipt is there beside every error that came after the
// query was understood.
//
// Errors: those of package query, *HeadMovedError, *ReadOnlyError,
// *txn.ConstraintError, *txn.ResourceLimitError, and others of package txn.
func (g *Graph) Mutate(ctx context.Context, m MutateOptions) (name string, r *Receipt, err error) {
	r, err = do(ctx, g, "mutate", func(ctx context.Context, o *operation) (*Receipt, error) {
		file, err := query.Parse(m.Source)
		if err != nil {
			return nil, err
		}
		q, err := file.Select(m.Name)
		if err != nil {
			return nil, err
		}
		name = q.Name
		if q.Reads() {
			return nil, fmt.Errorf("query '%s' is a read query, and a mutation was asked for: %w", q.Name, txn.ErrCaller)
		}
		now := o.clock()
		return o.write(ctx, m.WriteOptions, func(ctx context.Context, t *txn.Txn) (*exec.Plan, error) {
			checked, err := query.Check(q, t.Contract.IR)
			if err != nil {
				return nil, err
			}
			bound, err := checked.Bind(m.Params, now)
			if err != nil {
				return nil, err
			}
			return exec.Mutate(ctx, t, bound.Statements, exec.Options{NewID: o.newID})
		})
	})
	return name, r, err
}

// newID is an id of an edge or of a node without a key.
func (g *Graph) newID() (string, error) { return g.ids.Next() }
