package txn

import (
	"strings"
	"testing"

	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/manifest"
)

// linksOf spells an interval that begins above version 3: one word a version, a
// Restore with its target, ? unknown, - missing.
func linksOf(text string) (links []Link) {
	for i, w := range strings.Fields(text) {
		l := Link{Version: uint64(4 + i), Known: true, Kind: commit.Other}
		for k := commit.Append; k < commit.Other; k++ {
			if strings.EqualFold(k.String(), strings.TrimRight(w, "0123456789!")) {
				l.Kind = k
			}
		}
		switch {
		case w == "-":
			continue
		case w == "?":
			l.Known = false
		case strings.HasSuffix(w, "!"):
			l.OnlyCleanup = true
		case l.Kind == commit.Restore:
			l.RestoredTo = uint64(w[len(w)-1] - '0')
		}
		links = append(links, l)
	}
	return links
}

func TestAdvanced(t *testing.T) {
	for text, version := range map[string]uint64{ // first version that differs; 0 = maintenance, 99 = logical without one
		"": 0, "rewrite": 0, "reservefragments rewrite": 0, "createindex": 0, "updateconfig!": 0, "updateconfig": 4,
		"append": 4, "update": 4, "delete": 4, "merge": 4, "overwrite": 4, "project": 4, "datareplacement": 4, "updatebases": 4, "clone": 4, "unheardof": 4,
		"rewrite append rewrite": 5, "append rewrite": 4,
		"append restore3": 0, "rewrite append restore4": 0, "rewrite append restore4 createindex": 0, "append restore4": 4, "append restore2": 4,
		"append restore3 append restore3": 0, "append restore3 append restore4": 6, "append restore5": 4, "restore3": 0, "restore4": 4, "restore9": 4,
		"append delete restore3 rewrite restore6 restore3": 0, "append restore3 update restore5": 0, "append restore3 update restore6": 6,
		"?": 99, "rewrite ?": 99, "rewrite - rewrite": 99, "-": 99, "append ? restore3": 99,
	} {
		a := Advanced(3, 3+uint64(len(strings.Fields(text))), linksOf(text))
		want := version
		if version == 99 {
			want = 0
		}
		if a.Logical != (version != 0) || a.Version != want || a.Logical == (a.Why == "") {
			t.Errorf("%q: %+v, want version %d", text, a, version)
		}
	}
	if a := Advanced(3, 3+MaxChain+1, make([]Link, MaxChain+1)); !a.Logical || !strings.Contains(a.Why, "1026") {
		t.Errorf("a history that is too long: %+v", a)
	}
	if a := Advanced(3, 2, nil); !a.Logical {
		t.Errorf("backwards: %+v", a)
	}
	if a := Advanced(3, 4, linksOf("rewrite rewrite")); !a.Logical {
		t.Errorf("more than the interval: %+v", a)
	}
	if a := Advanced(0, ^uint64(0), nil); !a.Logical {
		t.Errorf("everything: %+v", a)
	}
}

