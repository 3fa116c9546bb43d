package manifest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
)

// stranger writes versions of `__manifest` that keep few rules: of rows that a publish
// would write some are changed, doubled or left out, rows are deleted by hand,
// and older versions restored.
type stranger struct {
	t     *testing.T
	rnd   *rand.Rand
	store *memstore.Store
	open  Options
	n     int
	views []*View // read in full
}

func (s *stranger) last() *View { return s.views[len(s.views)-1] }

func (s *stranger) commit(staged *lance.Staged, err error) {
	s.t.Helper()
	if err == nil {
		_, _, err = staged.Commit(s.t.Context(), lance.CommitOptions{Exact: true, Blind: true, Now: func() time.Time { return time.UnixMicro(int64(s.n)) }})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stranger) options() lance.StageOptions {
	s.n++
	return lance.StageOptions{UUID: fmt.Sprintf("00000000-0000-4000-8000-%012d", s.n), WithTransaction: true}
}

// live are the rows that stand at the newest version.
func (s *stranger) live() (out []Row) {
	names, _ := wanted(s.last().Snapshot.Schema())
	for batch, err := range s.last().Snapshot.Scan(s.t.Context(), lance.ScanOptions{Columns: names, WithRowAddress: true, WithVersions: true}) {
		if err != nil {
			s.t.Fatal(err)
		}
		rows, err := decode(nil, batch)
		if err != nil {
			s.t.Fatal(err)
		}
		for i := range rows {
			out = append(out, rows[i].kept(func(s string) string { return string([]byte(s)) }))
		}
		batch.Release()
	}
	return out
}

func (s *stranger) id(n int) string { return fmt.Sprintf("01KB7Q0V1S3F8D1Y3J8E%06d", n) }

// edits fit the newest state, so far as it is sound.
func (s *stranger) edits() (out []Edit) {
	v := s.last()
	for range 1 + s.rnd.IntN(2) {
		if len(v.Tables) == 0 || s.rnd.IntN(8) == 0 {
			id := Identity{uint64(1000 + s.n), uint64(1000 + len(out))}
			alias := fmt.Sprintf("node:N%d", s.rnd.IntN(4))
			loc, _ := Location(alias, id)
			out = append(out, Registration{id, alias, loc}, Update{Identity: id, Alias: alias, Version: 1})
			continue
		}
		e := v.Tables[s.rnd.IntN(len(v.Tables))]
		u := Update{Identity: e.Identity, Alias: e.Alias, Version: e.Version + uint64(s.rnd.IntN(3)), Owner: e.Owner, Rows: e.Rows, Meta: e.Meta}
		switch s.rnd.IntN(6) {
		case 0:
			out = append(out, Tombstone{Identity: e.Identity, Alias: e.Alias, Version: e.Version + uint64(s.rnd.IntN(3))})
		case 1:
			u.Alias = fmt.Sprintf("%s:R%d", e.Kind(), s.rnd.IntN(4))
			out = append(out, Rename{Identity: e.Identity, From: e.Alias, To: u.Alias}, u)
		case 2:
			u.Version, u.Owner = e.Version, []string{"", "x", "y"}[s.rnd.IntN(3)]
			fallthrough
		default:
			out = append(out, u)
		}
	}
	return out
}

// rows are those of a publish, or of one of other edits.
func (s *stranger) rows() []Row {
	for range 20 {
		o := PublishOptions{Edits: s.edits()}
		if s.rnd.IntN(3) > 0 {
			o.Commit = &Intent{ID: s.id(s.n), CreatedAt: int64(s.n)}
			if s.rnd.IntN(4) == 0 {
				o.Commit.MergedParent = s.id(s.n + s.rnd.IntN(4))
			}
		}
		p := newPlan(s.last())
		if err := p.intent(o.Commit); err != nil || p.found {
			continue
		}
		if p.take(o.Edits) == nil {
			return p.rows()
		}
	}
	return s.ended()
}

// ended is a row of a table whatever its state.
func (s *stranger) ended() []Row {
	reg := s.last().Registrations[s.rnd.IntN(len(s.last().Registrations))]
	top, _ := s.last().top(reg.Identity)
	return []Row{updateRow(&Update{Identity: reg.Identity, Alias: reg.Alias, Version: top.Version + uint64(s.rnd.IntN(3)), Rows: 1})}
}

// change makes something else of a row.
func (s *stranger) change(r *Row) {
	id, _ := r.identity()
	switch s.rnd.IntN(8) {
	case 0:
		r.Version.V += uint64(s.rnd.IntN(3)) - 1
	case 1:
		r.Version.V = uint64(s.rnd.IntN(3))
	case 2:
		r.Alias = []string{"node:R1", "node:Odd", "odd", ""}[s.rnd.IntN(4)]
	case 3:
		r.Kind = []string{KindTable, KindVersion, KindTombstone, KindCommit, KindHead, "other"}[s.rnd.IntN(6)]
	case 4:
		r.Metadata = Text{[]string{`{"head_commit_id":""}`, `{"head_commit_id":"` + s.id(s.n) + `"}`, "", `{"created_at":1,"merged_parent_commit_id":"` + s.id(s.n) + `"}`}[s.rnd.IntN(4)], true}
	case 5:
		r.Branch = Text{[]string{"main", "x"}[s.rnd.IntN(2)], true}
	case 6:
		if id.Table != 0 {
			regs := s.last().Registrations
			id = regs[s.rnd.IntN(len(regs))].Identity
			r.Table.V, r.Incarnation.V = id.Table, id.Incarnation
		}
	case 7:
		r.Location = Text{}
	}
	if id.Table != 0 && s.rnd.IntN(6) > 0 {
		r.ObjectID = r.canonicalID(id)
		if loc, ok := Location(r.Alias, id); ok && r.Kind == KindTable {
			r.Location = Text{loc, true}
		}
	}
}

// merge writes rows, each over the live one of its object id, where there is one
// and it is not missed.
func (s *stranger) merge(missed func() bool, rows ...Row) {
	at := map[string]uint64{}
	for _, r := range s.live() {
		at[r.ObjectID] = r.spot().address()
	}
	var over, added []Row
	var addrs []uint64
	for _, r := range rows {
		if a, ok := at[r.ObjectID]; ok && !missed() && !slices.Contains(addrs, a) {
			over, addrs = append(over, r), append(addrs, a)
		} else {
			added = append(added, r)
		}
	}
	schema, err := s.last().Snapshot.Schema().Arrow()
	if err != nil {
		s.t.Fatal(err)
	}
	batch := batchOf(slices.Concat(over, added), schema, memory.DefaultAllocator)
	defer batch.Release()
	s.commit(s.last().Snapshot.StageMerge(s.t.Context(), addrs, lance.RowsOf(batch), s.options()))
	s.read()
}

func (s *stranger) remove(r Row) {
	s.t.Helper()
	s.commit(s.last().Snapshot.StageDelete(s.t.Context(), []uint64{r.spot().address()}, "", s.options()))
	s.read()
}

func (s *stranger) restore(to uint64) {
	s.t.Helper()
	s.commit(s.last().Snapshot.StageRestore(s.t.Context(), to, s.options()))
	s.read()
}

// step writes a version and reads it.
func (s *stranger) step() {
	switch s.rnd.IntN(24) {
	case 0, 1:
		live := s.live()
		r := live[len(live)-1-s.rnd.IntN(min(6, len(live)-1))]
		s.remove(r)
	case 2, 3:
		s.restore(s.last().Version - uint64(s.rnd.IntN(min(3, len(s.views)))))
	default:
		rows := s.rows()
		if s.rnd.IntN(3) == 0 {
			k := s.rnd.IntN(len(rows))
			switch s.rnd.IntN(8) {
			case 0:
				rows = slices.Delete(rows, k, k+1)
			case 1:
				rows = append(rows, rows[k])
			case 2:
				rows = append(rows, s.ended()...)
			default:
				s.change(&rows[k])
			}
		}
		if len(rows) == 0 {
			rows = s.ended()
		}
		s.merge(func() bool { return s.rnd.IntN(20) == 0 }, rows...)
	}
}

// strange is a graph and who writes to it.
func strange(t *testing.T, files map[string][]byte, seed uint64) *stranger {
	t.Helper()
	store, err := fixtures.Store(memstore.Options{Name: "g"}, files)
	if err != nil {
		t.Fatal(err)
	}
	s := &stranger{t: t, rnd: rand.New(rand.NewPCG(seed, 5)), store: store}
	s.open.Branch = []string{"fix/ports", "", "archive"}[seed%3]
	s.read()
	return s
}

// read reads the newest version in full.
func (s *stranger) read() {
	s.t.Helper()
	v, err := Open(s.t.Context(), s.store, s.open)
	if err != nil {
		s.t.Fatal(err)
	}
	s.views = append(s.views, v)
}

// told says how many of some older views tell what the newest version is; all of
// them must tell it as it is read in full.
func (s *stranger) told(what string, views ...*View) (told []*View) {
	s.t.Helper()
	for _, old := range views {
		h := s.last().Head
		got := h.since(s.t.Context(), old)
		if got == nil {
			continue
		}
		if diff := Diff(got, s.last()); diff != "" {
			s.t.Fatalf("%s, since version %d of %d: %s", what, old.Version, h.Version, diff)
		}
		told = append(told, got)
	}
	return told
}

// Whatever a version holds, what is told of it since an older view is what is read
// in full, and the older view stays what it was.
func TestSinceOddRows(t *testing.T) {
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	told, all := 0, 0
	for seed := range uint64(pace.Of(40, 8)) {
		s := strange(t, files, seed)
		chain := slices.Clone(s.views)
		for range 12 {
			s.step()
			views := append(slices.Clone(s.views[max(0, len(s.views)-5):len(s.views)-1]), chain[len(chain)-1])
			all += len(views)
			got := s.told(fmt.Sprintf("seed %d", seed), views...)
			told += len(got)
			chain = append(chain, append([]*View{s.last()}, got...)[len(got)])
		}
		for _, v := range chain {
			fresh, err := Open(t.Context(), s.store, Options{Branch: v.Branch, Version: v.Version})
			if err != nil {
				t.Fatal(err)
			}
			if diff := Diff(v, fresh); diff != "" {
				t.Fatalf("seed %d, version %d was changed: %s", seed, v.Version, diff)
			}
		}
	}
	if told < all/8 {
		t.Errorf("%d of %d openings read only what is new", told, all)
	}
}

// Versions that no publish of ours makes, and that a replay of publishes would tell
// otherwise than a full reading: they are read in full.
func TestSinceOddVersions(t *testing.T) {
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	never := func() bool { return false }
	version := func(e Entry, n uint64) Row {
		return updateRow(&Update{Identity: e.Identity, Alias: e.Alias, Version: n, Owner: e.Owner, Rows: e.Rows, Meta: e.Meta})
	}
	for what, write := range map[string]func(s *stranger){
		"a head of no commit": func(s *stranger) {
			s.merge(never, headRowOf(&Commit{}))
		},
		"a version below the end of its table": func(s *stranger) {
			e := s.last().Tables[0]
			s.merge(never, tombstoneRow(Tombstone{Identity: e.Identity, Alias: e.Alias, Version: e.Version + 5}))
			s.merge(never, version(e, e.Version+2))
		},
		"the version of an ended table handed over": func(s *stranger) {
			e := s.last().Tables[0]
			s.merge(never, tombstoneRow(Tombstone{Identity: e.Identity, Alias: e.Alias, Version: e.Version}))
			e.Owner = "x"
			s.merge(never, version(e, e.Version))
		},
		"a table at version 0": func(s *stranger) {
			e := Entry{Identity: Identity{1000, 1001}, Alias: "node:Zero"}
			e.Location, _ = Location(e.Alias, e.Identity)
			s.merge(never, registrationRow(Registration{e.Identity, e.Alias, e.Location}), version(e, 0))
			s.merge(never, version(s.last().Tables[0], s.last().Tables[0].Version+1))
		},
		"a commit merged with itself": func(s *stranger) {
			s.lineage(Commit{ID: s.id(1), MergedParent: s.id(1)})
		},
		"a commit that one before it merged": func(s *stranger) {
			s.lineage(Commit{ID: s.id(1), MergedParent: s.id(2)})
			s.lineage(Commit{ID: s.id(2)})
		},
		"another row deleted after a restore": func(s *stranger) {
			a, b := s.last().Tables[0], s.last().Tables[1]
			s.merge(never, version(a, a.Version+1), version(b, b.Version+1))
			s.merge(never, version(a, a.Version+2), version(b, b.Version+2))
			was, rows := s.last().Version, s.live()
			for _, id := range []string{version(a, a.Version+1).ObjectID, version(b, b.Version+1).ObjectID} {
				s.remove(rows[slices.IndexFunc(rows, func(r Row) bool { return r.ObjectID == id })])
				s.restore(was)
			}
			s.views = slices.Delete(s.views, len(s.views)-1, len(s.views))
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := strange(t, files, 1)
			write(s)
			s.told(what, s.views[:len(s.views)-1]...)
		})
	}
}

