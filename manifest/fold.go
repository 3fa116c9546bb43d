package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fold turns rows into the visible state. It is a pure function; rows of one
// object id are told apart by when and where they were written, so the order
// of rows does not matter. Rows with Deleted set only feed State.Versions.
//
// Problems are in row order (fragment, offset), those of no single row first.
func Fold(rows []Row) (State, []Problem) { return fold(rows, nil) }

// fold also takes doubts that come from rows that nobody could read.
func fold(rows []Row, doubts []doubt) (State, []Problem) {
	f := folder{regs: map[Identity]Registration{}, best: map[Identity]int{}, tombs: map[Identity]uint64{}, doubts: doubts}
	f.state.Heads = map[string]string{}
	f.state.Ignored = map[string]int{}
	sorted := make([]*Row, len(rows))
	for i := range rows {
		sorted[i] = &rows[i]
	}
	slices.SortFunc(sorted, func(a, b *Row) int {
		if c := strings.Compare(a.ObjectID, b.ObjectID); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.Updated, b.Updated), cmp.Compare(a.Fragment, b.Fragment), cmp.Compare(a.Offset, b.Offset))
	})
	for i, r := range sorted {
		if r.Deleted {
			f.pastVersion(r)
			continue
		}
		f.row(r, nextLive(sorted[i+1:], r))
	}
	f.finish()
	slices.SortStableFunc(f.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Row.Fragment, b.Row.Fragment), cmp.Compare(a.Row.Offset, b.Row.Offset),
			strings.Compare(a.Row.ObjectID, b.Row.ObjectID), strings.Compare(string(a.Rule), string(b.Rule)), strings.Compare(a.Found, b.Found))
	})
	return f.state, f.problems
}

// nextLive is the next row of the same object id that is not deleted, or nil.
func nextLive(rest []*Row, r *Row) *Row {
	for _, n := range rest {
		if n.ObjectID != r.ObjectID {
			break
		}
		if !n.Deleted {
			return n
		}
	}
	return nil
}

// doubt says that something was lost which may have changed what is published.
type doubt struct {
	id      Identity // of the table; zero = unknown
	since   uint64   // manifest version that wrote what was lost; 0 = unknown
	version uint64   // table version that was lost; 0 = unknown
	tables  bool     // tables may be affected
	lineage bool     // commits or heads may be missing
	text    string
}

// touches reports whether the entry may be another without the loss.
func (d doubt) touches(e *Entry) bool {
	switch {
	case !d.tables:
		return false
	case d.id == e.Identity:
		return d.version == 0 || d.version >= e.Version
	case d.id != (Identity{}):
		return false
	}
	return d.since == 0 || e.Published == 0 || e.Published < d.since
}

type folder struct {
	state    State
	problems []Problem
	regs     map[Identity]Registration
	best     map[Identity]int // index in state.Versions of the published row
	tombs    map[Identity]uint64
	doubts   []doubt
}

func (f *folder) report(r *Row, rule Rule, refuses bool, table, found, expected string) {
	f.problems = append(f.problems, Problem{rule, refuses, r.ref(), table, found, expected})
}

// reject leaves a damaged row out and notes what that makes doubtful.
func (f *folder) reject(r *Row, rule Rule, refuses bool, found, expected string) {
	p := parseObjectID(r.ObjectID)
	id, ok := r.identity()
	if p.kind != "" && p.id != (Identity{}) {
		id, ok = p.id, true
	}
	table := ""
	if ok {
		table = id.String()
	}
	f.report(r, rule, refuses, table, found, expected)
	d := doubt{since: r.Updated, text: fmt.Sprintf("row %q of __manifest is damaged (%s)", r.ObjectID, rule)}
	kind := r.Kind
	if p.kind != "" {
		kind = p.kind
	}
	d.tables = kind != KindCommit && kind != KindHead
	d.lineage = kind != KindTable && kind != KindVersion && kind != KindTombstone
	if ok && d.tables {
		d.id = id
	}
	if kind == KindVersion && r.Version.Set && r.Version.V == p.version {
		d.version = p.version
	}
	f.doubts = append(f.doubts, d)
}

// row takes one live row; twin is one of the same object id that is newer.
func (f *folder) row(r, twin *Row) {
	if twin != nil {
		f.duplicate(r, twin)
		return
	}
	switch r.Kind {
	case KindTable:
		f.table(r)
	case KindVersion:
		f.version(r)
	case KindTombstone:
		f.tombstone(r)
	case KindCommit, KindHead:
		f.lineage(r)
	default:
		if p := parseObjectID(r.ObjectID); p.kind != "" {
			f.reject(r, RuleKind, false, fmt.Sprintf("object_type %q", r.Kind), fmt.Sprintf("%q, as the object id says", p.kind))
			return
		}
		f.state.Ignored[r.Kind]++
	}
}

// duplicate reports a live row whose place a newer live row has taken.
func (f *folder) duplicate(r, twin *Row) {
	differs := r.Kind == KindTable && (r.Alias != twin.Alias || r.Location != twin.Location)
	table := ""
	if id, ok := r.identity(); ok {
		table = id.String()
		f.doubts = append(f.doubts, doubt{id: id, version: r.Version.V, tables: true, text: fmt.Sprintf("two rows of __manifest are %q", r.ObjectID)})
	}
	f.report(r, RuleUnique, differs, table,
		fmt.Sprintf("another live row in fragment %d at %d", twin.Fragment, twin.Offset), "one live row an object id; the newer is taken")
}

