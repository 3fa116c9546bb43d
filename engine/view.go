package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/refs"
	"github.com/omnideck/omnideck/manifest"
)

// mainName is the branch that every graph has.
const mainName = manifest.Main

// manifestTable is how `__manifest` is asked for where a table is named.
const manifestTable = manifest.Folder

// nameOf spells a branch for people: "" is main.
func nameOf(branch string) string {
	if branch == "" {
		return mainName
	}
	return branch
}

// bare is the branch as rows spell it: main is "".
func bare(branch string) string {
	if branch == mainName {
		return ""
	}
	return branch
}

// open folds one version of `__manifest` (0 = the newest), once per operation.
func (o *operation) open(ctx context.Context, branch string, version uint64) (*manifest.View, error) {
	key := viewKey{bare(branch), version}
	o.mu.Lock()
	v := o.views[key]
	if v == nil {
		v = &viewOnce{}
		o.views[key] = v
	}
	ref := o.refs[key.branch]
	o.mu.Unlock()
	v.once.Do(func() {
		view, err := o.openManifest(ctx, manifest.Options{Branch: key.branch, Version: version, Ref: ref, Lance: o.lance()})
		v.view, v.err = view, o.explain(ctx, err, nameOf(key.branch), version)
	})
	if version == 0 && v.view != nil {
		o.keep(v.view)
		o.sawView(v.view)
	}
	return v.view, v.err
}

// keep makes the newest view answer, too, for the number that it turned out to
// have.
func (o *operation) keep(v *manifest.View) {
	key := viewKey{v.Branch, v.Version}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.views[key] == nil {
		o.views[key] = known(v)
	}
}

// known is a view that was opened.
func known(v *manifest.View) *viewOnce {
	out := &viewOnce{view: v}
	out.once.Do(func() {})
	return out
}

// at opens the state that At names and notes its head for the ledger.
func (o *operation) at(ctx context.Context, at At) (*manifest.View, error) {
	view, err := o.atView(ctx, at)
	if err != nil {
		return nil, err
	}
	if at.Commit != "" {
		o.commit = at.Commit
	} else {
		o.commit, _ = view.State.Head(view.Branch)
	}
	isReady(ctx)
	return view, nil
}

func (o *operation) atView(ctx context.Context, at At) (*manifest.View, error) {
	if at.Commit == "" {
		return o.open(ctx, at.Branch, at.Version)
	}
	c := manifest.Commit{ID: at.Commit, Branch: bare(at.Branch), ManifestVersion: at.Version}
	if at.Version == 0 {
		found, err := o.findCommit(ctx, at.Commit, at.Branch)
		if err != nil {
			return nil, err
		}
		c = found
	}
	view, err := o.open(ctx, c.Branch, c.ManifestVersion)
	if err != nil {
		return nil, err
	}
	if head := view.Heads[nameOf(c.Branch)]; head != c.ID {
		return nil, &manifest.HeadMismatchError{Commit: c, Found: head}
	}
	return view, nil
}

// explain puts what went wrong while opening `__manifest` into the words of
// this package.
func (o *operation) explain(ctx context.Context, err error, branch string, version uint64) error {
	var (
		damaged *lance.DamagedManifestError
		nobody  *manifest.BranchNotFoundError
		stamp   *manifest.StampError
		absent  *lance.NotFoundError
	)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.As(err, &damaged):
		return o.damaged(ctx, damaged, branch)
	case errors.As(err, &nobody):
		return o.noBranch(ctx, nobody)
	case errors.As(err, &stamp):
		return &UnsupportedError{Object: manifest.Folder, What: "internal schema " + stamp.Stamp.Raw, Hint: stamp.Stamp.Finding(), Err: err}
	case errors.Is(err, format.ErrUnsupported):
		return &UnsupportedError{Object: manifest.Folder, What: "what its newest version demands", Hint: err.Error(), Err: err}
	case errors.As(err, &absent) && version > 0:
		return o.noVersion(ctx, err, manifest.Folder, branch, version)
	case errors.As(err, &absent):
		return o.noGraph(ctx, err)
	}
	return err
}

// damaged says what the newest readable version behind a damaged one holds.
func (o *operation) damaged(ctx context.Context, d *lance.DamagedManifestError, branch string) error {
	out := &DamagedError{
		Object: d.Key, Size: d.Size, Readable: d.NewestReadable, Err: d.Err,
		Hint: "nothing older is shown in its place unasked; set the damaged object aside or restore it",
	}
	if d.NewestReadable == 0 {
		return out
	}
	if view, err := manifest.Open(ctx, o.store, manifest.Options{Branch: bare(branch), Version: d.NewestReadable, Lance: o.lance()}); err == nil {
		rows := entityCount(view)
		out.Rows = &rows
	}
	return out
}

// entityCount is the sum of the recorded counts.
func entityCount(v *manifest.View) uint64 {
	var n uint64
	for _, t := range v.Tables {
		n += t.Rows
	}
	return n
}

func (o *operation) noBranch(ctx context.Context, e *manifest.BranchNotFoundError) error {
	out := &NotFoundError{What: "branch", Name: e.Branch}
	if e.Tree {
		out.Where = "(a tree of that name is there, left by a killed branch create or delete; the ref alone makes a branch)"
	}
	if l, err := branches.Names(ctx, o.store); err == nil {
		out.Suggestions = Suggest(e.Branch, l.Names)
	}
	return out
}

