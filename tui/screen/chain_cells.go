package screen

import (
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// gutter marks the head of the chain and what the graph publishes; when they
// differ, what lies between is drift.
func gutter(g theme.Glyphs, v *engine.Versions, version uint64) part.Span {
	switch {
	case version == v.Head && (version == v.Published || v.Published == 0):
		return part.R(theme.OK, "HP")
	case version == v.Head:
		return part.R(theme.Warn, "H")
	case version == v.Published:
		return part.R(theme.OK, "P")
	case v.Above(version):
		return part.R(theme.Warn, g.V)
	}
	return part.S("")
}

func operation(e *Env, r *engine.Version) part.Span {
	switch {
	case r.Problem != "":
		return part.R(theme.Bad, e.Theme.Glyph.Bad+" unreadable")
	case r.Operation == "":
		return part.R(theme.Muted, "not read")
	}
	return part.S(part.Clean(r.Operation, e.Theme.Glyph))
}

func rowsCell(r *engine.Version) part.Span {
	if r.Rows == nil {
		return part.R(theme.Muted, "-")
	}
	return part.S(part.Count(*r.Rows))
}

func bytesCell(n *uint64) part.Span {
	if n == nil {
		return part.R(theme.Muted, "-")
	}
	return part.S(part.Bytes(*n))
}

// rowChange is the change of rows against the version before, when both are
// known.
func rowChange(rows []engine.Version, i int) (float64, bool) {
	if i+1 >= len(rows) || rows[i].Rows == nil || rows[i+1].Rows == nil {
		return 0, false
	}
	return float64(*rows[i].Rows) - float64(*rows[i+1].Rows), true
}

func changeCell(rows []engine.Version, i int) part.Span {
	d, ok := rowChange(rows, i)
	switch {
	case !ok:
		return part.R(theme.Muted, "")
	case d == 0:
		return part.R(theme.Muted, "-")
	}
	return part.S(signed(int64(d)))
}

func fragmentsCell(e *Env, rows []engine.Version, i int) part.Span {
	r := &rows[i]
	if r.Fragments == nil {
		return part.R(theme.Muted, "-")
	}
	s := part.Count(*r.Fragments)
	if i+1 < len(rows) && rows[i+1].Fragments != nil && *rows[i+1].Fragments != *r.Fragments {
		s = part.Count(*rows[i+1].Fragments) + e.Theme.Glyph.Arrow + s
	}
	return part.S(s)
}

// holderWord says in words why a version must stay.
func holderWord(h engine.Holder) string {
	switch h.Kind {
	case "head":
		return "head of " + BranchName(h.Name)
	case "published":
		return "published by " + BranchName(h.Name)
	case "lazy_branch":
		return "lazy branch " + h.Name
	case "merge_base":
		return "merge base of " + h.Name
	case "recovery":
		return "pending recovery " + h.Name
	}
	return strings.TrimSpace(strings.ReplaceAll(h.Kind, "_", " ") + " " + h.Name)
}

func heldText(held []engine.Holder) string {
	if len(held) == 0 {
		return "nothing"
	}
	if len(held) == 1 {
		return holderWord(held[0])
	}
	var out []string
	for _, h := range held {
		out = append(out, holderWord(h))
	}
	return strings.Join(out, ", ")
}

// heldCell says what holds a version; all says that every holder is known.
func heldCell(held []engine.Holder, all bool, g theme.Glyphs) part.Span {
	if len(held) == 0 && !all {
		return part.R(theme.Warn, "unknown")
	}
	if len(held) == 0 {
		return part.R(theme.Muted, "nothing")
	}
	s := holderWord(held[0])
	if len(held) > 1 {
		s += " +" + part.Count(len(held)-1)
	}
	return part.S(part.Clean(s, g))
}

func (c *chain) versionDoc(e *Env, d *part.Doc, v *engine.Versions, rows []engine.Version, i int) {
	r := &rows[i]
	d.Head("v" + part.Count(r.Version) + " of " + c.table)
	c.stateFacts(e, d, v, r)
	c.heldFacts(d, r)
	d.Fact("written", part.When(r.CreatedAt))
	if r.Operation != "" {
		d.Fact("operation", r.Operation)
	} else if r.Problem == "" {
		d.FactRole("operation", theme.Muted, "its manifest was not read; "+press(e, action.Decode)+" reads all")
	}
	if r.Rows != nil {
		d.Fact("rows", part.Count(*r.Rows)+changeWords(rows, i))
	}
	if r.Fragments != nil {
		d.Fact("fragments", part.Count(*r.Fragments))
	}
	d.Fact("manifest", part.Bytes(r.ManifestBytes))
	if r.DataBytes != nil {
		s := part.Bytes(*r.DataBytes) + " in the files that it names"
		if r.AddedBytes != nil {
			s += ", " + part.Bytes(*r.AddedBytes) + " of them new"
		}
		d.Fact("data", s)
	}
	if en := c.publisher(e, r.Version); en != nil && !c.own() {
		d.Fact("commit", en.ID+" published it")
	}
	d.Fact("object", r.Key)
	d.Fact("transaction", r.Transaction)
	d.Fact("writer", r.Writer)
	d.Gap()
	dot := " " + e.Theme.Glyph.Dot + " "
	d.Text(theme.Muted, "oldest in the chain: v"+part.Count(v.Oldest)+dot+press(e, action.Raw)+" shows the object"+dot+press(e, action.Mark)+" marks it, "+press(e, action.Compare)+" compares")
}

func changeWords(rows []engine.Version, i int) string {
	switch d, ok := rowChange(rows, i); {
	case ok && d == 0:
		return ", as many as in v" + part.Count(rows[i+1].Version)
	case ok:
		return ", " + signed(int64(d)) + " against v" + part.Count(rows[i+1].Version)
	}
	return ""
}

func (c *chain) stateFacts(e *Env, d *part.Doc, v *engine.Versions, r *engine.Version) {
	switch {
	case r.Version == v.Head && v.Published == 0:
		d.Fact("state", "head: what the graph shows")
	case r.Version == v.Head && r.Version == v.Published:
		d.Fact("state", "head, and what the graph publishes")
	case r.Version == v.Head:
		d.FactRole("state", theme.Warn, "head, but the graph publishes v"+part.Count(v.Published)+": what lies between is drift")
	case r.Version == v.Published:
		d.Fact("state", "what the graph publishes")
	case v.Above(r.Version):
		d.FactRole("state", theme.Warn, "newer than the published v"+part.Count(v.Published)+": drift")
	}
	word := c.marked(e, r.Version)
	if strings.HasPrefix(word, "shown") {
		d.FactRole("here", theme.Accent, "this is what all screens show now")
	}
	if strings.HasSuffix(word, "marked") {
		d.FactRole("here", theme.Accent, "marked, to be compared")
	}
	if r.Problem != "" {
		d.FactRole("problem", theme.Bad, r.Problem)
	}
}

func (c *chain) heldFacts(d *part.Doc, r *engine.Version) {
	switch {
	case len(r.HeldBy) > 0:
	case incomplete(c.all.Problem()):
		d.FactRole("held by", theme.Warn, "unknown: what may hold it cannot be read whole")
	default:
		d.Fact("held by", "nothing: a cleanup may remove it")
	}
	for n, h := range r.HeldBy {
		name := "held by"
		if n > 0 {
			name = " "
		}
		d.Fact(name, holderWord(h))
	}
}
