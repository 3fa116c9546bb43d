package engine

// VersionsOptions say what to tell of a version chain.
type VersionsOptions struct {
	Limit   int  // newest versions only; 0 = all
	Details bool // read the manifests of the versions told
	Newest  int  // with Details: only of so many of the newest; 0 = of all told
	Holders bool // say what holds each version
}

// RowsOptions select rows.
type RowsOptions struct {
	Offset  uint64   // rows that meet Where to pass over
	Limit   int      // 0 = 100 for Rows, all for StreamRows
	Where   string   // condition of package engine/where; "" = every row
	Columns []string // nil = all; id (and src, dst of an edge) are always there
	Sort    string   // order by this column; "" = physical order
	Desc    bool     // with Sort: greatest first
}

// DiffOptions select what a comparison tells. Counts are always whole.
type DiffOptions struct {
	Tables []string // node:T, edge:T; nil = all
	Limit  int      // changes told; 0 = 1000
}

// NeighborsOptions bound a walk.
type NeighborsOptions struct {
	Edge    string // only this edge type; "" = all
	Out, In bool   // both false = both
	Depth   int    // 0 = 1
	Limit   int    // edges; 0 = 1000
	// Unchecked leaves out to look whether the node is there: edges are told of
	// one that is not, too.
	Unchecked bool
}

// VerifyOptions say how far to look.
type VerifyOptions struct {
	Deep   bool   // also read rows
	Branch string // only this branch; "" = all
}
