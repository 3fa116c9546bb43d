package lance

import "context"

// VerifyOptions say how far Verify looks.
type VerifyOptions struct {
	Deep bool // also open every data file and read every deletion file
}

// Problem is one thing that is wrong.
type Problem struct {
	ID           string // what was checked: file-missing, file-size, rows, deletions, row-ids, flags, fragment-ids, index, ref …
	Version      uint64
	Key          string // object
	Found        string
	Expected     string
	RowsAffected uint64
}

// Report is what Verify found and how much it looked at.
type Report struct {
	Problems  []Problem
	Files     int
	Fragments int
	Rows      uint64
	Refs      int
}

// Verify checks a snapshot against the objects that it names.
func Verify(ctx context.Context, s *Snapshot, o VerifyOptions) (*Report, error) {
	return nil, nil
}
