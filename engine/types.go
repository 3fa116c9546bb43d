package engine

import (
	"time"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
)

// The values in this file are what the engine answers. They are plain data,
// safe to keep, and carry the JSON names that the verbs print: those of the
// Rust CLI where it has the verb, those of cli.md otherwise.

// Severity orders findings. Only SeverityError makes a verb exit with 3.
type Severity string

// The severities, worst last.
const (
	SeverityOK    Severity = "ok"
	SeverityInfo  Severity = "info"
	SeverityWarn  Severity = "warn"
	SeverityError Severity = "error"
)

// Finding is one thing that the doctor can say about a graph. ID is G and a
// number of engine-semantics §9, or a letter and a number of our own.
type Finding struct {
	ID       string     `json:"id"`
	Severity Severity   `json:"severity"`
	Title    string     `json:"title"`    // one sentence: what was found, on which object
	Trust    string     `json:"trust"`    // what is still trustworthy, "" when everything is
	Evidence []Evidence `json:"evidence"` // never nil
	Action   *Action    `json:"action,omitempty"`
}

// Evidence is an object and the fact seen on it.
type Evidence struct {
	Key  string `json:"key"`
	Fact string `json:"fact"`
}

// Action is the next safe step of a finding.
type Action struct {
	Verb   string   `json:"verb"` // of the command line: one word, or two as "branch list"; the address stands behind it
	Args   []string `json:"args"`
	Danger string   `json:"danger"` // none, low, medium, high
}

// Fact is a name and a value about the store or the process.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Info is the answer of `info`: what can be said without reading rows of
// node and edge tables.
type Info struct {
	URI                   string       `json:"uri"`
	Kind                  string       `json:"kind"` // omnigraph or lance
	InternalSchemaVersion int          `json:"internal_schema_version"`
	Branch                string       `json:"branch"`
	GraphManifestVersion  uint64       `json:"graph_manifest_version"`
	HeadCommit            string       `json:"head_commit"`
	Branches              int          `json:"branches"` // 0 = could not be listed
	Types                 int          `json:"types"`
	Rows                  uint64       `json:"rows"` // sum of the recorded entity counts; not verified
	Manifest              ManifestInfo `json:"manifest"`
	PendingRecovery       []Pending    `json:"pending_recovery"`
	Findings              []Finding    `json:"findings"` // worst first; never nil
	Store                 []Fact       `json:"store"`
	Unread                []string     `json:"unread,omitempty"` // parts that the store did not give: UnreadBranches …
}

// ManifestInfo is the shape of `__manifest` on the branch looked at.
type ManifestInfo struct {
	Fragments int    `json:"fragments"`
	Versions  int    `json:"versions"`       // manifest objects seen; see VersionsExact
	Exact     bool   `json:"versions_exact"` // false: more than one LIST page, not counted on
	Bytes     uint64 `json:"bytes"`          // of the newest manifest and the data files that it names
}

// Pending is one sidecar in `__recovery/`, as far as it can be read.
type Pending struct {
	Key           string         `json:"key"`
	OperationID   string         `json:"operation_id"`
	Kind          string         `json:"writer_kind"` // Mutation, Load, SchemaApply, BranchMerge, EnsureIndices, Optimize
	Branch        string         `json:"branch"`
	Phase         string         `json:"phase"` // Armed, EffectsConfirmed, "" when the kind has none
	StartedAt     time.Time      `json:"started_at"`
	SchemaVersion int            `json:"schema_version"`
	CommitID      string         `json:"graph_commit_id,omitempty"`
	Actor         string         `json:"actor_id,omitempty"`
	Tables        []PendingTable `json:"tables"`
	Moved         bool           `json:"moved"` // its table paths name another root
	Published     bool           `json:"published"`
	Problem       string         `json:"problem,omitempty"` // why it cannot be read or does not fit
	Refused       bool           `json:"refused,omitempty"` // it cannot be read in full or breaks a rule: nobody acts on it
	// WaitUntil is when a record stops counting as that of a writer at work; zero
	// = it had already when it was read, or is refused.
	WaitUntil time.Time `json:"wait_until,omitzero"`
}

// PendingTable is one table that a sidecar pins.
type PendingTable struct {
	Table     string `json:"table"`
	Path      string `json:"path"`
	Branch    string `json:"branch,omitempty"`
	Expected  uint64 `json:"expected_version"`
	Planned   uint64 `json:"post_commit_pin"`
	Confirmed uint64 `json:"confirmed_version,omitempty"`
}

