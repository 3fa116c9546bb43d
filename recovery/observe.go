package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/refs"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery/promote"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// looker is one look: each branch is read once.
type looker struct {
	store blob.Store
	o     Options
	root  string

	mu     sync.Mutex
	views  map[string]*manifest.View // nil: the branch is gone
	marker *schema.Marker            // older than any of the views
}

func newLooker(store blob.Store, o Options) *looker {
	return &looker{store: store, o: o, root: strings.TrimRight(store.Properties().URL, "/"), views: map[string]*manifest.View{}}
}

// view is the newest state of a branch; nil when it has no ref.
func (l *looker) view(ctx context.Context, branch string) (*manifest.View, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v, known := l.views[branch]; known {
		return v, nil
	}
	v, err := manifest.Open(ctx, l.store, manifest.Options{Branch: branch, Lance: l.o.Open, Since: l.o.Known.Of(branch)})
	if errors.As(err, new(*manifest.BranchNotFoundError)) {
		v, err = nil, nil
	}
	if err == nil && v != nil {
		err = v.Publishable() // of rows that are missing nothing can be told
	}
	if err != nil {
		return nil, err
	}
	l.views[branch] = v
	l.o.Known.Saw(v)
	return v, nil
}

// judge observes what a record is about and interprets it. all are the records
// that are there. A refusal is told only when a second look at everything says the
// same: what was seen of a graph in motion may not fit together. So is what was
// taken back by a record that does not tell it: another recovery wrote that into
// the record before it published, and may have done so after ours was read. gone
// says that the record went meanwhile. The error is that of a listing, or of the
// context.
func (l *looker) judge(ctx context.Context, r *record, all []record) (gone bool, err error) {
	for n := range looks {
		if n > 0 {
			before := r.Verdict.Text
			l = newLooker(l.store, l.o)
			var at int
			if all, at, err = l.beside(ctx, r.Key); at < 0 {
				return err == nil, err
			}
			*r = all[at]
			if err := l.verdict(ctx, r, all); err != nil {
				return false, err
			}
			if r.Verdict.Text == before {
				return false, nil
			}
		} else if err := l.verdict(ctx, r, all); err != nil {
			return false, err
		}
		if r.Err != nil || r.Verdict.Do != txn.Refuse && !r.Verdict.Guessed {
			return false, nil
		}
	}
	return false, nil
}

// looks bounds how often a record is looked at whose verdict is not sure.
const looks = 4

// verdict is one look.
func (l *looker) verdict(ctx context.Context, r *record, all []record) error {
	if r.Err != nil {
		r.refuse(txn.NotObserved, "its record cannot be acted upon: %s", sidecar.Why(r.Err))
		return nil
	}
	err := l.interpret(ctx, r, all)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.refuse(txn.NotObserved, "what became of it could not be read: %s", err)
	}
	return nil
}

