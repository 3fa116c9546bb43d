package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/refs"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// Info is what can be said without reading a row of a node or edge table, with
// the findings of the doctor's level 0. What can be said as a finding is never
// an error: a graph whose newest manifest is damaged, whose schema files are
// gone or whose generation is not known is described as far as it can be read.
// A part that the store does not give, as the refs without the right to list
// them, is a finding too, and named in Unread. Errors are left for a store that
// does not give `__manifest` and an address without a graph.
//
// Requests: LIST of the root, `__recovery/`, the first page of
// `__manifest/_versions/` and the refs of `__manifest`; GET of the newest
// manifest, of the three schema files, of each fragment of `__manifest` (F),
// and of up to sixteen sidecars; one LIST and two GETs more where there are
// branches, whose manifests say where they were made. Findings are always about the newest state of
// the branch; the counts are those of at.
func (g *Graph) Info(ctx context.Context, at At) (*Info, error) {
	return do(ctx, g, "info", func(ctx context.Context, o *operation) (*Info, error) {
		s := &survey{operation: o, branch: nameOf(at.Branch), files: map[string]schema.File{}}
		if err := s.read(ctx, at); err != nil {
			return nil, err
		}
		return s.info(), nil
	})
}

// survey is what level 0 reads.
type survey struct {
	*operation
	branch string

	root    *rootListing
	sibling *manifest.Head // of some other branch, whose base paths name the root that it was made at
	folder  *recoveryFolder
	chain   *lance.Chain
	listing *branches.Listing
	files   map[string]schema.File

	head    *manifest.Head // newest version of the branch; nil when it cannot be read
	headErr error          // why
	view    *manifest.View // the state asked for; nil when it cannot be read
	viewErr error
	newest  *manifest.View // newest state of the branch; view when that was asked for

	missed sync.Mutex
	unread []unread
}

// unread is a part of the survey that the store did not give.
type unread struct {
	part, key string
	err       error
}

// Parts of Info that may be missing: see Info.Unread.
const (
	UnreadRoot     = "root"
	UnreadRecovery = "recovery"
	UnreadBranches = "branches"
	unreadSibling  = "another branch"
)

// part reads what the rest can do without: that it could not be read is noted.
func (s *survey) part(name, key string, read func() error) func() error {
	return func() error {
		if err := read(); err != nil {
			s.missed.Lock()
			defer s.missed.Unlock()
			s.unread = append(s.unread, unread{name, key, err})
		}
		return nil
	}
}

// without says that a part could not be read.
func (s *survey) without(part string) bool {
	return slices.ContainsFunc(s.unread, func(u unread) bool { return u.part == part })
}

func (s *survey) read(ctx context.Context, at At) error {
	err := s.together(
		s.part(UnreadRoot, "", func() (err error) { s.root, err = s.listRoot(ctx); return err }),
		s.part(UnreadRecovery, sidecar.Folder, func() (err error) { s.folder, err = s.sidecars(ctx, glanced); return err }),
		func() error { return s.readBranches(ctx) },
		func() error { s.schemaFiles(ctx, schema.Keys, s.files); return nil },
		func() error { return s.readManifest(ctx, at) },
	)
	if err == nil {
		err = ctx.Err() // what was cancelled is no part that the store did not give
	}
	if err != nil {
		return err
	}
	if s.root == nil {
		s.root = &rootListing{}
	}
	if s.folder == nil {
		s.folder = &recoveryFolder{}
	}
	if s.listing == nil {
		s.listing = &branches.Listing{Refs: &refs.Listing{}}
	}
	s.schemaFiles(ctx, s.root.staged(), s.files)
	if s.newest != nil {
		settle(s.folder.sidecars, s.newest)
	}
	return ctx.Err()
}

// readBranches lists the branches. Where there are others than main, and main is
// looked at, the newest manifest of the first of them is opened too: a damaged
// one tells nothing, and `branch list` says why.
func (s *survey) readBranches(ctx context.Context) error {
	_ = s.part(UnreadBranches, manifest.Folder+"/_refs/", func() (err error) { s.listing, err = branches.Names(ctx, s.store); return err })()
	if s.listing == nil || s.branch != mainName {
		return nil
	}
	i := slices.IndexFunc(s.listing.Names, func(name string) bool { return name != mainName })
	if i < 0 {
		return nil
	}
	name := s.listing.Names[i]
	return s.part(unreadSibling, name, func() (err error) {
		if s.sibling, err = manifest.Peek(ctx, s.store, manifest.Options{Branch: name, Lance: s.lance()}); sayable(err) {
			err = nil
		}
		return err
	})()
}

