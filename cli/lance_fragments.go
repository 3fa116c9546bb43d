package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/tui/part"
)

func lanceFragmentsVerb() *verb {
	return &verb{
		name: "lance fragments", place: onDataset, flags: []string{"branch", "at-version"},
		short:   "Fragments, data files and deletion files of a version",
		example: "lance fragments demo:__manifest --json",
		run: onLance(func(ctx context.Context, c *call, d *dataset) error {
			s, err := d.snapshot(ctx)
			if err != nil {
				return err
			}
			f := tellFragments(s)
			return c.own(f, func(t *out.Text) { printDatasetFragments(t, f) })
		}),
	}
}

// datasetFragments is the document of lance fragments.
type datasetFragments struct {
	Branch    string            `json:"branch"`
	Version   uint64            `json:"version"`
	Fragments []datasetFragment `json:"fragments"`
}

type datasetFragment struct {
	ID           uint64        `json:"id"`
	Files        []datasetFile `json:"files"`
	Rows         uint64        `json:"rows"`    // physical
	Deleted      *uint64       `json:"deleted"` // null when the manifest does not record it
	DeletionFile string        `json:"deletion_file,omitempty"`
}

type datasetFile struct {
	Path    string   `json:"path"`
	Bytes   uint64   `json:"bytes"`
	Version string   `json:"version"`
	Columns []string `json:"columns"`
	Base    string   `json:"base,omitempty"`
}

func tellFragments(s *lance.Snapshot) *datasetFragments {
	d := &datasetFragments{Branch: mainOr(s.Branch()), Version: s.Version(), Fragments: []datasetFragment{}}
	for _, f := range s.Fragments() {
		d.Fragments = append(d.Fragments, tellFragment(s.Manifest(), &f))
	}
	return d
}

func tellFragment(m *format.Manifest, f *format.Fragment) datasetFragment {
	x := datasetFragment{ID: f.ID, Rows: f.PhysicalRows, Files: []datasetFile{}}
	for i := range f.Files {
		df := &f.Files[i]
		x.Files = append(x.Files, datasetFile{df.Path, df.Size, fmt.Sprintf("%d.%d", df.Major, df.Minor), fieldNames(m.Schema, columnsOf(m.Schema, df)), baseOf(m, df.Base)})
	}
	if d := f.Deletion; d != nil {
		x.DeletionFile = format.DeletionPath(f.ID, d)
	}
	if live, known := f.LiveRows(); known {
		deleted := f.PhysicalRows - live
		x.Deleted = &deleted
	}
	return x
}

// columnsOf are the top-level fields that a file holds, superseded ones
// excepted.
func columnsOf(s *format.Schema, df *format.DataFile) []int32 {
	var ids []int32
	for _, id := range df.Fields {
		f := s.ByID(id)
		for f != nil && f.ParentID >= 0 {
			f = s.ByID(f.ParentID)
		}
		if f != nil && !slices.Contains(ids, f.ID) {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// baseOf is the recorded path of a base, "" for the dataset's own folder.
func baseOf(m *format.Manifest, ref format.BaseRef) string {
	if !ref.Set {
		return ""
	}
	if b, ok := m.Base(ref.ID); ok {
		return b.Path
	}
	return fmt.Sprintf("base %d, which the manifest does not list", ref.ID)
}

func printDatasetFragments(t *out.Text, d *datasetFragments) {
	t.Line("version %d on %s: %s", d.Version, d.Branch, part.Plural(len(d.Fragments), "fragment", "fragments"))
	var rows [][]out.Cell
	for _, f := range d.Fragments {
		deletion := f.DeletionFile
		for i, df := range f.Files {
			id, n, deleted := decimal(f.ID), decimal(f.Rows), optional(f.Deleted)
			if i > 0 {
				id, n, deleted = "", "", ""
			}
			name := df.Path
			if df.Base != "" {
				name += " of " + df.Base
			}
			rows = append(rows, []out.Cell{out.C(id), out.C(n), out.C(deleted), out.C(part.Bytes(df.Bytes)), out.C(df.Version),
				out.C(name), out.C(strings.Join(df.Columns, ", "))})
		}
		if len(f.Files) == 0 {
			rows = append(rows, []out.Cell{out.C(decimal(f.ID)), out.C(decimal(f.Rows)), out.C(optional(f.Deleted)), out.C(""), out.C(""), out.C("no data file"), out.C("")})
		}
		if deletion != "" {
			rows = append(rows, []out.Cell{out.C(""), out.C(""), out.C(""), out.C(""), out.C(""), out.C(deletion), out.C("")})
		}
	}
	t.Table([]out.Column{{Name: "fragment", Right: true}, {Name: "rows", Right: true}, {Name: "deleted", Right: true}, {Name: "bytes", Right: true},
		{Name: "format"}, {Name: "file"}, {Name: "columns"}}, rows)
}
