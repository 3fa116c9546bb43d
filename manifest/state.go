package manifest

import (
	"fmt"
	"strings"
)

// Main is the name of the branch that has no name in rows.
const Main = "main"

// Identity names a table for ever: it survives a rename, and a dropped and
// re-added type gets a new one. Both numbers are non-zero.
type Identity struct {
	Table       uint64 // SchemaIR type_id
	Incarnation uint64 // SchemaIR table_incarnation_id
}

// String is id2 as object ids spell it.
func (id Identity) String() string { return fmt.Sprintf("%016x:%016x", id.Table, id.Incarnation) }

// Location is the folder of the table with that alias and identity, relative
// to the graph's root; ok is false for an alias that is neither node: nor edge:.
func Location(alias string, id Identity) (folder string, ok bool) {
	switch {
	case strings.HasPrefix(alias, "node:"):
		folder = "nodes"
	case strings.HasPrefix(alias, "edge:"):
		folder = "edges"
	default:
		return "", false
	}
	return fmt.Sprintf("%s/%016x-%016x", folder, id.Table, id.Incarnation), true
}

// TableMeta is what a publish recorded about the table's Lance manifest. It is
// never used to open the table.
type TableMeta struct {
	ManifestPath string  // key or path as the writer spelled it
	ManifestSize *uint64 // bytes; nil = not recorded
	ETag         *string // nil = not recorded
	NamingScheme *string // "V2"
}

// Entry is one live table of a graph at one manifest version.
type Entry struct {
	Identity
	Alias     string // node:Port, edge:Owns
	Location  string // folder below the graph's root: the dataset's main root
	Version   uint64 // published Lance version
	Owner     string // branch whose dataset holds Version; "" = main
	Rows      uint64 // recorded entity count; not verified
	Meta      TableMeta
	Published uint64 // manifest version whose publish wrote the entry; 0 = not known
	Doubt     string // why this entry may not be what is published; "" = exact
}

// Kind is node or edge, Name the type's name.
func (e Entry) Kind() string { k, _, _ := strings.Cut(e.Alias, ":"); return k }

// Name is the type's name.
func (e Entry) Name() string { _, n, _ := strings.Cut(e.Alias, ":"); return n }

// Registration is one table row.
type Registration struct {
	Identity
	Alias    string
	Location string
}

// Tombstone says that a table ended: versions ≤ Version are not live.
type Tombstone struct {
	Identity
	Alias   string
	Version uint64
	Updated uint64 // manifest version that wrote the row; 0 = not known

	row RowRef
}

// Commit is one graph_commit row.
type Commit struct {
	ID              string
	Branch          string  // "" = main
	ManifestVersion uint64  // version of the branch's __manifest that the commit made
	Parent          string  // "" = none (genesis)
	MergedParent    string  // "" = not a merge
	Actor           *string // nil = none
	CreatedAt       int64   // µs since 1970, UTC
}

// State is the fold of all rows of one version of `__manifest`. It is
// immutable once made.
type State struct {
	Tables        []Entry           // live, byte order of Alias
	Registrations []Registration    // every table row, by identity
	Versions      Versions          // every table_version row, by identity, version, Updated
	Tombstones    []Tombstone       // every tombstone, by identity, version
	Heads         map[string]string // suffix of graph_head rows (main, branch) → commit id
	Commits       *Commits          // newest first: manifest version, time, id; never nil
	Ignored       map[string]int    // rows of unknown kinds, by kind
	// LineageDoubt says why commits or heads may be missing; "" = complete.
	LineageDoubt string

	at places
}

// places are the addresses of the rows that a publish may replace: fragment<<32
// | physical row.
type places struct {
	heads    map[string]uint64   // by suffix
	tables   map[Identity]uint64 // table rows
	versions map[Identity]uint64 // of each table the live row of the greatest version
}
