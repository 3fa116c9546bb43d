package promote_test

import (
	"context"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/recovery/promote"
	"github.com/omnideck/omnideck/schema"
)

// TestLeftoverOfKilledApplies: the staged files of every killed state, when its
// record is lost: before the publish they go, after it they are put in place; and
// then the contract is the one of the tables that are published.
func TestLeftoverOfKilledApplies(t *testing.T) {
	for _, s := range states(t) {
		want := promote.Delete
		if s.k >= 17 {
			want = promote.Finish
		}
		l, err := promote.Leftover(t.Context(), s.store, s.published)
		if err != nil {
			t.Fatal(err)
		}
		if staged := s.k >= 10 && s.k <= 22; staged != (l != nil) {
			t.Errorf("state %d: %+v", s.k, l)
		}
		if l == nil {
			continue
		}
		if l.Right != want || l.Text == "" || len(l.Evidence) != 4 {
			t.Errorf("state %d: %s: %s %q", s.k, l.Right, l.Text, l.Evidence)
		}
		carryOut(t, s.store, l)
		c, bodies := contract(t, s.store, s.published)
		if len(bodies) != 3 || c.IR == nil || c.Unconfirmed != "" || len(c.Problems) > 0 {
			t.Errorf("state %d, %s: left are %d files, %v", s.k, l.Right, len(bodies), c.Problems)
		}
	}
}

func carryOut(t *testing.T, store *memstore.Store, l *promote.LeftStaging) {
	t.Helper()
	var err error
	switch l.Right {
	case promote.Finish:
		err = promote.Promote(t.Context(), store, l.Target)
	case promote.Delete:
		err = promote.Unstage(t.Context(), store, l.Keys)
	}
	if err != nil {
		t.Errorf("%s: %v", l.Text, err)
	}
}

const domain = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

// made is a schema, its objects and tables.
type made struct {
	objects map[string]string
	tables  []schema.Table
}

