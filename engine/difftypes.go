package engine

import "encoding/json"

// Diff is what changed between two points of a graph: A is before, B after.
type Diff struct {
	A         At          `json:"-"` // as they were resolved: branch and manifest version are set
	B         At          `json:"-"`
	Counts    []DiffCount `json:"counts"`  // of tables that differ, by name; never nil
	Changes   []Change    `json:"changes"` // by table, then id; never nil
	Truncated bool        `json:"truncated"`
	// Types are those of the properties of tables that differ, as the tables
	// themselves spell them: by alias, then by property.
	Types map[string]map[string]string `json:"-"`
}

// DiffCount counts the entities of one table that differ.
type DiffCount struct {
	Table    string `json:"table"`
	Inserted uint64 `json:"inserted"`
	Updated  uint64 `json:"updated"`
	Deleted  uint64 `json:"deleted"`
	// Physical says that the versions differ though no entity does.
	Physical bool   `json:"physical,omitempty"`
	From     uint64 `json:"from_version"` // 0 = the table did not exist
	To       uint64 `json:"to_version"`   // 0 = the table was dropped
}

// Change is one entity that differs. Before and After are objects as `export`
// spells them; nil where the entity was not there.
type Change struct {
	Kind   string          `json:"kind"` // node or edge
	Type   string          `json:"type"`
	ID     string          `json:"id"`
	Op     string          `json:"op"` // insert, update, delete
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// VersionDiff compares two versions of one table: their layouts, and the rows.
type VersionDiff struct {
	Table     string     `json:"table"`
	Branch    string     `json:"branch"`
	A         uint64     `json:"from_version"`
	B         uint64     `json:"to_version"`
	Before    *Fragments `json:"-"`
	After     *Fragments `json:"-"`
	Kept      int        `json:"kept_fragments"`    // same files, same deletions
	Touched   int        `json:"touched_fragments"` // same files, other deletions
	Added     int        `json:"added_fragments"`
	Removed   int        `json:"removed_fragments"`
	Count     DiffCount  `json:"count"`
	Changes   []Change   `json:"changes"` // by id; never nil
	Truncated bool       `json:"truncated"`
	// Types are those of the properties, as the table itself spells them.
	Types map[string]string `json:"-"`
}

// Object is the beginning of one object of the store, as it lies there.
type Object struct {
	Key   string
	Size  int64
	Bytes []byte // the first bytes, at most as many as were asked for
}
