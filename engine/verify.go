package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/omnideck/omnideck/blob/cache"
	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/schema"
)

// Verify checks what the graph claims against what is there: on every branch
// (or one) the rows of `__manifest` and their deletion files, the schema
// contract, whose text is compiled, refs, the lineage, and every published table
// version: that it opens, that its files are there and as long as recorded, its
// counts, deletion bounds and row ids. Deep also reads rows, and asks every rule
// of the schema of them: values, uniqueness, ids, ends of edges, cardinality;
// and whether a scan confirms the counts. It remembers eight bytes for each
// entity that edges may end at, of every published version, and while a table is
// read as many for each of its rows and groups of unique columns. A rule is told once of a table,
// with the first entities that break it; where rows cannot be read,
// rules-incomplete says what was not asked. Deep compares the descriptors
// of blobs with the lengths of the objects that they point into; their bytes are
// not read: Lance keeps no check sums, so that a flip inside a payload, or one
// that makes another legal value, cannot be seen.
//
// What a killed operation leaves and does no harm is a Problem of severity info:
// transactions without a version, folders of branches without a ref. It leaves a
// graph clean, but what is left of a lost version or ref may look the same. A
// folder of a branch of `__manifest` with more than one version, and a table
// above its published version that no recovery record explains, are warnings,
// with which a graph is not clean. A recovery record is told as info while it may
// be that of a writer at work, and as a warning from then on.
//
// What is found is a Problem; errors are left for a store that does not answer.
func (g *Graph) Verify(ctx context.Context, opts VerifyOptions) (*Verification, error) {
	return do(ctx, g, "verify", func(ctx context.Context, o *operation) (*Verification, error) {
		o.store = cache.New(g.store, cache.Options{}) // what was read before is not what is there now
		v := &verifier{operation: o, opts: opts, out: Verification{Problems: []Problem{}}}
		views, err := v.branches(ctx)
		if err != nil {
			return nil, err
		}
		c, err := v.contract(ctx, views)
		if err != nil {
			return nil, err
		}
		if err := together(
			func() error { return v.tables(ctx, views, c) },
			func() error { return v.heads(ctx, views) },
		); err != nil {
			return nil, err
		}
		slices.SortFunc(v.out.Problems, func(a, b Problem) int {
			return cmp.Or(strings.Compare(a.Branch, b.Branch), strings.Compare(a.Table, b.Table), cmp.Compare(a.Version, b.Version), strings.Compare(a.ID, b.ID), strings.Compare(a.Key, b.Key), strings.Compare(a.Property, b.Property), strings.Compare(a.Found, b.Found))
		})
		v.out.Problems = slices.CompactFunc(v.out.Problems, func(a, b Problem) bool { return reflect.DeepEqual(a, b) })
		v.out.Clean = !slices.ContainsFunc(v.out.Problems, func(p Problem) bool { return p.Severity != SeverityInfo })
		return &v.out, ctx.Err()
	})
}

// verifier collects problems; its parts run side by side.
type verifier struct {
	*operation
	opts VerifyOptions

	names     []string // of all branches
	locked    bool     // by a schema apply
	folder    *recoveryFolder
	published map[string]bool // folders of branches of tables that are published, as treePath makes them

	mu  sync.Mutex
	out Verification
}

// add notes a problem, of severity error when it has none.
func (v *verifier) add(p Problem) {
	p.Severity = cmp.Or(p.Severity, SeverityError)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.out.Problems = append(v.out.Problems, p)
}

func (v *verifier) checked(f func(c *VerifyChecked)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f(&v.out.Checked)
}

