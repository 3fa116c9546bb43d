package operator

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// known are the keys of each section; those of sections are looked into, and a
// section under "*" is one of many, by name.
var known = map[string][]string{
	"":           {"operator", "defaults", "servers", "clusters", "profiles", "aliases"},
	"operator":   {"actor"},
	"defaults":   {"output", "table_max_column_width", "table_cell_layout", "server", "store", "default_graph"},
	"servers.*":  {"url"},
	"clusters.*": {"root"},
	"profiles.*": {"server", "cluster", "store", "default_graph"},
	"aliases.*":  {"server", "graph", "query", "args", "params", "format"},
}

// unknownKeys says which keys nobody reads, in the order of the file.
func unknownKeys(tree *yaml.Node) []string {
	var out []string
	if len(tree.Content) == 1 {
		walk(tree.Content[0], "", "", &out)
	}
	return out
}

// walk visits a mapping; section is its name in known, path the one shown.
func walk(n *yaml.Node, section, path string, out *[]string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	keys, listed := known[section]
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		inner := join(section, key)
		switch {
		case listed && !slices.Contains(keys, key):
			*out = append(*out, fmt.Sprintf("line %d: nobody reads the key %q", n.Content[i].Line, join(path, key)))
			continue
		case !listed:
			inner = join(section, "*")
		}
		_, section1 := known[inner]
		_, section2 := known[join(inner, "*")]
		if section1 || section2 {
			walk(value, inner, join(path, key), out)
		}
	}
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "." + b
}
