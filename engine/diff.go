package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/manifest"
)

// defaultChanges is the number of changes told when nobody says.
const defaultChanges = 1000

// Bounds of a comparison.
const (
	diffRowsHeld = 1 << 20 // ids of a table held at once
	diffRoom     = 1 << 29 // bytes of memory of tables compared side by side, about
	diffRowBytes = 1 << 8  // of them for an id and what belongs to it
	diffScan     = 1 << 26 // and for a scan at most
	diffLines    = 1 << 20 // bytes of a table's lines held so that they are not read again
	diffAhead    = 4       // batches read of the larger side while the smaller one is
	diffAlike    = 64      // pairs of rows whose blobs are compared together
	diffPart     = 1 << 20 // bytes of a blob that are held while it is compared
	diffBlobs    = 8       // blobs compared side by side
	diffSieve    = 8       // 1/8 of a fragment's rows and more are scanned, fewer are taken
	diffPicked   = 1 << 20 // and not more than these
	diffUnknown  = 1 << 20 // rows of a fragment that does not say
)

// Diff tells which entities differ between two points: commits, branches,
// manifest versions. A is before, B after; both come back with the branch and
// the manifest version that were read.
//
// An entity differs when the line differs that `export` prints of it: a property
// that a schema apply added or took away is a difference. A table is the same
// table under another name. One that was dropped and made again is another one:
// its entities are deleted and inserted, and of an id that both have the
// deletion stands first.
//
// A table that both points publish at the same version costs nothing. Of any
// other both manifests are opened, and rows are read only of fragments that are
// not in both versions; of one that is in both with other deletions, only the
// rows that one version has deleted and the other has not. So a comparison
// costs what was written between the points: after a compaction that is the
// whole table.
//
// Before and After spell a blob as Rows does, "N bytes". Blobs are compared by
// their descriptors: the same place holds the same bytes, another size or URI is
// a difference. Bytes are read only when they alone can tell: where a row was
// written anew, nothing else in it differs, the size is the same, and the
// dataset's own records of rows do not say that it is the row of before.
//
// Memory: ids and hashes of the side with fewer rows to read, and the changes
// told. A million ids of a table are held at once; one with more is read several
// times, and each time a part of its ids is compared. Tables are compared side by
// side as far as about 512 MiB reach. Counts are always whole; changes beyond the
// limit are counted only.
//
// An *IncompleteError comes beside the rest and names tables that cannot be
// compared: they have no count and no changes.
func (g *Graph) Diff(ctx context.Context, a, b At, opts DiffOptions) (*Diff, error) {
	return do(ctx, g, "diff", func(ctx context.Context, o *operation) (*Diff, error) {
		var before, after *manifest.View
		err := o.together(
			func() (err error) { before, err = o.atView(ctx, a); return err },
			func() (err error) { after, err = o.at(ctx, b); return err },
		)
		if err != nil {
			return nil, err
		}
		out := &Diff{A: resolvedAt(before, a), B: resolvedAt(after, b), Counts: []DiffCount{}, Changes: []Change{}, Types: map[string]map[string]string{}}
		pairs, err := pairsOf(before, after, opts.Tables)
		if err != nil {
			return nil, err
		}
		c := o.comparer(changesTold(opts), diffRowsHeld)
		compared := make([]*tableDiff, len(pairs))
		errs := make([]error, len(pairs))
		_ = o.each(len(pairs), func(i int) error {
			compared[i], errs[i] = c.compare(ctx, pairs[i])
			return nil
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		missing := &IncompleteError{What: "comparison"}
		for i, d := range compared {
			if errs[i] != nil {
				missing.Problems = append(missing.Problems, errs[i].Error())
				continue
			}
			out.Counts = append(out.Counts, d.count)
			d.types(func(alias string) map[string]string {
				if out.Types[alias] == nil {
					out.Types[alias] = map[string]string{}
				}
				return out.Types[alias]
			})
			told, err := d.tell(ctx, c.limit-len(out.Changes))
			if err != nil {
				missing.Problems = append(missing.Problems, err.Error())
			}
			out.Changes = append(out.Changes, told...)
			out.Truncated = out.Truncated || uint64(len(told)) < d.changes()
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return out, orNil(missing.with(incomplete("comparison", before), incomplete("comparison", after)))
	})
}

func changesTold(o DiffOptions) int {
	if o.Limit <= 0 {
		return defaultChanges
	}
	return o.Limit
}

// resolvedAt is what was read: an At that opens the same state again.
func resolvedAt(v *manifest.View, at At) At {
	out := At{Branch: nameOf(v.Branch), Version: v.Version}
	if at.Commit != "" {
		out.Commit = v.Heads[nameOf(v.Branch)]
	}
	return out
}

// with adds what else could not be read; nil when nothing is missing at all.
func (e *IncompleteError) with(others ...error) *IncompleteError {
	for _, err := range others {
		if x, ok := err.(*IncompleteError); ok {
			e.Problems = append(e.Problems, x.Problems...)
			e.Doubtful = append(e.Doubtful, x.Doubtful...)
		}
	}
	if len(e.Problems) == 0 {
		return nil
	}
	slices.Sort(e.Problems)
	e.Problems = slices.Compact(e.Problems)
	slices.Sort(e.Doubtful)
	e.Doubtful = slices.Compact(e.Doubtful)
	return e
}

// tablePair is a table at two points; nil where it is not there.
type tablePair struct {
	name string
	a, b *manifest.Entry
}

// pairsOf are the tables that moved between two states, by name. Tables of one
// identity are one pair; two identities of one name are another.
func pairsOf(a, b *manifest.View, tables []string) ([]tablePair, error) {
	want, err := wantedTables(a, b, tables)
	if err != nil {
		return nil, err
	}
	byID := map[manifest.Identity]*manifest.Entry{}
	byName := map[string]*manifest.Entry{}
	for i := range a.Tables {
		e := &a.Tables[i]
		byID[e.Identity] = e
		byName[e.Alias] = e
	}
	var out []tablePair
	add := func(p tablePair) {
		if want == nil || p.a != nil && want[p.a.Alias] || p.b != nil && want[p.b.Alias] {
			out = append(out, p)
		}
	}
	paired := map[*manifest.Entry]bool{}
	var made []*manifest.Entry // tables of b whose identity a does not have
	for i := range b.Tables {
		e := &b.Tables[i]
		old := byID[e.Identity]
		if old == nil {
			made = append(made, e)
			continue
		}
		paired[old] = true
		if !sameVersion(old, e) {
			add(tablePair{e.Alias, old, e})
		}
	}
	for _, e := range made {
		old := byName[e.Alias]
		if old != nil && paired[old] {
			old = nil // renamed, and its name given to a new table
		}
		paired[old] = true
		add(tablePair{e.Alias, old, e})
	}
	for i := range a.Tables {
		if e := &a.Tables[i]; !paired[e] {
			add(tablePair{e.Alias, e, nil})
		}
	}
	slices.SortStableFunc(out, func(x, y tablePair) int { return strings.Compare(x.name, y.name) })
	return out, nil
}

// sameVersion: both states publish the same version of the same dataset.
func sameVersion(a, b *manifest.Entry) bool {
	return a.Identity == b.Identity && a.Location == b.Location && a.Version == b.Version && a.Owner == b.Owner && a.Doubt == "" && b.Doubt == ""
}

// wantedTables are the aliases that names ask for, in either state; nil = all.
func wantedTables(a, b *manifest.View, names []string) (map[string]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	want := map[string]bool{}
	for _, name := range names {
		ea, errA := entryOf(a, name)
		eb, errB := entryOf(b, name)
		if errA != nil && errB != nil {
			return nil, errB
		}
		if errA == nil {
			want[ea.Alias] = true
		}
		if errB == nil {
			want[eb.Alias] = true
		}
	}
	return want, nil
}