// lineage writes a commit with its head.
func (s *stranger) lineage(c Commit) {
	v := s.last()
	c.ManifestVersion, c.Parent = v.Version+1, v.Commits.ID(0)
	s.merge(func() bool { return false }, commitRowOf(&c), headRowOf(&c))
}

// What is read otherwise than the older view was tells nothing.
func TestSinceReadOtherwise(t *testing.T) {
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	s := strange(t, files, 1)
	s.lineage(Commit{ID: s.id(1)})
	all := s.last().Snapshot.Fragments()
	later := all[len(all)-1].LastUpdated
	for what, change := range map[string]func(old, now *format.Manifest){
		"nothing": func(_, _ *format.Manifest) {},
		"a column less": func(_, now *format.Manifest) {
			now.Schema = &format.Schema{Metadata: now.Schema.Metadata, Fields: now.Schema.Fields[:len(now.Schema.Fields)-1]}
		},
		"a column in another place": func(_, now *format.Manifest) {
			now.Fragments[0].Files[0].ColumnIndices = slices.Repeat([]int32{0}, len(now.Fragments[0].Files[0].ColumnIndices))
		},
		"a base elsewhere": func(old, now *format.Manifest) {
			old.BasePaths = []format.BasePath{{ID: 1, Path: "a"}}
			now.BasePaths = []format.BasePath{{ID: 1, Path: "b"}}
		},
		"rows of a version to come": func(old, now *format.Manifest) {
			old.Fragments[0].LastUpdated, now.Fragments[0].LastUpdated = later, later
		},
	} {
		s := strange(t, files, 1)
		s.restore(s.last().Version)
		h := s.last().Head
		change(s.views[0].Snapshot.Manifest(), h.Snapshot.Manifest())
		if told := h.since(t.Context(), s.views[0]) != nil; told != (what == "nothing") {
			t.Errorf("%s: told is %v", what, told)
		}
	}
}
