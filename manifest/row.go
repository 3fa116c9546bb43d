package manifest

// Text and Number are nullable column values.
type (
	// Text is a nullable string.
	Text struct {
		V   string
		Set bool
	}
	// Number is a nullable u64.
	Number struct {
		V   uint64
		Set bool
	}
)

// Row is one decoded row of `__manifest`.
type Row struct {
	ObjectID    string
	Kind        string // object_type
	Location    Text
	Metadata    Text
	Alias       string // table_key
	Table       Number // stable_table_id
	Incarnation Number // table_incarnation_id
	Version     Number // table_version
	Branch      Text   // table_branch
	Rows        Number // row_count

	Fragment uint64 // where the row lies
	Offset   uint32 // physical row in the fragment
	Created  uint64 // manifest version that first wrote it
	Updated  uint64 // manifest version that last wrote it
	Deleted  bool   // the row is gone at this version; kept for the table's history
}