// readManifest lists the first page of the chain, opens its newest version and
// the state asked for. Only the store's own failures are errors.
func (s *survey) readManifest(ctx context.Context, at At) error {
	var err error
	s.chain, err = lance.Versions(ctx, s.store, manifest.Folder, lance.ListOptions{Branch: bare(s.branch), Limit: chainDeep})
	if err != nil {
		return err
	}
	if len(s.chain.Versions) == 0 {
		return s.explain(ctx, s.noVersions(bare(s.branch)), s.branch, 0)
	}
	if at.Commit == "" && at.Version == 0 {
		s.newest, s.headErr = s.openNewest(ctx)
		s.view, s.viewErr = s.newest, s.headErr
	} else {
		_ = s.together(
			func() error { s.newest, s.headErr = s.openNewest(ctx); return nil },
			func() error { s.view, s.viewErr = s.atView(ctx, at); return nil },
		)
	}
	if s.newest != nil {
		s.head = &s.newest.Head
	}
	for _, err := range []error{s.headErr, s.viewErr} {
		if err != nil && !sayable(err) {
			return err
		}
	}
	return nil
}

// openNewest opens the version that the chain's first page shows as the newest:
// no second listing. When that cannot be read it is opened as the newest, which
// finds out what older version can.
func (s *survey) openNewest(ctx context.Context) (*manifest.View, error) {
	o := manifest.Options{Branch: bare(s.branch), Version: s.chain.Versions[0].Version, Lance: s.lance()}
	if slices.ContainsFunc(s.chain.Findings, func(f lance.Finding) bool { return f.ID == "mixed-naming" }) {
		o.Version = 0 // names do not tell which is the newest: let it be refused
	}
	view, err := s.openManifest(ctx, o)
	if err == nil {
		s.remember(view)
		return view, nil
	}
	if h, peekErr := manifest.Peek(ctx, s.store, o); peekErr == nil {
		s.head = h
	}
	if o.Version = 0; sayable(err) {
		_, err = s.openManifest(ctx, o)
	}
	return nil, s.explain(ctx, err, s.branch, 0)
}

// remember keeps the newest view for other parts of the operation.
func (o *operation) remember(v *manifest.View) {
	o.sawView(v)
	for _, version := range []uint64{0, v.Version} {
		o.mu.Lock()
		o.views[viewKey{v.Branch, version}] = known(v)
		o.mu.Unlock()
	}
}

// sayable reports an error that a finding can say: about the bytes, not about
// the store that keeps them.
func sayable(err error) bool {
	var (
		damaged     *lance.DamagedManifestError
		ours        *DamagedError
		unsupported *UnsupportedError
		stamp       *manifest.StampError
		reclaimed   *ReclaimedError
		mismatch    *manifest.HeadMismatchError
		mixed       *lance.MixedNamingError
	)
	return errors.As(err, &damaged) || errors.As(err, &ours) || errors.As(err, &unsupported) || errors.As(err, &stamp) ||
		errors.As(err, &reclaimed) || errors.As(err, &mismatch) || errors.As(err, &mixed) || isDamage(err)
}

func (s *survey) info() *Info {
	out := &Info{
		URI: s.uri, Kind: "omnigraph", Branch: s.branch, Branches: len(s.listing.Names),
		PendingRecovery: pendingOf(s.folder), Store: s.Store(),
	}
	if s.head != nil {
		out.InternalSchemaVersion = s.head.Stamp.Version
		out.Manifest.Fragments, out.Manifest.Bytes = s.head.Fragments, s.head.Bytes
	}
	out.Manifest.Versions, out.Manifest.Exact = len(s.chain.Versions), s.chain.Complete
	if v := s.view; v != nil {
		out.GraphManifestVersion, out.Types, out.Rows = v.Version, len(v.Tables), entityCount(v)
		out.HeadCommit, _ = v.State.Head(v.Branch)
		s.commit = out.HeadCommit
	}
	for _, u := range s.unread {
		out.Unread = append(out.Unread, u.part)
	}
	slices.Sort(out.Unread)
	out.Findings = s.findings()
	return out
}

