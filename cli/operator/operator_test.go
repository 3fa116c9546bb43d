package operator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// home writes an operator file and returns an environment that finds it.
func home(t *testing.T, yaml string) func(string) string {
	t.Helper()
	dir := t.TempDir()
	if yaml != "" {
		if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return env("OMNIGRAPH_HOME=" + dir)
}

func env(pairs ...string) func(string) string {
	return func(key string) string {
		for _, p := range pairs {
			if k, v, _ := strings.Cut(p, "="); k == key {
				return v
			}
		}
		return ""
	}
}

func TestPath(t *testing.T) {
	for _, c := range []struct {
		pairs []string
		want  string
	}{
		{nil, ""},
		{[]string{"HOME=/h"}, "/h/.omnigraph/config.yaml"},
		{[]string{"HOME=/h", "OMNIGRAPH_HOME=/o"}, "/o/config.yaml"},
		{[]string{"HOME=/h", "OMNIGRAPH_HOME=~/o"}, "/h/o/config.yaml"},
		{[]string{"HOME=/h", "OMNIGRAPH_HOME=~"}, "/h/config.yaml"},
		{[]string{"HOME=/h", "OMNIGRAPH_HOME=~x"}, "~x/config.yaml"},
		{[]string{"OMNIGRAPH_HOME=~/o"}, "~/o/config.yaml"},
	} {
		if got := Path(env(c.pairs...)); got != c.want {
			t.Errorf("%v: %q, want %q", c.pairs, got, c.want)
		}
	}
}

func TestAbsentAndEmptyFilesAreEmpty(t *testing.T) {
	for _, yaml := range []string{"", "# nothing\n", "---\n", "{}\n", "defaults:\nprofiles:\n"} {
		c, err := Load(home(t, yaml))
		if err != nil {
			t.Errorf("%q: %v", yaml, err)
			continue
		}
		if c.Defaults != (Defaults{}) || len(c.Warnings) > 0 {
			t.Errorf("%q: %+v", yaml, c)
		}
	}
}

func TestLoad(t *testing.T) {
	c, err := Load(home(t, `
operator: {actor: ana}
defaults: {output: jsonl, table_max_column_width: 20, table_cell_layout: wrap, store: "s3://b/g"}
servers: {prod: {url: https://x}}
clusters: {brain: {root: s3://acme/brain}}
profiles: {local: {store: /g}, served: {server: prod, default_graph: g}}
aliases: {who: {server: prod, query: q, args: [a], params: {x: 1}, format: kv}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Defaults{Output: "jsonl", ColumnWidth: 20, CellLayout: "wrap", Store: "s3://b/g"}); c.Defaults != want || c.Operator.Actor != "ana" {
		t.Errorf("%+v", c)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings: %v", c.Warnings)
	}
}

func TestUnknownKeysWarnInFileOrder(t *testing.T) {
	c, err := Load(home(t, "future: {a: 1}\noperator: {actor: x, actro: y}\nprofiles:\n  p: {store: /g, color: red}\naliases: {a: {server: s, query: q, params: {anything: 1}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`line 1: nobody reads the key "future"`, `line 2: nobody reads the key "operator.actro"`, `line 4: nobody reads the key "profiles.p.color"`}
	if strings.Join(c.Warnings, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", c.Warnings)
	}
}

func TestMalformedFilesAreErrors(t *testing.T) {
	for yaml, say := range map[string]string{
		"defaults: [":                                     "yaml",
		"- a list\n":                                      "cannot unmarshal",
		"defaults: 7\n":                                   "cannot unmarshal",
		"defaults: {output: xml}\n":                       `"xml"`,
		"defaults: {table_cell_layout: x}":                "truncate or wrap",
		"defaults: {server: a, store: b}\n":               "both a server and a store",
		"defaults: {store: b, default_graph: g}\n":        "one graph already",
		"defaults: {table_max_column_width: -1}\n":        "positive",
		"servers: {x: {}}\n":                              "servers.x has no url",
		"clusters: {x: {}}\n":                             "clusters.x has no root",
		"aliases: {x: {server: a}}\n":                     "aliases.x",
		"servers: {d: {}, c: {}, b: {}, a: {}, e: {}}\n":  "servers.a has no url", // the first by name, of several
		"clusters: {d: {}, c: {}, b: {}, a: {}, e: {}}\n": "clusters.a has no root",
		"aliases: {d: {}, c: {}, b: {}, a: {}, e: {}}\n":  "aliases.a needs",
		"operator: {actor: a}\n---\noperator: {actor: b}": "more than one",
		"a: &a [*a]\n":                                    "",
	} {
		_, err := Load(home(t, yaml))
		if say == "" {
			continue // only must not hang
		}
		if err == nil || !strings.Contains(err.Error(), say) || !strings.Contains(err.Error(), "config.yaml") {
			t.Errorf("%q: %v, want it to say %q and the file", yaml, err, say)
		}
	}
}

func TestResolve(t *testing.T) {
	const file = "profiles:\n  local: {store: /g}\n  served: {server: prod}\n  two: {store: /g, cluster: c}\n  none: {}\n"
	for _, c := range []struct {
		name, yaml string
		a          Address
		pairs      []string
		want, say  string
	}{
		{name: "uri", a: Address{URI: "/x"}, want: "/x"},
		{name: "uri before profile", yaml: file, a: Address{URI: "/x", Profile: "local"}, want: "/x"},
		{name: "store", a: Address{Store: "s3://b/g"}, want: "s3://b/g"},
		{name: "both", a: Address{URI: "/x", Store: "/y"}, say: "mutually exclusive"},
		{name: "profile", yaml: file, a: Address{Profile: "local"}, want: "/g"},
		{name: "profile of the environment", yaml: file, pairs: []string{"OMNIGRAPH_PROFILE=local"}, want: "/g"},
		{name: "flag before environment", yaml: file, a: Address{Profile: "local"}, pairs: []string{"OMNIGRAPH_PROFILE=none"}, want: "/g"},
		{name: "unknown profile", yaml: file, a: Address{Profile: "x"}, say: `"x"`},
		{name: "profile of a server", yaml: file, a: Address{Profile: "served"}, say: "binds a server"},
		{name: "profile of two", yaml: file, a: Address{Profile: "two"}, say: "cluster and store"},
		{name: "profile of nothing", yaml: file, a: Address{Profile: "none"}, say: "binds nothing"},
		{name: "default store", yaml: "defaults: {store: /d}\n", want: "/d"},
		{name: "default server", yaml: "defaults: {server: prod}\n", say: "defaults.server"},
		{name: "nothing", say: "no graph addressed"},
		{name: "a server as URI", a: Address{URI: "https://h/g"}, say: "names a server"},
		{name: "a server as store", a: Address{Store: "HTTP://h"}, say: "--store names a server"},
	} {
		getenv := home(t, c.yaml)
		op, err := Load(getenv)
		if err != nil {
			t.Fatal(err)
		}
		got, err := op.Resolve(c.a, func(k string) string { return env(c.pairs...)(k) })
		switch {
		case c.say == "" && (err != nil || got != c.want):
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		case c.say != "" && (err == nil || !strings.Contains(err.Error(), c.say)):
			t.Errorf("%s: %v, want it to say %q", c.name, err, c.say)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("defaults: {store: a}\nprofiles: {p: {server: s}}\n"))
	f.Add([]byte("a: &a {b: *a}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			return
		}
		_, _ = parse(data)
	})
}
