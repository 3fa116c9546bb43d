package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
)

// tableKey names one version of one dataset: several branches may publish it.
type tableKey struct {
	location, owner string
	version         uint64
}

func keyOf(e manifest.Entry) tableKey { return tableKey{e.Location, e.Owner, e.Version} }

// tables verifies each published table version once, and when deep the rules of
// the schema.
func (v *verifier) tables(ctx context.Context, views []*manifest.View, c *schema.Contract) error {
	type job struct {
		entry  manifest.Entry
		branch string
		refs   bool // the first of its dataset: look at its branches and tags too
	}
	var jobs []job
	seen := map[tableKey]int{}
	locations := map[string]bool{}
	v.published = map[string]bool{}
	for _, view := range views {
		for _, e := range view.Tables {
			if e.Owner != "" {
				v.published[treePath(e.Location, e.Owner)] = true
			}
			k := keyOf(e)
			if _, ok := seen[k]; !ok {
				seen[k] = len(jobs)
				jobs = append(jobs, job{e, nameOf(view.Branch), !locations[e.Location]})
				locations[e.Location] = true
			}
		}
	}
	whole := make([]*wholeTable, len(jobs))
	err := v.each(len(jobs), func(i int) error {
		s, err := v.table(ctx, jobs[i].entry, jobs[i].branch, jobs[i].refs)
		if s != nil {
			whole[i] = &wholeTable{entry: jobs[i].entry, branch: jobs[i].branch, snap: s}
		}
		return err
	})
	if err != nil || !v.opts.Deep {
		return err
	}
	return v.rules(ctx, views, c, func(e manifest.Entry) *wholeTable { return whole[seen[keyOf(e)]] }, whole)
}

// table verifies one published table version; nil when it cannot be opened.
func (v *verifier) table(ctx context.Context, e manifest.Entry, branch string, refs bool) (*lance.Snapshot, error) {
	s, err := v.dataset(ctx, e)
	if err != nil {
		if p, ok := dataProblem(err, e, branch); ok {
			v.add(p)
			return nil, ctx.Err()
		}
		return nil, err
	}
	if size := e.Meta.ManifestSize; size != nil && int64(*size) != s.Object().Size {
		v.add(Problem{ID: "manifest-size", Table: e.Alias, Branch: branch, Version: e.Version, Key: s.Object().Key, Found: fmt.Sprintf("%d bytes", s.Object().Size), Expected: fmt.Sprintf("%d bytes, as the graph recorded", *size)})
	}
	if rows, known := s.CountRows(); known && rows != e.Rows {
		v.add(Problem{ID: "count", Table: e.Alias, Branch: branch, Version: e.Version, Key: s.Object().Key, Found: fmt.Sprintf("%d rows by the table's manifest", rows), Expected: fmt.Sprintf("%d rows, as the graph recorded", e.Rows), RowsAffected: difference(rows, e.Rows)})
	}
	v.keyMark(s, e, branch)
	return s, v.snapshot(ctx, s, e.Alias, branch, refs)
}

// keyMark checks that the schema of a table marks id, and nothing else, as its
// key: without the mark Lance lets two writers insert the same id, and the Rust
// engine refuses every keyed write.
func (v *verifier) keyMark(s *lance.Snapshot, e manifest.Entry, branch string) {
	var marked []string
	for _, f := range s.Schema().PrimaryKey() {
		marked = append(marked, f.Name)
	}
	if !slices.Equal(marked, []string{"id"}) {
		v.add(Problem{ID: "key-mark", Table: e.Alias, Branch: branch, Version: e.Version, Key: s.Object().Key,
			Found: fmt.Sprintf("the key that the table's schema marks is %q", marked), Expected: `the mark on "id" alone: without it two writers may insert one id`, RowsAffected: e.Rows})
	}
}

func difference(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// snapshot verifies one version of a dataset by itself, with refs also the
// dataset's chain, branches and tags.
func (v *verifier) snapshot(ctx context.Context, s *lance.Snapshot, table, branch string, refs bool) error {
	r, err := lance.Verify(ctx, s, lance.VerifyOptions{Deep: v.opts.Deep, Refs: refs, Chains: v.opts.Branch == ""})
	if err != nil {
		return err
	}
	v.checked(func(c *VerifyChecked) {
		c.Files += r.Files
		c.Fragments += r.Fragments
		if table != manifestTable {
			c.Rows += r.Rows
		}
		c.Refs += r.Refs
	})
	for _, p := range r.Problems {
		left := p.ID == "branch-leftover" || p.ID == "transaction"
		if p.Severity == "info" && !left || p.ID == "base-path" {
			continue // a moved graph reads right from where it is: a finding of `info`, not damage
		}
		severity := Severity(p.Severity)
		if p.ID == "branch-leftover" && table != manifestTable && severity != SeverityInfo && !v.lostRef(p.Key) {
			severity = SeverityInfo
		}
		v.add(Problem{ID: p.ID, Severity: severity, Table: table, Branch: branch, Version: p.Version, Key: p.Key, Found: p.Found, Expected: p.Expected, RowsAffected: p.RowsAffected})
	}
	return nil
}
