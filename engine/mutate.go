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
// Errors: those of package query, *HeadMovedError, *PlanMovedError, *ReadOnlyError,
// *txn.ConstraintError, *txn.ResourceLimitError, and others of package txn.
func (g *Graph) Mutate(ctx context.Context, m MutateOptions) (name string, r *Receipt, err error) {
	r, err = do(ctx, g, "mutate", func(ctx context.Context, o *operation) (*Receipt, error) {
		in, err := o.mutation(&m)
		if in != nil {
			name = in.query
		}
		if err != nil {
			return nil, err
		}
		return o.write(ctx, m.WriteOptions, in)
	})
	return name, r, err
}

// mutation reads what a mutation asks for. The intent is there beside the error
// when the query was found.
func (o *operation) mutation(m *MutateOptions) (*intent, error) {
	file, err := query.Parse(m.Source)
	if err != nil {
		return nil, err
	}
	q, err := file.Select(m.Name)
	if err != nil {
		return nil, err
	}
	in := &intent{verb: "mutate", query: q.Name}
	if q.Reads() {
		return in, fmt.Errorf("query '%s' is a read query, and a mutation was asked for: %w", q.Name, txn.ErrCaller)
	}
	for i := range q.Mutations {
		in.strict = in.strict || q.Mutations[i].Verb != query.Insert
	}
	in.digest = func() string { return digest([]string{m.Source, string(m.Params)}) }
	now := o.clock()
	in.plan = func(ctx context.Context, t *txn.Txn) (*exec.Plan, error) {
		checked, err := query.Check(q, t.Contract.IR)
		if err != nil {
			return nil, err
		}
		bound, err := checked.Bind(m.Params, now)
		if err != nil {
			return nil, err
		}
		return exec.Mutate(ctx, t, bound.Statements, exec.Options{NewID: o.newID})
	}
	return in, nil
}

// newID is an id of an edge or of a node without a key.
func (g *Graph) newID() (string, error) { return g.ids.Next() }
