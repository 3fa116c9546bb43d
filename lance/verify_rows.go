package lance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/index"
	"github.com/omnideck/omnideck/lance/rowid"
)

// fragment checks what the manifest says about one fragment.
func (c *checker) fragment(ctx context.Context, st *fragState) error {
	f := st.f
	if d := f.Deletion; d != nil && f.PhysicalRows != 0 && d.Rows > f.PhysicalRows {
		c.add(Problem{ID: "deletions", Found: fmt.Sprintf("fragment %d: %d deleted rows", f.ID, d.Rows), Expected: fmt.Sprintf("at most its %d physical rows", f.PhysicalRows), RowsAffected: f.PhysicalRows})
	}
	c.fields(f)
	if f.PhysicalRows == 0 {
		return nil
	}
	if c.s.manifest.StableRowIDs() {
		seq, err := c.s.rowIDs(ctx, st, f.PhysicalRows)
		if err := c.sequence(ctx, f, "row-ids", "row id sequence", err); err != nil {
			return err
		}
		if seq != nil {
			c.marks(f, seq)
		}
	}
	made, last, err := c.s.versions(ctx, st, f.PhysicalRows)
	if err := c.sequence(ctx, f, "row-versions", "version sequences", err); err != nil {
		return err
	}
	for _, v := range []*rowid.Versions{made, last} {
		if v == nil {
			continue
		}
		if _, high := v.Bounds(); high > c.s.Version() {
			c.add(Problem{ID: "row-versions", Found: fmt.Sprintf("fragment %d has rows of version %d", f.ID, high), Expected: fmt.Sprintf("at most %d", c.s.Version()), RowsAffected: f.PhysicalRows})
		}
	}
	return nil
}

// sequence turns a bad sequence into a problem; other errors are passed on.
func (c *checker) sequence(ctx context.Context, f *format.Fragment, id, what string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil || !errors.Is(err, format.ErrCorrupt) && !errors.Is(err, blob.ErrNotExist) {
		return err
	}
	c.add(Problem{ID: id, Found: fmt.Sprintf("fragment %d, %s: %v", f.ID, what, err), Expected: fmt.Sprintf("one entry for each of %d rows", f.PhysicalRows), RowsAffected: f.PhysicalRows})
	return nil
}

// marks checks row ids against the mark of the next one.
func (c *checker) marks(f *format.Fragment, seq *rowid.Sequence) {
	for _, to := range seq.Runs() {
		if to > c.s.manifest.NextRowID {
			c.add(Problem{ID: "row-ids", Found: fmt.Sprintf("fragment %d holds row id %d", f.ID, to-1), Expected: fmt.Sprintf("ids below the next one, %d: the next writer gives it again", c.s.manifest.NextRowID), RowsAffected: f.PhysicalRows})
			return
		}
	}
}

// fields checks the columns that the files of a fragment claim.
func (c *checker) fields(f *format.Fragment) {
	owner := map[int32]string{}
	for i := range f.Files {
		d := &f.Files[i]
		for _, id := range d.Fields {
			if prev, dup := owner[id]; dup && id != format.Superseded {
				c.add(Problem{ID: "fields", Key: d.Path, Found: fmt.Sprintf("fragment %d: field %d is in this file and in %s", f.ID, id, prev), Expected: "each field in one file", RowsAffected: f.PhysicalRows})
			}
			owner[id] = d.Path
		}
		if v := fmt.Sprintf("%d.%d", d.Major, d.Minor); c.s.manifest.FileVersion != "" && v != c.s.manifest.FileVersion && v != "0.3" {
			c.add(Problem{ID: "file-version", Severity: "warn", Key: d.Path, Found: "format " + v, Expected: c.s.manifest.FileVersion + " as the table says: Lance refuses the next commit"})
		}
	}
}

