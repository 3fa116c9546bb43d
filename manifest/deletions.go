package manifest

import (
	"context"
	"fmt"
	"iter"

	"golang.org/x/sync/errgroup"

	"github.com/omnideck/omnideck/lance/deletion"
)

// readSets reads the deletion files of fragments side by side. An unreadable
// one has an error in its place.
func (r *reading) readSets(ctx context.Context, fragments []uint64) ([]*deletion.Set, []error) {
	sets, errs := make([]*deletion.Set, len(fragments)), make([]error, len(fragments))
	var g errgroup.Group
	g.SetLimit(r.head.opened.Lance.Parallelism)
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
	for at, spot := range r.rows.of(fragment) {
		gone := set.Contains(spot.offset)
		if told && gone != r.rows.deleted(at) {
			differ++
		}
		r.rows.mark(at, gone)
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
	for at := range r.rows.of(fragment) {
		row := r.rows.row(at)
		gone := r.rows.twin[at.list].has(int(at.row)) && r.rows.superseded(at, r.rows.groups[row.ObjectID])
		r.rows.mark(at, gone)
		if gone {
			continue
		}
		d := doubt{version: row.Version.V, text: text}
		d.id, d.tables = row.identity()
		d.lineage = row.Kind == KindHead
		r.doubts = append(r.doubts, d)
	}
}

// of are the rows of a fragment, with where they lie.
func (g *gathered) of(fragment uint64) iter.Seq2[rowRef, spot] {
	return func(yield func(rowRef, spot) bool) {
		for l := range lists {
			for i := range g.len(l) {
				at := rowRef{l, int32(i)}
				if s := g.spot(at); s.fragment == fragment && !yield(at, s) {
					return
				}
			}
		}
	}
}