func contractOf(t *testing.T, source string, shift uint64) made {
	t.Helper()
	shape, err := schema.Compile([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	ir := shape.Resolve(domain)
	for i := range ir.Nodes { // as if the types were dropped and made anew
		ir.Nodes[i].Incarnation += shift
		for _, c := range ir.Nodes[i].Constraints {
			for _, f := range c.Fields {
				if f.Prop == nil {
					f.Incarnation += shift
				}
			}
		}
	}
	ir.NextID += shift
	m := made{objects: map[string]string{}}
	for _, o := range schema.Objects([]byte(source), ir) {
		m.objects[o.Key] = string(o.Data)
	}
	for _, n := range ir.Nodes {
		m.tables = append(m.tables, schema.Table{Alias: n.Alias(), ID: n.ID, Incarnation: n.Incarnation})
	}
	return m
}

// leftover is a line of the table: staged files beside live ones, and what is right
// about them.
type leftover struct {
	live, staged map[string]string
	published    []schema.Table
	right        promote.Right
	text         string
}

func leftovers(t *testing.T) map[string]leftover {
	one, wide := contractOf(t, "node A { name: String @key }", 0), contractOf(t, `node A @description("x") { name: String @key }`, 0)
	two, three := contractOf(t, "node A { name: String @key }\nnode B { name: String @key }", 0), contractOf(t, "node C { name: String @key }", 0)
	anew := contractOf(t, "node A { name: String @key x: I32? }", 7)
	type files = map[string]string
	all := func(m made) files {
		return files{schema.SourceKey: m.objects[schema.SourceKey], schema.IRKey: m.objects[schema.IRKey], schema.StateKey: m.objects[schema.StateKey]}
	}
	only := func(m made, keys ...string) files {
		out := files{}
		for _, k := range keys {
			out[k] = m.objects[k]
		}
		return out
	}
	mixed := func(a made, b made, keys ...string) files {
		out := all(a)
		for _, k := range keys {
			out[k] = b.objects[k]
		}
		return out
	}
	return map[string]leftover{
		"the same shape":                     {all(one), all(one), one.tables, promote.Delete, "shape"},
		"the same shape, text alone":         {all(one), only(one, schema.SourceKey), one.tables, promote.Delete, "shape"},
		"before the publish":                 {all(one), all(two), one.tables, promote.Delete, "not published"},
		"before the publish, two of three":   {all(one), only(two, schema.SourceKey, schema.IRKey), one.tables, promote.Delete, "not published"},
		"after the publish":                  {all(one), all(two), two.tables, promote.Finish, "was published"},
		"after the publish, two of three":    {all(one), only(two, schema.SourceKey, schema.IRKey), two.tables, promote.Decide, "no contract"},
		"half put in place":                  {mixed(one, two, schema.SourceKey), only(two, schema.IRKey, schema.StateKey), two.tables, promote.Finish, "did not end"},
		"text put in place, all staged":      {mixed(one, two, schema.SourceKey), all(two), two.tables, promote.Finish, "live files are no contract"},
		"text put in place, not published":   {mixed(one, two, schema.SourceKey), all(two), one.tables, promote.Decide, "other tables"},
		"half put in place, not published":   {mixed(one, two, schema.SourceKey), only(two, schema.IRKey, schema.StateKey), one.tables, promote.Decide, "other tables"},
		"half removed":                       {all(one), only(two, schema.IRKey, schema.StateKey), one.tables, promote.Decide, "no contract"},
		"a property":                         {all(one), all(wide), one.tables, promote.Decide, "same tables"},
		"the same names anew, published":     {all(one), all(anew), anew.tables, promote.Finish, "was published"},
		"the same names anew, not published": {all(one), all(anew), one.tables, promote.Delete, "not published"},
		"neither":                            {all(one), all(two), three.tables, promote.Decide, "neither"},
		"no schema":                          {all(one), files{schema.SourceKey: "node {"}, one.tables, promote.Decide, "no schema"},
		"nothing live":                       {files{}, all(two), two.tables, promote.Finish, "no contract"},
		"nothing live, other tables":         {files{}, all(two), one.tables, promote.Decide, "other tables"},
		"nothing live, text alone":           {files{}, only(two, schema.SourceKey), two.tables, promote.Decide, "no contract"},
		"nothing published, live is as good": {all(one), all(two), nil, promote.Decide, "neither"},
		"hostile":                            {files{schema.SourceKey: "\xff", schema.IRKey: "[", schema.StateKey: ""}, files{schema.SourceKey: "\xff", schema.IRKey: "{}", schema.StateKey: "null"}, one.tables, promote.Decide, "no schema"},
		"the marker of another schema":       {all(one), mixed(two, wide, schema.StateKey), two.tables, promote.Decide, "no contract"},
	}
}

// TestLeftover is every line of the table.
func TestLeftover(t *testing.T) {
	for name, c := range leftovers(t) {
		s := memstore.New(memstore.Options{Name: "left"})
		put := func(key, body string) {
			if _, err := s.Put(context.Background(), key, []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		for k, body := range c.live {
			put(k, body)
		}
		for k, body := range c.staged {
			put(k+schema.Staging, body)
		}
		l, err := promote.Leftover(t.Context(), s, c.published)
		if err != nil || l == nil || len(l.Keys) != len(c.staged) {
			t.Errorf("%s: %+v, %v", name, l, err)
			continue
		}
		if l.Right != c.right || !strings.Contains(l.Text, c.text) {
			t.Errorf("%s: %s: %s\n%s", name, l.Right, l.Text, strings.Join(l.Evidence, "\n"))
		}
		if l.Right == promote.Decide {
			continue
		}
		carryOut(t, s, l)
		if got, bodies := contract(t, s, c.published); len(bodies) != 3 || got.IR == nil || got.Unconfirmed != "" || len(got.Problems) > 0 {
			t.Errorf("%s: left are %d files, %v", name, len(bodies), got.Problems)
		}
	}
}
