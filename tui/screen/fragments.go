package screen

import (
	"context"
	"path"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// fragments is the physical layout of a table: a list of its fragments, a
// histogram of their sizes, and what its indexes cover.
type fragments struct {
	split
	table string
	data  Load[*engine.Fragments]
}

func newFragments(table string) *fragments {
	f := &fragments{table: table}
	f.data.name = "fragments"
	return f
}

func (f *fragments) label() string { return "fragments" }

func (f *fragments) scope() string { return action.OnFragments }

func (f *fragments) start(e *Env) []Request {
	if f.data.wanted() {
		return f.reload(e)
	}
	return nil
}

func (f *fragments) reload(e *Env) []Request {
	at := e.At
	return []Request{f.data.ask(e, func(ctx context.Context, ws workspace.Workspace) (*engine.Fragments, error) {
		return ws.Fragments(ctx, f.table, at)
	})}
}

func (f *fragments) panes() []Pane { return []Pane{&f.data} }

func (f *fragments) context(*Env) action.Context {
	v, ok := f.data.Get()
	if !ok {
		return action.Context{}
	}
	return action.Context{Items: len(v.Fragments), Openable: len(v.Fragments) > 0, Detail: true}
}

func (f *fragments) do(_ *Env, id action.ID) Effect {
	v, ok := f.data.Get()
	switch {
	case !ok:
	case id == action.Flip || id == action.Open:
		f.onRight = !f.onRight
	default:
		if f.move(id, len(v.Fragments)) && f.list.Sel < len(v.Fragments) {
			f.list.Remember(part.Count(v.Fragments[f.list.Sel].ID))
		}
	}
	return Effect{}
}

func (f *fragments) render(e *Env, a Area) []string {
	v, ok := f.data.Get()
	if !ok {
		out := append([]string{title(e, a.W, f.table, "", &f.data)}, absent(e, &f.data, a.W, a.H-1)...)
		return part.Fit(out, a.W, a.H)
	}
	key := func(i int) string { return part.Count(v.Fragments[i].ID) }
	f.list.Settle(len(v.Fragments), key)
	shown := ""
	if len(v.Fragments) > 0 {
		shown = key(f.list.Sel)
	}
	list := func(w, h int, focused bool) []string {
		facts := "v" + part.Count(v.Version) + " " + e.Theme.Glyph.Dot + " " + part.Plural(len(v.Fragments), "fragment", "fragments") + ", " + part.Plural(v.Rows, "row", "rows") + ", " + part.Bytes(v.Bytes)
		out := []string{title(e, w, part.Clean(f.table, e.Theme.Glyph), facts, &f.data)}
		if f.data.Problem() != nil {
			out = append(out, problem(e, &f.data, w, 0)...)
		}
		if len(v.Fragments) == 0 {
			out = append(out, part.Line(e.Theme, w, part.S("  "), part.R(theme.Muted, "no fragment: the table is empty at this version")))
			return part.Fit(out, w, h)
		}
		out = append(out, f.grid(e, v).Render(e.Theme, w, max(0, h-len(out)), &f.list, focused)...)
		return part.Fit(out, w, h)
	}
	detail := func(w int) *part.Doc { return f.layout(e, v, w) }
	return f.split.render(e, a, shown, list, detail)
}

func (f *fragments) grid(e *Env, v *engine.Fragments) part.Table {
	g := e.Theme.Glyph
	return part.Table{
		Columns: []part.Column{
			{Title: "id", Right: true}, {Title: "rows", Right: true}, {Title: "deleted", Right: true, Drop: 2},
			{Title: "files", Right: true, Drop: 4}, {Title: "bytes", Right: true, Drop: 1}, {Title: "format", Drop: 5}, {Title: "base", Min: 8, Drop: 3},
		},
		N: len(v.Fragments), Heading: true,
		Row: func(i int) []part.Span {
			fr := v.Fragments[i]
			var bytes uint64
			format, base := "", ""
			for _, file := range fr.Files {
				bytes += file.Bytes
				if !strings.Contains(format, file.Version) {
					format = strings.TrimPrefix(format+" "+file.Version, " ")
				}
				if file.Base != "" {
					base = path.Base(file.Base)
				}
			}
			deleted := part.R(theme.Muted, "-")
			if fr.Deleted > 0 {
				deleted = part.R(theme.Warn, part.Count(fr.Deleted))
			}
			return []part.Span{
				part.S(part.Count(fr.ID)), part.S(part.Count(fr.Rows)), deleted, part.S(part.Count(len(fr.Files))),
				part.S(part.Bytes(bytes)), part.R(theme.Muted, part.Clean(format, g)), part.R(theme.Muted, part.Clean(base, g)),
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
		indexLine(e, d, ix)
	}
	if f.list.Sel < len(v.Fragments) {
		fragmentDoc(d, v.Fragments[f.list.Sel])
	}
	return d
}

func indexLine(e *Env, d *part.Doc, ix engine.TableIndex) {
	g := e.Theme.Glyph
	all := ix.CoveredFragments + ix.UncoveredFragments
	share := 1.0
	if all > 0 {
		share = float64(ix.CoveredFragments) / float64(all)
	}
	role := theme.OK
	if ix.UncoveredFragments > 0 {
		role = theme.Warn
	}
	d.Line(part.R(theme.Strong, part.Clean(ix.Name, g)), part.R(theme.Muted, " "+part.Clean(ix.Kind, g)+" on "+part.Clean(strings.Join(ix.Fields, ", "), g)))
	d.Line(part.R(role, part.Gauge(g, share, 12)), part.S(" of the fragments"), part.R(theme.Muted, " "+g.Dot+" "+part.Plural(ix.CoveredRows, "row", "rows")+" covered"))
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