// At says where in history to look. The zero value is the head of main.
// Text is what a user types after --at: a branch, a commit id (or a unique
// prefix or suffix of one), or a manifest version of Branch.
type At struct {
	Branch  string // "" = main
	Commit  string // commit id: time travel to the manifest version that it recorded
	Version uint64 // manifest version on Branch; 0 = head
}

// Snapshot is the visible state of a graph at one point: one entry per table.
type Snapshot struct {
	GraphBranch           string    `json:"graph_branch"`
	GraphManifestVersion  uint64    `json:"graph_manifest_version"`
	InternalSchemaVersion int       `json:"internal_schema_version"`
	Datasets              []Dataset `json:"datasets"` // byte order of edge:T / node:T
}

// Dataset is one published table.
type Dataset struct {
	EntityKind    string  `json:"entity_kind"` // node or edge
	TypeName      string  `json:"type_name"`
	Path          string  `json:"dataset_path"`
	Version       uint64  `json:"published_dataset_version"`
	NativeBranch  *string `json:"native_dataset_branch"` // nil = main
	EntityCount   uint64  `json:"entity_count"`
	StableID      uint64  `json:"-"`
	IncarnationID uint64  `json:"-"`
}

// Table is the name by which tables are asked for: node:Port, edge:Owns.
func (d Dataset) Table() string { return d.EntityKind + ":" + d.TypeName }

// Commit is one graph commit.
type Commit struct {
	ID              string  `json:"graph_commit_id"`
	Branch          *string `json:"graph_branch"` // nil = main
	ManifestVersion uint64  `json:"graph_manifest_version"`
	Parent          *string `json:"parent_commit_id"`
	MergedParent    *string `json:"merged_parent_commit_id"`
	Actor           *string `json:"actor_id"`
	CreatedAt       int64   `json:"created_at"` // µs since 1970, UTC
}

// BranchName is the branch's name, main included.
func (c Commit) BranchName() string {
	if c.Branch == nil {
		return "main"
	}
	return *c.Branch
}

// Time is CreatedAt as a time.
func (c Commit) Time() time.Time { return time.UnixMicro(c.CreatedAt).UTC() }

// LogEntry is a commit and the tables that it moved.
type LogEntry struct {
	Commit
	Changed []TableChange `json:"changed"` // never nil
}

// TableChange is what one commit did to one table, from the published counts.
// FragmentsDelta is nil where the data manifests were not read.
type TableChange struct {
	Table          string `json:"table"`
	FromVersion    uint64 `json:"from_version"` // 0 = the table did not exist
	ToVersion      uint64 `json:"to_version"`   // 0 = the table was dropped
	RowsDelta      int64  `json:"rows_delta"`
	FragmentsDelta *int   `json:"fragments_delta"`
}

// Branch is one graph branch with its place among the others.
type Branch struct {
	Name            string    `json:"name"`
	Parent          string    `json:"parent,omitempty"`       // "" = main's own line
	ForkVersion     uint64    `json:"fork_version,omitempty"` // manifest version of Parent that it began at
	Created         time.Time `json:"created_at,omitzero"`    //
	ManifestVersion uint64    `json:"graph_manifest_version"` //
	Head            string    `json:"head_commit,omitempty"`  // effective head
	OwnHead         bool      `json:"own_head"`               // false: a lazy branch, nothing committed on it
	OwnedTables     int       `json:"owned_tables"`           // tables whose published entry it owns
	NeededBy        []string  `json:"needed_by"`              // branches that read this one's data; never nil
	Ahead           int       `json:"ahead_of_main"`          // commits not on main
	Problem         string    `json:"problem,omitempty"`      // why it could not be read
	Findings        []Finding `json:"findings,omitempty"`
}

// Schema is the accepted schema contract of a graph.
type Schema struct {
	Source    string       `json:"schema_source"`
	Types     []SchemaType `json:"types,omitempty"`
	Finding   *Finding     `json:"finding,omitempty"` // contract damaged, staged or unequal: what holds
	Staged    bool         `json:"staged,omitempty"`  // decisions 51: read with the staged contract
	ShapeHash string       `json:"schema_shape_hash,omitempty"`
	IRHash    string       `json:"schema_ir_hash,omitempty"`

	ir *schema.IR // nil: the types are not known, or it was not read from a graph
}

// SchemaType is one node or edge type.
type SchemaType struct {
	Kind        string           `json:"kind"` // node or edge
	Name        string           `json:"name"`
	From, To    string           `json:"-"` // of an edge
	Properties  []SchemaProperty `json:"properties"`
	Constraints []string         `json:"constraints"` // as .pg spells them
	Implements  []string         `json:"implements,omitempty"`
}

