package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
)

// Versions is the chain of `__manifest` ("" or "__manifest") or of a table on
// a graph branch ("" = main), newest first. A table that nobody wrote on the
// branch is published from another branch's dataset: it is that chain which is
// told, and Branch says which. All manifests are listed; with Details those of
// the newest Limit are read, with Holders it is said why each of them must
// stay, which reads the state of every branch. No rows of tables are read. An
// *IncompleteError comes beside it when a branch that may hold versions cannot
// be read.
func (g *Graph) Versions(ctx context.Context, table, branch string, opts VersionsOptions) (*Versions, error) {
	return do(ctx, g, "versions", func(ctx context.Context, o *operation) (*Versions, error) {
		if opts.Holders {
			defer o.ahead(ctx)()
		}
		d, err := o.findChain(ctx, table, branch)
		if err != nil {
			return nil, err
		}
		o.table = d.table
		chain, held, unknown, err := o.chainAndHolders(ctx, d, opts.Holders)
		if err != nil {
			return nil, err
		}
		out := &Versions{
			Table: d.table, Branch: nameOf(d.owner), Published: d.published,
			Count: len(chain.Versions), ListPages: chain.Pages, Findings: []Finding{},
		}
		for _, v := range chain.Versions {
			out.Bytes += v.Size
		}
		if n := len(chain.Versions); n > 0 {
			out.Head, out.Oldest = chain.Versions[0].Version, chain.Versions[n-1].Version
		}
		for _, f := range chain.Findings {
			c := datasetFinding(f, chain)
			c.Action.Args = []string{d.table}
			out.Findings = append(out.Findings, c)
		}
		window := firstN(chain.Versions, opts.Limit)
		if out.Versions, err = o.tell(ctx, d, window, opts.Details); err != nil {
			return nil, err
		}
		for i := range out.Versions {
			out.Versions[i].HeldBy = held.of(out.Versions[i].Version)
		}
		return out, orNil(unknown)
	})
}

// chainOf is a dataset's branch whose versions are asked for.
type chainOf struct {
	table     string // node:Port, or __manifest
	location  string
	owner     string // branch of the dataset; "" = main
	identity  manifest.Identity
	published uint64 // by the graph branch asked for; 0 for __manifest and for a dropped table
}

// findChain finds the dataset behind a name. A table that was dropped is found
// by its registration: its versions may still lie there.
func (o *operation) findChain(ctx context.Context, table, branch string) (chainOf, error) {
	if maybeManifest(table) {
		return chainOf{table: manifestTable, location: manifest.Folder, owner: bare(branch)}, nil
	}
	view, err := o.at(ctx, At{Branch: branch})
	if err != nil {
		return chainOf{}, err
	}
	e, err := entryOf(view, table)
	if err == nil {
		return chainOf{e.Alias, e.Location, e.Owner, e.Identity, e.Version}, nil
	}
	for _, r := range view.Registrations {
		if r.Alias == table {
			return chainOf{r.Alias, r.Location, "", r.Identity, 0}, nil
		}
	}
	return chainOf{}, err
}

// chainAndHolders lists the versions and, when asked, what holds them.
func (o *operation) chainAndHolders(ctx context.Context, d chainOf, holders bool) (chain *lance.Chain, held holdings, unknown *IncompleteError, err error) {
	err = o.together(
		func() (err error) {
			chain, err = lance.Versions(ctx, o.store, d.location, lance.ListOptions{Branch: d.owner})
			return err
		},
		func() (err error) {
			if holders {
				held, unknown, err = o.holdings(ctx, d)
			}
			return err
		},
	)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(chain.Versions) == 0 {
		if d.location == manifest.Folder {
			return nil, nil, nil, o.explain(ctx, o.noVersions(d.owner), nameOf(d.owner), 0)
		}
		return nil, nil, nil, &DamagedError{Object: treePath(d.location, d.owner), Size: -1, Hint: "the graph registers the table, but its dataset has no versions: restore it from a backup"}
	}
	if holders {
		held.add(chain.Versions[0].Version, "head", nameOf(d.owner))
	}
	return chain, held, unknown, nil
}

// noVersions tells a branch that does not exist from a graph that does not.
func (o *operation) noVersions(branch string) error {
	if branch == "" {
		return &lance.NotFoundError{Where: o.store.Properties().URL}
	}
	return &manifest.BranchNotFoundError{Branch: branch}
}

// tell describes versions, reading their manifests side by side when details
// are asked for. One that cannot be read has its Problem.
func (o *operation) tell(ctx context.Context, d chainOf, window []lance.ChainVersion, details bool) ([]Version, error) {
	out := make([]Version, len(window))
	for i, v := range window {
		out[i] = Version{Version: v.Version, CreatedAt: v.ModTime, ManifestBytes: v.Size, Key: v.Key, HeldBy: []Holder{}}
	}
	if !details {
		return out, nil
	}
	lo := o.lance()
	lo.Branch = d.owner
	i := 0
	var newer *lance.Snapshot
	for s, err := range lance.ReadVersions(ctx, o.store, d.location, window, lo) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			out[i].Problem = err.Error()
		} else {
			Describe(ctx, &out[i], s)
		}
		if i > 0 {
			out[i-1].AddedBytes = AddedBytes(newer, s)
		}
		newer = s
		i++
	}
	return out, nil
}

// Describe fills in what the manifest of any dataset's version says. Its
// transaction is looked at when the manifest carries it, which those of this
// generation do. What a version added is not here: see AddedBytes.
func Describe(ctx context.Context, v *Version, s *lance.Snapshot) {
	m := s.Manifest()
	if !m.Timestamp.IsZero() {
		v.CreatedAt = m.Timestamp
	}
	if rows, known := s.CountRows(); known {
		v.Rows = &rows
	}
	n := len(s.Fragments())
	v.Fragments = &n
	v.DataBytes = dataBytes(s, nil)
	if s.Version() == 1 {
		v.AddedBytes = v.DataBytes
	}
	v.Writer = strings.TrimSpace(m.Writer.Library + " " + m.Writer.Version)
	v.Transaction = m.TransactionFile
	tx, err := s.Transaction(ctx)
	switch {
	case err != nil:
		v.Problem = fmt.Sprintf("its transaction: %v", err)
	case tx != nil:
		v.Operation = tx.Operation.Name
		if v.Transaction == "" {
			v.Transaction = tx.UUID
		}
	}
}

// firstN is the beginning of a list; 0 = all of it.
func firstN[T any](list []T, n int) []T {
	if n > 0 && n < len(list) {
		return list[:n]
	}
	return list
}