// RetiredFields are the ids that a data file holds columns of, although the
// schema has no such field any more.
func (s *Snapshot) RetiredFields(d *format.DataFile) []int32 {
	var out []int32
	for _, id := range d.Fields {
		if id >= 0 && s.manifest.Schema.ByID(id) == nil {
			out = append(out, id)
		}
	}
	return out
}

// indexes checks the index section.
func (c *checker) indexes() {
	list, err := index.Describe(c.s.manifest)
	if err != nil {
		c.add(Problem{ID: "index", Found: err.Error(), Expected: "an index section that can be read"})
		return
	}
	for _, x := range list {
		c.out.Indexes += len(x.Segments)
		for _, p := range x.Problems {
			c.add(Problem{ID: "index", Found: fmt.Sprintf("index %s: %s", x.Name, p), Expected: "segments of one kind on the same fields that cover different fragments"})
		}
		for _, s := range x.Segments {
			for _, id := range s.Fields {
				if c.s.manifest.Schema.ByID(id) == nil && !x.Kind.System() {
					c.add(Problem{ID: "index", Severity: "warn", Found: fmt.Sprintf("index %s is on field %d", x.Name, id), Expected: "a field of the schema"})
				}
			}
			if s.DatasetVersion > c.s.Version() {
				c.add(Problem{ID: "index", Severity: "warn", Found: fmt.Sprintf("index %s was built from version %d", x.Name, s.DatasetVersion), Expected: fmt.Sprintf("at most %d", c.s.Version())})
			}
		}
	}
}

// uniqueRowIDs checks that no row id belongs to two live rows. Only deletion
// files of fragments that share ids with others are read.
func (c *checker) uniqueRowIDs(ctx context.Context) error {
	s := c.s
	if !s.manifest.StableRowIDs() {
		return nil
	}
	var runs []idRun
	for i := range s.frags {
		st := &s.frags[i]
		seq, err := s.rowIDs(ctx, st, st.f.PhysicalRows)
		if err != nil {
			continue // said already
		}
		at := uint64(0)
		for from, to := range seq.Runs() {
			runs = append(runs, idRun{from, to, at, i})
			at += to - from
		}
	}
	sortRuns(runs)
	for i := 0; i < len(runs); {
		k, top := i+1, runs[i].to
		for ; k < len(runs) && runs[k].from < top; k++ {
			top = max(top, runs[k].to)
		}
		if k > i+1 {
			if err := c.shared(ctx, runs[i:k]); err != nil {
				return err
			}
		}
		i = k
	}
	return nil
}

func sortRuns(runs []idRun) {
	slices.SortFunc(runs, func(a, b idRun) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.frag, b.frag))
	})
}

// shared checks runs that overlap, once deleted rows are taken out of them.
func (c *checker) shared(ctx context.Context, runs []idRun) error {
	var live []idRun
	for _, r := range runs {
		set, err := c.s.deletionsOf(ctx, &c.s.frags[r.frag])
		if err != nil {
			if ctx.Err() != nil || !errors.Is(err, format.ErrCorrupt) && !errors.Is(err, blob.ErrNotExist) {
				return err
			}
			continue // said by the check of files
		}
		for from, to := range set.Live(r.offset, r.offset+r.to-r.from) {
			live = append(live, idRun{r.from + from - r.offset, r.from + to - r.offset, from, r.frag})
		}
	}
	sortRuns(live)
	for i := 1; i < len(live); i++ {
		a, b := live[i-1], live[i]
		if b.from >= a.to {
			continue
		}
		id, n := b.from, min(a.to, b.to)-b.from
		addr := func(r idRun) uint64 { return c.s.frags[r.frag].f.ID<<32 | (r.offset + id - r.from) }
		c.add(Problem{ID: "row-ids", Found: fmt.Sprintf("row id %d belongs to the live rows at addresses %d and %d", id, addr(a), addr(b)), Expected: "each id once among live rows", RowsAffected: 2 * n})
		if a.to > b.to {
			live[i] = a // compare the longer one with the next
		}
	}
	return nil
}
