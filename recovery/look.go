package recovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery/promote"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// MaxRecords bounds how many records are read: a sound graph has none or one.
const MaxRecords = 256

// sideBySide is how many requests are in flight when nothing else is asked for.
const sideBySide = 16

// tries is how often an object that was listed is asked for before a failure
// counts.
const tries = 3

func (o Options) completed() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Known == nil {
		o.Known = &manifest.Known{}
	}
	if o.Open.Parallelism <= 0 {
		o.Open.Parallelism = sideBySide
	}
	return o
}

// Look says what every record means and what would be done about it: LIST of the
// records and GET of each, HEAD of the lock, LIST of the staged schema files;
// then, for each branch that a record is about, its state, and for each table its
// newest version and the transactions above the pin. It writes nothing, and
// without records looks at nothing else.
//
// What cannot be read about one record is told by its Item, which then is
// refused. The error is that of a listing, or of the context.
func Look(ctx context.Context, store blob.Store, o Options) (*Plan, error) {
	o = o.completed()
	p, l := &Plan{}, newLooker(store, o)
	records, others, err := l.records(ctx)
	if err != nil {
		return nil, err
	}
	p.Others = others
	if err := p.besides(ctx, store); err != nil {
		return nil, err
	}
	for i := range records {
		if !o.wants(&records[i].Item) {
			continue
		}
		gone, err := l.judge(ctx, &records[i], records)
		if err != nil {
			return nil, err
		}
		if !gone {
			p.Items = append(p.Items, records[i].Item)
		}
	}
	if err := p.left(ctx, l, records); err != nil {
		return nil, err
	}
	slices.SortStableFunc(p.Items, func(a, b Item) int { return cmp.Compare(a.Operation, b.Operation) })
	return p, nil
}

// wants reports whether an item is among those asked for.
func (o *Options) wants(i *Item) bool {
	return o.Only == nil || slices.Contains(o.Only, i.Operation) || slices.Contains(o.Only, i.Key)
}

// besides looks for what lies there that is no record: the lock of a schema apply,
// and staged schema files.
func (p *Plan) besides(ctx context.Context, store blob.Store) error {
	switch a, err := store.Head(ctx, txn.LockKey); {
	case err == nil:
		p.Lock = &Lock{txn.LockKey, a.ModTime}
	case !errors.Is(err, blob.ErrNotExist):
		return fmt.Errorf("looking for the lock of a schema apply: %w", err)
	}
	for _, prefix := range []string{"_schema.", schema.StateKey} {
		for e, err := range store.List(ctx, blob.ListOptions{Prefix: prefix}) {
			if err != nil {
				return fmt.Errorf("looking for staged schema files: %w", err)
			}
			if strings.HasSuffix(e.Key, schema.Staging) {
				p.Staged = append(p.Staged, e.Key)
			}
		}
	}
	return nil
}

// left judges staged schema files that no record owns.
func (p *Plan) left(ctx context.Context, l *looker, records []record) error {
	owned := slices.ContainsFunc(records, func(r record) bool { return r.Kind == sidecar.SchemaApply || r.Err != nil })
	if len(p.Staged) == 0 || owned {
		return nil
	}
	view, err := l.view(ctx, "")
	if err != nil {
		return fmt.Errorf("judging staged schema files: %w", err)
	}
	var tables []schema.Table
	for _, e := range view.Tables {
		tables = append(tables, schema.Table{Alias: e.Alias, ID: e.Table, Incarnation: e.Incarnation})
	}
	p.Left, err = promote.Leftover(ctx, l.store, tables)
	return err
}

