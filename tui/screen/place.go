package screen

import (
	"fmt"
	"strings"
)

// How screens are asked for, by --screen, by snap, and by the state that is
// kept of a graph:
//
//	overview branches commits tables versions operations
//	operations/ledger     what operations cost before
//	node:Port                 a table: its first tab
//	node:Port/TAB             schema, fragments, versions, indexes or rows
//	node:Port/rows/ID         one entity with its edges; / in the ID stays as it is
//	find/ID                   where an id stands, in all types
//	diff/A..B                 two points compared: branches, commits or versions

// At finds the screen of a place.
func At(place string) (Screen, error) {
	switch place {
	case "", "overview":
		return NewOverview(), nil
	case "branches":
		return NewBranches(), nil
	case "commits":
		return NewCommits(), nil
	case "tables":
		return NewTables(), nil
	case "versions":
		return NewVersions(manifestTable), nil
	case "operations", "operations/ledger":
		_, tab, _ := strings.Cut(place, "/")
		return NewOperations().Show(tab), nil
	}
	table, rest, _ := strings.Cut(place, "/")
	switch {
	case strings.HasPrefix(table, "node:") || strings.HasPrefix(table, "edge:"):
		if id, ok := strings.CutPrefix(rest, "rows/"); ok && id != "" {
			return NewEntity(table, id), nil
		}
		s := NewTable(table).Show(rest)
		if rest != "" && s.Place() != place {
			return nil, fmt.Errorf("choosing a screen: a table has no tab %q, expected schema, fragments, versions, indexes or rows", rest)
		}
		return s, nil
	case table == "find" && rest != "":
		return NewFind(rest), nil
	case table == "diff":
		if a, b, ok := strings.Cut(rest, ".."); ok && a != "" && b != "" {
			return newComparePoints(a, b, nil, nil), nil
		}
	}
	return nil, fmt.Errorf("choosing a screen: found %q, expected overview, branches, commits, tables, versions, operations, a table such as node:Port or node:Port/rows, find/ID or diff/A..B", place)
}

// TableTabs are the tabs of a table, as a place names them.
func TableTabs() []string {
	var out []string
	for _, t := range NewTable("node:").tabs {
		out = append(out, t.label())
	}
	return out
}
