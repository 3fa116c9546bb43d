package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Fold turns rows into the visible state. It is a pure function; rows of one
// object id are told apart by when and where they were written, so the order
// of rows does not matter. Rows with Deleted set only feed State.Versions.
//
// Problems are in row order (fragment, offset), those of no single row first.
func Fold(rows []Row) (State, []Problem) {
	g := gather(rows, false)
	g.group()
	g.decide()
	for _, row := range g.unkept() {
		at := g.versions.spots.at(int(row))
		for i := range rows {
			if rows[i].spot() == at && rows[i].ObjectID == g.row(rowRef{inVersions, row}).ObjectID {
				g.versions.keep(row, rows[i].Metadata.V)
			}
		}
	}
	return fold(g, nil)
}

// fold also takes doubts that come from rows that nobody could read. Of the
// rows it is known which are deleted and which have lost their place. What is
// gathered is let go on the way.
func fold(g *gathered, doubts []doubt) (State, []Problem) {
	f := newFolder(g, doubts)
	events := g.events()
	for i, e := range events {
		switch {
		case g.dropped[e.at.list].has(int(e.at.row)):
			f.duplicate(g.row(e.at), g.row(events[i+1].at))
		case e.at.list == inOthers:
			f.row(&g.others[e.at.row])
		}
	}
	f.published()
	f.pack()
	f.finish()
	slices.SortStableFunc(f.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Row.Fragment, b.Row.Fragment), cmp.Compare(a.Row.Offset, b.Row.Offset),
			strings.Compare(a.Row.ObjectID, b.Row.ObjectID), strings.Compare(string(a.Rule), string(b.Rule)), strings.Compare(a.Found, b.Found))
	})
	return f.state, f.problems
}

// published notes the version rows that are published, with their metadata.
func (f *folder) published() {
	for id, row := range f.rows.best() {
		text, _ := f.rows.versions.meta(int(row))
		meta, _ := parseTableMeta(text) // it was sound when the row was taken
		at := f.rows.versions.spots.at(int(row))
		f.best[id] = publishedRow{f.rows.versions.told(int(row), at.updated), meta}
		f.state.at.versions[id] = at.address()
	}
}

// pack makes the packed lists of the state.
func (f *folder) pack() {
	g := f.rows
	f.state.Commits = g.commits.pack(func(row int) bool { return g.gone[inCommits].has(row) || g.dropped[inCommits].has(row) })
	rows := slices.DeleteFunc(g.order, func(row int32) bool { return g.dropped[inVersions].has(int(row)) })
	f.state.Versions = g.versions.pack(rows, g.gone[inVersions])
	f.rows = nil
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
	rows     *gathered
	state    State
	problems []Problem
	regs     map[Identity]Registration
	best     map[Identity]publishedRow
	tombs    map[Identity]uint64
	doubts   []doubt
}

// publishedRow is the version row that a table is published by.
type publishedRow struct {
	VersionRow
	meta TableMeta
}

func newFolder(g *gathered, doubts []doubt) *folder {
	f := &folder{rows: g, regs: map[Identity]Registration{}, best: map[Identity]publishedRow{}, tombs: map[Identity]uint64{}, doubts: doubts}
	f.state.Heads = map[string]string{}
	f.state.at = places{map[string]uint64{}, map[Identity]uint64{}, map[Identity]uint64{}}
	f.state.Ignored = map[string]int{}
	return f
}

// fault is a rule that a row breaks.
type fault struct {
	rule            Rule
	refuses         bool
	found, expected string
}

func (f *folder) report(r *Row, rule Rule, refuses bool, table, found, expected string) {
	f.problems = append(f.problems, Problem{rule, refuses, r.ref(), table, found, expected})
}

