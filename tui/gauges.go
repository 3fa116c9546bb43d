package tui

import (
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
)

// The two terms of what a graph costs (engine-semantics §8.1), always in
// sight: the fragments of `__manifest`, which every read of the graph reads
// one by one, and the objects under its `_versions`, which a listing pages
// through.

// Bounds from which a gauge speaks up.
const (
	gaugeGrows = 50
	gaugeLong  = 200
	gaugePage  = 1000 // about one page of a LIST
)

// level says how a number of fragments or versions is: a word and a mark, so
// that nothing rests on the colour.
func level(g theme.Glyphs, n int) (role theme.Role, mark, word string) {
	switch {
	case n >= gaugePage:
		return theme.Bad, " " + g.Bad, "too many"
	case n >= gaugeLong:
		return theme.Warn, " " + g.Warn, "many"
	case n >= gaugeGrows:
		return theme.Warn, " " + g.Info, "growing"
	}
	return theme.Muted, "", "few"
}

// gauge is one of the two terms, as far as it is known.
type gauge struct {
	n       int
	known   bool
	atLeast bool // there are more than were counted
}

func (g gauge) count() string {
	if !g.known {
		return "?"
	}
	if g.atLeast {
		return part.Count(g.n) + "+"
	}
	return part.Count(g.n)
}

// rust predicts how many reads of `__manifest` one write of the Rust engine
// takes: S·F + k with S = 2 and k = 8, the line that v0.10.0 was seen on.
func (g gauge) rust() string { return "about " + part.Count(2*g.n+8) }

// terms are the gauges of the branch that is looked at. asked says whether
// anything can be said at all: before the first answer there is no gauge.
func terms(e *screen.Env) (fragments, versions gauge, asked bool) {
	if info, ok := e.Data.Info.Get(); ok && e.Data.Info.Problem() == nil {
		asked = true
		if m := info.Manifest; info.GraphManifestVersion > 0 {
			fragments = gauge{n: m.Fragments, known: true}
			versions = gauge{n: m.Versions, known: true, atLeast: !m.Exact}
		}
	} else if e.Data.Info.Problem() != nil {
		asked = true
	}
	c := e.Data.Chain
	if c == nil || c.Branch != e.Branch() {
		return fragments, versions, asked
	}
	if !versions.known || versions.atLeast || c.Count > versions.n {
		versions = gauge{n: c.Count, known: true}
	}
	if n := len(c.Versions); n > 0 && !e.Travelling() && c.Versions[0].Fragments != nil && !fragments.known {
		fragments = gauge{n: *c.Versions[0].Fragments, known: true}
	}
	return fragments, versions, true
}

// gauges are the two terms as chips for the header.
func (m *model) gauges() []part.Watched {
	if m.picking() {
		return nil
	}
	f, v, asked := terms(&m.env)
	if !asked {
		return nil
	}
	g := m.env.Theme.Glyph
	chip := func(x gauge, short, long string) part.Watched {
		role, mark, _ := level(g, x.n)
		if !x.known {
			role, mark = theme.Warn, ""
		}
		return part.Watched{Long: part.R(role, x.count()+" "+long+mark), Short: part.R(role, short+" "+x.count()+mark)}
	}
	long := "fragments"
	if f.known {
		long += ", " + f.rust() + " reads a write (predicted)"
	}
	pages := "versions"
	if c := m.env.Data.Chain; c != nil && c.Branch == m.env.Branch() && c.ListPages > 0 {
		pages += ", " + part.Plural(c.ListPages, "LIST page", "LIST pages")
	}
	return []part.Watched{chip(f, "frag", long), chip(v, "vers", pages)}
}

// gaugeDoc writes both terms out, for the drawer.
func gaugeDoc(e *screen.Env, d *part.Doc) {
	f, v, asked := terms(e)
	if !asked {
		return
	}
	g := e.Theme.Glyph
	d.Head("what __manifest costs")
	role, mark, word := level(g, f.n)
	if f.known {
		d.FactRole("fragments", role, f.count()+mark+" "+word+": a cold look at the graph reads each of them, "+part.Plural(f.n+2, "request", "requests"))
		d.Fact("a write", f.rust()+" reads by the Rust engine, predicted as 2"+g.Dot+"F + 8; this program does not write yet")
	} else {
		d.FactRole("fragments", theme.Warn, "not known: the newest manifest could not be read")
	}
	role, mark, word = level(g, v.n)
	if !v.known {
		d.FactRole("versions", theme.Warn, "not known")
		return
	}
	text := v.count() + mark + " " + word
	if v.atLeast {
		text += ": more than one LIST page, not counted on; the chain on the versions screen counts them"
	}
	if c := e.Data.Chain; c != nil && c.Branch == e.Branch() {
		text += ": " + part.Plural(c.ListPages, "LIST page", "LIST pages") + ", " + part.Bytes(c.Bytes) + " of manifests"
	}
	d.FactRole("versions", role, text)
	d.Text(theme.Muted, "Marked from 50, 200 and 1 000 on. Compacting (omnigraph optimize) brings the fragments back to a few.")
}
