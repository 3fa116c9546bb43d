package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery"
)

// holdings are the reasons for which versions of one chain must stay.
type holdings map[uint64][]Holder

func (h holdings) add(version uint64, kind, name string) {
	x := Holder{kind, name}
	if version > 0 && !slices.Contains(h[version], x) {
		h[version] = append(h[version], x)
	}
}

// holderOrder is the order in which reasons are told.
var holderOrder = []string{"head", "published", "branch", "lazy_branch", "tag", "merge_base", "recovery"}

func (h holdings) of(version uint64) []Holder {
	out := slices.Clone(h[version])
	slices.SortFunc(out, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(slices.Index(holderOrder, a.Kind), slices.Index(holderOrder, b.Kind)), strings.Compare(a.Name, b.Name))
	})
	if out == nil {
		out = []Holder{}
	}
	return out
}

// holdings finds what holds the versions of a chain: branches that are
// published from it or were forked from it, tags, merge bases of every branch
// with main, and recovery records. A branch, tag, ref or record that cannot be read,
// or not whole, may hold any of them: that is said by unknown, not passed over in
// silence.
func (o *operation) holdings(ctx context.Context, d chainOf) (held holdings, unknown *IncompleteError, err error) {
	var (
		all    []branchView
		forks  []fork
		tags   []tag
		unread []string
		folder *recoveryFolder
	)
	held = holdings{}
	err = o.together(
		func() (err error) { all, err = o.allViews(ctx); return err },
		func() (err error) { forks, tags, unread, err = o.datasetRefs(ctx, d.location); return err },
		func() (err error) { folder, err = o.sidecars(ctx, recovery.MaxRecords); return err },
	)
	if err == nil {
		err = ctx.Err() // then what could not be read says nothing of the graph
	}
	if err != nil {
		return nil, nil, err
	}
	for _, p := range folder.sidecars {
		if p.untold() {
			unread = append(unread, fmt.Sprintf("the recovery record %s cannot be read and may need any of them: %s", p.Key, p.Problem))
		}
	}
	all, unknown = readable(all, d.table, unread)
	for _, f := range forks {
		if f.parent == d.owner {
			held.add(f.version, f.kind(all), f.name)
		}
	}
	for _, t := range tags {
		if t.branch == d.owner {
			held.add(t.version, "tag", t.name)
		}
	}
	holdPublished(held, d, all)
	holdMergeBases(held, d, all)
	for _, p := range folder.sidecars {
		for _, t := range p.Tables {
			if t.Table == d.table && t.Branch == d.owner {
				held.add(t.Expected, "recovery", p.OperationID)
				held.add(max(t.Planned, t.Confirmed), "recovery", p.OperationID)
			}
		}
	}
	return held, unknown, nil
}

// readable leaves out the branches that cannot be read, and says of which it is
// unknown what they hold, beside the refs that were missing; nil when all were
// read whole.
func readable(all []branchView, table string, missing []string) (whole []branchView, unknown *IncompleteError) {
	for _, b := range all {
		if b.err != nil {
			missing = append(missing, fmt.Sprintf("branch %s cannot be read and may need any of them: %v", b.Name, b.err))
			continue
		}
		whole = append(whole, b)
		if e, ok := incomplete("", b.view).(*IncompleteError); ok {
			missing = append(missing, fmt.Sprintf("branch %s cannot be read whole and may need any of them: %s", b.Name, e.Problems[0]))
		}
	}
	if len(missing) == 0 {
		return whole, nil
	}
	return whole, &IncompleteError{What: "list of what holds versions of " + table, Problems: missing}
}

// ahead begins to read the states of all branches, which holdings will need;
// the function returned waits for the end.
func (o *operation) ahead(ctx context.Context) func() {
	return o.begin(func() { _, _ = o.allViews(ctx) }) // holdings asks again for the error
}

// holdPublished adds the versions that graph branches publish from the chain.
func holdPublished(held holdings, d chainOf, all []branchView) {
	if d.location == manifest.Folder {
		return
	}
	for _, b := range all {
		e, ok := b.view.ByIdentity(d.identity)
		if !ok || e.Owner != d.owner {
			continue
		}
		_, own := b.view.State.Head(b.view.Branch)
		switch {
		case bare(b.Name) == d.owner:
			held.add(e.Version, "published", b.Name)
		case own:
			held.add(e.Version, "branch", b.Name)
		default:
			held.add(e.Version, "lazy_branch", b.Name)
		}
	}
}