func (l *looker) interpret(ctx context.Context, r *record, all []record) error {
	root := l.schemaFiles(ctx, r)
	view, err := l.view(ctx, r.Branch)
	if err != nil {
		return err
	}
	known := view
	if view == nil { // the branch is gone; its tables are those of main
		if known, err = l.view(ctx, ""); err != nil {
			return err
		}
	}
	r.Place, r.RecordedRoot = r.Record.Place(l.root, func(id sidecar.Identity) bool {
		return known != nil && slices.ContainsFunc(known.Registrations, func(g manifest.Registration) bool { return g.Identity == manifest.Identity(id) })
	})
	if r.Place == sidecar.Foreign {
		r.refuse(txn.WrongPlace, "its record names tables of another graph%s", at(r.RecordedRoot))
		return nil
	}
	plan, err := txn.FromRecord(here(r.Record, r.RecordedRoot, l.root))
	if err != nil {
		r.refuse(txn.NotObserved, "%s", err)
		return nil
	}
	vis, err := l.visible(ctx, plan, view, root)
	if err != nil {
		return err
	}
	seen := make([]txn.Observation, len(plan.Actions))
	g := beside.New(ctx, l.o.Open.Parallelism)
	for i := range plan.Actions {
		g.Go(func(gctx context.Context) (err error) { seen[i], err = l.observe(gctx, plan, i, view); return err })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i := range seen {
		seen[i].Claims = claims(all, r, &plan.Actions[i])
	}
	r.plan, r.Verdict, r.landed = plan, txn.Interpret(plan, seen, vis), vis.Original != nil
	for i := range seen {
		t := &r.Tables[i]
		t.Published, t.Head, t.Chain = seen[i].Pin, seen[i].Head, seen[i].Chain
		if i < len(r.Verdict.Tables) {
			t.Verdict = r.Verdict.Tables[i]
		}
	}
	return l.removes(ctx, r, root.staged)
}

func at(root string) string {
	if root == "" {
		return ""
	}
	return " at " + root
}

// claims are the other operations whose records name a table on its branch.
func claims(all []record, own *record, a *txn.TableAction) (out []string) {
	for i := range all {
		if all[i].Key == own.Key || all[i].Record == nil {
			continue
		}
		for _, pin := range all[i].Record.Pins {
			if pin.Identity == a.Table && pin.Branch == a.Branch {
				out = append(out, all[i].Operation)
			}
		}
	}
	return out
}

// schemaFiles is what the root shows of the schema.
type schemaFiles struct {
	marker  *schema.Marker
	staging txn.Staging // of a schema apply
	staged  []string    // keys
	err     error
}

// schemaFiles are read before the branch: whoever publishes another schema puts
// its files in place afterwards, so that files of a schema that the branch does
// not show yet are never seen.
func (l *looker) schemaFiles(ctx context.Context, r *record) (f schemaFiles) {
	if f.marker = l.marker; f.marker == nil {
		obj, err := l.store.Get(ctx, schema.StateKey, blob.All)
		if err == nil {
			f.marker, err = schema.ParseMarker(obj.Data)
		}
		if err != nil {
			f.err = fmt.Errorf("reading the marker of the schema %s: %w", schema.StateKey, err)
			return f
		}
		l.marker = f.marker
	}
	if r.Kind == sidecar.SchemaApply {
		f.staging, f.staged, f.err = promote.State(ctx, l.store, r.Record.TargetIRHash)
		l.forget(r.Branch)
	}
	return f
}

// forget makes the next view of a branch a new one.
func (l *looker) forget(branch string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.views, branch)
}

// visible is what the branch, and before it the root, show of a plan.
func (l *looker) visible(ctx context.Context, p *txn.PublishPlan, view *manifest.View, root schemaFiles) (vis txn.Visible, err error) {
	vis = txn.Visible{Root: l.root, Gone: view == nil}
	if view == nil {
		return vis, nil
	}
	if root.err != nil {
		return vis, root.err
	}
	vis.Base, vis.Staging = txn.BaseOf(view, root.marker), root.staging
	forward, back := p.RecoveryCommits()
	_, vis.RollBack = view.Commit(back)
	if c, ok := view.Commit(forward); ok {
		vis.Original, err = l.landed(ctx, view, c, p)
	}
	return vis, err
}

// landed is what a visible commit published: by the version of `__manifest` that
// it made or, where that was cleaned up, by the rows of now.
func (l *looker) landed(ctx context.Context, view *manifest.View, c manifest.Commit, p *txn.PublishPlan) (*txn.Landed, error) {
	out := &txn.Landed{Commit: c}
	if c.Branch != view.Branch {
		return out, nil
	}
	if c.ManifestVersion == view.Version {
		out.Tables = view.Tables
		return out, nil
	}
	then, err := manifest.Open(ctx, l.store, manifest.Options{Branch: c.Branch, Version: c.ManifestVersion, Ref: view.Ref, Lance: l.o.Open})
	if err == nil {
		err = then.Publishable()
	}
	switch {
	case err == nil:
		out.Tables = then.Tables
		return out, nil
	case !errors.Is(err, blob.ErrNotExist):
		return nil, fmt.Errorf("reading what commit %s published: %w", c.ID, err)
	}
	out.Tables = slices.Clone(view.Tables)
	for _, s := range p.Delta.Updates {
		for v := range view.Versions.Of(manifest.Identity(s.Identity)) {
			i := slices.IndexFunc(out.Tables, func(e manifest.Entry) bool { return e.Identity == v.Identity })
			if s.Confirmed != nil && v.Version == s.Confirmed.Version && i >= 0 {
				e, c := &out.Tables[i], s.Confirmed
				e.Alias, e.Version, e.Owner, e.Rows = s.Alias, v.Version, v.Owner, v.Rows
				e.Meta = manifest.TableMeta{ManifestPath: c.ManifestPath, ManifestSize: c.ManifestSize, ETag: c.ETag, NamingScheme: c.NamingScheme} // rows of old versions are kept without it
			}
		}
	}
	return out, nil
}

