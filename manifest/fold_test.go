package manifest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const (
	genesis = "01KB7Q0V1S3F8D1Y3J8E0Z5T60"
	second  = "01KB7Q0V1S3F8D1Y3J8E0Z5T61"
	third   = "01KB7Q0V1S3F8D1Y3J8E0Z5T62"
)

func set(n uint64) Number { return Number{n, true} }
func text(s string) Text  { return Text{s, true} }
func meta(path string) Text {
	return text(`{"manifest_path":"` + path + `","manifest_size":1,"e_tag":null,"naming_scheme":"V2"}`)
}
func (r Row) at(v uint64) Row { r.Created, r.Updated = v, v; return r }

func tableRow(alias string, id Identity) Row {
	loc, _ := Location(alias, id)
	r := Row{Kind: KindTable, Alias: alias, Table: set(id.Table), Incarnation: set(id.Incarnation), Location: text(loc)}
	r.ObjectID = r.canonicalID(id)
	return r.at(1)
}

func versionOf(alias string, id Identity, version, rows uint64, owner string) Row {
	r := Row{Kind: KindVersion, Alias: alias, Table: set(id.Table), Incarnation: set(id.Incarnation), Version: set(version), Rows: set(rows), Metadata: meta("m")}
	if owner != "" {
		r.Branch = text(owner)
	}
	r.ObjectID = r.canonicalID(id)
	return r.at(version)
}

func tombstoneOf(alias string, id Identity, version uint64) Row {
	r := Row{Kind: KindTombstone, Alias: alias, Table: set(id.Table), Incarnation: set(id.Incarnation), Version: set(version)}
	r.ObjectID = r.canonicalID(id)
	return r.at(version)
}

func commitRow(id string, version uint64, parent string) Row {
	m := fmt.Sprintf(`{"parent_commit_id":"%s","actor_id":"ann","created_at":%d}`, parent, 1000+version)
	if parent == "" {
		m = fmt.Sprintf(`{"created_at":%d}`, 1000+version)
	}
	return Row{ObjectID: id, Kind: KindCommit, Version: set(version), Metadata: text(m)}.at(version)
}

func headRow(branch, commit string, version uint64) Row {
	return Row{ObjectID: headPrefix + branch, Kind: KindHead, Metadata: text(`{"head_commit_id":"` + commit + `"}`)}.at(version)
}

var (
	person = Identity{1, 6}
	knows  = Identity{2, 7}
)

// sound is a small graph: two tables, three commits, one of them on a branch.
func sound() []Row {
	rows := []Row{
		tableRow("node:Person", person), versionOf("node:Person", person, 1, 0, ""),
		tableRow("edge:Knows", knows), versionOf("edge:Knows", knows, 1, 0, ""),
		commitRow(genesis, 1, ""),
		versionOf("node:Person", person, 2, 3, ""), commitRow(second, 2, genesis), headRow("main", second, 2),
		versionOf("edge:Knows", knows, 3, 5, "dev"), commitRow(third, 3, second), headRow("dev", third, 3),
	}
	rows[9].Branch = text("dev")
	return place(rows)
}

// place gives every row a position of its own.
func place(rows []Row) []Row {
	for i := range rows {
		rows[i].Fragment, rows[i].Offset = uint64(i/4), uint32(i%4)
	}
	return rows
}

func TestFoldSound(t *testing.T) {
	s, problems := Fold(sound())
	if len(problems) != 0 {
		t.Fatalf("problems in a sound graph: %v", problems)
	}
	var got []string
	for _, e := range s.Tables {
		got = append(got, fmt.Sprintf("%s %s %d %q %d@%d%s", e.Alias, e.Location, e.Version, e.Owner, e.Rows, e.Published, e.Doubt))
	}
	want := []string{
		`edge:Knows edges/0000000000000002-0000000000000007 3 "dev" 5@3`,
		`node:Person nodes/0000000000000001-0000000000000006 2 "" 3@2`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("tables %q, want %q", got, want)
	}
	if id, own := s.Head("main"); id != second || !own {
		t.Errorf("head of main: %s, own %v", id, own)
	}
	if id, own := s.Head("fresh"); id != third || own {
		t.Errorf("head of a lazy branch: %s, own %v; want the lineage maximum", id, own)
	}
	if c := commitList(s.Commits); c[0].ID != third || c[0].Branch != "dev" || c[2].ID != genesis || c[2].Parent != "" || *c[1].Actor != "ann" {
		t.Errorf("commits %+v", c)
	}
	if e, ok := s.Table("node:Person"); !ok || e.Kind() != "node" || e.Name() != "Person" {
		t.Errorf("Table: %+v %v", e, ok)
	}
	if e, ok := s.ByIdentity(knows); !ok || e.Alias != "edge:Knows" {
		t.Errorf("ByIdentity: %+v %v", e, ok)
	}
	if s.Versions.Len() != 4 || len(s.Registrations) != 2 || s.LineageDoubt != "" {
		t.Errorf("%d versions, %d registrations, doubt %q", s.Versions.Len(), len(s.Registrations), s.LineageDoubt)
	}
}

