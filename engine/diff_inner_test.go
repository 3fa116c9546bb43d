package engine

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/manifest"
)

func viewOf(entries ...manifest.Entry) *manifest.View {
	v := &manifest.View{}
	v.Tables = entries
	return v
}

func entryAs(alias string, id, version uint64, owner string) manifest.Entry {
	return manifest.Entry{Identity: manifest.Identity{Table: id, Incarnation: id + 100}, Alias: alias, Location: fmt.Sprint("nodes/", id), Version: version, Owner: owner}
}

// Which tables are compared with which.
func TestPairsOf(t *testing.T) {
	a := viewOf(entryAs("node:Gone", 1, 1, ""), entryAs("node:Kept", 2, 5, ""), entryAs("node:Moved", 3, 5, ""), entryAs("node:Old", 4, 1, ""),
		entryAs("node:Other", 5, 3, ""), entryAs("node:Remade", 6, 9, ""), entryAs("node:Same", 7, 2, ""))
	b := viewOf(entryAs("node:Kept", 2, 5, ""), entryAs("node:Made", 8, 1, ""), entryAs("node:Moved", 3, 6, ""), entryAs("node:New", 4, 1, ""), entryAs("node:Old", 9, 1, ""),
		entryAs("node:Other", 5, 3, "side"), entryAs("node:Remade", 10, 1, ""), entryAs("node:Same", 7, 2, ""))
	spell := func(e *manifest.Entry) string {
		if e == nil {
			return "none"
		}
		return fmt.Sprintf("%d v%d %s", e.Table, e.Version, e.Owner)
	}
	pairs, err := pairsOf(a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range pairs {
		got = append(got, p.name+": "+spell(p.a)+" → "+spell(p.b))
	}
	want := []string{
		"node:Gone: 1 v1  → none", "node:Made: none → 8 v1 ", "node:Moved: 3 v5  → 3 v6 ",
		"node:Old: none → 9 v1 ", // node:Old of before is node:New now, and did not move
		"node:Other: 5 v3  → 5 v3 side", "node:Remade: 6 v9  → 10 v1 ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if pairs, err = pairsOf(a, b, []string{"node:Gone", "Made"}); err != nil || len(pairs) != 2 {
		t.Errorf("%+v, %v", pairs, err)
	}
	if _, err := pairsOf(a, b, []string{"Nothing"}); err == nil {
		t.Error("a table that neither side has")
	}
	a.Tables[1].Doubt = "why"
	if pairs, err := pairsOf(a, b, []string{"Kept"}); err != nil || len(pairs) != 1 {
		t.Errorf("a table whose version is in doubt is taken for the same: %+v, %v", pairs, err)
	}
}

// portPair compares versions of the demo's Port table under any identity and name.
func portPair(t *testing.T, change func(a, b *manifest.Entry), limit, held int) (count DiffCount, changes []Change) {
	t.Helper()
	s, err := fixtures.DemoStore()
	if err != nil {
		t.Fatal(err)
	}
	g, err := Open(t.Context(), "", Options{Store: s, NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	_, err = do(t.Context(), g, "test", func(ctx context.Context, o *operation) (int, error) {
		view, err := o.at(ctx, At{})
		if err != nil {
			return 0, err
		}
		after, _ := view.Table("node:Port")
		before := after
		before.Version = 10
		change(&before, &after)
		c := o.comparer(limit, held)
		d, err := c.compare(ctx, tablePair{after.Alias, &before, &after})
		if err != nil {
			return 0, err
		}
		count = d.count
		changes, err = d.tell(ctx, limit)
		return 0, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return count, changes
}

// A table that was dropped and made again: everything is deleted and inserted.
func TestDiffOfARemadeTable(t *testing.T) {
	for _, limit := range []int{5, 1000} {
		count, changes := portPair(t, func(a, _ *manifest.Entry) { a.Incarnation++ }, limit, diffRowsHeld)
		if count.Deleted != 13 || count.Inserted != 12 || count.Updated != 0 || count.Physical || len(changes) != min(limit, 25) {
			t.Errorf("%+v, %d changes", count, len(changes))
		}
		for i, c := range changes {
			if (c.Op == "delete") != (c.Before != nil) || (c.Op == "insert") != (c.After != nil) {
				t.Errorf("%+v", c)
			}
			if i > 0 && changes[i-1].ID == c.ID && (changes[i-1].Op != "delete" || c.Op != "insert") {
				t.Errorf("%s is inserted before it is deleted", c.ID)
			}
		}
	}
}

// However few ids may be held at once, the answer is the same.
func TestDiffInParts(t *testing.T) {
	all := func(a, _ *manifest.Entry) { a.Version = 2 }
	want, told := portPair(t, all, 1000, diffRowsHeld)
	if want.Updated == 0 || want.Deleted+want.Inserted == 0 {
		t.Fatalf("too little differs: %+v", want)
	}
	for held := 1; held < 5; held++ {
		count, changes := portPair(t, all, 1000, held)
		if count != want || !reflect.DeepEqual(changes, told) {
			t.Errorf("holding %d: %+v, want %+v", held, count, want)
		}
	}
}

// A table under another name is the same table: each side is told under its own.
func TestDiffOfARenamedTable(t *testing.T) {
	count, changes := portPair(t, func(a, _ *manifest.Entry) { a.Alias = "node:Harbor" }, 1000, diffRowsHeld)
	if count.Deleted != 1 || count.Inserted+count.Updated != 0 || len(changes) != 1 {
		t.Fatalf("%+v, %+v", count, changes)
	}
	if c := changes[0]; c.Type != "Harbor" || string(c.Before[:16]) != `{"type":"Harbor"` {
		t.Errorf("%+v: %s", c, c.Before)
	}
}

// An id may stand several times in a damaged table: equal rows find each other.
func TestRowIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []diffRow {
			return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) diffRow {
				return diffRow{id: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id"), sum: [16]byte{rapid.Byte().Draw(t, "sum") % 3}}
			}), 0, 9).Draw(t, name)
		}
		held, passing := draw("held"), draw("passing")
		x := rowIndex{first: map[string]*diffRow{}}
		for i := range held {
			x.add(&held[i])
		}
		byID := func(rows []diffRow) map[string]int {
			n := map[string]int{}
			for _, r := range rows {
				n[r.id]++
			}
			return n
		}
		equal, met := map[diffKey]int{}, map[string]int{}
		for i := range passing {
			r := &passing[i]
			other := x.take(r)
			if other == nil {
				continue
			}
			if other.id != r.id {
				t.Fatalf("%s meets %s", r.id, other.id)
			}
			met[r.id]++
			if other.sum == r.sum {
				equal[diffKey{r.id, r.sum}]++
			}
		}
		h, p := byID(held), byID(passing)
		for id := range h {
			if met[id] != min(h[id], p[id]) {
				t.Fatalf("%d of %s met, of %d and %d", met[id], id, h[id], p[id])
			}
		}
		rest := map[string]int{}
		x.rest(func(r *diffRow) { rest[r.id]++ })
		for id := range h {
			if rest[id] != h[id]-met[id] {
				t.Fatalf("%d of %s are left, want %d", rest[id], id, h[id]-met[id])
			}
		}
		if slices.Equal(sums(held), sums(passing)) {
			for k, n := range equal {
				if n == 0 {
					t.Fatalf("%v", k)
				}
			}
			if total(equal) != len(held) {
				t.Fatalf("of %d rows that both have %d met their equal", len(held), total(equal))
			}
		}
	})
}

type diffKey struct {
	id  string
	sum [16]byte
}

func total(m map[diffKey]int) (n int) {
	for _, k := range m {
		n += k
	}
	return n
}

// sums are rows as a sorted list.
func sums(rows []diffRow) []string {
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprint(r.id, r.sum))
	}
	slices.Sort(out)
	return out
}
