package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// maxPages bounds listings of folders that a sound graph keeps almost empty.
const maxPages = 4

// rootListing is what lies directly under the root.
type rootListing struct {
	files   map[string]blob.Attrs
	folders []string
	cut     bool // more than maxPages of it
}

// listRoot lists the root without its folders' contents: one request, unless
// something strange fills it.
func (o *operation) listRoot(ctx context.Context) (*rootListing, error) {
	out := &rootListing{files: map[string]blob.Attrs{}}
	n := 0
	for e, err := range o.store.List(ctx, blob.ListOptions{}) {
		if err != nil {
			return nil, err
		}
		if e.IsPrefix {
			out.folders = append(out.folders, e.Key)
		} else {
			out.files[e.Key] = e.Attrs
		}
		if n++; n == maxPages*blob.DefaultPageSize {
			out.cut = true
			break
		}
	}
	return out, nil
}

// staged are the schema staging files that are there.
func (r *rootListing) staged() []string {
	var out []string
	for _, k := range schema.StagedKeys {
		if _, ok := r.files[k]; ok {
			out = append(out, k)
		}
	}
	return out
}

// schemaFiles fetches objects of the contract side by side.
func (o *operation) schemaFiles(ctx context.Context, keys []string, into map[string]schema.File) {
	got := make([]schema.File, len(keys))
	_ = o.each(len(keys), func(i int) error {
		obj, err := o.store.Get(ctx, keys[i], blob.All)
		got[i] = schema.File{Data: obj.Data, Err: err}
		return nil
	})
	for i, k := range keys {
		into[k] = got[i]
	}
}

// published is what the contract must fit: nothing when view is nil.
func published(view *manifest.View, pending []pendingSidecar) schema.Published {
	out := schema.Published{Known: view != nil && view.Stamp.OK() && !manifest.Refused(view.Problems)}
	if !out.Known {
		return out
	}
	for _, t := range view.Tables {
		out.Tables = append(out.Tables, schema.Table{Alias: t.Alias, ID: t.Table, Incarnation: t.Incarnation})
	}
	for _, p := range pending {
		if p.record == nil || p.record.Kind != sidecar.SchemaApply {
			continue
		}
		if _, done := view.Commit(p.record.CommitID); done {
			out.TargetIRHash = p.record.TargetIRHash
		}
	}
	return out
}

// glanced is the number of sidecars that `info` reads; any other look reads
// recovery.MaxRecords. Of more only the names are told.
const glanced = 16

// pendingSidecar is one sidecar as it was found.
type pendingSidecar struct {
	Pending
	record *sidecar.Record // nil when nothing of it could be read
	err    error           // why it could not be read in full, or which rule of its shape it breaks
}

// untold says that nobody knows which tables it is about: it may be any.
func (p *pendingSidecar) untold() bool { return p.record == nil || p.err != nil }

// recoveryFolder is what lies in __recovery/.
type recoveryFolder struct {
	sidecars []pendingSidecar
	others   []string // names that are no sidecars
}

