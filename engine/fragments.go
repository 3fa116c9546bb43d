package engine

import (
	"context"
	"fmt"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/manifest"
)

// targetRows is the size that compaction aims at (Lance's default).
const targetRows = 1 << 20

// Fragments is the physical layout of a table, or of `__manifest` ("" or
// "__manifest"), at one point. Only manifests are read; counts are those that
// they record.
func (g *Graph) Fragments(ctx context.Context, table string, at At) (*Fragments, error) {
	return do(ctx, g, "fragments", func(ctx context.Context, o *operation) (*Fragments, error) {
		if maybeManifest(table) {
			o.table = manifestTable
			s, err := o.manifestHead(ctx, at)
			if err != nil {
				return nil, err
			}
			return Layout(manifestTable, s)
		}
		view, err := o.at(ctx, at)
		if err != nil {
			return nil, err
		}
		e, err := entryOf(view, table)
		if err != nil {
			return nil, err
		}
		o.table = e.Alias
		s, err := o.dataset(ctx, e)
		if err != nil {
			return nil, err
		}
		return Layout(e.Alias, s)
	})
}

// manifestHead opens `__manifest` without its rows where At allows it.
func (o *operation) manifestHead(ctx context.Context, at At) (*lance.Snapshot, error) {
	if at.Commit != "" && at.Version == 0 {
		view, err := o.at(ctx, at)
		if err != nil {
			return nil, err
		}
		return view.Snapshot, nil
	}
	h, err := manifest.Peek(ctx, o.store, manifest.Options{Branch: bare(at.Branch), Version: at.Version, Lance: o.lance()})
	if err != nil {
		return nil, o.explain(ctx, err, nameOf(at.Branch), at.Version)
	}
	return h.Snapshot, nil
}

// Layout tells what the manifest of any dataset says about fragments and
// indexes; table is what to call it. No request.
func Layout(table string, s *lance.Snapshot) (*Fragments, error) {
	out := &Fragments{
		Table: table, Branch: nameOf(s.Branch()), Version: s.Version(), TargetRows: targetRows,
		Fragments: []Fragment{},
	}
	bases := map[uint32]format.BasePath{}
	for _, b := range s.Manifest().BasePaths {
		bases[b.ID] = b
	}
	var rows []uint64
	var physical, deleted uint64
	for i := range s.Fragments() {
		f := &s.Fragments()[i]
		x := fragmentOf(f, bases)
		for _, file := range x.Files {
			out.Bytes += file.Bytes
		}
		if x.Rows < targetRows {
			out.Small++
		}
		physical, deleted = physical+x.Rows, deleted+x.Deleted
		rows = append(rows, x.Rows)
		out.Fragments = append(out.Fragments, x)
	}
	out.Histogram = histogram(rows)
	out.Rows, _ = s.CountRows()
	if physical > 0 {
		out.DeletedShare = float64(deleted) / float64(physical)
	}
	var err error
	out.Indexes, err = indexesOf(s.Manifest(), bases)
	return out, err
}

func fragmentOf(f *format.Fragment, bases map[uint32]format.BasePath) Fragment {
	x := Fragment{ID: f.ID, Rows: f.PhysicalRows, Files: make([]FragmentFile, 0, len(f.Files))}
	for i := range f.Files {
		d := &f.Files[i]
		x.Files = append(x.Files, FragmentFile{Path: d.Path, Bytes: d.Size, Version: fileVersion(d.Major, d.Minor), Base: baseName(d.Base, bases)})
	}
	if f.Deletion != nil {
		x.Deleted = f.Deletion.Rows
		x.DeletionFile = format.DeletionPath(f.ID, f.Deletion)
	}
	return x
}

// fileVersion spells the version of the file format; 0.3 is how 2.0 files were
// first marked.
func fileVersion(major, minor uint32) string {
	if major == 0 && minor == 3 {
		return "2.0"
	}
	return fmt.Sprintf("%d.%d", major, minor)
}

// baseName names the dataset that owns a file when it is not this branch's own.
func baseName(b format.BaseRef, bases map[uint32]format.BasePath) string {
	if !b.Set {
		return ""
	}
	p, ok := bases[b.ID]
	if !ok {
		return fmt.Sprintf("base %d, which the manifest does not list", b.ID)
	}
	return nameOf(p.Name)
}
