package manifest

// CurrentStamp is the internal schema version that this engine reads and
// writes in full.
const CurrentStamp = 6

// StampKey is the key in the schema metadata of `__manifest`.
const StampKey = "omnigraph:internal_schema_version"

// Stamp is the internal schema version of a graph.
type Stamp struct {
	Version int    // 0 when absent or not a number
	Raw     string // as stored
	Present bool
}

// OK reports whether the graph is of the generation that is read in full.
func (s Stamp) OK() bool { return s.Version == CurrentStamp }

// Finding is the sentence to say about a stamp that is not OK: found,
// expected, what follows. "" when it is OK.
func (s Stamp) Finding() string { return "" }
