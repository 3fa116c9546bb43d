package manifest

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/omnideck/omnideck/lance/refs"
)

// plan is one publish on one base: the rows that it writes.
type plan struct {
	base    *View
	version uint64 // that it makes
	moved   []Row  // take the place of the rows at addrs
	addrs   []uint64
	added   []Row
	commit  *Commit // nil: none
	found   bool    // the commit is in the base already, of version

	left  int                       // updates left out, because as much is published
	after State                     // what is visible then
	regs  map[Identity]Registration // changed by it
	tops  map[Identity]Update       // published by it
	tombs map[Identity]uint64       // ended by it
}

// rows are all rows in the order in which they are written.
func (p *plan) rows() []Row { return slices.Concat(p.moved, p.added) }

// plan says what a publish writes on this base; it touches nothing.
func (v *View) plan(o *PublishOptions) (*plan, error) {
	if err := v.Publishable(); err != nil {
		return nil, err
	}
	p := newPlan(v)
	if err := p.intent(o.Commit); p.found || err != nil {
		return p, err
	}
	if err := v.expected(o); err != nil {
		return nil, err
	}
	return p, p.take(o.Edits)
}

func newPlan(base *View) *plan {
	return &plan{base: base, version: base.Version + 1, regs: map[Identity]Registration{}, tops: map[Identity]Update{}, tombs: map[Identity]uint64{}}
}

