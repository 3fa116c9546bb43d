package screen

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// fragments is the physical layout of a table: a list of its fragments, a
// histogram of their sizes, and what its indexes cover.
type fragments struct {
	browse
	table string
	data  *Load[*engine.Fragments] // also of the tab of the indexes
}

func newFragments(table string, data *Load[*engine.Fragments]) *fragments {
	f := &fragments{table: table, data: data}
	f.browse = newBrowse(0, f.listing)
	return f
}

func (f *fragments) label() string { return "fragments" }

func (f *fragments) scope() string { return action.OnFragments }

func (f *fragments) start(e *Env) []Request {
	if f.data.wanted(e) {
		return f.reload(e)
	}
	return f.need(e)
}

func (f *fragments) reload(e *Env) []Request { return []Request{askLayout(e, f.data, f.table)} }

// askLayout asks for the manifest that tells fragments and indexes.
func askLayout(e *Env, data *Load[*engine.Fragments], table string) Request {
	at := e.At
	return data.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.Fragments, error) {
		return ws.Fragments(ctx, table, at)
	})
}

func (f *fragments) panes() []Pane { return f.with(f.data) }

func (f *fragments) context(e *Env) action.Context {
	out := f.browse.context(e)
	_, out.Detail = f.data.Get()
	return out
}

func (f *fragments) listing(*Env) listing {
	v, ok := f.data.Get()
	if !ok {
		return listing{}
	}
	fr := v.Fragments
	return listing{
		n: len(fr), of: v, what: fileName(f.table) + "-fragments",
		key:    func(i int) string { return part.Count(fr[i].ID) },
		record: func(i int) any { return fr[i] },
		facets: []facet{
			countFacet("id", func(i int) uint64 { return fr[i].ID }),
			countFacet("rows", func(i int) uint64 { return fr[i].Rows }),
			countFacet("deleted", func(i int) uint64 { return fr[i].Deleted }),
			countFacet("files", func(i int) int { return len(fr[i].Files) }),
			countFacet("bytes", func(i int) uint64 { return fileBytes(fr[i]) }),
			textFacet("format", func(i int) string { s, _ := formats(fr[i]); return s }),
			textFacet("base", func(i int) string { _, s := formats(fr[i]); return s }),
			textFacet("path", func(i int) string { return paths(fr[i]) }),
		},
	}
}

func fileBytes(fr engine.Fragment) uint64 {
	var n uint64
	for _, file := range fr.Files {
		n += file.Bytes
	}
	return n
}

// formats are the formats of a fragment's files, and the dataset that owns
// them when that is another one.
func formats(fr engine.Fragment) (format, base string) {
	for _, file := range fr.Files {
		if !strings.Contains(format, file.Version) {
			format = strings.TrimPrefix(format+" "+file.Version, " ")
		}
		if file.Base != "" {
			base = path.Base(file.Base)
		}
	}
	return format, base
}

func paths(fr engine.Fragment) string {
	if len(fr.Files) == 1 {
		return fr.Files[0].Path
	}
	var out []string
	for _, file := range fr.Files {
		out = append(out, file.Path)
	}
	return strings.Join(out, " ")
}

// fragment is the one that is selected.
func (f *fragments) fragment(e *Env) *engine.Fragment {
	i, ok := f.selected(e)
	if !ok {
		return nil
	}
	v, _ := f.data.Get()
	return &v.Fragments[i]
}

func (f *fragments) do(e *Env, id action.ID) Effect {
	_, ok := f.data.Get()
	switch {
	case !ok:
	case id == action.Flip || id == action.Open:
		f.onRight = !f.onRight
	default:
		f.move(e, id)
	}
	return Effect{}
}

// Copies implements Copier.
func (f *fragments) Copies(e *Env) []Copy {
	fr := f.fragment(e)
	if fr == nil {
		return nil
	}
	var out []Copy
	for _, file := range fr.Files {
		out = append(out, Copy{"path of a file", file.Path})
		if len(out) == 4 {
			break
		}
	}
	out = append(out, Copy{"command that lists the fragments", shell.Line(append([]string{"fragments", e.Address, f.table}, atArgs(e)...)...)})
	return append(out, jsonCopy("fragment as JSON", fr)...)
}

