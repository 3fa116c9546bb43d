package schema

// The objects of the contract, at the graph's root.
const (
	SourceKey       = "_schema.pg"
	IRKey           = "_schema.ir.json"
	StateKey        = "__schema_state.json"
	StagingSuffix   = ".staging"
	StagedSourceKey = SourceKey + StagingSuffix
	StagedIRKey     = IRKey + StagingSuffix
	StagedStateKey  = StateKey + StagingSuffix
)

// Keys are the objects to fetch for Load; StagedKeys those that are normally
// absent.
var (
	Keys       = []string{SourceKey, IRKey, StateKey}
	StagedKeys = []string{StagedSourceKey, StagedIRKey, StagedStateKey}
)

// File is one fetched object. Err wraps fs.ErrNotExist when it is not there;
// any other error means that it may be there and was not read.
type File struct {
	Data []byte
	Err  error
}

// Table is a live table as `__manifest` has it.
type Table struct {
	Alias       string // node:Port
	ID          uint64 // stable_table_id
	Incarnation uint64
}

// Published is what `__manifest` says: what the contract must fit.
type Published struct {
	Known  bool // false: the catalogue could not be read, nothing is compared
	Tables []Table
	// TargetIRHash is set when a pending schema apply is visible in the lineage:
	// the hash of the IR that was published.
	TargetIRHash string
}

// Contract is the schema of a graph as far as it can be trusted.
type Contract struct {
	Source    string // text of _schema.pg (staged one when Staged)
	HasSource bool   //
	IR        *IR    // nil: types are not known; Problems say why
	ShapeHash string // recomputed from IR
	IRHash    string // recomputed from IR
	State     *Marker
	Staged    bool // decisions 51: read with the staged files
	Problems  []Problem
}

// Marker is __schema_state.json.
type Marker struct {
	FormatVersion   uint32 `json:"format_version"`
	ShapeHash       string `json:"schema_shape_hash"`
	IRHash          string `json:"schema_ir_hash"`
	IdentityVersion uint32 `json:"schema_identity_version"`
	IdentityDomain  string `json:"schema_identity_domain"`
}

// Problem is something wrong with the contract.
type Problem struct {
	Key     string // object
	Rule    string // missing, unreadable, syntax, rule, hash, identity, staging
	Text    string // found, expected
	Refuses bool   // the Rust engine refuses the graph for it
}

func (p Problem) Error() string { return p.Key + ": " + p.Text }

// Load checks the files against each other and against what is published.
// files holds Keys and those StagedKeys that exist. It never fails: a contract
// that cannot be trusted has no IR and says why.
func Load(files map[string]File, pub Published) *Contract { return &Contract{} }