// take turns edits into rows and folds them.
func (p *plan) take(edits []Edit) error {
	if err := p.bindings(edits); err != nil {
		return err
	}
	for _, e := range edits {
		var err error
		switch e := e.(type) {
		case Update:
			err = p.update(e)
		case Tombstone:
			err = p.tombstone(e)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case p.commit == nil:
	case p.left > 0 && len(p.rows()) == 0:
		p.commit = nil
	default:
		p.lineage()
	}
	p.apply()
	return p.check()
}

// Publishable says why nothing may be built on the view: nil, or an
// *UnsoundError. Publish asks it; who writes before it publishes asks first.
func (v *View) Publishable() error {
	bad := &UnsoundError{Branch: v.Branch, Version: v.Version}
	if s := v.Stamp.Finding(); s != "" {
		bad.Why = append(bad.Why, s)
	}
	if v.RefErr != nil {
		bad.Why = append(bad.Why, fmt.Sprintf("the ref of the branch cannot be read: %v", v.RefErr))
	}
	if v.LineageDoubt != "" {
		bad.Why = append(bad.Why, v.LineageDoubt)
	}
	for _, p := range v.Problems {
		if p.blocks() {
			bad.Why = append(bad.Why, p.Error())
		}
	}
	if !laidOut(v.Snapshot.Schema()) {
		bad.Why = append(bad.Why, "its columns are not those that this program writes")
	}
	if len(bad.Why) > 0 {
		return bad
	}
	return nil
}

// blocks says that nothing may be built on a state with the problem: the Rust
// engine refuses the graph, or a row to be replaced may not be the only one.
func (p Problem) blocks() bool {
	switch p.Rule {
	case RuleUnique, RuleKind, RuleFragment, RuleDeletion:
		return true
	}
	return p.Refuses
}

// intent looks at the commit to be made.
func (p *plan) intent(c *Intent) error {
	if c == nil {
		return nil
	}
	p.commit = &Commit{
		ID: c.ID, Branch: p.base.Branch, ManifestVersion: p.version, MergedParent: c.MergedParent,
		Actor: c.Actor, CreatedAt: c.CreatedAt,
	}
	switch {
	case !isULID(c.ID), c.MergedParent != "" && !isULID(c.MergedParent):
		return &InvalidEditError{"commit " + clip(c.ID), "its id or that of the commit merged is no ULID"}
	case c.Actor != nil && !utf8.ValidString(*c.Actor):
		return &InvalidEditError{"commit " + c.ID, "the actor is no UTF-8"}
	}
	row, taken := p.base.Commits.Find(c.ID)
	if !taken {
		if p.base.Commits.Len() > 0 {
			p.commit.Parent = p.base.Commits.ID(0)
		}
		return nil
	}
	there := p.base.Commits.At(row)
	same := *p.commit
	same.Parent, same.ManifestVersion, same.Actor = there.Parent, there.ManifestVersion, there.Actor
	if there != same || !sameText(there.Actor, p.commit.Actor) {
		return &InvalidEditError{"commit " + c.ID, fmt.Sprintf("another commit has that id, of version %d of branch %s", there.ManifestVersion, orMain(there.Branch))}
	}
	p.found, p.version, p.commit = true, there.ManifestVersion, &there
	return nil
}

func sameText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// identifierText spells a branch identifier for messages.
func identifierText(steps []refs.Step) string { return fmt.Sprint(steps) }

// expected checks precondition and expected versions.
func (v *View) expected(o *PublishOptions) error {
	if h := o.Head; h != nil {
		if err := v.expectedBranch(h); err != nil {
			return err
		}
		if found := v.Heads[orMain(v.Branch)]; found != h.Commit && !h.Any {
			return &ReadSetChangedError{headPrefix + orMain(v.Branch), h.Commit, found}
		}
	}
	for _, e := range o.Expected {
		if reg, ok := v.registration(e.Identity); ok && reg.Alias != e.Alias {
			return &ReadSetChangedError{bindingOf + e.Identity.String(), e.Alias, reg.Alias}
		}
		if actual := v.actual(e.Identity); actual != e.Version {
			return &VersionMismatchError{e.Identity, e.Alias, e.Version, actual}
		}
	}
	return nil
}

func (v *View) expectedBranch(h *ExactHead) error {
	var found []refs.Step
	if v.Ref != nil {
		found = v.Ref.Identifier
	}
	if !slices.Equal(found, h.Identifier) {
		return &ReadSetChangedError{identifierOf + orMain(v.Branch), identifierText(h.Identifier), identifierText(found)}
	}
	return nil
}

// registration finds a table row.
func (s *State) registration(id Identity) (Registration, bool) {
	i, ok := slices.BinarySearchFunc(s.Registrations, id, func(r Registration, id Identity) int { return r.Identity.compare(id) })
	if !ok {
		return Registration{}, false
	}
	return s.Registrations[i], true
}

// ended is the greatest tombstone of a table; 0 = none.
func (s *State) ended(id Identity) uint64 {
	i := sort.Search(len(s.Tombstones), func(i int) bool { return s.Tombstones[i].Identity.compare(id) > 0 })
	if i > 0 && s.Tombstones[i-1].Identity == id {
		return s.Tombstones[i-1].Version
	}
	return 0
}

// actual is the version of a table that counts: that published, or that of its
// tombstone; 0 = none.
func (s *State) actual(id Identity) uint64 {
	if e, ok := s.ByIdentity(id); ok {
		return e.Version
	}
	return s.ended(id)
}

// top is the live version row of the greatest version of a table.
func (s *State) top(id Identity) (r VersionRow, ok bool) {
	v := &s.Versions
	for i := sort.Search(v.Len(), func(i int) bool { return v.identity(i).compare(id) > 0 }) - 1; i >= 0 && v.identity(i) == id; i-- {
		if r = v.At(i); !r.Superseded {
			return r, true
		}
	}
	return VersionRow{}, false
}

// binding checks what a table is called after the changes so far.
func (p *plan) binding(id Identity, alias string) error {
	if reg, changed := p.regs[id]; changed {
		if reg.Alias != alias {
			return &InvalidEditError{alias, fmt.Sprintf("table %s will be called %s", id, reg.Alias)}
		}
		return nil
	}
	reg, ok := p.base.registration(id)
	switch {
	case !ok:
		return &InvalidEditError{alias, fmt.Sprintf("no table %s is registered", id)}
	case reg.Alias != alias:
		return &ReadSetChangedError{bindingOf + id.String(), alias, reg.Alias}
	}
	return nil
}

// bindingOf and the other prefixes name members of a read set.
const (
	bindingOf    = "dataset_binding:"
	identifierOf = "branch_identifier:"
)

func (p *plan) replace(r Row, at uint64) {
	p.moved, p.addrs = append(p.moved, r), append(p.addrs, at)
}

// bindings takes registrations and renames, in their order.
func (p *plan) bindings(edits []Edit) error {
	for _, e := range edits {
		var id Identity
		var reg Registration
		switch e := e.(type) {
		case Registration:
			id, reg = e.Identity, e
		case Rename:
			id = e.Identity
			reg = Registration{id, e.To, ""}
			reg.Location, _ = Location(e.To, id)
			if err := p.renamed(e, reg); err != nil {
				return err
			}
		default:
			continue
		}
		if _, twice := p.regs[id]; twice {
			return &InvalidEditError{reg.Alias, fmt.Sprintf("the name of table %s is changed twice", id)}
		}
		if want, ok := Location(reg.Alias, id); !ok || reg.Location != want || id.Table == 0 || id.Incarnation == 0 || !utf8.ValidString(reg.Alias) {
			return &InvalidEditError{reg.Alias, fmt.Sprintf("no table of that name and identity %s lies in %q", id, reg.Location)}
		}
		old, known := p.base.registration(id)
		switch _, isRename := e.(Rename); {
		case known && old == reg:
			continue
		case known && !isRename:
			return &InvalidEditError{reg.Alias, fmt.Sprintf("table %s is registered already, as %s", id, old.Alias)}
		case known:
			p.replace(registrationRow(reg), p.base.at.tables[id])
		default:
			p.added = append(p.added, registrationRow(reg))
		}
		p.regs[id] = reg
	}
	return nil
}

// renamed checks a rename.
func (p *plan) renamed(r Rename, to Registration) error {
	entry, live := p.base.ByIdentity(r.Identity)
	switch {
	case !live:
		return &InvalidEditError{r.From, fmt.Sprintf("no live table %s is there to be renamed", r.Identity)}
	case entry.Alias != r.From:
		return &ReadSetChangedError{bindingOf + r.Identity.String(), r.From, entry.Alias}
	case entry.Location != to.Location:
		return &InvalidEditError{r.From, fmt.Sprintf("it cannot be called %q: the folder would be another", r.To)}
	}
	return nil
}

// update takes one version to be published.
func (p *plan) update(u Update) error {
	if err := p.binding(u.Identity, u.Alias); err != nil {
		return err
	}
	if !utf8.ValidString(u.Owner) || !utf8.ValidString(u.Meta.ManifestPath) {
		return &InvalidEditError{u.Alias, "branch or path are no UTF-8"}
	}
	if _, twice := p.tops[u.Identity]; twice {
		return &InvalidEditError{u.Alias, "it is published twice"}
	}
	entry, live := p.base.ByIdentity(u.Identity)
	ended := p.base.ended(u.Identity)
	if u.Advance {
		switch {
		case live && entry.Owner != u.Owner:
			return &ReadSetChangedError{bindingOf + u.Identity.String(), u.Alias + " of branch " + orMain(u.Owner), u.Alias + " of branch " + orMain(entry.Owner)}
		case ended > 0 && !live, live && entry.Version >= u.Version:
			p.left++
			return nil
		}
	}
	top, any := p.base.top(u.Identity)
	switch {
	case u.Version == 0:
		return &InvalidEditError{u.Alias, "there is no version 0"}
	case ended > 0 && !live:
		return &InvalidEditError{u.Alias, fmt.Sprintf("table %s ended at %d, and does not come back: one that is added again has another identity", u.Identity, ended)}
	case any && u.Version < top.Version:
		return &InvalidEditError{u.Alias, fmt.Sprintf("version %d would not be seen: %d is published", u.Version, top.Version)}
	case any && u.Version == top.Version && (top.Rows != u.Rows || top.Owner == u.Owner && !(live && entry.Meta.same(u.Meta))):
		return &InvalidEditError{u.Alias, fmt.Sprintf("version %d is published already, with other rows or another manifest", u.Version)}
	case any && u.Version == top.Version:
		p.replace(updateRow(&u), p.base.at.versions[u.Identity])
	default:
		p.added = append(p.added, updateRow(&u))
	}
	p.tops[u.Identity] = u
	return nil
}

func (m TableMeta) same(o TableMeta) bool {
	size := m.ManifestSize == o.ManifestSize || m.ManifestSize != nil && o.ManifestSize != nil && *m.ManifestSize == *o.ManifestSize
	return size && m.ManifestPath == o.ManifestPath && sameText(m.ETag, o.ETag) && sameText(m.NamingScheme, o.NamingScheme)
}

// tombstone takes the end of one table.
func (p *plan) tombstone(t Tombstone) error {
	if err := p.binding(t.Identity, t.Alias); err != nil {
		return err
	}
	top, any := p.base.top(t.Identity)
	switch {
	case p.tombs[t.Identity] != 0:
		return &InvalidEditError{t.Alias, "it is ended twice"}
	case !any || t.Version < top.Version || t.Version <= p.base.ended(t.Identity):
		return &InvalidEditError{t.Alias, fmt.Sprintf("a tombstone of version %d would end nothing", t.Version)}
	}
	p.added = append(p.added, tombstoneRow(t))
	p.tombs[t.Identity] = t.Version
	return nil
}

// lineage takes the commit and the head of the branch.
func (p *plan) lineage() {
	p.added = append(p.added, commitRowOf(p.commit))
	head := headRowOf(p.commit)
	if at, ok := p.base.at.heads[orMain(p.base.Branch)]; ok {
		p.replace(head, at)
		return
	}
	p.added = append(p.added, head)
}

// check refuses changes after which the graph could not be opened.
func (p *plan) check() error {
	after, names := &p.after, map[string]Identity{}
	for _, e := range after.Tables {
		if other, taken := names[e.Alias]; taken {
			return &InvalidEditError{e.Alias, fmt.Sprintf("two live tables would be called so: %s and %s", other, e.Identity)}
		}
		names[e.Alias] = e.Identity
	}
	for _, id := range slices.SortedFunc(maps.Keys(p.regs), Identity.compare) {
		reg := p.regs[id]
		if _, any := after.top(id); !any {
			return &InvalidEditError{reg.Alias, fmt.Sprintf("table %s would be registered without a version", id)}
		}
		for _, t := range after.Tombstones {
			if t.Identity == id && t.Alias != reg.Alias {
				return &InvalidEditError{reg.Alias, fmt.Sprintf("table %s ended once as %s, and cannot be called otherwise", id, t.Alias)}
			}
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(p.tops), Identity.compare) {
		u := p.tops[id]
		if e, live := after.ByIdentity(id); !live || e.Version != u.Version || e.Owner != u.Owner {
			return &InvalidEditError{u.Alias, fmt.Sprintf("version %d would not be what is published", u.Version)}
		}
	}
	return nil
}
