package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
)

// tableKey names one version of one dataset: several branches may publish it.
type tableKey struct {
	location, owner string
	version         uint64
}

// ends are the entities of one table version: ids of a node table.
type ends struct {
	ids map[string]bool
	ok  bool // every id was read
}

// tables verifies each published table version once, then, when deep, the ends
// of edges on every branch.
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
			k := tableKey{e.Location, e.Owner, e.Version}
			if _, ok := seen[k]; !ok {
				seen[k] = len(jobs)
				jobs = append(jobs, job{e, nameOf(view.Branch), !locations[e.Location]})
				locations[e.Location] = true
			}
		}
	}
	ids := make([]ends, len(jobs))
	err := v.each(len(jobs), func(i int) (err error) {
		ids[i], err = v.table(ctx, jobs[i].entry, jobs[i].branch, jobs[i].refs)
		return err
	})
	if err != nil {
		return err
	}
	if !v.opts.Deep || c.IR == nil {
		return nil
	}
	for _, view := range views {
		nodes := map[string]ends{}
		for _, e := range view.Tables {
			if e.Kind() == "node" {
				nodes[e.Name()] = ids[seen[tableKey{e.Location, e.Owner, e.Version}]]
			}
		}
		if err := v.edges(ctx, view, c, nodes); err != nil {
			return err
		}
	}
	return nil
}

// table verifies one published table version.
func (v *verifier) table(ctx context.Context, e manifest.Entry, branch string, refs bool) (ends, error) {
	s, err := v.dataset(ctx, e)
	if err != nil {
		if p, ok := dataProblem(err, e, branch); ok {
			v.add(p)
			return ends{}, ctx.Err()
		}
		return ends{}, err
	}
	if size := e.Meta.ManifestSize; size != nil && int64(*size) != s.Object().Size {
		v.add(Problem{ID: "manifest-size", Table: e.Alias, Branch: branch, Version: e.Version, Key: s.Object().Key, Found: fmt.Sprintf("%d bytes", s.Object().Size), Expected: fmt.Sprintf("%d bytes, as the graph recorded", *size)})
	}
	if rows, known := s.CountRows(); known && rows != e.Rows {
		v.add(Problem{ID: "count", Table: e.Alias, Branch: branch, Version: e.Version, Key: s.Object().Key, Found: fmt.Sprintf("%d rows by the table's manifest", rows), Expected: fmt.Sprintf("%d rows, as the graph recorded", e.Rows), RowsAffected: difference(rows, e.Rows)})
	}
	if err := v.snapshot(ctx, s, e.Alias, branch, refs); err != nil || !v.opts.Deep {
		return ends{}, err
	}
	return v.scanIDs(ctx, s, e, branch)
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

// scanIDs reads the ids of a table. Those of a node table are kept.
func (v *verifier) scanIDs(ctx context.Context, s *lance.Snapshot, e manifest.Entry, branch string) (ends, error) {
	out := ends{ids: map[string]bool{}}
	rows := uint64(0)
	var twice []string
	copies := uint64(0)
	err := scanTexts(ctx, s, []string{load.ColID}, func(val []string) error {
		rows++
		if out.ids[val[0]] {
			copies++
			if len(twice) < maxSuggestions {
				twice = append(twice, fmt.Sprintf("%q", val[0]))
			}
			return nil
		}
		out.ids[strings.Clone(val[0])] = true
		return nil
	})
	v.checked(func(c *VerifyChecked) { c.Keys += rows })
	if err = v.rowsError(ctx, err, e); err != nil {
		if p, ok := dataProblem(err, e, branch); ok {
			v.add(p)
			return ends{}, ctx.Err()
		}
		return ends{}, err
	}
	if rows != e.Rows {
		v.add(Problem{ID: "count-scanned", Table: e.Alias, Branch: branch, Version: e.Version, Key: e.Location, Found: fmt.Sprintf("%d rows by scanning", rows), Expected: fmt.Sprintf("%d rows, as the graph recorded", e.Rows), RowsAffected: difference(rows, e.Rows)})
	}
	if copies > 0 {
		v.add(Problem{ID: "duplicate-id", Table: e.Alias, Branch: branch, Version: e.Version, Key: e.Location, Found: fmt.Sprintf("%d rows more than ids; ids that stand twice: %s", copies, strings.Join(twice, ", ")), Expected: "each id once", RowsAffected: copies})
	}
	out.ok = true
	if e.Kind() == "edge" {
		out.ids = nil
	}
	return out, nil
}

// edges looks for the nodes at the ends of every edge of a branch.
func (v *verifier) edges(ctx context.Context, view *manifest.View, c *schema.Contract, nodes map[string]ends) error {
	return v.each(len(view.Tables), func(i int) error {
		e := view.Tables[i]
		decl, ok := c.IR.Type(schema.KindEdge, e.Name())
		from, to := ends{}, ends{}
		if ok {
			from, to = nodes[decl.From.Name], nodes[decl.To.Name]
		}
		if e.Kind() != "edge" || !from.ok || !to.ok {
			return nil
		}
		return v.endsOf(ctx, e, nameOf(view.Branch), from, to)
	})
}

func (v *verifier) endsOf(ctx context.Context, e manifest.Entry, branch string, from, to ends) error {
	s, err := v.dataset(ctx, e)
	if err != nil {
		return nil // said already
	}
	seen, dangling := uint64(0), uint64(0)
	var first string
	err = scanTexts(ctx, s, []string{load.ColID, load.ColSrc, load.ColDst}, func(val []string) error {
		seen++
		if !from.ids[val[1]] || !to.ids[val[2]] {
			if dangling++; dangling == 1 {
				first = fmt.Sprintf("%q from %q to %q", val[0], val[1], val[2])
			}
		}
		return nil
	})
	v.checked(func(c *VerifyChecked) { c.Edges += seen })
	if err != nil {
		return ctx.Err() // damage was said already
	}
	if dangling > 0 {
		v.add(Problem{ID: "dangling-edge", Table: e.Alias, Branch: branch, Version: e.Version, Key: e.Location, Found: fmt.Sprintf("%d edges without a node at an end, the first %s", dangling, first), Expected: "a node at both ends", RowsAffected: dangling})
	}
	return nil
}
