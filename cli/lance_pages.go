package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/tui/part"
)

func lancePagesVerb() *verb {
	return &verb{
		name: "lance pages", place: onDataset, flags: []string{"branch", "at-version", "fragment"},
		short:   "Columns, pages, layouts, encodings and buffers of data files",
		long:    "Columns, pages, layouts, encodings and buffers of one data file, or of all data files of a dataset\n(--fragment narrows it). Reads the ends of the files, no data.",
		example: "lance pages ./data/file.lance\nlance pages demo:__manifest --fragment 0 --json",
		run: onLance(func(ctx context.Context, c *call, d *dataset) error {
			files, err := d.pages(ctx)
			if err != nil {
				return err
			}
			return c.own(struct {
				Files []filePages `json:"files"`
			}{files}, func(t *out.Text) {
				for _, f := range files {
					printPages(t, f)
				}
			})
		}),
	}
}

// filePages are the pages of one data file.
type filePages struct {
	Path     string     `json:"path"`
	Fragment *uint64    `json:"fragment,omitempty"`
	Version  string     `json:"version"`
	Rows     int64      `json:"rows"`
	Bytes    int64      `json:"bytes"`
	Pages    []pageInfo `json:"pages"`
}

type pageInfo struct {
	Column   int          `json:"column"`
	Page     int          `json:"page"`
	FirstRow int64        `json:"first_row"`
	Rows     int64        `json:"rows"`
	Layout   string       `json:"layout"`
	Encoding string       `json:"encoding"`
	Layers   []string     `json:"layers,omitempty"`
	Buffers  []pageBuffer `json:"buffers"`
}

type pageBuffer struct {
	Offset int64 `json:"offset"`
	Size   int64 `json:"size"`
}

// pages reads the loose file, or every data file of the dataset.
func (d *dataset) pages(ctx context.Context) ([]filePages, error) {
	fragments, err := numbers(d.c, "fragment")
	if err != nil {
		return nil, err
	}
	if d.key != "" {
		if len(fragments) > 0 {
			return nil, usagef("%s is one data file: it has no fragments", d.c.uri)
		}
		f, err := d.pagesOf(ctx, d.key, d.size)
		if err != nil {
			return nil, err
		}
		return []filePages{*f}, nil
	}
	s, err := d.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	files := []filePages{}
	for _, fr := range s.Fragments() {
		if len(fragments) > 0 && !slices.Contains(fragments, fr.ID) {
			continue
		}
		for i := range fr.Files {
			f, err := d.pagesOfData(ctx, fr.ID, &fr.Files[i], s.Branch())
			if err != nil {
				return nil, err
			}
			files = append(files, *f)
		}
	}
	return files, nil
}

// pagesOfData reads a data file of a fragment. One that lies under another
// base is named, not followed.
func (d *dataset) pagesOfData(ctx context.Context, fragment uint64, df *format.DataFile, branch string) (*filePages, error) {
	key := format.Join(d.root, format.BranchDir(branch), df.DataPath())
	if df.Base.Set {
		return nil, fmt.Errorf("pages of fragment %d: %s lies under base path %d of the dataset; name that file itself", fragment, df.Path, df.Base.ID)
	}
	size := int64(df.Size)
	if size == 0 {
		a, err := d.store.Head(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("find the size of %s: %w", key, err)
		}
		size = a.Size
	}
	f, err := d.pagesOf(ctx, key, size)
	if err != nil {
		return nil, fmt.Errorf("fragment %d: %w", fragment, err)
	}
	f.Fragment = &fragment
	return f, nil
}

func (d *dataset) pagesOf(ctx context.Context, key string, size int64) (*filePages, error) {
	r, err := d.reader(ctx, key, size)
	if err != nil {
		return nil, err
	}
	pages, err := r.Pages()
	if err != nil {
		return nil, fmt.Errorf("read the pages of %s: %w", key, err)
	}
	major, minor := r.Version()
	f := &filePages{Path: key, Version: fmt.Sprintf("%d.%d", major, minor), Rows: r.NumRows(), Bytes: size, Pages: []pageInfo{}}
	for _, p := range pages {
		f.Pages = append(f.Pages, pageInfo{p.Column, p.Page, p.FirstRow, p.Rows, p.Layout, p.Encoding, p.Layers, pageBuffers(p)})
	}
	return f, nil
}

func pageBuffers(p file.PageInfo) []pageBuffer {
	buffers := make([]pageBuffer, 0, len(p.Buffers))
	for _, b := range p.Buffers {
		buffers = append(buffers, pageBuffer{b.Offset, b.Size})
	}
	return buffers
}

func printPages(t *out.Text, f filePages) {
	t.Line("%s  format %s, %d rows, %s", f.Path, f.Version, f.Rows, part.Bytes(f.Bytes))
	rows := make([][]out.Cell, 0, len(f.Pages))
	for _, p := range f.Pages {
		var buffers []string
		for _, b := range p.Buffers {
			buffers = append(buffers, fmt.Sprintf("%d+%d", b.Offset, b.Size))
		}
		rows = append(rows, []out.Cell{out.C(strconv.Itoa(p.Column)), out.C(strconv.Itoa(p.Page)), out.C(decimal(p.FirstRow)), out.C(decimal(p.Rows)),
			out.C(p.Layout), out.C(strings.Join(p.Layers, ", ")), out.C(p.Encoding), out.C(strings.Join(buffers, " "))})
	}
	t.Table([]out.Column{{Name: "column", Right: true}, {Name: "page", Right: true}, {Name: "first row", Right: true}, {Name: "rows", Right: true},
		{Name: "layout"}, {Name: "layers"}, {Name: "encoding"}, {Name: "buffers"}}, rows)
}