// branches verifies refs and `__manifest` of every branch asked for and
// returns the states that can be read.
func (v *verifier) branches(ctx context.Context) ([]*manifest.View, error) {
	if err := v.requireGraph(ctx); err != nil {
		return nil, err
	}
	listing, err := branches.Names(ctx, v.store)
	if err != nil {
		return nil, err
	}
	names := listing.Names
	if v.opts.Branch != "" {
		if !slices.Contains(names, nameOf(v.opts.Branch)) {
			return nil, &NotFoundError{What: "branch", Name: v.opts.Branch, Suggestions: Suggest(v.opts.Branch, names)}
		}
		names = []string{nameOf(v.opts.Branch)}
	}
	views := make([]*manifest.View, len(names))
	err = v.each(len(names), func(i int) (err error) {
		views[i], err = v.branch(ctx, names[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	views = slices.DeleteFunc(views, func(x *manifest.View) bool { return x == nil })
	v.names, v.locked = listing.Names, listing.Locked
	v.lineage(views)
	return views, nil
}

// branch reads one branch's `__manifest` with all its deletion files.
func (v *verifier) branch(ctx context.Context, name string) (*manifest.View, error) {
	view, err := manifest.Open(ctx, v.store, manifest.Options{Branch: bare(name), ReadDeletions: true, Lance: v.lance()})
	if err != nil {
		err = v.explain(ctx, err, name, 0)
		if !sayable(err) {
			return nil, err
		}
		v.add(Problem{ID: "manifest-unreadable", Table: manifestTable, Branch: name, Key: manifest.Folder, Found: err.Error(), Expected: "a version that can be read"})
		return nil, nil
	}
	v.sawView(view)
	if !view.Stamp.OK() {
		v.add(Problem{ID: "stamp", Table: manifestTable, Branch: name, Version: view.Version, Key: view.Snapshot.Object().Key, Found: stampFact(view.Stamp), Expected: fmt.Sprintf("stamp %d", manifest.CurrentStamp)})
	}
	for _, p := range view.Problems {
		key := p.Row.ObjectID
		if key == "" {
			key = fmt.Sprintf("fragment %d", p.Row.Fragment)
		}
		v.add(Problem{ID: "manifest-" + string(p.Rule), Table: manifestTable, Branch: name, Version: view.Version, Key: key, Found: p.Found, Expected: p.Expected})
	}
	return view, v.snapshot(ctx, view.Snapshot, manifestTable, name, name == mainName || v.opts.Branch != "")
}

// lineage checks that parents exist and come before their children. A parent
// may have lived on a branch that was deleted since; only a parent on the
// commit's own line must be there.
func (v *verifier) lineage(views []*manifest.View) {
	var lists []*manifest.Commits
	for _, view := range views {
		lists = append(lists, view.Commits)
	}
	dag := branches.NewGraph(lists...)
	v.checked(func(c *VerifyChecked) { c.Commits += dag.Len() })
	for _, id := range dag.Conflicts() {
		v.add(Problem{ID: "commit-conflict", Table: manifestTable, Key: id, Found: "two commits of that id that differ", Expected: "one"})
	}
	for n, c := range dag.All() {
		problem := func(id, found, expected string) {
			v.add(Problem{ID: id, Table: manifestTable, Branch: nameOf(c.Branch), Version: c.ManifestVersion, Key: c.ID, Found: found, Expected: expected})
		}
		if c.Parent == "" {
			continue
		}
		p := dag.Parent(n, manifest.First)
		if p < 0 {
			problem("lineage-parent", "no commit "+c.Parent, "the parent that it names")
		} else if parent := dag.At(p); parent.ManifestVersion >= c.ManifestVersion {
			problem("lineage-order", fmt.Sprintf("its parent %s was made at version %d", parent.ID, parent.ManifestVersion), "a lower version than its own")
		}
	}
}

// contract checks the schema files against main.
func (v *verifier) contract(ctx context.Context, views []*manifest.View) (*schema.Contract, error) {
	files := map[string]schema.File{}
	var root *rootListing
	err := together(
		func() error { v.schemaFiles(ctx, schema.Keys, files); return nil },
		func() (err error) { root, err = v.listRoot(ctx); return err },
		func() (err error) { v.folder, err = v.sidecars(ctx, recovery.MaxRecords); return err },
	)
	if err != nil {
		return nil, err
	}
	v.pending(views)
	v.lock(root.staged())
	v.schemaFiles(ctx, root.staged(), files)
	for _, key := range slices.Sorted(maps.Keys(files)) {
		if err := files[key].Err; err != nil && !isGone(err) {
			return nil, err
		}
	}
	var trunk *manifest.View
	for _, view := range views {
		if view.Branch == "" {
			trunk = view
		}
	}
	c := schema.Load(files, published(trunk, v.folder.sidecars))
	for _, p := range c.Problems {
		// What a schema apply left half done is a finding of `info`, and its
		// recovery's to settle.
		if p.Refuses && !applying(v.folder) {
			v.add(Problem{ID: "schema-" + string(p.Rule), Branch: mainName, Key: p.Key, Found: p.Text, Expected: "a contract that holds together and fits what is published"})
		}
	}
	return c, nil
}

// dataProblem turns what went wrong while opening or reading a table into a
// problem; other errors are left.
func dataProblem(err error, e manifest.Entry, branch string) (Problem, bool) {
	var (
		reclaimed *ReclaimedError
		damaged   *DamagedError
		lost      *RowsLostError
	)
	p := Problem{Table: e.Alias, Branch: branch, Version: e.Version, Key: treePath(e.Location, e.Owner), Found: err.Error()}
	switch {
	case errors.As(err, &reclaimed):
		p.ID, p.Expected, p.RowsAffected = "published-missing", "the version that the branch publishes", e.Rows
	case errors.As(err, &lost):
		p.ID, p.Key, p.Expected, p.RowsAffected = "rows-unreadable", lost.Key, "every row of the fragment", lost.Rows
	case errors.As(err, &damaged):
		p.ID, p.Key, p.Expected, p.RowsAffected = "published-unreadable", damaged.Object, "the version that the branch publishes", e.Rows
	default:
		p.ID, p.Expected = "published-unreadable", "a table that can be read"
		return p, isDamage(err)
	}
	return p, true
}