// records lists and reads all records of this moment. One that is gone since it was
// listed has ended. others are names that no program reads.
func (l *looker) records(ctx context.Context) (out []record, others []string, err error) {
	var keys []string
	for e, err := range l.store.List(ctx, blob.ListOptions{Prefix: sidecar.Folder}) {
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("listing the recovery records in %s: %w", sidecar.Folder, err)
		case e.IsPrefix || !strings.HasSuffix(e.Key, sidecar.Suffix):
			others = append(others, e.Key)
		case len(keys) == MaxRecords:
			return nil, nil, fmt.Errorf("more than %d recovery records lie in %s: no program leaves so many, and none was looked at", MaxRecords, sidecar.Folder)
		default:
			keys = append(keys, e.Key)
		}
	}
	for _, key := range keys {
		r, err := l.one(ctx, key)
		if err != nil {
			return nil, nil, err
		}
		if r != nil {
			out = append(out, *r)
		}
	}
	return out, others, nil
}

// beside reads all records, and says which is the one with a key; negative: it is
// gone, or there is an error. A listing may be late: only the object itself says
// that it is gone.
func (l *looker) beside(ctx context.Context, key string) (all []record, at int, err error) {
	if all, _, err = l.records(ctx); err != nil {
		return nil, -1, err
	}
	if at = slices.IndexFunc(all, func(r record) bool { return r.Key == key }); at >= 0 {
		return all, at, nil
	}
	r, err := l.one(ctx, key)
	if r == nil {
		return nil, -1, err
	}
	return append(all, *r), len(all), nil
}

// record is an item with its bytes and its plan.
type record struct {
	Item
	data []byte
	plan *txn.PublishPlan // nil: refused

	landed bool // its commit, or that of recovery for it, is visible
	// Removes by what it is: of each fork, of each dataset, staged schema files.
	forks, datasets [][]string
	staged          []string
}

// one reads a record; nil when it is gone.
func (l *looker) one(ctx context.Context, key string) (*record, error) {
	r := &record{Item: Item{Key: key, Stem: strings.TrimSuffix(path.Base(key), sidecar.Suffix)}}
	var obj blob.Object
	var err error
	for range tries {
		if obj, err = l.store.Get(ctx, key, blob.All); err == nil || errors.Is(err, blob.ErrNotExist) {
			break
		}
	}
	switch {
	case errors.Is(err, blob.ErrNotExist):
		return nil, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		r.Operation, r.Err = r.Stem, fmt.Errorf("reading the recovery record %s: %w", key, err)
		return r, nil
	}
	r.data, r.Size, r.Modified = obj.Data, int64(len(obj.Data)), obj.ModTime
	rec, problems, err := sidecar.Parse(key, obj.Data)
	r.Record, r.Err = rec, sidecar.Unfit(problems, err)
	if r.Operation = rec.OperationID; r.Operation == "" {
		r.Operation = r.Stem
	}
	r.tell(l.o)
	return r, nil
}

// tell copies what the record says.
func (r *record) tell(o Options) {
	rec := r.Record
	r.Kind, r.Branch, r.Actor, r.Phase = rec.Kind, rec.Branch, rec.Actor, rec.Phase
	r.Began = rec.StartedAt
	if t, ok := rec.IDTime(); ok {
		r.Began = t
	}
	if r.Err == nil {
		r.Left = txn.Left(rec, r.Modified, o.Clock(), o.Grace)
	}
	for _, p := range rec.Pins {
		t := Table{Alias: p.Alias, Branch: p.Branch, Expected: p.Expected, Planned: p.Planned}
		if p.Confirmed != nil {
			t.Confirmed = *p.Confirmed
		}
		r.Tables = append(r.Tables, t)
	}
}

// refuse is the verdict of a record that nobody may act on.
func (r *record) refuse(reason txn.Reason, format string, args ...any) {
	r.plan = nil
	r.Verdict = txn.Verdict{Do: txn.Refuse, Reason: reason, Text: fmt.Sprintf(format, args...)}
}

// here is a record whose paths name this root, as after a move that was
// confirmed.
func here(rec *sidecar.Record, recorded, root string) *sidecar.Record {
	if recorded == root || recorded == "" {
		return rec
	}
	c := *rec
	c.Pins = slices.Clone(rec.Pins)
	for i := range c.Pins {
		c.Pins[i].Path = root + strings.TrimPrefix(c.Pins[i].Path, recorded)
	}
	return &c
}
