package engine

import (
	"context"
	"strings"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn"
)

// entryOf finds a table by what a user calls it: node:Port, edge:Owns, or the
// name of a type alone where only one kind has it.
func entryOf(v *manifest.View, table string) (manifest.Entry, error) {
	if e, ok := v.Table(table); ok {
		return e, nil
	}
	node, isNode := v.Table("node:" + table)
	edge, isEdge := v.Table("edge:" + table)
	switch {
	case isNode && isEdge:
		return manifest.Entry{}, &UsageError{What: table, Why: "a node type and an edge type have that name: say node:" + table + " or edge:" + table}
	case isNode:
		return node, nil
	case isEdge:
		return edge, nil
	}
	names := make([]string, 0, len(v.Tables))
	for _, t := range v.Tables {
		names = append(names, t.Alias)
	}
	return manifest.Entry{}, &NotFoundError{What: "table", Name: table, Where: "on branch " + nameOf(v.Branch), Suggestions: Suggest(table, names)}
}

// dataset opens the version of a table that an entry names.
func (o *operation) dataset(ctx context.Context, e manifest.Entry) (*lance.Snapshot, error) {
	lo := o.lance()
	lo.Branch, lo.Version = e.Owner, e.Version
	s, err := lance.Open(ctx, o.store, e.Location, lo)
	if err != nil {
		return nil, o.tableError(ctx, err, e)
	}
	return s, nil
}

// tableError says what is wrong with a published table, and tells a version
// that a cleanup took from one that is missing.
func (o *operation) tableError(ctx context.Context, err error, e manifest.Entry) error {
	err = explainDataset(err, e.Location)
	if absent, ok := err.(*lance.NotFoundError); ok {
		newest, listErr := o.newest(ctx, e.Location, e.Owner)
		if listErr != nil || ctx.Err() != nil {
			return err
		}
		if txn.Judge(e.Version, newest, false) == txn.Drift { // it is not missing at the end of its chain
			return &ReclaimedError{Table: e.Alias, Branch: nameOf(e.Owner), Version: e.Version, Err: err}
		}
		return &DamagedError{
			Object: e.Location + ", version " + itoa(e.Version) + " on branch " + nameOf(e.Owner), Size: -1, Readable: newest, Err: absent,
			Hint: "the graph publishes " + e.Alias + " at that version: restore the object from a backup; other tables are not touched",
		}
	}
	return err
}

// maybeManifest reports that `__manifest` itself is meant.
func maybeManifest(table string) bool { return table == "" || table == manifestTable }

// datasetName is how a dataset is called in messages.
func datasetName(alias, owner string) string {
	if owner == "" {
		return alias
	}
	return alias + " on branch " + owner
}

// treePath is the folder of a dataset's branch.
func treePath(location, owner string) string {
	if owner == "" {
		return location
	}
	return strings.Join([]string{location, "tree", owner}, "/")
}