// noVersion tells a version that was cleaned away from one that never was.
func (o *operation) noVersion(ctx context.Context, err error, table, branch string, asked uint64) error {
	newest, listErr := o.newest(ctx, table, branch)
	switch {
	case listErr != nil:
		return errors.Join(err, listErr)
	case newest == 0 && table == manifest.Folder:
		return o.noGraph(ctx, err)
	case asked < newest:
		return &ReclaimedError{Table: table, Branch: branch, Version: asked, Err: err}
	}
	return &NotFoundError{What: "version", Name: fmt.Sprint(asked), Where: fmt.Sprintf("of %s on branch %s, whose newest is %d", table, branch, newest)}
}

// newest is the newest version of a dataset by its names alone.
func (o *operation) newest(ctx context.Context, root, branch string) (uint64, error) {
	chain, err := lance.Versions(ctx, o.store, root, lance.ListOptions{Branch: bare(branch), Limit: 1, PageSize: 1})
	if err != nil || len(chain.Versions) == 0 {
		return 0, err
	}
	return chain.Versions[0].Version, nil
}

// noGraph says what stands at an address that has no `__manifest`.
func (o *operation) noGraph(ctx context.Context, cause error) error {
	out := &NotAGraphError{URI: o.uri}
	var names []string
	for e, err := range o.store.List(ctx, blob.ListOptions{}) {
		if err != nil {
			return errors.Join(cause, err)
		}
		names = append(names, e.Key)
		if len(names) == blob.DefaultPageSize {
			break
		}
	}
	switch {
	case slices.Contains(names, "_versions"):
		out.Kind, out.Hint = "lance", "look at it with `omnideck lance info`"
	case slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "_schema") || n == "__init_claim.json" }):
		out.Hint = "schema files or an init claim are there: an init was killed before its last step, and may be made again with --force"
	case len(names) == 0:
		out.Hint = "nothing is there at all: is the address right?"
	}
	return out
}

// findCommit finds a commit by its id: in the history of main, then of every
// other branch, whose manifests are read side by side. hint is a branch that is
// tried first.
func (o *operation) findCommit(ctx context.Context, id, hint string) (manifest.Commit, error) {
	first, err := o.open(ctx, hint, 0)
	if err != nil {
		return manifest.Commit{}, err
	}
	if c, ok := first.Commit(id); ok {
		return c, nil
	}
	all, err := o.allViews(ctx)
	if err != nil {
		return manifest.Commit{}, err
	}
	var lists []*manifest.Commits
	for _, b := range all {
		if b.view != nil {
			lists = append(lists, b.view.Commits)
		}
	}
	dag := branches.NewGraph(lists...)
	if c, ok := dag.Commit(id); ok {
		return c, nil
	}
	out := &NotFoundError{What: "commit", Name: id, Where: fmt.Sprintf("on any of %d branches", len(all))}
	var alike []string
	if len(id) >= minCommitText {
		for n := range dag.Len() {
			list, row := dag.In(n)
			if other := list.ID(row); fits(other, id) {
				alike = append(alike, other)
			}
		}
	}
	slices.Sort(alike)
	switch len(alike) {
	case 0:
		return manifest.Commit{}, out
	case 1:
		c, _ := dag.Commit(alike[0])
		return c, nil
	}
	return manifest.Commit{}, &UsageError{What: id, Why: fmt.Sprintf("%d commits begin or end like that, the first are %s", len(alike), strings.Join(alike[:min(len(alike), maxSuggestions)], ", "))}
}

// fits reports whether text is a beginning or an end of a commit id. Ids are
// upper case; text need not be.
func fits(id, text string) bool {
	text = strings.ToUpper(text)
	return len(text) >= minCommitText && (strings.HasPrefix(id, text) || strings.HasSuffix(id, text))
}

// minCommitText is the least part of a commit id that names one.
const minCommitText = 4

// branchView is a branch with its newest state, or why it cannot be read.
type branchView struct {
	branches.Branch
	view *manifest.View
	err  error
}

// allViews opens the newest state of every branch side by side, main first,
// once per operation. A branch that cannot be read is among them, with its
// error.
func (o *operation) allViews(ctx context.Context) ([]branchView, error) {
	o.allOnce.Do(func() { o.all, o.allErr = o.readAll(ctx) })
	return o.all, o.allErr
}

func (o *operation) readAll(ctx context.Context) ([]branchView, error) {
	defer o.begin(func() { _, _ = o.open(ctx, mainName, 0) })() // which needs no ref; asked again below, for its error
	listing, listed, err := branches.List(ctx, o.store)
	if err != nil {
		return nil, err
	}
	o.listing = listing
	var out []branchView
	for _, b := range listed {
		if slices.Contains(listing.Names, b.Name) {
			out = append(out, branchView{Branch: b})
		}
	}
	slices.SortStableFunc(out, func(a, b branchView) int {
		return boolOrder(a.Name == mainName, b.Name == mainName)
	})
	o.mu.Lock()
	o.refs = map[string]*refs.Branch{}
	for _, b := range out {
		o.refs[bare(b.Name)] = b.Ref
	}
	o.mu.Unlock()
	_ = o.each(len(out), func(i int) error {
		out[i].view, out[i].err = o.open(ctx, out[i].Name, 0)
		return nil
	})
	return out, ctx.Err()
}

// boolOrder sorts true before false.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