// reject leaves a damaged row out and notes what that makes doubtful.
func (f *folder) reject(r *Row, what fault) {
	p := parseObjectID(r.ObjectID)
	id, ok := r.identity()
	if p.kind != "" && p.id != (Identity{}) {
		id, ok = p.id, true
	}
	table := ""
	if ok {
		table = id.String()
	}
	f.report(r, what.rule, what.refuses, table, what.found, what.expected)
	d := doubt{since: r.Updated, text: fmt.Sprintf("row %q of __manifest is damaged (%s)", r.ObjectID, what.rule)}
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

// row takes one live row.
func (f *folder) row(r *Row) {
	switch r.Kind {
	case KindTable:
		f.table(r)
	case KindVersion:
		if what := checkVersion(r); what != nil { // always: sound ones are packed
			f.reject(r, *what)
		}
	case KindTombstone:
		f.tombstone(r)
	case KindCommit:
		f.commit(r)
	case KindHead:
		f.head(r)
	default:
		if p := parseObjectID(r.ObjectID); p.kind != "" {
			f.reject(r, fault{RuleKind, false, fmt.Sprintf("object_type %q", r.Kind), fmt.Sprintf("%q, as the object id says", p.kind)})
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

// checkTable checks what the three table kinds have in common.
func checkTable(r *Row) *fault {
	id, ok := r.identity()
	if !ok {
		return &fault{RuleIdentity, true, fmt.Sprintf("stable_table_id %s, table_incarnation_id %s", r.Table, r.Incarnation), "both set and not zero"}
	}
	if r.Kind != KindTable && !r.Version.Set {
		return &fault{RuleVersion, true, "no table_version", "a version number"}
	}
	var buf [80]byte
	if want := r.appendID(buf[:0], id); r.ObjectID != string(want) {
		return &fault{RuleObjectID, true, fmt.Sprintf("object_id %q", r.ObjectID), fmt.Sprintf("%q, as the columns say", want)}
	}
	return nil
}

func (n Number) String() string {
	if !n.Set {
		return "null"
	}
	return fmt.Sprint(n.V)
}

func (f *folder) table(r *Row) {
	if what := checkTable(r); what != nil {
		f.reject(r, *what)
		return
	}
	id, _ := r.identity()
	want, ok := Location(r.Alias, id)
	switch {
	case !ok:
		f.reject(r, fault{RuleAlias, true, fmt.Sprintf("table_key %q", r.Alias), "node:… or edge:…"})
	case !r.Location.Set || r.Location.V != want:
		f.reject(r, fault{RuleLocation, true, fmt.Sprintf("location %q", r.Location.V), fmt.Sprintf("%q", want)})
	default:
		f.regs[id] = Registration{id, r.Alias, want}
		f.state.at.tables[id] = r.spot().address()
	}
}

var errNull = errors.New("it is null")

func checkVersion(r *Row) *fault {
	if what := checkTable(r); what != nil {
		return what
	}
	if !r.Rows.Set {
		return &fault{RuleVersion, true, "no row_count", "a number of rows"}
	}
	err := errNull
	if r.Metadata.Set {
		if plainVersion(r.Metadata.V) {
			return nil
		}
		_, err = parseTableMeta(r.Metadata.V)
	}
	if err != nil {
		return &fault{RuleMetadata, true, fmt.Sprintf("metadata %q: %v", clip(r.Metadata.V), err), "the table's manifest as JSON"}
	}
	return nil
}

func (f *folder) tombstone(r *Row) {
	if what := checkTable(r); what != nil {
		f.reject(r, *what)
		return
	}
	id, _ := r.identity()
	f.state.Tombstones = append(f.state.Tombstones, Tombstone{id, r.Alias, r.Version.V, r.Updated, r.ref()})
	f.tombs[id] = max(f.tombs[id], r.Version.V)
}

// checkLineageRow checks what commits and heads have in common.
func checkLineageRow(r *Row) *fault {
	if r.Table.Set || r.Incarnation.Set {
		return &fault{RuleIdentity, true, fmt.Sprintf("stable_table_id %s, table_incarnation_id %s", r.Table, r.Incarnation), "null on a lineage row"}
	}
	if !r.Metadata.Set {
		return &fault{RuleMetadata, true, "null metadata", "JSON"}
	}
	return nil
}

// checkCommit also reads the commit. Its texts are parts of those of the row.
func checkCommit(r *Row, c *Commit) *fault {
	if what := checkLineageRow(r); what != nil {
		return what
	}
	*c = Commit{ID: r.ObjectID, Branch: r.Branch.V, ManifestVersion: r.Version.V}
	if err := parseCommitMeta(r.Metadata.V, c); err != nil {
		return &fault{RuleMetadata, true, fmt.Sprintf("metadata %q: %v", clip(r.Metadata.V), err), "the commit as JSON"}
	}
	if !r.Version.Set {
		return &fault{RuleVersion, true, "no table_version", "the manifest version that the commit made"}
	}
	return nil
}

func (f *folder) commit(r *Row) {
	var c Commit
	if what := checkCommit(r, &c); what != nil {
		f.reject(r, *what)
		return
	}
	if !isULID(r.ObjectID) {
		f.report(r, RuleObjectID, false, "", fmt.Sprintf("object_id %q", clip(r.ObjectID)), "a ULID")
	}
	f.rows.commits.add(&c, r.spot())
}

func (f *folder) head(r *Row) {
	if what := checkLineageRow(r); what != nil {
		f.reject(r, *what)
		return
	}
	suffix, ok := strings.CutPrefix(r.ObjectID, headPrefix)
	if !ok {
		f.reject(r, fault{RuleObjectID, true, fmt.Sprintf("object_id %q", clip(r.ObjectID)), headPrefix + "…"})
		return
	}
	commit, err := parseHeadMeta(r.Metadata.V)
	if err != nil {
		f.reject(r, fault{RuleMetadata, true, fmt.Sprintf("metadata %q: %v", clip(r.Metadata.V), err), "the head as JSON"})
		return
	}
	f.state.Heads[suffix] = commit
	f.state.at.heads[suffix] = r.spot().address()
}

// clip shortens hostile text for a message.
func clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}