func TestLinkOf(t *testing.T) {
	if l := LinkOf(7, nil); l.Known || l.Version != 7 {
		t.Errorf("%+v", l)
	}
	value := "x"
	entry := func(key string, v *string) *tablepb.UpdateMap {
		return &tablepb.UpdateMap{UpdateEntries: []*tablepb.UpdateMapEntry{{Key: key, Value: v}}}
	}
	for what, c := range map[string]struct {
		u    *tablepb.UpdateConfig
		only bool
	}{
		"newer form":           {&tablepb.UpdateConfig{ConfigUpdates: entry("lance.auto_cleanup.interval", nil)}, true},
		"older form":           {&tablepb.UpdateConfig{DeleteKeys: []string{"lance.auto_cleanup.interval", "lance.auto_cleanup.older_than"}}, true},
		"sets it":              {&tablepb.UpdateConfig{ConfigUpdates: entry("lance.auto_cleanup.interval", &value)}, false},
		"another key":          {&tablepb.UpdateConfig{ConfigUpdates: entry("lance.other", nil)}, false},
		"another key too":      {&tablepb.UpdateConfig{DeleteKeys: []string{"lance.auto_cleanup.interval", "x"}}, false},
		"sets another":         {&tablepb.UpdateConfig{DeleteKeys: []string{"lance.auto_cleanup.interval"}, UpsertValues: map[string]string{"x": "y"}}, false},
		"metadata too":         {&tablepb.UpdateConfig{DeleteKeys: []string{"lance.auto_cleanup.interval"}, TableMetadataUpdates: &tablepb.UpdateMap{}}, false},
		"replaces all":         {&tablepb.UpdateConfig{ConfigUpdates: &tablepb.UpdateMap{Replace: true}, DeleteKeys: []string{"lance.auto_cleanup.interval"}}, false},
		"nothing":              {&tablepb.UpdateConfig{}, false},
		"metadata of a schema": {&tablepb.UpdateConfig{DeleteKeys: []string{"lance.auto_cleanup.interval"}, SchemaMetadata: map[string]string{"x": "y"}}, false},
	} {
		tx := &format.Transaction{UUID: "u", ReadVersion: 6, Proto: &tablepb.Transaction{Operation: &tablepb.Transaction_UpdateConfig{UpdateConfig: c.u}}}
		if l := LinkOf(7, tx); l.OnlyCleanup != c.only || l.Kind != commit.UpdateConfig || l.UUID != "u" || l.ReadVersion != 6 {
			t.Errorf("%s: %+v", what, l)
		}
	}
	restore := &format.Transaction{Proto: &tablepb.Transaction{Operation: &tablepb.Transaction_Restore{Restore: &tablepb.Restore{Version: 5}}}}
	if l := LinkOf(7, restore); l.Kind != commit.Restore || l.RestoredTo != 5 {
		t.Errorf("%+v", l)
	}
}

func TestCompare(t *testing.T) {
	one := func(version uint64) manifest.Entry {
		return manifest.Entry{Identity: manifest.Identity{Table: 1, Incarnation: 2}, Alias: "node:Port", Location: "nodes/x", Version: version}
	}
	two := manifest.Entry{Identity: manifest.Identity{Table: 3, Incarnation: 4}, Alias: "node:Vessel", Location: "nodes/y", Version: 7}
	base := Base{Head: &headID, IRHash: "a", IdentityVersion: 2}
	seen := State{base, []manifest.Entry{one(3), two}}
	links := func(text string) map[Identity][]Link {
		return map[Identity][]Link{{Table: 1, Incarnation: 2}: linksOf(text)}
	}
	with := func(edit func(*State)) State {
		s := State{base, []manifest.Entry{one(3), two}}
		s.Base.Head = &otherID // every commit moves it
		edit(&s)
		return s
	}
	for what, c := range map[string]struct {
		live  State
		links string
		table string // that is logical; "-" = not one table's; "" = maintenance
	}{
		"a commit without tables": {with(func(*State) {}), "", ""},
		"optimized":               {with(func(s *State) { s.Tables[0].Version = 5 }), "reservefragments rewrite", ""},
		"updated":                 {with(func(s *State) { s.Tables[0].Version = 4 }), "update", "node:Port"},
		"optimized and updated":   {with(func(s *State) { s.Tables[0].Version = 6 }), "rewrite update rewrite", "node:Port"},
		"history gone":            {with(func(s *State) { s.Tables[1].Version = 8 }), "", "node:Vessel"},
		"schema":                  {with(func(s *State) { s.Base.IRHash = "b" }), "", "-"},
		"branch made anew":        {with(func(s *State) { s.Base.BranchID = []Fork{{Version: 1, UUID: "x"}} }), "", "-"},
		"a table more":            {with(func(s *State) { s.Tables = append(s.Tables, manifest.Entry{Alias: "node:New"}) }), "", "-"},
		"another table":           {with(func(s *State) { s.Tables[1].Incarnation = 5 }), "", "node:Vessel"},
		"renamed":                 {with(func(s *State) { s.Tables[1].Alias = "node:Ship" }), "", "node:Vessel"},
		"forked":                  {with(func(s *State) { s.Tables[1].Owner = "b" }), "", "node:Vessel"},
		"went back":               {with(func(s *State) { s.Tables[0].Version = 2 }), "", "node:Port"},
	} {
		a := Compare(seen, c.live, links(c.links))
		if table := map[bool]string{true: "-", false: a.Table}[a.Logical && a.Table == ""]; table != c.table || a.Logical != (c.table != "") {
			t.Errorf("%s: %s (%s)", what, a, table)
		}
	}
}
