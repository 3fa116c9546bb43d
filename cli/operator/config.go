// Package operator reads the operator's file of the Rust CLI,
// $OMNIGRAPH_HOME/config.yaml (by default ~/.omnigraph/config.yaml), and
// decides which graph a verb addresses (languages §5.1).
//
// An absent file is an empty one, a malformed file is an error, unknown keys
// are warnings. Of the file we use operator.actor, the defaults except server,
// and profiles that name a store; servers, clusters and aliases are checked for
// their form and otherwise left alone: this program opens storage, it talks to
// no server.
package operator

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Config is the operator's file. The zero value is an absent one.
type Config struct {
	Operator struct {
		Actor string `yaml:"actor"`
	} `yaml:"operator"`
	Defaults Defaults            `yaml:"defaults"`
	Profiles map[string]*Profile `yaml:"profiles"`
	Servers  map[string]*Server  `yaml:"servers"`
	Clusters map[string]*Cluster `yaml:"clusters"`
	Aliases  map[string]*Alias   `yaml:"aliases"`

	Path     string   `yaml:"-"` // of the file; "" when no home folder is known
	Warnings []string `yaml:"-"` // sentences about keys that nobody knows
}

// Defaults hold where no flag and no profile says otherwise.
type Defaults struct {
	Output       string `yaml:"output"`                 // table, kv, csv, jsonl, json; "" = table
	ColumnWidth  int    `yaml:"table_max_column_width"` // cells; 0 = 80
	CellLayout   string `yaml:"table_cell_layout"`      // truncate or wrap; "" = truncate
	Server       string `yaml:"server"`                 //
	Store        string `yaml:"store"`                  // URI
	DefaultGraph string `yaml:"default_graph"`          // of a server or cluster
}

// Profile binds a name to exactly one of server, cluster and store.
type Profile struct {
	Server       string `yaml:"server"`
	Cluster      string `yaml:"cluster"`
	Store        string `yaml:"store"`
	DefaultGraph string `yaml:"default_graph"`
}

// Server, Cluster and Alias are entries of the other program.
type (
	Server struct {
		URL *string `yaml:"url"`
	}
	Cluster struct {
		Root *string `yaml:"root"`
	}
	Alias struct {
		Server *string        `yaml:"server"`
		Graph  string         `yaml:"graph"`
		Query  *string        `yaml:"query"`
		Args   []string       `yaml:"args"`
		Params map[string]any `yaml:"params"`
		Format string         `yaml:"format"`
	}
)

// Formats are the spellings of defaults.output.
var Formats = []string{"table", "kv", "csv", "jsonl", "json"}

// Path is where the file is looked for, "" when no home folder is known.
func Path(getenv func(string) string) string {
	home := homeDir(getenv)
	dir := getenv("OMNIGRAPH_HOME")
	switch rest, tilde := strings.CutPrefix(dir, "~"); {
	case dir == "" && home == "":
		return ""
	case dir == "":
		dir = filepath.Join(home, ".omnigraph")
	case tilde && home != "" && (rest == "" || rest[0] == '/'):
		dir = filepath.Join(home, rest)
	}
	return filepath.Join(dir, "config.yaml")
}

func homeDir(getenv func(string) string) string {
	for _, key := range []string{"HOME", "USERPROFILE"} {
		if h := getenv(key); h != "" {
			return h
		}
	}
	return ""
}

// Load reads the file.
func Load(getenv func(string) string) (*Config, error) {
	path := Path(getenv)
	if path == "" {
		return &Config{}, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Config{Path: path}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the operator file: %w; make it readable, or name another folder in OMNIGRAPH_HOME", err)
	}
	c, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("read the operator file %s: %w; correct the file, or name another folder in OMNIGRAPH_HOME", path, err)
	}
	c.Path = path
	return c, nil
}

func parse(data []byte) (*Config, error) {
	c := &Config{}
	var tree yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&tree); err != nil {
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		return nil, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("found more than one YAML document, expected one")
	}
	if err := tree.Decode(c); err != nil {
		return nil, err
	}
	c.Warnings = unknownKeys(&tree)
	return c, c.check()
}

func (c *Config) check() error {
	d := c.Defaults
	switch {
	case d.Output != "" && !slices.Contains(Formats, d.Output):
		return fmt.Errorf("defaults.output is %q, expected one of %s", d.Output, strings.Join(Formats, ", "))
	case d.ColumnWidth < 0:
		return fmt.Errorf("defaults.table_max_column_width is %d, expected a positive number", d.ColumnWidth)
	case d.CellLayout != "" && d.CellLayout != "truncate" && d.CellLayout != "wrap":
		return fmt.Errorf("defaults.table_cell_layout is %q, expected truncate or wrap", d.CellLayout)
	case d.Server != "" && d.Store != "":
		return errors.New("defaults names both a server and a store, expected at most one; a profile can hold the other")
	case d.Store != "" && d.DefaultGraph != "":
		return errors.New("defaults names both a store and a default_graph, but a store is one graph already")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		if s := c.Servers[name]; s == nil || s.URL == nil {
			return fmt.Errorf("servers.%s has no url", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Clusters)) {
		if s := c.Clusters[name]; s == nil || s.Root == nil {
			return fmt.Errorf("clusters.%s has no root", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Aliases)) {
		if a := c.Aliases[name]; a == nil || a.Server == nil || a.Query == nil {
			return fmt.Errorf("aliases.%s needs a server and a query", name)
		}
	}
	return nil
}