// unreadFindings says what the store did not give.
func (s *survey) unreadFindings() []Finding {
	lost := map[string]string{
		UnreadRoot:     "what lies at the root of the graph could not be listed: leftovers and a half-done schema change are not seen",
		UnreadRecovery: "`__recovery/` could not be read: whether a write is pending is not known, nor whether the schema files are whole",
		UnreadBranches: "the branches could not be listed: how many there are is not known, nor whether their names are in order",
		unreadSibling:  "the newest version of another branch could not be read: whether the graph was moved is known less surely",
	}
	var out []Finding
	for _, u := range s.unread {
		evidence := []Evidence{{u.key, u.err.Error()}}
		out = append(out, finding(idUnread, SeverityError, "everything that is shown: it was read", evidence, "%s", lost[u.part]).next("none", "info"))
	}
	return out
}

func (s *survey) findings() []Finding {
	out := append([]Finding{}, s.unreadFindings()...)
	out = append(out, s.errorFindings()...)
	out = append(out, headFindings(s.head)...)
	out = append(out, foldFindings(s.newest)...)
	out = append(out, chainFindings(s.chain, s.branch)...)
	out = append(out, recoveryFindings(s.folder, s.listing.Names)...)
	staged := s.root.staged()
	if s.listing.Locked && !s.without(UnreadRecovery) {
		out = append(out, lockFinding(s.folder, staged))
	}
	if !s.without(UnreadRecovery) { // a schema change under way looks like a broken contract
		contract := schema.Load(s.files, published(s.mainView(), s.folder.sidecars))
		out = append(out, schemaFindings(contract, applying(s.folder))...)
	}
	legacy := s.head != nil && !s.head.Stamp.OK()
	out = append(out, refFindings(s.listing, legacy)...)
	out = append(out, rootFindings(s.root)...)
	if !s.without(UnreadBranches) { // what depends on the old address is not known
		out = append(out, movedFinding(s.newest, s.sibling, s.store.Properties().URL, len(s.listing.Names))...)
	}
	return worstFirst(out)
}

// mainView is the newest state of main when that is what was read: the schema
// contract must fit main, not any branch.
func (s *survey) mainView() *manifest.View {
	if s.branch == mainName {
		return s.newest
	}
	return nil
}

// errorFindings says why the newest version, or the one asked for, is not
// shown.
func (s *survey) errorFindings() []Finding {
	var out []Finding
	if s.headErr != nil {
		out = append(out, s.headFinding())
	}
	if s.viewErr != nil && s.view == nil && s.viewErr.Error() != errText(s.headErr) {
		out = append(out, finding(idDamagedManifest, SeverityError, "other versions", keys("asked for", manifest.Folder), "the state asked for cannot be shown: %s", s.viewErr))
	}
	return out
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (s *survey) headFinding() Finding {
	var (
		damaged     *DamagedError
		unsupported *UnsupportedError
	)
	newest := s.chain.Versions[0]
	evidence := []Evidence{{newest.Key, fmt.Sprintf("%d bytes, version %d", newest.Size, newest.Version)}}
	switch {
	case errors.As(s.headErr, &damaged) && damaged.Readable > 0:
		evidence = append(evidence, Evidence{damaged.Object, errText(damaged.Err)})
		holds := ""
		if damaged.Rows != nil {
			holds = fmt.Sprintf(", which holds %d rows", *damaged.Rows)
		}
		return finding(idDamagedManifest, SeverityError, fmt.Sprintf("version %d and older%s", damaged.Readable, holds), evidence,
			"the newest version %d of __manifest cannot be read; %d is the newest that can%s, and is shown only when asked for by number", newest.Version, damaged.Readable, holds).
			next("none", "snapshot", "--at", fmt.Sprint(damaged.Readable))
	case errors.As(s.headErr, &unsupported):
		return finding(idFlags, SeverityError, "nothing of this version; others may be readable by number", evidence,
			"the newest version of __manifest is not for this program: %s", unsupported.Error()).next("none", "versions", manifestTable)
	}
	return finding(idDamagedManifest, SeverityError, "older versions, by number", evidence,
		"the newest version %d of __manifest cannot be read: %s", newest.Version, s.headErr).next("none", "versions", manifestTable)
}
