package format

// Field is one node of a table's schema: a column, or a part of a nested one.
// Fields are immutable once a Schema was built from them.
type Field struct {
	ID          int32  // unique in the schema, ≥ 0; the only thing that binds a column to data files
	ParentID    int32  // -1 at the top
	Name        string // leaf name
	LogicalType string // spelling of lance-table.md §2.4
	Nullable    bool
	Metadata    map[string]string // Arrow field metadata
	PrimaryKey  bool              // unenforced primary key, in either spelling
	Children    []*Field          // in schema order
}

// Schema is the tree of a table's fields with the metadata of the whole.
type Schema struct {
	Fields   []*Field // top level, in schema order
	Metadata map[string]string
}
