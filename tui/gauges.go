package tui

import (
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
)

// The two terms of what a graph costs (engine-semantics §8.1), always in
// sight: the fragments of `__manifest`, which every read of the graph reads
// one by one, and the objects under its `_versions`, which a listing pages
// through.

// limits are where a gauge speaks up; the last is about one page of a LIST.
var limits = []int64{50, 200, 1000}

// predicted is how many reads of `__manifest` one write of the Rust engine
// takes: S·F + k with S = 2 and k = 8, the line on which its v0.10.0 was seen.
func predicted(fragments part.Growth) string { return "about " + part.Count(2*fragments.Value+8) }

// terms are the gauges of the branch that is looked at. asked says whether
// anything can be said at all: before the first answer there is no gauge.
func terms(e *screen.Env) (fragments, versions part.Growth, asked bool) {
	fragments = part.Growth{Name: "frag", Title: "fragments of __manifest", Value: -1, Limits: limits}
	versions = part.Growth{Name: "vers", Title: "versions of __manifest", Value: -1, Limits: limits}
	if info, ok := e.Data.Info.Get(); ok {
		asked = true
		if m := info.Manifest; info.GraphManifestVersion > 0 {
			fragments.Value = int64(m.Fragments)
			versions.Value, versions.More = int64(m.Versions), !m.Exact
		}
	} else if e.Data.Info.Problem() != nil {
		asked = true
	}
	c := chainShown(e)
	if c == nil {
		return fragments, versions, asked
	}
	if n := int64(c.Count); n >= versions.Value {
		versions.Value, versions.More = n, false
	}
	if n := len(c.Versions); n > 0 && !e.Travelling() && c.Versions[0].Fragments != nil && fragments.Value < 0 {
		fragments.Value = int64(*c.Versions[0].Fragments)
	}
	return fragments, versions, true
}

// chainShown is the chain of `__manifest` of the branch that is looked at; nil
// when it was not read.
func chainShown(e *screen.Env) *engine.Versions {
	if c := e.Data.Chain; c != nil && c.Branch == e.Branch() {
		return c
	}
	return nil
}

// knownTerms are the gauges as they were known last: they stay in sight while
// one travels, until more is known.
type knownTerms struct {
	uri, branch         string
	fragments, versions part.Growth
}

// gauges are the two terms as chips for the header.
func (m *model) gauges() []part.Watched {
	if m.picking() {
		return nil
	}
	f, v, asked := terms(&m.env)
	k := &m.known
	if k.uri == m.env.URI && k.branch == m.env.Branch() && m.env.Travelling() && f.Value < 0 && m.env.Data.Info.Problem() == nil {
		f = k.fragments // the chain alone does not tell
	}
	if asked {
		*k = knownTerms{m.env.URI, m.env.Branch(), f, v}
	} else if k.uri == m.env.URI && k.branch == m.env.Branch() {
		f, v = k.fragments, k.versions // of the moment that was looked at before
	} else {
		return nil
	}
	chip := func(x part.Growth, long string) part.Watched {
		role, mark := x.Mark(m.env.Theme)
		return part.Watched{Long: part.R(role, x.Number()+" "+long+mark), Short: x.Chip(m.env.Theme)}
	}
	long, pages := "fragments", "versions"
	if f.Value >= 0 {
		long += ", " + predicted(f) + " reads a write (predicted)"
	}
	if c := chainShown(&m.env); c != nil {
		pages += ", " + part.Plural(c.ListPages, "LIST page", "LIST pages")
	}
	return []part.Watched{chip(f, long), chip(v, pages)}
}

// gaugeDoc writes both terms out, for the drawer.
func gaugeDoc(e *screen.Env, d *part.Doc, w int) {
	f, v, asked := terms(e)
	if !asked {
		return
	}
	d.Head("what __manifest costs").Add(f.Render(e.Theme, w))
	if f.Value >= 0 {
		d.Fact("a look", part.Plural(f.Value+2, "request", "requests")+" when nothing is cached: each fragment is read")
		d.Fact("a write", predicted(f)+" reads by the Rust engine, predicted as 2"+e.Theme.Glyph.Dot+"F + 8; this program does not write yet")
	}
	d.Add(v.Render(e.Theme, w))
	switch c := chainShown(e); {
	case c != nil:
		d.Fact("a listing", part.Plural(c.ListPages, "page", "pages")+", "+part.Bytes(c.Bytes)+" of manifests")
	case v.More:
		d.Fact("a listing", "more than one page; "+e.Key(action.Versions)+" counts them")
	}
	d.Text(theme.Muted, "Compacting brings the fragments back to a few: omnigraph optimize.")
}