func (f *fragments) render(e *Env, a Area) []string {
	v, ok := f.data.Get()
	if !ok {
		out := append([]string{title(e, a.W, part.Clean(f.table, e.Theme.Glyph), "", f.data)}, absent(e, f.data, a.W, a.H-1)...)
		return part.Fit(out, a.W, a.H)
	}
	l := f.listing(e)
	n := f.settle(l)
	shown := ""
	if n > 0 {
		shown = l.key(f.lens.item(f.list.Sel))
	}
	list := func(w, h int, focused bool) []string {
		facts := "v" + part.Count(v.Version) + " " + e.Theme.Glyph.Dot + " " + part.Plural(len(v.Fragments), "fragment", "fragments") + ", " + part.Plural(v.Rows, "row", "rows") + ", " + part.Bytes(v.Bytes)
		out := []string{title(e, w, part.Clean(f.table, e.Theme.Glyph), f.facts(e, l, n, facts), f.data)}
		if f.data.Problem() != nil {
			out = append(out, problem(e, f.data, w, 0)...)
		}
		switch {
		case l.n == 0:
			out = append(out, part.Line(e.Theme, w, part.S("  "), part.R(theme.Muted, "no fragment: the table is empty at this version")))
			return part.Fit(out, w, h)
		case n == 0:
			return part.Fit(append(out, f.noMatch(e, w)), w, h)
		}
		out = append(out, f.grid(e, v, n).Render(e.Theme, w, max(0, h-len(out)), &f.list, focused)...)
		return part.Fit(out, w, h)
	}
	detail := func(w int) *part.Doc { return f.layout(e, v, w) }
	return f.split.render(e, a, shown, list, detail)
}

func (f *fragments) grid(e *Env, v *engine.Fragments, n int) part.Table {
	g := e.Theme.Glyph
	base := part.Column{Min: 8, Drop: 3}
	if len(v.Fragments) > inUpdate || slices.ContainsFunc(v.Fragments, func(fr engine.Fragment) bool { _, b := formats(fr); return b != "" }) {
		base.Title = "base"
	}
	return part.Table{
		Columns: []part.Column{
			{Title: "id", Right: true}, {Title: "rows", Right: true}, {Title: "deleted", Right: true, Drop: 2}, {Title: "share", Right: true, Drop: 6},
			{Title: "files", Right: true, Drop: 4}, {Title: "bytes", Right: true, Drop: 1}, {Title: "format", Drop: 5}, base,
		},
		N: n, Heading: true,
		Row: func(p int) []part.Span {
			fr := v.Fragments[f.lens.item(p)]
			format, base := formats(fr)
			deleted, share := part.R(theme.Muted, "-"), part.R(theme.Muted, "-")
			if fr.Deleted > 0 {
				deleted = part.R(theme.Warn, part.Count(fr.Deleted))
				share = part.R(theme.Warn, part.Percent(float64(fr.Deleted)/float64(max(1, fr.Rows))))
			}
			return []part.Span{
				part.S(part.Count(fr.ID)), part.S(part.Count(fr.Rows)), deleted, share, part.S(part.Count(len(fr.Files))),
				part.S(part.Bytes(fileBytes(fr))), part.R(theme.Muted, part.Clean(format, g)), part.R(theme.Muted, part.Clean(base, g)),
			}
		},
	}
}

// layout is the detail: the histogram first, then indexes, then the selected
// fragment.
func (f *fragments) layout(e *Env, v *engine.Fragments, w int) *part.Doc {
	d := part.NewDoc(e.Theme, w)
	d.Head("rows per fragment")
	if v.TargetRows > 0 {
		d.Text(theme.Muted, part.Count(v.Small)+" of "+part.Count(len(v.Fragments))+" below the target of "+part.Count(v.TargetRows)+" rows "+e.Theme.Glyph.Dot+" "+part.Percent(v.DeletedShare)+" of the rows deleted")
	}
	var bars []part.HistBar
	for _, b := range v.Histogram {
		label := part.Count(b.From) + "-" + part.Count(b.To)
		if b.To < b.From || b.To == ^uint64(0) {
			label = part.Count(b.From) + "+"
		} else if b.From == b.To {
			label = part.Count(b.From)
		}
		bars = append(bars, part.HistBar{Label: label, Count: b.Count})
	}
	d.Add(part.Hist(e.Theme, bars, w)...)
	d.Head("indexes")
	if len(v.Indexes) == 0 {
		d.Text(theme.Muted, "none built")
	}
	for _, ix := range v.Indexes {
		indexLine(d, ix)
	}
	if fr := f.fragment(e); fr != nil {
		fragmentDoc(d, *fr)
	}
	return d
}

func fragmentDoc(d *part.Doc, fr engine.Fragment) {
	d.Head("fragment " + part.Count(fr.ID))
	d.Fact("rows", part.Count(fr.Rows)+" written, "+part.Count(fr.Rows-min(fr.Rows, fr.Deleted))+" live")
	d.Fact("deletions", fr.DeletionFile)
	for _, file := range fr.Files {
		d.Fact("file", file.Path)
		d.Fact("", part.Bytes(file.Bytes)+", format "+file.Version)
		if file.Base != "" {
			d.Fact("in", file.Base)
		}
	}
}
