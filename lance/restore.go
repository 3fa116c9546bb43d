package lance

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// StageRestore makes the content of an older version of the branch the newest
// again: rows, schema and indexes. s is the newest version, and the restore is
// to be committed Exact, as the version after it: Lance lets a restore win over
// whatever lands beside it, which would take somebody's rows back. Ids of rows
// and fragments go on above those of both versions, so that none is given out
// twice. One GET of the version's manifest; no data is read or written.
//
// Inserted are the rows of that version, Deleted those of s. Several programs
// may stage and commit the same restore under one UUID: one version comes of it.
//
// Errors: NotFoundError when there is no such version any more;
// DamagedManifestError; InputError about one above s.
func (s *Snapshot) StageRestore(ctx context.Context, to uint64, o StageOptions) (*Staged, error) {
	if err := s.manifest.WriterFlags.CheckWritable(); err != nil {
		return nil, fmt.Errorf("writing to %s: %w", s.env.at(), err)
	}
	if to == 0 || to > s.Version() {
		return nil, &InputError{s.env.at(), fmt.Sprintf("version %d cannot be restored on version %d", to, s.Version())}
	}
	old, err := s.restored(ctx, to)
	if err != nil {
		return nil, fmt.Errorf("restoring version %d of %s: %w", to, s.env.at(), err)
	}
	rows, known := old.CountRows()
	if !known {
		return nil, fmt.Errorf("restoring version %d of %s: %w", to, s.env.at(), format.Unsupportedf("some fragment of it does not record how many rows it has"))
	}
	st, err := newStaging(ctx, s.env, s.dir, s.manifest.Schema, o)
	if err != nil {
		return nil, err
	}
	st.base, st.out.Base, st.out.Inserted = s, s, rows
	st.out.RowsBefore, _ = s.CountRows()
	st.out.Deleted = st.out.RowsBefore
	st.out.Txn.ReadVersion = s.Version()
	st.out.Txn.Operation = &tablepb.Transaction_Restore{Restore: &tablepb.Restore{Version: to}}
	return st.done(nil)
}

// restored opens an older version of the branch under the name that Commit
// knows.
func (s *Snapshot) restored(ctx context.Context, to uint64) (*Snapshot, error) {
	if to == s.Version() {
		return s, nil
	}
	old, err := s.env.read(ctx, ChainVersion{Version: to, Object: Object{Key: format.Join(s.dir, format.VersionsDir, format.ManifestName(to))}})
	if errors.Is(err, blob.ErrNotExist) {
		return nil, &NotFoundError{Where: s.env.at(), Version: to}
	}
	return old, err
}
