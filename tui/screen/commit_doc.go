package screen

import (
	"encoding/json"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// jsonCopy offers a value as JSON, when it can be spelled so.
// JSONCopy is a value as JSON, to be copied.
func JSONCopy(label string, v any) []Copy { return jsonCopy(label, v) }

func jsonCopy(label string, v any) []Copy {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return []Copy{{label, string(raw)}}
}

func summarySpan(changed []engine.TableChange, g theme.Glyphs, room int) part.Span {
	if len(changed) == 0 {
		return part.R(theme.Muted, summary(changed, g, room))
	}
	return part.S(summary(changed, g, room))
}

// summary says in a few words what a commit did; more than two tables are named
// only where all have room.
func summary(changed []engine.TableChange, g theme.Glyphs, room int) string {
	if len(changed) == 0 {
		return "no table moved"
	}
	if len(changed) > 2 {
		if len(changed) < room/8 {
			if all := changes(changed, g); part.Width(all) <= room {
				return all
			}
		}
		if n := rowsOf(changed); n != 0 {
			return part.Count(len(changed)) + " tables " + signed(n)
		}
		return part.Count(len(changed)) + " tables, " + sameCount
	}
	return changes(changed, g)
}

func changes(changed []engine.TableChange, g theme.Glyphs) string {
	var out string
	for i, c := range changed {
		if i > 0 {
			out += ", "
		}
		out += part.Clean(c.Table, g) + " " + change(c)
	}
	return out
}

func change(c engine.TableChange) string {
	switch {
	case c.FromVersion == 0:
		return "made, " + signed(c.RowsDelta)
	case c.ToVersion == 0:
		return "dropped"
	case c.RowsDelta == 0:
		return sameCount
	}
	return signed(c.RowsDelta)
}

// sameCount is said of a version that has as many rows as the one before: some
// may have been updated, all may have been written anew.
const sameCount = "same count"

func signed(n int64) string {
	if n >= 0 {
		return "+" + part.Count(n)
	}
	return part.Count(n)
}

func commitDoc(e *Env, d *part.Doc, h *History, row int) {
	entry := h.Entry(row)
	en := &entry
	kind := "commit"
	switch {
	case en.MergedParent != nil:
		kind = "merge"
	case kindOf(h, row) == "system":
		kind = "commit of the system"
	}
	d.Head(kind + " " + en.ID)
	d.Fact("time", part.When(en.Time()))
	branch := en.BranchName()
	if h.newest[branch] == row {
		branch += ", of which it is the newest commit"
	}
	d.Fact("branch", branch)
	if en.Actor != nil {
		d.Fact("actor", *en.Actor)
	}
	if w := marked(e, point(en)); w != "" {
		d.Fact("state", w)
	}
	d.Head("changed")
	if len(en.Changed) == 0 {
		d.Text(theme.Muted, "no table: this commit moved only the graph itself")
	}
	nameW, countW := 8, 4
	for _, c := range en.Changed {
		nameW, countW = max(nameW, part.Width(part.Clean(c.Table, e.Theme.Glyph))), max(countW, part.Width(change(c)))
	}
	for _, c := range en.Changed {
		changeLine(d, c, min(nameW, d.Width()/2), countW)
	}
	if len(en.Changed) > 0 {
		d.Text(theme.Muted, "from the counts that the graph records; no rows were read")
	}
	d.Gap()
	d.Fact("version", "v"+part.Count(en.ManifestVersion)+" of __manifest")
	if en.Actor == nil {
		d.FactRole("actor", theme.Muted, "none recorded")
	}
	parents(d, h, en)
	dot := " " + e.Theme.Glyph.Dot + " "
	travel := " reads everything as of this commit"
	if e.At == point(en) {
		travel = " goes back to now"
	}
	d.Gap().Text(theme.Muted, press(e, action.Travel)+travel+dot+press(e, action.Compare)+" shows what it changed"+dot+press(e, action.Mark)+" marks it to compare")
}

// parents are the commits that a commit was made on.
func parents(d *part.Doc, h *History, en *engine.LogEntry) {
	if en.Parent != nil {
		d.Fact("parent", *en.Parent)
	} else {
		d.FactRole("parent", theme.Muted, "none: the first commit")
	}
	if en.MergedParent != nil {
		merged := *en.MergedParent
		if h.gone[merged] {
			merged += ", which no branch holds any more"
		}
		d.Fact("merged", merged)
	}
}

// changeLine is a table that moved, its name and what it did in columns.
func changeLine(d *part.Doc, c engine.TableChange, nameW, countW int) {
	g := d.Theme().Glyph
	name := part.Pad(part.Cut(part.Clean(c.Table, g), nameW, g.More), nameW)
	spans := []part.Span{part.R(theme.Strong, name), part.S("  " + part.PadLeft(change(c), countW))}
	versions := "v" + part.Count(c.FromVersion) + " " + g.Arrow + " v" + part.Count(c.ToVersion)
	switch {
	case c.FromVersion == 0:
		versions = "v" + part.Count(c.ToVersion)
	case c.ToVersion == 0:
		versions = "v" + part.Count(c.FromVersion) + " " + g.Arrow + " none"
	}
	spans = append(spans, part.R(theme.Muted, "  "+versions))
	if c.FragmentsDelta != nil {
		spans = append(spans, part.R(theme.Muted, "  fragments "+signed(int64(*c.FragmentsDelta))))
	}
	d.Line(spans...)
}
