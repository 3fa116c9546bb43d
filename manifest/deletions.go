package manifest

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/omnideck/omnideck/lance/deletion"
)

// readSets reads the deletion files of fragments side by side. An unreadable
// one has an error in its place.
func (r *reading) readSets(ctx context.Context, fragments []uint64) ([]*deletion.Set, []error) {
	sets, errs := make([]*deletion.Set, len(fragments)), make([]error, len(fragments))
	var g errgroup.Group
	g.SetLimit(r.head.parallel)
	for i, id := range fragments {
		g.Go(func() error {
			sets[i], errs[i] = r.head.Snapshot.Deletions(ctx, id)
			return nil
		})
	}
	_ = g.Wait() // errors are in errs
	return sets, errs
}

// apply marks the rows of a fragment by its deletion file. told says that the
// rows had already told which are deleted: a difference is then a problem.
func (r *reading) apply(fragment uint64, set *deletion.Set, told bool) {
	differ := 0
	for i := range r.all {
		if row := &r.all[i]; row.Fragment == fragment {
			gone := set.Contains(row.Offset)
			if told && gone != row.Deleted {
				differ++
			}
			row.Deleted = gone
		}
	}
	if differ > 0 {
		r.problems = append(r.problems, Problem{
			Rule: RuleDeletion, Row: RowRef{Fragment: fragment},
			Found:    fmt.Sprintf("%d rows of fragment %d whose deletion the deletion file and the newer rows tell differently", differ, fragment),
			Expected: "superseded rows, and no others, deleted",
		})
	}
	f := r.fragment(fragment)
	if f != nil && f.Deletion.Rows != 0 && uint64(set.Len()) != f.Deletion.Rows {
		r.problems = append(r.problems, Problem{
			Rule: RuleDeletion, Row: RowRef{Fragment: fragment},
			Found:    fmt.Sprintf("a deletion file of %d rows for fragment %d", set.Len(), fragment),
			Expected: fmt.Sprintf("%d, as the manifest counts", f.Deletion.Rows),
		})
	}
}

// undecided notes a fragment with a deletion file that cannot be read: rows
// whose place a newer row took are deleted, the others may be.
func (r *reading) undecided(fragment uint64, err error) {
	r.problems = append(r.problems, Problem{
		Rule: RuleDeletion, Refuses: true, Row: RowRef{Fragment: fragment},
		Found: fmt.Sprintf("the deletion file of fragment %d cannot be read: %v", fragment, err), Expected: "the rows that are deleted",
	})
	text := fmt.Sprintf("which rows of fragment %d of __manifest are deleted is not known", fragment)
	newest := map[string]written{}
	for i := range r.all {
		w := written{r.all[i].Updated, r.all[i].Fragment}
		if old, ok := newest[r.all[i].ObjectID]; !ok || old.before(w) {
			newest[r.all[i].ObjectID] = w
		}
	}
	for i := range r.all {
		row := &r.all[i]
		if row.Fragment != fragment {
			continue
		}
		row.Deleted = written{row.Updated, row.Fragment}.before(newest[row.ObjectID])
		if row.Deleted {
			continue
		}
		d := doubt{version: row.Version.V, text: text}
		d.id, d.tables = row.identity()
		d.lineage = row.Kind == KindHead
		r.doubts = append(r.doubts, d)
	}
}
