package recovery

import (
	"context"
	"fmt"
	"slices"

	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// still looks at the tables once more when the record is gone. Its writer, slow and
// taken for dead, may have moved one after it was looked at: nobody could tell
// whose that is. Then the record is written again, and the error says to judge anew
// (txn.Overtaken). It is written again, too, when that cannot be read.
func (e *execution) still(ctx context.Context, r *record) error {
	nameless := r.Kind == sidecar.Optimize && r.plan.UUIDPrefix == "" // what it did cannot be told from what the next one does
	if nameless || r.Verdict.Do == txn.OrphanDiscard {                // there is no branch that could be looked at
		return nil
	}
	went, err := e.wentOn(ctx, r)
	if err == nil && !went {
		return nil
	}
	if err != nil {
		err = fmt.Errorf("what became of operation %s is done, and whether it went on meanwhile could not be read: its record stays: %w", r.Operation, err)
	} else {
		err = txn.Overtake(fmt.Sprintf("operation %s went on while it was recovered", r.Operation))
	}
	if lost := e.redo.Rewrite(context.WithoutCancel(ctx)); lost != nil {
		return fmt.Errorf("%v; %w", err, lost) // and not to judge anew: there is no record
	}
	return err
}

// wentOn reports whether a table was moved by the operation since it was judged.
func (e *execution) wentOn(ctx context.Context, r *record) (bool, error) {
	if moved, err := e.moved(ctx, r); err != nil || !moved {
		return false, err
	}
	again := &record{Item: r.Item}
	again.Tables = slices.Clone(r.Tables)
	if err := newLooker(e.store, e.o).interpret(ctx, again, nil); err != nil {
		return false, err
	}
	v := again.Verdict // another one: somebody else's movement
	return v.Do == txn.Forward || v.Do == txn.Back || v.Do == txn.Finalize && v.Mint, nil
}

// moved reports whether a table has another newest version than was judged or
// made.
func (e *execution) moved(ctx context.Context, r *record) (bool, error) {
	newest := make([]uint64, len(r.Verdict.Tables))
	g := beside.New(ctx, e.o.Open.Parallelism)
	for i, t := range r.Verdict.Tables {
		g.Go(func(gctx context.Context) error {
			folder, _ := manifest.Location(t.Alias, manifest.Identity(t.Table))
			chain, err := lance.Versions(gctx, e.store, folder, lance.ListOptions{Branch: t.Branch, Limit: 1, PageSize: 1})
			if err == nil && len(chain.Versions) > 0 {
				newest[i] = chain.Versions[0].Version
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return false, err
	}
	for i, t := range r.Verdict.Tables {
		if t.Do != txn.DropFork && t.Do != txn.DropDataset && newest[i] != e.heads[t.Table] {
			return true, nil
		}
	}
	return false, nil
}
