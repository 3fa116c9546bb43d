package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// FoldLegacy folds rows of a graph from before generation 5: tables are known
// by alias only, the folder is what the table row says, object ids are not
// checked. Entries have no identity. Commits are read where they are rows of
// `__manifest` (generation 4); older graphs kept them elsewhere.
func FoldLegacy(rows []Row) (State, []Problem) {
	g := gathered{whole: true}
	for i := range rows {
		g.take(&rows[i], func(s string) string { return s })
	}
	return foldLegacy(&g)
}

func foldLegacy(g *gathered) (State, []Problem) {
	f := newFolder(g, nil)
	regs, best, tombs := map[string]*Row{}, map[string]*Row{}, map[string]uint64{}
	for i := range g.others {
		r := &g.others[i]
		switch {
		case g.deleted(rowRef{inOthers, int32(i)}):
		case r.Kind == KindTable:
			if old := regs[r.Alias]; old == nil || r.newer(old) {
				regs[r.Alias] = r
			}
		case r.Kind == KindVersion && r.Version.Set:
			if old := best[r.Alias]; old == nil || old.Version.V < r.Version.V || old.Version == r.Version && r.newer(old) {
				best[r.Alias] = r
			}
		case r.Kind == KindTombstone && r.Version.Set:
			tombs[r.Alias] = max(tombs[r.Alias], r.Version.V)
		case r.Kind == KindCommit:
			f.commit(r)
		case r.Kind == KindHead:
			f.head(r)
		default:
			f.state.Ignored[r.Kind]++
		}
	}
	for _, alias := range slices.Sorted(maps.Keys(best)) {
		v := best[alias]
		if tomb, ok := tombs[alias]; ok && tomb >= v.Version.V {
			continue
		}
		f.legacyEntry(alias, v, regs[alias])
	}
	f.state.Commits = g.commits.pack(nil)
	f.sortState()
	slices.SortFunc(f.problems, func(a, b Problem) int { return strings.Compare(a.Row.ObjectID, b.Row.ObjectID) })
	if f.state.Commits.Len() == 0 {
		f.state.LineageDoubt = "graphs of this generation keep their commits outside __manifest; they are not read"
	}
	return f.state, f.problems
}

func (f *folder) legacyEntry(alias string, v, reg *Row) {
	e := Entry{Alias: alias, Version: v.Version.V, Owner: v.Branch.V, Rows: v.Rows.V, Published: v.Updated,
		Doubt: "the graph is of an older generation: name, folder and version are shown as its rows say, unchecked"}
	if reg == nil || !reg.Location.Set || !strings.Contains(alias, ":") {
		f.report(v, RuleRegistration, false, alias, fmt.Sprintf("no usable table row of %q", clip(alias)), "the row that says where the table lies")
		return
	}
	e.Location = reg.Location.V
	if v.Metadata.Set {
		e.Meta, _ = parseTableMeta(v.Metadata.V) // informative only; older writers recorded less
	}
	f.state.Tables = append(f.state.Tables, e)
}
