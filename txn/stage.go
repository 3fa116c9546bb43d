package txn

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn/sidecar"
	"github.com/omnideck/omnideck/txn/validate"
)

// absent is the certificate of the Rust engine that none of the keys of a
// transaction stood in its base (omnigraph-storage.md §8.3).
var absent = map[string]string{"omnigraph.insert_absence": "v1"}

// Insert stages new rows of a table, of which the caller has shown that none of
// their ids is there. A table is staged once; its files are uploaded, and no
// version names them before Publish.
func (t *Txn) Insert(ctx context.Context, alias string, rows lance.Rows) (*lance.Staged, error) {
	return t.stage(ctx, alias, func(s *lance.Snapshot, o lance.StageOptions) (*lance.Staged, error) {
		o.InsertProperties = absent
		return s.StageInsert(ctx, rows, o)
	})
}

// Upsert stages rows that replace those of their ids, or are inserted.
func (t *Txn) Upsert(ctx context.Context, alias string, rows lance.Rows) (*lance.Staged, error) {
	return t.stage(ctx, alias, func(s *lance.Snapshot, o lance.StageOptions) (*lance.Staged, error) {
		o.InsertProperties = absent // the look-up shows it, when nothing is replaced
		return s.StageUpsert(ctx, rows, lance.UpsertOptions{StageOptions: o})
	})
}

// Merge stages rows of which the first replace those at addresses, and the
// others, whose ids are nowhere, are inserted.
func (t *Txn) Merge(ctx context.Context, alias string, addrs []uint64, rows lance.Rows) (*lance.Staged, error) {
	return t.stage(ctx, alias, func(s *lance.Snapshot, o lance.StageOptions) (*lance.Staged, error) {
		return s.StageMerge(ctx, addrs, rows, o)
	})
}

// Update stages whole rows in place of those at addresses.
func (t *Txn) Update(ctx context.Context, alias string, addrs []uint64, rows lance.Rows) (*lance.Staged, error) {
	return t.stage(ctx, alias, func(s *lance.Snapshot, o lance.StageOptions) (*lance.Staged, error) {
		return s.StageUpdate(ctx, addrs, rows, o)
	})
}

// Delete stages the removal of the rows at addresses. predicate is for people.
func (t *Txn) Delete(ctx context.Context, alias string, addrs []uint64, predicate string) (*lance.Staged, error) {
	return t.stage(ctx, alias, func(s *lance.Snapshot, o lance.StageOptions) (*lance.Staged, error) {
		return s.StageDelete(ctx, addrs, predicate, o)
	})
}

// Overwrite stages rows in place of all of the table.
func (t *Txn) Overwrite(ctx context.Context, alias string, rows lance.Rows) (*lance.Staged, error) {
	return t.stage(ctx, alias, func(s *lance.Snapshot, o lance.StageOptions) (*lance.Staged, error) {
		return s.StageOverwrite(ctx, nil, rows, o)
	})
}

// stage mints the transaction's identity and keeps what was staged.
func (t *Txn) stage(ctx context.Context, alias string, make func(*lance.Snapshot, lance.StageOptions) (*lance.Staged, error)) (*lance.Staged, error) {
	snap, err := t.Table(ctx, alias)
	if err != nil {
		return nil, err
	}
	e, _ := t.View.Table(alias)
	if e.Owner != t.o.Branch {
		return nil, &UnforkedError{alias, t.o.Branch, e.Owner}
	}
	id := Identity(e.Identity)
	t.mu.Lock()
	_, twice := t.staged[id]
	t.staged[id] = nil
	d := t.draws[id]
	t.mu.Unlock()
	if twice {
		return nil, fmt.Errorf("staging %s: it was staged already; all that a write does to a table is one transaction: %w", alias, ErrCaller)
	}
	if d == nil {
		if d, err = t.o.IDs.draw(); err != nil {
			return nil, err
		}
	}
	uuid, names := d.uuid, bytes.NewReader(d.names[:])
	staged, err := make(snap, lance.StageOptions{UUID: uuid, Rand: names, WithTransaction: true, Dry: t.o.Dry})
	if err != nil {
		return nil, fmt.Errorf("staging %s: %w", alias, err)
	}
	t.mu.Lock()
	t.staged[id] = staged
	t.mu.Unlock()
	return staged, nil
}

// Draw draws what the transactions of tables and their files will be called, in
// this order: tables that are staged side by side afterwards are called the same
// in every run with the same IDs.
func (t *Txn) Draw(aliases ...string) error {
	for _, alias := range aliases {
		e, ok := t.View.Table(alias)
		if !ok {
			continue // staging says so
		}
		d, err := t.o.IDs.draw()
		if err != nil {
			return err
		}
		t.mu.Lock()
		t.draws[Identity(e.Identity)] = d
		t.mu.Unlock()
	}
	return nil
}

// Plan is the write that was staged. Without anything staged it is a commit that
// moves no table.
func (t *Txn) Plan(kind Kind, class Class, reads validate.ReadSet) (*PublishPlan, error) {
	if t.spent.Load() {
		return nil, errSpent
	}
	now := t.o.Now().UTC().Truncate(time.Microsecond)
	p := PublishPlan{
		Kind: kind, Class: class, Pre: ExactHead, Actor: t.o.Actor, Started: now, Base: t.Base,
		Lineage: Lineage{CreatedAt: now.UnixMicro()}, Reads: reads,
	}
	for _, id := range []*string{&p.ID, &p.Lineage.CommitID, &p.Rollback} {
		var err error
		if *id, err = t.o.IDs.Next(); err != nil {
			return nil, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, st := range t.staged {
		e, ok := t.View.ByIdentity(manifest.Identity(id))
		if !ok || st == nil {
			return nil, &PlanError{ID: p.ID, Why: "the staging of a table failed"}
		}
		p.Actions = append(p.Actions, TableAction{
			Table: id, Alias: e.Alias, Path: place(t.store, e.Location), Branch: t.o.Branch, Pin: e.Version,
			Commits: []Transaction{{ReadVersion: e.Version, UUID: st.UUID()}}, Effect: sidecar.OneTransaction,
		})
	}
	return New(p)
}