// tableRow checks what the three table kinds have in common.
func (f *folder) tableRow(r *Row) (id Identity, ok bool) {
	id, ok = r.identity()
	if !ok {
		f.reject(r, RuleIdentity, true, fmt.Sprintf("stable_table_id %s, table_incarnation_id %s", r.Table, r.Incarnation), "both set and not zero")
		return id, false
	}
	if r.Kind != KindTable && !r.Version.Set {
		f.reject(r, RuleVersion, true, "no table_version", "a version number")
		return id, false
	}
	if want := r.canonicalID(id); r.ObjectID != want {
		f.reject(r, RuleObjectID, true, fmt.Sprintf("object_id %q", r.ObjectID), fmt.Sprintf("%q, as the columns say", want))
		return id, false
	}
	return id, true
}

func (n Number) String() string {
	if !n.Set {
		return "null"
	}
	return fmt.Sprint(n.V)
}

func (f *folder) table(r *Row) {
	id, ok := f.tableRow(r)
	if !ok {
		return
	}
	want, ok := Location(r.Alias, id)
	switch {
	case !ok:
		f.reject(r, RuleAlias, true, fmt.Sprintf("table_key %q", r.Alias), "node:… or edge:…")
	case !r.Location.Set || r.Location.V != want:
		f.reject(r, RuleLocation, true, fmt.Sprintf("location %q", r.Location.V), fmt.Sprintf("%q", want))
	default:
		f.regs[id] = Registration{id, r.Alias, want}
	}
}

func (f *folder) version(r *Row) {
	id, ok := f.tableRow(r)
	if !ok {
		return
	}
	if !r.Rows.Set {
		f.reject(r, RuleVersion, true, "no row_count", "a number of rows")
		return
	}
	v, err := versionRow(r, id)
	if err != nil {
		f.reject(r, RuleMetadata, true, fmt.Sprintf("metadata %q: %v", clip(r.Metadata.V), err), "the table's manifest as JSON")
		return
	}
	if at, ok := f.best[id]; !ok || f.state.Versions[at].Version < v.Version {
		f.best[id] = len(f.state.Versions)
	}
	f.state.Versions = append(f.state.Versions, v)
}

func versionRow(r *Row, id Identity) (VersionRow, error) {
	if !r.Metadata.Set {
		return VersionRow{}, fmt.Errorf("it is null")
	}
	meta, err := parseTableMeta(r.Metadata.V)
	return VersionRow{
		Identity: id, Alias: r.Alias, Version: r.Version.V, Owner: r.Branch.V, Rows: r.Rows.V, Meta: meta,
		Created: r.Created, Updated: r.Updated, Superseded: r.Deleted,
	}, err
}

// pastVersion keeps what a deleted version row says, when it is sound.
func (f *folder) pastVersion(r *Row) {
	id, ok := r.identity()
	if r.Kind != KindVersion || !ok || !r.Version.Set || !r.Rows.Set || r.ObjectID != r.canonicalID(id) {
		return
	}
	if v, err := versionRow(r, id); err == nil {
		f.state.Versions = append(f.state.Versions, v)
	}
}

func (f *folder) tombstone(r *Row) {
	id, ok := f.tableRow(r)
	if !ok {
		return
	}
	f.state.Tombstones = append(f.state.Tombstones, Tombstone{id, r.Alias, r.Version.V, r.Updated, r.ref()})
	f.tombs[id] = max(f.tombs[id], r.Version.V)
}

func (f *folder) lineage(r *Row) {
	if r.Table.Set || r.Incarnation.Set {
		f.reject(r, RuleIdentity, true, fmt.Sprintf("stable_table_id %s, table_incarnation_id %s", r.Table, r.Incarnation), "null on a lineage row")
		return
	}
	if !r.Metadata.Set {
		f.reject(r, RuleMetadata, true, "null metadata", "JSON")
		return
	}
	if r.Kind == KindHead {
		f.head(r)
		return
	}
	c := Commit{ID: r.ObjectID, Branch: r.Branch.V, ManifestVersion: r.Version.V}
	if err := parseCommitMeta(r.Metadata.V, &c); err != nil {
		f.reject(r, RuleMetadata, true, fmt.Sprintf("metadata %q: %v", clip(r.Metadata.V), err), "the commit as JSON")
		return
	}
	if !r.Version.Set {
		f.reject(r, RuleVersion, true, "no table_version", "the manifest version that the commit made")
		return
	}
	if !isULID(r.ObjectID) {
		f.report(r, RuleObjectID, false, "", fmt.Sprintf("object_id %q", clip(r.ObjectID)), "a ULID")
	}
	f.state.Commits = append(f.state.Commits, c)
}

func (f *folder) head(r *Row) {
	suffix, ok := strings.CutPrefix(r.ObjectID, headPrefix)
	if !ok {
		f.reject(r, RuleObjectID, true, fmt.Sprintf("object_id %q", clip(r.ObjectID)), headPrefix+"…")
		return
	}
	commit, err := parseHeadMeta(r.Metadata.V)
	if err != nil {
		f.reject(r, RuleMetadata, true, fmt.Sprintf("metadata %q: %v", clip(r.Metadata.V), err), "the head as JSON")
		return
	}
	f.state.Heads[suffix] = commit
}

// clip shortens hostile text for a message.
func clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}
