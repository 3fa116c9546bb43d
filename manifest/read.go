package manifest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/rowid"
)

// reading collects what one version of `__manifest` says.
type reading struct {
	head     *Head
	rows     gathered
	problems []Problem
	doubts   []doubt
	lost     []*lance.FragmentError
	filed    []uint64 // fragments whose rows do not tell which of them are deleted
}

// batchRows is how many rows are decoded into Rows at once.
const batchRows = 2048

// scan gives physical rows, deleted ones included, one by one. Their texts end with
// the call of take.
func (h *Head) scan(ctx context.Context, o lance.ScanOptions, take func(*Row)) error {
	o.WithRowAddress, o.WithDeleted, o.BatchRows, o.Lean = true, true, batchRows, true
	var buffer []Row
	for batch, err := range h.Snapshot.Scan(ctx, o) {
		if err != nil {
			return err
		}
		buffer, err = decode(buffer, batch)
		for i := range buffer {
			take(&buffer[i])
		}
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// read takes every physical row, deleted ones included.
func (r *reading) read(ctx context.Context) error {
	names, err := wanted(r.head.Snapshot.Schema())
	if err != nil {
		return err
	}
	err = r.head.scan(ctx, lance.ScanOptions{
		Columns: names, WithVersions: true,
		OnDamaged: func(e *lance.FragmentError) bool {
			r.lost = append(r.lost, e)
			return ctx.Err() == nil && damaged(e)
		},
	}, func(row *Row) { r.rows.take(row, strings.Clone) })
	if err != nil {
		return err
	}
	if len(r.lost) > 0 && r.rows.all() == 0 {
		return errors.Join(errNoRows, r.lost[0])
	}
	for _, e := range r.lost {
		r.lose(e)
	}
	return nil
}

// lose notes a fragment of which not every row was read.
func (r *reading) lose(e *lance.FragmentError) {
	r.problems = append(r.problems, Problem{
		Rule: RuleFragment, Refuses: true, Row: RowRef{Fragment: e.Fragment},
		Found: e.Error(), Expected: "every row of the fragment",
	})
	d := doubt{tables: true, lineage: true, text: fmt.Sprintf("fragment %d of __manifest cannot be read (%s)", e.Fragment, e.Key)}
	if f := r.fragment(e.Fragment); f != nil && f.LastUpdated.Present && f.LastUpdated.External == nil {
		if versions, err := rowid.DecodeVersions(f.LastUpdated.Inline); err == nil {
			_, d.since = versions.Bounds()
		}
	}
	r.doubts = append(r.doubts, d)
}

func (r *reading) fragment(id uint64) *format.Fragment {
	fs := r.head.Snapshot.Fragments()
	i := slices.IndexFunc(fs, func(f format.Fragment) bool { return f.ID == id })
	if i < 0 {
		return nil
	}
	return &fs[i]
}

// deletions settles which rows are deleted.
func (r *reading) deletions(ctx context.Context) error {
	var counts []deletionCount
	for _, f := range r.head.Snapshot.Fragments() {
		if f.Deletion != nil {
			counts = append(counts, deletionCount{f.ID, f.Deletion.Rows})
		}
	}
	r.rows.group()
	r.filed = r.rows.supersede(counts)
	unread := r.filed
	told := map[uint64]bool{}
	if r.head.opened.ReadDeletions {
		for _, c := range counts {
			told[c.fragment] = !slices.Contains(unread, c.fragment)
		}
		unread = nil
		for _, c := range counts {
			unread = append(unread, c.fragment)
		}
	}
	sets, errs := r.readSets(ctx, unread)
	for i, id := range unread {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errs[i] != nil && !damaged(errs[i]):
			return errs[i]
		case errs[i] != nil:
			r.undecided(id, errs[i])
		default:
			r.apply(id, sets[i], told[id])
		}
	}
	return nil
}

// metadata reads the metadata of published version rows that was not kept when
// the rows were read: of a sound graph there are none.
func (r *reading) metadata(ctx context.Context) error {
	r.rows.decide()
	wanted := map[spot]int32{}
	var fragments []uint64
	for _, row := range r.rows.unkept() {
		at := r.rows.versions.spots.at(int(row))
		wanted[spot{fragment: at.fragment, offset: at.offset}] = row
		fragments = append(fragments, at.fragment)
	}
	if len(wanted) == 0 {
		return nil
	}
	return r.head.scan(ctx, lance.ScanOptions{
		Columns: []string{"metadata"}, Fragments: fragments,
		OnDamaged: func(e *lance.FragmentError) bool { return ctx.Err() == nil && damaged(e) },
	}, func(b *Row) {
		if row, ok := wanted[spot{fragment: b.Fragment, offset: b.Offset}]; ok {
			r.rows.versions.keep(row, b.Metadata.V)
		}
	})
}

// damaged tells what is wrong with the bytes, or gone, from a store that did not
// answer: the latter ends the reading.
func damaged(err error) bool {
	return errors.Is(err, format.ErrCorrupt) || errors.Is(err, format.ErrUnsupported) || errors.Is(err, blob.ErrNotExist)
}

// checkHead compares the lineage with the version and branch that were opened.
// Nothing here makes the Rust engine refuse a graph.
func (v *View) checkHead() {
	if v.LineageDoubt != "" {
		return
	}
	say := func(rule Rule, id, kind, found, expected string) {
		v.Problems = append(v.Problems, Problem{Rule: rule, Row: RowRef{ObjectID: id, Kind: kind}, Found: found, Expected: expected})
	}
	own := ""
	for i := range v.Commits.Len() {
		if at := v.Commits.Version(i); at > v.Version {
			say(RuleLineage, v.Commits.ID(i), KindCommit, fmt.Sprintf("manifest version %d in version %d", at, v.Version), "a version that was there already")
		}
		if own == "" && v.Commits.Branch(i) == v.Branch {
			own = v.Commits.ID(i)
		}
	}
	if head := v.Heads[orMain(v.Branch)]; head != own && (v.Branch == "" || own != "") {
		say(RuleHead, headPrefix+orMain(v.Branch), KindHead, fmt.Sprintf("head %q", head), fmt.Sprintf("%q, the newest commit of the branch", own))
	}
}
