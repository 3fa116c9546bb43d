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
// the newest Limit are read, or of Newest of them; with Holders it is said why each
// of them must stay, which reads the state of every branch. No rows of tables are read. An
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
		var chain *lance.Chain
		var told []Version
		held, unknown, err := o.withHolders(ctx, d, opts.Holders, func() (head uint64, err error) {
			if chain, err = o.chain(ctx, d); err != nil {
				return 0, err
			}
			told, err = o.tell(ctx, d, firstN(chain.Versions, opts.Limit), opts)
			return chain.Versions[0].Version, err
		})
		if err != nil {
			return nil, err
		}
		out := &Versions{
			Table: d.table, Branch: nameOf(d.owner), Published: d.published, Versions: told,
			Head: chain.Versions[0].Version, Oldest: chain.Versions[len(chain.Versions)-1].Version,
			Count: len(chain.Versions), ListPages: chain.Pages, Findings: []Finding{},
		}
		for _, v := range chain.Versions {
			out.Bytes += v.Size
		}
		for _, f := range chain.Findings {
			c := datasetFinding(f, chain)
			c.Action.Args = []string{d.table}
			out.Findings = append(out.Findings, c)
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

// chain lists the versions. None at all is an error.
func (o *operation) chain(ctx context.Context, d chainOf) (*lance.Chain, error) {
	chain, err := lance.Versions(ctx, o.store, d.location, lance.ListOptions{Branch: d.owner})
	switch {
	case err != nil:
		return nil, err
	case len(chain.Versions) > 0:
		return chain, nil
	case d.location == manifest.Folder:
		return nil, o.explain(ctx, o.noVersions(d.owner), nameOf(d.owner), 0)
	}
	return nil, &DamagedError{Object: treePath(d.location, d.owner), Size: -1, Hint: "the graph registers the table, but its dataset has no versions: restore it from a backup"}
}

// withHolders reads the chain, whose head that tells, and beside it, when asked,
// what holds its versions.
func (o *operation) withHolders(ctx context.Context, d chainOf, holders bool, chain func() (head uint64, err error)) (held holdings, unknown *IncompleteError, err error) {
	var head uint64
	err = o.together(
		func() (err error) { head, err = chain(); return err },
		func() (err error) {
			if holders {
				held, unknown, err = o.holdings(ctx, d)
			}
			return err
		},
	)
	if err != nil {
		return nil, nil, err
	}
	if holders {
		held.add(head, "head", nameOf(d.owner))
	}
	return held, unknown, nil
}

// noVersions tells a branch that does not exist from a graph that does not.
func (o *operation) noVersions(branch string) error {
	if branch == "" {
		return &lance.NotFoundError{Where: o.store.Properties().URL}
	}
	return &manifest.BranchNotFoundError{Branch: branch}
}

// tell describes versions, reading their manifests side by side, or those of the
// newest, when details are asked for. One that cannot be read has its Problem.
func (o *operation) tell(ctx context.Context, d chainOf, window []lance.ChainVersion, opts VersionsOptions) ([]Version, error) {
	out := make([]Version, len(window))
	for i, v := range window {
		out[i] = Version{Version: v.Version, CreatedAt: v.ModTime, ManifestBytes: v.Size, Key: v.Key, HeldBy: []Holder{}}
	}
	if !opts.Details {
		return out, nil
	}
	window = firstN(window, opts.Newest)
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