// SchemaProperty is one property as .pg spells it.
type SchemaProperty struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // String, [String], Vector(8), enum(a, b) …
	Nullable bool   `json:"nullable"`
	Key      bool   `json:"key,omitempty"`
}

// Holder says why a version of a table must stay.
type Holder struct {
	Kind string `json:"kind"` // head, branch, lazy_branch, tag, merge_base, recovery, published
	Name string `json:"name"`
}

// Version is one member of a table's `_versions` chain.
type Version struct {
	Version       uint64    `json:"version"`
	CreatedAt     time.Time `json:"created_at"` // of the manifest when read, of the object otherwise
	Operation     string    `json:"operation"`  // Append, Update, Rewrite …; "" when not read
	Rows          *uint64   `json:"rows"`       // nil when the manifest was not read
	Fragments     *int      `json:"fragments"`
	ManifestBytes int64     `json:"manifest_bytes"`
	DataBytes     *uint64   `json:"data_bytes"`  // of all data files that it names; nil when the manifest was not read or leaves out a size
	AddedBytes    *uint64   `json:"added_bytes"` // of those that the next older version told does not name; nil when either was not read
	Transaction   string    `json:"transaction"`
	Writer        string    `json:"writer"`
	HeldBy        []Holder  `json:"held_by"` // never nil
	Key           string    `json:"key"`
	Problem       string    `json:"problem,omitempty"`
}

// Versions is a table's chain, newest first.
type Versions struct {
	Table     string    `json:"table"`
	Branch    string    `json:"branch"`
	Versions  []Version `json:"versions"`
	Head      uint64    `json:"head"`      // newest version that exists
	Published uint64    `json:"published"` // version that the graph names; 0 for `__manifest`: its head is what is published
	Oldest    uint64    `json:"oldest"`
	Count     int       `json:"count"` // manifests listed; more than len(Versions) when limited
	ListPages int       `json:"list_pages"`
	Bytes     int64     `json:"bytes"` // of all manifests listed
	Findings  []Finding `json:"findings"`
}

// Above reports a version that is newer than the one that the graph names.
func (v *Versions) Above(version uint64) bool {
	return v.Published > 0 && txn.Judge(v.Published, version, false) == txn.Drift
}

// Fragments is the physical layout of one table at one version.
type Fragments struct {
	Table        string       `json:"table"`
	Branch       string       `json:"branch"`
	Version      uint64       `json:"version"`
	Fragments    []Fragment   `json:"fragments"`
	Histogram    []Bucket     `json:"histogram"`
	Small        int          `json:"small"`         // fragments below TargetRows
	DeletedShare float64      `json:"deleted_share"` // of physical rows
	TargetRows   uint64       `json:"target_rows"`
	Indexes      []TableIndex `json:"indexes"`
	Bytes        uint64       `json:"bytes"`
	Rows         uint64       `json:"rows"`
}

// Fragment is a horizontal slice of a table.
type Fragment struct {
	ID           uint64         `json:"id"`
	Files        []FragmentFile `json:"files"`
	Rows         uint64         `json:"rows"` // physical, deleted ones included
	Deleted      uint64         `json:"deleted"`
	DeletionFile string         `json:"deletion_file,omitempty"`
}

// FragmentFile is one data file of a fragment.
type FragmentFile struct {
	Path    string `json:"path"`
	Bytes   uint64 `json:"bytes"`
	Version string `json:"version"`        // 2.0, 2.1, 2.2
	Base    string `json:"base,omitempty"` // dataset that owns the file when it is not this one
}

// Bucket counts fragments with From ≤ rows ≤ To.
type Bucket struct {
	From  uint64 `json:"from"`
	To    uint64 `json:"to"`
	Count int    `json:"count"`
}

// TableIndex is one logical index and what it covers.
type TableIndex struct {
	Name               string   `json:"name"`
	Kind               string   `json:"kind"` // btree, inverted, ivf_flat …
	Fields             []string `json:"fields"`
	CoveredFragments   int      `json:"covered_fragments"`
	UncoveredFragments int      `json:"uncovered_fragments"`
	CoveredRows        uint64   `json:"covered_rows"`

	Segments []IndexSegment `json:"segments"` // never nil
}

// IndexSegment is one physical part of an index: a folder under `_indices`.
type IndexSegment struct {
	UUID      string    `json:"uuid"`
	Version   uint64    `json:"dataset_version"` // that it was built from
	CreatedAt time.Time `json:"created_at,omitzero"`
	Fragments int       `json:"fragments"`         // that it covers
	Missing   int       `json:"missing_fragments"` // of those, no longer in the table
	Bytes     *uint64   `json:"bytes"`             // of its files; nil when the manifest does not say
	Base      string    `json:"base,omitempty"`    // dataset that owns the folder when it is not this one
}

