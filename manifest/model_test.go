package manifest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/internal/pace"
)

// plainFold is the fold of rows that stay whole: all of them sorted, each looked
// at with the next of its object id.
type plainFold struct {
	commits  []Commit
	versions []VersionRow
	live     map[Identity]Row // published version rows
	told     []string         // row and rule of the problems of single rows
}

func foldPlainly(rows []Row) (p plainFold) {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(strings.Compare(a.ObjectID, b.ObjectID), a.spot().compare(b.spot()))
	})
	p.live = map[Identity]Row{}
	for i := range rows {
		p.row(&rows[i], slices.ContainsFunc(rows[i+1:], func(o Row) bool { return o.ObjectID == rows[i].ObjectID && !o.Deleted }))
	}
	slices.SortFunc(p.commits, func(a, b Commit) int { return b.Compare(a) })
	slices.SortStableFunc(p.versions, func(a, b VersionRow) int {
		return cmp.Or(a.Identity.compare(b.Identity), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Updated, b.Updated))
	})
	slices.Sort(p.told)
	return p
}

func (p *plainFold) row(r *Row, replaced bool) {
	id, _ := r.identity()
	tell := func(rule Rule) { p.told = append(p.told, fmt.Sprint(r.ref(), rule)) }
	version := func() VersionRow {
		return VersionRow{id, r.Alias, r.Version.V, r.Branch.V, r.Rows.V, r.Created, r.Updated, r.Deleted}
	}
	var c Commit
	switch {
	case r.Deleted:
		if r.Kind == KindVersion && checkVersion(r) == nil {
			p.versions = append(p.versions, version())
		}
	case replaced:
		tell(RuleUnique)
	case r.Kind == KindVersion:
		if what := checkVersion(r); what != nil {
			tell(what.rule)
			return
		}
		p.versions = append(p.versions, version())
		if old, ok := p.live[id]; !ok || old.Version.V < r.Version.V {
			p.live[id] = *r
		}
	case r.Kind == KindCommit:
		if what := checkCommit(r, &c); what != nil {
			tell(what.rule)
			return
		}
		if !isULID(r.ObjectID) {
			tell(RuleObjectID)
		}
		p.commits = append(p.commits, c)
	}
}

// randomRows is a sound graph with rows added that stand for others, are
// deleted, or are damaged, in any order.
func randomRows(r *rand.Rand) []Row {
	rows := sound()
	for range r.IntN(6) {
		x := rows[r.IntN(len(rows))]
		x.Updated, x.Created, x.Version.V = uint64(r.IntN(6)), uint64(r.IntN(6)), x.Version.V+uint64(r.IntN(2))
		if x.Kind == KindVersion && r.IntN(2) == 0 {
			id, _ := x.identity()
			x.ObjectID = x.canonicalID(id)
		}
		if x.Kind == KindCommit && r.IntN(2) == 0 {
			x.ObjectID = []string{"", "abc", genesis[:25] + "3", genesis[:25] + "4"}[r.IntN(4)]
		}
		x.Deleted = r.IntN(3) == 0
		rows = append(rows, x)
	}
	place(rows)
	for range r.IntN(5) {
		damage(&rows[r.IntN(len(rows))], byte(r.IntN(256)), byte(r.IntN(256)))
	}
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

// Packed rows fold into what whole rows do, be they sound, doubled, deleted or
// damaged.
func TestFoldAgainstModel(t *testing.T) {
	n := pace.Of(20_000, 1_000)
	if testing.Short() {
		n = 2_000
	}
	for seed := range uint64(n) {
		rows := randomRows(rand.New(rand.NewPCG(seed, 7)))
		want := foldPlainly(rows)
		s, problems := Fold(rows)
		var versions []VersionRow
		for i := range s.Versions.Len() {
			versions = append(versions, s.Versions.At(i))
		}
		if got := commitList(s.Commits); !reflect.DeepEqual(got, want.commits) {
			t.Fatalf("seed %d: commits\n%+v\nwant\n%+v", seed, got, want.commits)
		}
		for i, c := range want.commits {
			if at, ok := s.Commits.Find(c.ID); !ok || at != i {
				t.Fatalf("seed %d: commit %q of row %d is found in %d, %v", seed, c.ID, i, at, ok)
			}
		}
		if !reflect.DeepEqual(versions, want.versions) {
			t.Fatalf("seed %d: versions\n%+v\nwant\n%+v", seed, versions, want.versions)
		}
		for _, e := range s.Tables {
			r := want.live[e.Identity]
			if meta, _ := parseTableMeta(r.Metadata.V); e.Version != r.Version.V || e.Rows != r.Rows.V || e.Published != r.Updated || !reflect.DeepEqual(e.Meta, meta) {
				t.Fatalf("seed %d: entry %+v, want that of %+v", seed, e, r)
			}
		}
		var told []string
		for _, p := range problems {
			if k := p.Row.Kind; k == KindCommit && p.Rule != RuleLineage || k == KindVersion && p.Rule != RuleRegistration || p.Rule == RuleUnique {
				told = append(told, fmt.Sprint(p.Row, p.Rule))
			}
		}
		if slices.Sort(told); !slices.Equal(told, want.told) {
			t.Fatalf("seed %d: problems\n%v\nwant\n%v", seed, told, want.told)
		}
	}
}