// holdMergeBases adds what a merge of any branch with main would read as the
// base. What the base published is told by the branch that it was made on, whose
// version numbers are its own; a branch that is gone left its rows with those
// that were forked from it.
func holdMergeBases(held holdings, d chainOf, all []branchView) {
	var lists []*manifest.Commits
	views := map[string]*manifest.View{}
	for _, b := range all {
		lists = append(lists, b.view.Commits)
		views[b.view.Branch] = b.view
	}
	trunk := views[""]
	if trunk == nil {
		return
	}
	dag := branches.NewGraph(lists...)
	head, _ := trunk.State.Head("")
	for _, b := range all {
		if b.view == trunk {
			continue
		}
		other, _ := b.view.State.Head(b.Name)
		base, ok := dag.MergeBase(head, other)
		if !ok {
			continue
		}
		name := b.Name + " and main"
		if d.location == manifest.Folder {
			if base.Branch == d.owner {
				held.add(base.ManifestVersion, "merge_base", name)
			}
			continue
		}
		made := views[base.Branch]
		if made == nil {
			made = b.view
		}
		if version, owner := publishedAt(made, d.identity, base.ManifestVersion); owner == d.owner {
			held.add(version, "merge_base", name)
		}
	}
}

// publishedAt is the version of a table that a branch published at an older
// manifest version, told from the rows that its publishes left: no request.
func publishedAt(v *manifest.View, id manifest.Identity, at uint64) (version uint64, owner string) {
	updated := uint64(0)
	for r := range v.State.Versions.Of(id) {
		if r.Updated > at {
			continue
		}
		if r.Version > version || r.Version == version && r.Updated >= updated {
			version, owner, updated = r.Version, r.Owner, r.Updated
		}
	}
	return version, owner
}

// Holds says whether a version of a table (or of `__manifest`) must stay, and
// why. The version is looked for on main's chain of the dataset, then on those
// of its branches. An *IncompleteError comes beside what could be read of it:
// then nothing is called deletable.
func (g *Graph) Holds(ctx context.Context, table string, version uint64) (*Holds, error) {
	return do(ctx, g, "holds", func(ctx context.Context, o *operation) (*Holds, error) {
		defer o.ahead(ctx)()
		d, err := o.findChain(ctx, table, mainName)
		if err != nil {
			return nil, err
		}
		d.owner = ""
		on, err := o.chainWith(ctx, d, version)
		if err != nil {
			return nil, err
		}
		d.owner = on
		held, unknown, err := o.withHolders(ctx, d, true, func() (uint64, error) {
			chain, err := o.chain(ctx, d)
			if err != nil {
				return 0, err
			}
			return chain.Versions[0].Version, nil
		})
		if err != nil {
			return nil, err
		}
		out := &Holds{Table: d.table, Version: version, HeldBy: held.of(version)}
		where := "version " + itoa(version) + " of " + datasetName(d.table, d.owner)
		if len(out.HeldBy) > 0 {
			var why []string
			for _, h := range out.HeldBy {
				why = append(why, strings.TrimSpace(strings.ReplaceAll(h.Kind, "_", " ")+" "+h.Name))
			}
			out.Reason = where + " is held by " + strings.Join(why, ", ")
			return out, orNil(unknown)
		}
		if unknown != nil {
			out.Reason = "it is unknown what holds " + where + ": nothing that could be read does"
			return out, unknown
		}
		out.Deletable = true
		out.Reason = where + " is held by nothing: only time travel to commits that published it needs it"
		return out, nil
	})
}

// chainWith finds the branch of a dataset that has a version.
func (o *operation) chainWith(ctx context.Context, d chainOf, version uint64) (owner string, err error) {
	forks, _, unread, err := o.datasetRefs(ctx, d.location)
	if err != nil {
		return "", err
	}
	owners := []string{""}
	for _, f := range forks {
		owners = append(owners, f.name)
	}
	found := make([]bool, len(owners))
	err = o.each(len(owners), func(i int) error {
		var err error
		found[i], err = o.hasVersion(ctx, treePath(d.location, owners[i]), version)
		return err
	})
	if err != nil {
		return "", err
	}
	if i := slices.Index(found, true); i >= 0 {
		return owners[i], nil
	}
	if len(unread) > 0 {
		return "", &IncompleteError{What: "search for version " + itoa(version) + " of " + d.table, Problems: unread}
	}
	return "", &NotFoundError{What: "version", Name: itoa(version), Where: "of " + d.table + " on " + anyOf(owners) + "; `versions` lists what there is"}
}

// anyOf names the branches of a dataset, the first of which is main, when they
// are few.
func anyOf(owners []string) string {
	switch len(owners) {
	case 1:
		return mainName
	case 2:
		return mainName + " or its branch " + owners[1]
	}
	return mainName + " or any of its " + itoa(uint64(len(owners)-1)) + " branches"
}