// observe looks at a table of a plan: its ref, its newest version, and the
// transactions above the pin.
func (l *looker) observe(ctx context.Context, p *txn.PublishPlan, n int, view *manifest.View) (txn.Observation, error) {
	a := &p.Actions[n]
	o := txn.Observation{Table: a.Table}
	if view == nil {
		o.Missing = true // a branch that is gone took its tables' branches along: they are never opened
		return o, nil
	}
	if e, ok := view.ByIdentity(manifest.Identity(a.Table)); ok {
		o.Alias, o.Pin, o.Owner = e.Alias, e.Version, e.Owner
	}
	folder, ok := manifest.Location(a.Alias, manifest.Identity(a.Table))
	if !ok {
		return o, fmt.Errorf("%s is no table", a.Alias)
	}
	if a.Branch != "" {
		if there, err := l.fork(ctx, folder, a.Branch, &o); err != nil || !there {
			return o, err
		}
	}
	chain, err := lance.Versions(ctx, l.store, folder, lance.ListOptions{Branch: a.Branch, Limit: 1, PageSize: 1})
	if err != nil {
		return o, err
	}
	if o.Missing = len(chain.Versions) == 0; o.Missing {
		return o, nil
	}
	o.Head = chain.Versions[0].Version
	o.Chain, err = txn.Links(ctx, l.store, folder, a.Branch, a.Pin, o.Head, l.o.Open)
	return o, err
}

// fork looks at the branch of a table. Without a ref there is none, whatever lies
// in its tree.
func (l *looker) fork(ctx context.Context, folder, branch string, o *txn.Observation) (there bool, err error) {
	list, err := refs.List(ctx, l.store, folder)
	if err != nil {
		return false, fmt.Errorf("listing the branches of %s: %w", folder, err)
	}
	for _, b := range list.Branches {
		if strings.HasPrefix(b.Name, branch+"/") {
			o.PathChild = b.Name
		}
		there = there || b.Name == branch
	}
	if o.Missing = !there; o.Missing {
		return false, nil
	}
	ref, err := refs.ReadBranch(ctx, l.store, folder, branch)
	if errors.Is(err, blob.ErrNotExist) {
		o.Missing = true
		return false, nil
	}
	if err != nil {
		return false, err
	}
	o.ForkedAt = ref.ParentVersion
	for _, s := range ref.Identifier {
		o.ForkID = append(o.ForkID, txn.Fork{Version: s.Version, UUID: s.ID})
	}
	return true, nil
}

// removes lists what goes beside the record.
func (l *looker) removes(ctx context.Context, r *record, staged []string) error {
	for _, t := range r.Verdict.Tables {
		folder, _ := manifest.Location(t.Alias, manifest.Identity(t.Table))
		switch t.Do {
		case txn.DropFork:
			keys, err := refs.BranchObjects(ctx, l.store, folder, t.Branch)
			if err != nil {
				return err
			}
			r.forks = append(r.forks, keys)
		case txn.DropDataset:
			keys, err := lance.DatasetObjects(ctx, l.store, folder)
			if err != nil {
				return err
			}
			r.datasets = append(r.datasets, keys)
		}
	}
	if r.Verdict.Unstage {
		r.staged = staged
	}
	r.Removes = slices.Concat(slices.Concat(r.forks...), slices.Concat(r.datasets...), r.staged)
	return nil
}