// sidecars lists `__recovery/` and reads up to limit sidecars. One that
// vanishes between listing and reading is gone: its operation has ended.
func (o *operation) sidecars(ctx context.Context, limit int) (*recoveryFolder, error) {
	out := &recoveryFolder{}
	var keys []string
	for e, err := range o.store.List(ctx, blob.ListOptions{Prefix: sidecar.Folder}) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("listing recovery sidecars: %w", err)
		case !e.IsPrefix && strings.HasSuffix(e.Key, ".json"):
			keys = append(keys, e.Key)
		default:
			out.others = append(out.others, e.Key)
		}
	}
	read := min(len(keys), limit)
	found := make([]*pendingSidecar, len(keys))
	err := o.each(read, func(i int) error {
		p, err := o.readSidecar(ctx, keys[i])
		found[i] = p
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, p := range found {
		if i >= read {
			p = &pendingSidecar{Pending: Pending{Key: keys[i], Tables: []PendingTable{}, Problem: fmt.Sprintf("not read: there are %d sidecars", len(keys))}}
		}
		if p != nil {
			out.sidecars = append(out.sidecars, *p)
		}
	}
	return out, nil
}

// readSidecar is nil when the object is gone.
func (o *operation) readSidecar(ctx context.Context, key string) (*pendingSidecar, error) {
	obj, err := o.store.Get(ctx, key, blob.All)
	switch {
	case isGone(err):
		return nil, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return &pendingSidecar{Pending: Pending{Key: key, Tables: []PendingTable{}, Problem: err.Error()}, err: err}, nil
	}
	record, problems, err := sidecar.Parse(key, obj.Data)
	p := &pendingSidecar{Pending: Pending{Key: key, Tables: []PendingTable{}}, record: record, err: sidecar.Unfit(problems, err)}
	p.Refused = p.err != nil
	var wrong []string
	if err != nil {
		wrong = append(wrong, sidecar.Why(err))
	}
	for _, q := range problems {
		wrong = append(wrong, q.Error())
	}
	p.fill(record, o.store.Properties().URL)
	if record.Kind == "" {
		p.Branch = "" // the record does not tell
	}
	now := o.clock()
	if left := txn.Left(record, obj.ModTime, now, o.grace); left > 0 && !p.Refused {
		p.WaitUntil = now.Add(left)
	}
	p.Problem = strings.Join(wrong, "; ")
	return p, nil
}

// fill copies what a record says and compares its paths with this root.
func (p *pendingSidecar) fill(r *sidecar.Record, root string) {
	p.OperationID, p.Kind, p.Branch, p.Phase = r.OperationID, string(r.Kind), nameOf(r.Branch), r.Phase
	p.StartedAt, p.SchemaVersion, p.CommitID = r.StartedAt, r.SchemaVersion, r.CommitID
	if r.Actor != nil {
		p.Actor = *r.Actor
	}
	for _, t := range r.Pins {
		row := PendingTable{Table: t.Alias, Path: t.Path, Branch: t.Branch, Expected: t.Expected, Planned: t.Planned}
		if t.Confirmed != nil {
			row.Confirmed = *t.Confirmed
		}
		p.Tables = append(p.Tables, row)
		folder, ok := manifest.Location(t.Alias, manifest.Identity(t.Identity))
		if at, here := strings.CutSuffix(t.Path, "/"+folder); ok && here && at != root {
			p.Moved = true
		}
	}
}

// doubt notes on the sidecars of a branch that its history cannot be read.
func (f *recoveryFolder) doubt(branch string, err error) {
	for i := range f.sidecars {
		if p := &f.sidecars[i]; p.Branch == branch {
			p.Problem = strings.TrimPrefix(p.Problem+"; whether it was published cannot be told: "+err.Error(), "; ")
		}
	}
}

// settle marks the sidecars whose commit is in the history of a view.
func settle(list []pendingSidecar, view *manifest.View) {
	for i := range list {
		p := &list[i]
		if p.CommitID == "" || bare(p.Branch) != view.Branch {
			continue
		}
		_, p.Published = view.Commit(p.CommitID)
	}
}

// Pending are the recovery sidecars, all of them read, oldest first. Whether
// one was published is told from the history of its branch, where that can be
// read.
func (g *Graph) Pending(ctx context.Context) ([]Pending, error) {
	return do(ctx, g, "pending", func(ctx context.Context, o *operation) ([]Pending, error) {
		var folder *recoveryFolder
		err := o.together(
			func() error { return o.requireGraph(ctx) },
			func() (err error) { folder, err = o.sidecars(ctx, recovery.MaxRecords); return err },
		)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, p := range folder.sidecars {
			if p.CommitID != "" {
				names = append(names, p.Branch)
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
		err = o.each(len(names), func(i int) error {
			view, err := o.open(ctx, names[i], 0)
			var none *NotFoundError
			switch {
			case err == nil:
				settle(folder.sidecars, view)
			case errors.As(err, &none): // a branch that is gone has no history to ask
			case sayable(err):
				folder.doubt(names[i], err)
			default:
				return err
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		return pendingOf(folder), ctx.Err()
	})
}

// PendingRecords are the recovery sidecars as they say of themselves: one LIST, and
// a GET for each. Whether one was published is not told.
func (g *Graph) PendingRecords(ctx context.Context) ([]Pending, error) {
	return do(ctx, g, "pending records", func(ctx context.Context, o *operation) ([]Pending, error) {
		folder, err := o.sidecars(ctx, recovery.MaxRecords)
		if err != nil {
			return nil, err
		}
		return pendingOf(folder), ctx.Err()
	})
}

func pendingOf(f *recoveryFolder) []Pending {
	out := make([]Pending, 0, len(f.sidecars))
	for _, p := range f.sidecars {
		out = append(out, p.Pending)
	}
	return out
}
