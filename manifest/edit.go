package manifest

// Edit is one change of what is published: a Registration (a new table), a
// Rename, an Update (a version becomes visible), or a Tombstone (a table ends).
type Edit interface{ edit() }

// Rename gives a table another alias of the same kind; its folder stays.
type Rename struct {
	Identity
	From, To string
}

// Update publishes a version of a table.
type Update struct {
	Identity
	Alias   string // as it is after the registrations and renames of the same publish
	Version uint64
	Owner   string // branch whose dataset holds Version; "" = main
	Rows    uint64
	Meta    TableMeta
	// Advance leaves the update out when the same version or a later one is
	// published already, or the table has ended: maintenance commutes. The commit
	// is left out with the last of them.
	Advance bool
}

func (Registration) edit() {}
func (Rename) edit()       {}
func (Update) edit()       {}
func (Tombstone) edit()    {}

// Expected says what must be published when the publish is made.
type Expected struct {
	Identity
	Alias   string
	Version uint64 // of an ended table that of its tombstone; 0 = no such table
}

// Intent is the commit that a publish makes. All of it is fixed before the
// first attempt; the parent is found by each.
type Intent struct {
	ID           string  // a ULID that no commit has
	MergedParent string  // head of the branch merged; "" = no merge
	Actor        *string // nil = none
	CreatedAt    int64   // µs since 1970, UTC
}