// commitList is the commits as they were folded.
func commitList(c *Commits) (out []Commit) {
	for _, k := range c.All() {
		out = append(out, k)
	}
	return out
}

// changes are the changes by manifest version, each in the order of names.
func changes(s State) map[uint64][]Change {
	out := map[uint64][]Change{}
	for at, c := range s.Changes() {
		out[at] = append(out[at], c)
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b Change) int { return strings.Compare(a.Alias, b.Alias) })
	}
	return out
}

func TestFoldChanges(t *testing.T) {
	rows := append(sound(), tombstoneOf("edge:Knows", knows, 4))
	rows[len(rows)-1] = rows[len(rows)-1].at(5)
	s, problems := Fold(place(rows))
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	got := changes(s)
	want := map[uint64][]Change{
		1: {{knows, "edge:Knows", 0, 1, 0, 0}, {person, "node:Person", 0, 1, 0, 0}},
		2: {{person, "node:Person", 1, 2, 0, 3}},
		3: {{knows, "edge:Knows", 1, 3, 0, 5}},
		5: {{knows, "edge:Knows", 3, 0, 5, 0}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("changes %v, want %v", got, want)
	}
	if _, live := s.Table("edge:Knows"); live {
		t.Error("a table with a tombstone is live")
	}
}

// An owner hand-off rewrites a version row in place: the table moved when the
// row was first written, whether or not the old copy can still be read.
func TestFoldHandOff(t *testing.T) {
	old := versionOf("node:Person", person, 2, 3, "dev")
	old.Deleted = true
	taken := versionOf("node:Person", person, 2, 3, "")
	taken.Created, taken.Updated = 2, 7
	for _, rows := range [][]Row{{old, taken}, {taken}} {
		s, problems := Fold(place(append([]Row{tableRow("node:Person", person), versionOf("node:Person", person, 1, 0, "")}, rows...)))
		if len(problems) != 0 {
			t.Fatal(problems)
		}
		if e, _ := s.Table("node:Person"); e.Owner != "" || e.Version != 2 || e.Published != 7 {
			t.Errorf("entry %+v", e)
		}
		if c := changes(s); len(c) != 2 || c[2][0].From != 1 || c[2][0].To != 2 {
			t.Errorf("changes %v", c)
		}
	}
}

func edit(i int, f func(*Row)) func([]Row) []Row {
	return func(rows []Row) []Row { f(&rows[i]); return rows }
}

func add(r Row) func([]Row) []Row {
	return func(rows []Row) []Row { return append(rows, r) }
}

func drop(i int) func([]Row) []Row {
	return func(rows []Row) []Row { return slices.Delete(rows, i, i+1) }
}

// foldProblems each break one rule of a sound graph.
var foldProblems = map[string]struct {
	change  func([]Row) []Row
	rule    Rule
	refuses bool
	doubts  string // aliases of doubtful entries, "lineage", sorted
}{
	"zero id":              {edit(5, func(r *Row) { r.Table.V = 0 }), RuleIdentity, true, "node:Person"},
	"no id":                {edit(5, func(r *Row) { r.Incarnation.Set = false }), RuleIdentity, true, "node:Person"},
	"id on a commit":       {edit(6, func(r *Row) { r.Table = set(1) }), RuleIdentity, true, "lineage"},
	"object id":            {edit(5, func(r *Row) { r.ObjectID = r.ObjectID[:len(r.ObjectID)-1] + "9" }), RuleObjectID, true, "node:Person"},
	"object id, older":     {edit(1, func(r *Row) { r.Version.V = 0 }), RuleObjectID, true, "node:Person"},
	"object id unreadable": {edit(5, func(r *Row) { r.ObjectID = "x" }), RuleObjectID, true, "node:Person"},
	"no version":           {edit(5, func(r *Row) { r.Version.Set = false }), RuleVersion, true, "node:Person"},
	"no row count":         {edit(5, func(r *Row) { r.Rows.Set = false }), RuleVersion, true, "node:Person"},
	"no row count, older":  {edit(1, func(r *Row) { r.Rows.Set = false }), RuleVersion, true, ""},
	"metadata null":        {edit(5, func(r *Row) { r.Metadata.Set = false }), RuleMetadata, true, "node:Person"},
	"metadata text":        {edit(5, func(r *Row) { r.Metadata.V = "{" }), RuleMetadata, true, "node:Person"},
	"metadata member":      {edit(5, func(r *Row) { r.Metadata.V = `{"manifest_path":7}` }), RuleMetadata, true, "node:Person"},
	"location":             {edit(0, func(r *Row) { r.Location.V = "nodes/x" }), RuleLocation, true, "node:Person"},
	"location null":        {edit(0, func(r *Row) { r.Location.Set = false }), RuleLocation, true, "node:Person"},
	"alias kind":           {edit(0, func(r *Row) { r.Alias = "table:Person" }), RuleAlias, true, "node:Person"},
	"no registration":      {drop(0), RuleRegistration, true, "node:Person"},
	"registered only":      {add(tableRow("node:Port", Identity{8, 9})), RuleVersion, false, ""},
	"tombstone, no table":  {add(tombstoneOf("node:Port", Identity{8, 9}, 3)), RuleTombstone, true, ""},
	"tombstone, alias":     {add(tombstoneOf("edge:Other", knows, 2)), RuleTombstone, true, ""},
	"tombstone damaged":    {add(func() Row { r := tombstoneOf("edge:Knows", knows, 9); r.Version.Set = false; return r }()), RuleVersion, true, "edge:Knows"},
	"two live, one alias": {func(r []Row) []Row {
		return append(r, tableRow("node:Person", Identity{8, 9}), versionOf("node:Person", Identity{8, 9}, 1, 0, ""))
	}, RuleAlias, true, "node:Person node:Person"},
	"same table row twice":  {add(tableRow("node:Person", person)), RuleUnique, false, "node:Person"},
	"two names, one table":  {add(tableRow("node:Human", person)), RuleUnique, true, "node:Human"},
	"version row twice":     {add(versionOf("node:Person", person, 2, 4, "")), RuleUnique, false, "node:Person"},
	"kind damaged":          {edit(5, func(r *Row) { r.Kind = "table_versiom" }), RuleKind, false, "node:Person"},
	"kind of head damaged":  {edit(7, func(r *Row) { r.Kind = "graph_heae" }), RuleKind, false, "lineage"},
	"commit without number": {edit(6, func(r *Row) { r.Version.Set = false }), RuleVersion, true, "lineage"},
	"commit metadata":       {edit(6, func(r *Row) { r.Metadata.V = `{}` }), RuleMetadata, true, "lineage"},
	"commit metadata null":  {edit(6, func(r *Row) { r.Metadata.Set = false }), RuleMetadata, true, "lineage"},
	"head id":               {edit(7, func(r *Row) { r.ObjectID = "graph_hea:main" }), RuleObjectID, true, "lineage"},
	"head metadata":         {edit(7, func(r *Row) { r.Metadata.V = `[]` }), RuleMetadata, true, "lineage"},
	"head names nothing":    {edit(7, func(r *Row) { r.Metadata.V = `{"head_commit_id":"gone"}` }), RuleHead, false, ""},
	"commit id":             {add(commitRow("abc", 4, third)), RuleObjectID, false, ""},
	"parent missing":        {add(commitRow("01KB7Q0V1S3F8D1Y3J8E0Z5T63", 4, "01KB7Q0V1S3F8D1Y3J8E0Z5T6X")), RuleLineage, false, ""},
	"parent younger":        {add(commitRow("01KB7Q0V1S3F8D1Y3J8E0Z5T63", 3, third)), RuleLineage, false, ""},
	"two commits, one":      {add(commitRow("01KB7Q0V1S3F8D1Y3J8E0Z5T63", 2, genesis)), RuleLineage, false, ""},
}

func TestFoldProblems(t *testing.T) {
	for name, c := range foldProblems {
		s, problems := Fold(place(c.change(sound())))
		if len(problems) == 0 || !slices.ContainsFunc(problems, func(p Problem) bool { return p.Rule == c.rule && p.Refuses == c.refuses }) {
			t.Errorf("%s: problems %v, want one of rule %s, refuses %v", name, problems, c.rule, c.refuses)
		}
		if Refused(problems) != c.refuses {
			t.Errorf("%s: Refused is %v", name, !c.refuses)
		}
		for _, p := range problems {
			if p.Row.ObjectID == "" || p.Found == "" || p.Expected == "" || !strings.Contains(p.Error(), string(p.Rule)) {
				t.Errorf("%s: problem does not say row, found and expected: %+v", name, p)
			}
		}
		if got := doubtful(s); got != c.doubts {
			t.Errorf("%s: doubtful are %q, want %q", name, got, c.doubts)
		}
	}
}

// Of three live tables with one name, what is said does not depend on the order in
// which they are met.
func TestFoldThreeOfOneName(t *testing.T) {
	rows := sound()
	for n := uint64(8); n < 14; n++ {
		id := Identity{n, n + 20}
		rows = append(rows, tableRow("node:Person", id), versionOf("node:Person", id, 1, 0, ""))
	}
	said := func() string {
		s, problems := Fold(place(rows))
		text := fmt.Sprintln(problems)
		for _, e := range s.Tables {
			text += e.Identity.String() + ": " + e.Doubt + "\n"
		}
		return text
	}
	first := said()
	for range 20 {
		if again := said(); again != first {
			t.Fatalf("first\n%s\nthen\n%s", first, again)
		}
	}
}

func doubtful(s State) string {
	var names []string
	for _, e := range s.Tables {
		if e.Doubt != "" {
			names = append(names, e.Alias)
		}
	}
	if s.LineageDoubt != "" {
		names = append(names, "lineage")
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// A row whose table nobody can name makes every table doubtful that was
// published before it was written, and no other.
func TestFoldUnattributed(t *testing.T) {
	rows := sound()
	bad := versionOf("node:Person", person, 9, 9, "")
	bad.ObjectID, bad.Table.Set, bad.Updated = "?", false, 3
	s, _ := Fold(place(append(rows, bad)))
	if got := doubtful(s); got != "node:Person" {
		t.Errorf("doubtful: %q, want node:Person (published at 2), not edge:Knows (published at 3)", got)
	}
}

func TestFoldIgnoresUnknownKinds(t *testing.T) {
	rows := append(sound(), Row{ObjectID: "note:1", Kind: "note"}, Row{ObjectID: "note:2", Kind: "note"})
	s, problems := Fold(place(rows))
	if len(problems) != 0 || s.Ignored["note"] != 2 || len(s.Tables) != 2 {
		t.Errorf("problems %v, ignored %v, %d tables", problems, s.Ignored, len(s.Tables))
	}
}

func TestFoldLegacy(t *testing.T) {
	rows := []Row{
		{ObjectID: "a", Kind: KindTable, Alias: "node:Person", Location: text("nodes/Person")},
		{ObjectID: "b", Kind: KindVersion, Alias: "node:Person", Version: set(3), Rows: set(7)},
		{ObjectID: "c", Kind: KindVersion, Alias: "node:Person", Version: set(2), Rows: set(5)},
		{ObjectID: "d", Kind: KindVersion, Alias: "node:Lost", Version: set(2), Rows: set(5)},
		{ObjectID: "e", Kind: KindTable, Alias: "node:Gone", Location: text("nodes/Gone")},
		{ObjectID: "f", Kind: KindVersion, Alias: "node:Gone", Version: set(1), Rows: set(5)},
		{ObjectID: "g", Kind: KindTombstone, Alias: "node:Gone", Version: set(2)},
	}
	s, problems := FoldLegacy(place(rows))
	if len(s.Tables) != 1 || s.Tables[0].Location != "nodes/Person" || s.Tables[0].Version != 3 || s.Tables[0].Rows != 7 || s.Tables[0].Doubt == "" {
		t.Errorf("tables %+v", s.Tables)
	}
	if len(problems) != 1 || problems[0].Table != "node:Lost" || Refused(problems) {
		t.Errorf("problems %v", problems)
	}
	if s.LineageDoubt == "" {
		t.Error("no word about the missing lineage")
	}
}

func TestSupersede(t *testing.T) {
	rows := func() []Row {
		return []Row{
			{ObjectID: "head", Fragment: 0, Offset: 0, Updated: 1}, {ObjectID: "a", Fragment: 0, Offset: 1, Updated: 1},
			{ObjectID: "head", Fragment: 1, Offset: 0, Updated: 2}, {ObjectID: "b", Fragment: 1, Offset: 1, Updated: 2},
			{ObjectID: "head", Fragment: 2, Offset: 0, Updated: 2},
		}
	}
	gone := func(g *gathered) (out []int) {
		for i := range g.others {
			if g.deleted(rowRef{inOthers, int32(i)}) {
				out = append(out, i)
			}
		}
		return out
	}
	g := gather(rows(), false)
	g.group()
	if unread := g.supersede([]deletionCount{{0, 1}, {1, 1}}); unread != nil || !slices.Equal(gone(g), []int{0, 2}) {
		t.Errorf("unread %v, deleted %v; want none, 0 and 2 (same version, lesser fragment)", unread, gone(g))
	}
	g = gather(rows(), false)
	g.group()
	if unread := g.supersede([]deletionCount{{0, 2}, {1, 0}}); !slices.Equal(unread, []uint64{0, 1}) || gone(g) != nil {
		t.Errorf("unread %v, deleted %v; want both fragments read: counts differ or are not recorded", unread, gone(g))
	}
}

func TestParseObjectID(t *testing.T) {
	for in, want := range map[string]parsedID{
		"table:0000000000000001:00000000000000ff":                                {KindTable, Identity{1, 255}, 0},
		"table_version:0000000000000001:0000000000000006:18446744073709551615":   {KindVersion, person, 1<<64 - 1},
		"table_version:0000000000000001:0000000000000006:18446744073709551616":   {"", person, 0},
		"table_tombstone:0000000000000001:0000000000000006:00000000000000000004": {KindTombstone, person, 4},
		"table:0000000000000001:000000000000000G":                                {"", Identity{1, 0}, 0},
		"table:1:2": {}, "graph_head:": {}, "graph_head:x": {kind: KindHead}, genesis: {kind: KindCommit}, "81KB7Q0V1S3F8D1Y3J8E0Z5T60": {},
		"01KB7Q0V1S3F8D1Y3J8E0Z5T6I": {}, "": {},
	} {
		if got := parseObjectID(in); got != want {
			t.Errorf("%q: %+v, want %+v", in, got, want)
		}
	}
}

// FuzzFold damages one column after the other of a sound graph: never a panic,
// the same answer in any order of rows, every loss reported.
func FuzzFold(f *testing.F) {
	f.Add([]byte{5, 0, 1, 3, 2, 9}, uint64(1))
	f.Add([]byte{7, 3, 0, 2, 1, 1, 9, 4, 200}, uint64(2))
	f.Fuzz(func(t *testing.T, edits []byte, seed uint64) {
		rows := sound()
		for len(edits) >= 3 {
			damage(&rows[int(edits[0])%len(rows)], edits[1], edits[2])
			edits = edits[3:]
		}
		s, problems := Fold(rows)
		shuffled := slices.Clone(rows)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		s2, problems2 := Fold(shuffled)
		if !reflect.DeepEqual(s, s2) || !reflect.DeepEqual(problems, problems2) {
			t.Fatalf("the order of rows changed the answer:\n%+v\n%+v\n%v\n%v", s, s2, problems, problems2)
		}
		taken := len(s.Registrations) + s.Versions.Len() + len(s.Tombstones) + s.Commits.Len() + len(s.Heads)
		for _, n := range s.Ignored {
			taken += n
		}
		if deleted := slices.ContainsFunc(rows, func(r Row) bool { return r.Deleted }); taken < len(rows) && len(problems) == 0 && !deleted {
			t.Fatalf("%d of %d rows were taken and nothing was said", taken, len(rows))
		}
	})
}

func damage(r *Row, column, value byte) {
	texts := []*string{&r.ObjectID, &r.Kind, &r.Location.V, &r.Metadata.V, &r.Alias, &r.Branch.V}
	numbers := []*Number{&r.Table, &r.Incarnation, &r.Version, &r.Rows}
	switch c := int(column) % 12; {
	case c < len(texts):
		if s := *texts[c]; s != "" {
			b := []byte(s)
			b[int(value)%len(b)] ^= value | 1
			*texts[c] = string(b)
		}
	case c < 10:
		*numbers[c-6] = Number{uint64(value), value%3 != 0}
	case c == 10:
		r.Deleted = !r.Deleted
	default:
		r.Metadata.Set, r.Updated = value%2 == 0, uint64(value)
	}
}