// Row is one entity, in the words of `export`. Values holds JSON-ready values
// in the order of Columns of the enclosing RowPage.
type Row struct {
	ID     string `json:"id"`
	Src    string `json:"from,omitempty"` // of an edge
	Dst    string `json:"to,omitempty"`
	Line   []byte `json:"-"` // the export line, without newline
	Values []Cell `json:"-"` // aligned with RowPage.Columns
}

// Cell is one value for display. Kind tells null, an empty string, an empty
// list and a NaN apart, which text alone cannot.
type Cell struct {
	Kind CellKind
	Text string // short text: strings as they are, lists as compact JSON, blobs as size
}

// CellKind is what a Cell holds.
type CellKind uint8

// The kinds of cells.
const (
	CellNull CellKind = iota
	CellText
	CellNumber
	CellBool
	CellTime
	CellList
	CellVector
	CellBlob
)

// RowPage is a window of rows of one type.
type RowPage struct {
	Table     string
	Columns   []string // id, (src, dst), then properties sorted by name
	Types     []string // aligned with Columns: as .pg spells them
	Rows      []Row
	Offset    uint64
	Total     uint64 // recorded count of the table; not verified
	Truncated bool   // more rows stand behind this page
	Ends      Ends   // of an edge table
}

// Ends are the node types at both ends of an edge type; "" where the accepted
// schema does not say.
type Ends struct{ From, To string }

// Hit is one entity found by id.
type Hit struct {
	Kind string `json:"kind"`
	Type string `json:"type"`
	ID   string `json:"id"`
}

// NeighborEdge is one edge met on a walk.
type NeighborEdge struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Neighbors is the surroundings of one node.
type Neighbors struct {
	Edges     []NeighborEdge `json:"edges"`
	Nodes     []Hit          `json:"nodes"`
	Truncated bool           `json:"truncated"`
	// Ends are those of every edge type that was looked through, by its name.
	Ends map[string]Ends `json:"-"`
}

// Holds is the answer of `holds`.
type Holds struct {
	Table     string   `json:"table"`
	Version   uint64   `json:"version"`
	HeldBy    []Holder `json:"held_by"`
	Deletable bool     `json:"deletable"`
	Reason    string   `json:"reason"`
}

// BlobStat describes one blob value.
type BlobStat struct {
	Kind string `json:"kind"` // null, empty, inline, packed, dedicated, external
	Size uint64 `json:"size"`
	URI  string `json:"uri,omitempty"`
	Key  string `json:"key,omitempty"` // object that holds the bytes
	ETag string `json:"etag,omitempty"`
	Note string `json:"note,omitempty"` // what the other program will do, decisions 24
	// Resolved names the view that was read as the Rust engine does: a commit, or
	// manifest:BRANCH:vN:etag:E for an exact version of `__manifest`.
	Resolved string `json:"resolved_snapshot,omitempty"`
}

// Problem is one thing that verify found wrong.
type Problem struct {
	ID           string   `json:"id"`
	Severity     Severity `json:"severity"` // error, warn, info
	Table        string   `json:"table"`
	Branch       string   `json:"branch"`
	Version      uint64   `json:"version"`
	Key          string   `json:"key"`
	Found        string   `json:"found"`
	Expected     string   `json:"expected"`
	RowsAffected uint64   `json:"rows_affected"`

	// Of a rule of the schema that rows break. Entities are the first few ids that
	// do, of a cardinality sources; Property is a column, several as (a, b); Value
	// is what the first of them has there.
	Entities []string `json:"entities,omitempty"`
	Property string   `json:"property,omitempty"`
	Value    string   `json:"value,omitempty"`

	// Copies are where the rows of Entities lie, of duplicate-id.
	Copies []lance.Copy `json:"copies,omitempty"`
}

// Verification is the answer of `verify`.
type Verification struct {
	Clean    bool          `json:"clean"`    // no problem but of severity info
	Problems []Problem     `json:"problems"` // never nil
	Checked  VerifyChecked `json:"checked"`
}

// VerifyChecked counts what was really read.
type VerifyChecked struct {
	Files     int    `json:"files"`
	Fragments int    `json:"fragments"`
	Rows      uint64 `json:"rows"`
	Keys      uint64 `json:"keys"`
	Edges     uint64 `json:"edges"`
	Refs      int    `json:"refs"`
	Commits   int    `json:"commits"`
}
