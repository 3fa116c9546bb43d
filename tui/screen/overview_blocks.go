package screen

import (
	"regexp"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// blocks are the selectable parts of the overview: findings worst first, what
// recovery is pending, and the tables. A failure takes up to room lines.
func (o *Overview) blocks(e *Env, w, room int) []block {
	var out []block
	if info, ok := e.Data.Info.Get(); ok {
		out = append(out, findings(e, info, w))
		if len(info.PendingRecovery) > 0 {
			out = append(out, pending(e, info))
		}
	}
	return append(out, o.tableBlock(e, w, room))
}

func findings(e *Env, info *engine.Info, w int) block {
	b := block{head: "findings", facts: countFindings(e.Theme, info.Findings)}
	if len(info.Findings) == 0 {
		b.facts = ""
		b.lines = []string{part.Line(e.Theme, w, part.S("  "), part.R(theme.OK, e.Theme.Glyph.OK), part.S(" the quick checks found nothing; deeper ones were not run"))}
	}
	for _, f := range info.Findings {
		mark, role := severity(e.Theme, f.Severity)
		first, more := findingLines(e, f, w)
		b.items = append(b.items, item{
			key: "finding/" + f.ID + "/" + f.Title,
			spans: func() []part.Span {
				return []part.Span{part.R(role, mark), part.S(" "), part.R(theme.Strong, part.Pad(part.Clean(f.ID, e.Theme.Glyph), 4)), part.S(" " + first)}
			},
			more:   more,
			open:   func() Effect { return Effect{Push: NewFinding(f)} },
			detail: func(d *part.Doc) { findingDoc(e, d, f) },
			copies: func() []Copy { return findingCopies(e, f) },
		})
	}
	return b
}

// findingLines is the sentence of a finding for a list: what is wrong takes two
// lines where one is too little, what is only to be known is cut.
func findingLines(e *Env, f engine.Finding, w int) (first, more string) {
	g := e.Theme.Glyph
	text := shortIDs(part.Clean(f.Title, g), g)
	if f.Severity != engine.SeverityError && f.Severity != engine.SeverityWarn {
		return text, ""
	}
	lines := part.Wrap(text, max(1, w-findingLead-1))
	if len(lines) < 2 {
		return text, ""
	}
	return lines[0], strings.Repeat(" ", findingLead) + part.Cut(strings.Join(lines[1:], " "), max(1, w-findingLead-1), g.More)
}

const findingLead = 9 // cells before the sentence of a finding

var ulid = regexp.MustCompile(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`)

// shortIDs writes the ids in a sentence as they are shown elsewhere.
func shortIDs(text string, g theme.Glyphs) string {
	return ulid.ReplaceAllStringFunc(text, func(id string) string { return part.Short(id, g) })
}

// severity is the mark of a finding and its role.
func severity(t *theme.Theme, s engine.Severity) (string, theme.Role) {
	switch s {
	case engine.SeverityError:
		return t.Glyph.Bad, theme.Bad
	case engine.SeverityWarn:
		return t.Glyph.Warn, theme.Warn
	case engine.SeverityOK:
		return t.Glyph.OK, theme.OK
	}
	return t.Glyph.Info, theme.Muted
}

// countFindings counts by severity, worst first.
func countFindings(t *theme.Theme, fs []engine.Finding) string {
	n := map[engine.Severity]int{}
	for _, f := range fs {
		n[f.Severity]++
	}
	var out []string
	for _, s := range []engine.Severity{engine.SeverityError, engine.SeverityWarn, engine.SeverityInfo, engine.SeverityOK} {
		if n[s] > 0 {
			mark, _ := severity(t, s)
			out = append(out, mark+" "+part.Count(n[s])+" "+string(s))
		}
	}
	return strings.Join(out, ", ")
}

// WorstFinding is the chip of the header.
func WorstFinding(t *theme.Theme, fs []engine.Finding) part.Span {
	worst := 0
	for _, f := range fs {
		if f.Severity == engine.SeverityError {
			worst++
		}
	}
	if worst > 0 {
		return part.R(theme.Bad, t.Glyph.Bad+" "+part.Plural(worst, "error", "errors"))
	}
	for _, f := range fs {
		if f.Severity == engine.SeverityWarn {
			worst++
		}
	}
	if worst > 0 {
		return part.R(theme.Warn, t.Glyph.Warn+" "+part.Plural(worst, "warning", "warnings"))
	}
	return part.Span{}
}

func pending(e *Env, info *engine.Info) block {
	g := e.Theme.Glyph
	b := block{head: "pending recovery", facts: part.Count(len(info.PendingRecovery)) + " " + g.Dot + " " + press(e, action.Recover) + " shows what would be done"}
	for _, p := range info.PendingRecovery {
		kind := p.Kind
		if kind == "" {
			kind = "unreadable"
		}
		spans := []part.Span{
			part.R(theme.Warn, g.Warn), part.S(" "), part.R(theme.Strong, part.Clean(kind, g)),
		}
		if p.Branch != "" {
			spans = append(spans, part.R(theme.Muted, " on "), part.S(part.Clean(p.Branch, g)), part.S(part.Clean(phaseWord(p), g)))
		}
		if left := p.WaitUntil.Sub(e.Now); left > 0 {
			spans = append(spans, part.R(theme.Warn, " "+g.Dot+" waits "+Countdown(left)))
		} else if !p.StartedAt.IsZero() {
			spans = append(spans, part.R(theme.Muted, " "+g.Dot+" "+part.Ago(e.Now, p.StartedAt)+" old"))
		}
		if p.Problem != "" {
			spans = append(spans, part.R(theme.Bad, " "+g.Dot+" "+part.Clean(p.Problem, g)))
		}
		b.items = append(b.items, item{
			key: "pending/" + p.Key, spans: func() []part.Span { return spans },
			open:   func() Effect { return Effect{Recover: p.Key} },
			detail: func(d *part.Doc) { pendingDoc(e, d, p) },
			copies: func() []Copy { return pendingCopies(p) },
		})
	}
	return b
}

// phaseWord says how far a writer came, behind what it did and where.
func phaseWord(p engine.Pending) string {
	switch {
	case p.Published:
		return ": published, its record is left"
	case p.Phase == "Armed":
		return ": announced"
	case p.Phase == "EffectsConfirmed":
		return ": carried out, not published"
	case p.Phase == "":
		return ""
	}
	return ": " + p.Phase
}

func pendingDoc(e *Env, d *part.Doc, p engine.Pending) {
	d.Head("pending recovery " + p.Kind)
	begun := "A writer recorded this plan and did not finish it. "
	if p.Kind == "" {
		begun = "This record cannot be read, and every write is refused while it is there. "
	}
	d.Text(theme.Text, begun+press(e, action.Recover)+" shows what it means now and what recovery would do about it, and does it once it is confirmed. Looking leaves it alone.")
	d.Gap()
	if left := p.WaitUntil.Sub(e.Now); left > 0 {
		d.FactRole("waits", theme.Warn, Countdown(left)+": its writer may be at work")
	}
	if p.Problem != "" {
		d.FactRole("problem", theme.Bad, p.Problem)
	}
	if p.Moved {
		d.FactRole("moved", theme.Warn, "its table paths name another root: this graph was moved or copied after it was written")
	}
	d.Fact("phase", p.Phase)
	d.Fact("branch", p.Branch)
	switch {
	case p.Published:
		d.Fact("published", "yes, its commit is visible")
	case p.Kind != "":
		d.Fact("published", "no")
	}
	d.Fact("started", part.When(p.StartedAt))
	d.Fact("operation", p.OperationID)
	d.Fact("commit", p.CommitID)
	d.Fact("actor", p.Actor)
	d.Fact("object", p.Key)
	for _, pt := range p.Tables {
		d.Head(pt.Table)
		d.Fact("expected", "v"+part.Count(pt.Expected))
		d.Fact("planned", "v"+part.Count(pt.Planned))
		if pt.Confirmed > 0 {
			d.Fact("confirmed", "v"+part.Count(pt.Confirmed))
		}
		d.Fact("branch", pt.Branch)
		d.Fact("path", pt.Path)
	}
}

func (o *Overview) tableBlock(e *Env, w, room int) block {
	b := block{head: "tables", pane: &e.Data.Snapshot}
	snap, ok := e.Data.Snapshot.Get()
	if !ok || e.Data.Snapshot.Problem() != nil {
		b.lines = absent(e, &e.Data.Snapshot, w, room)
		if ok {
			b.lines = problem(e, &e.Data.Snapshot, w, room)
		}
	}
	if !ok {
		return b
	}
	b.facts = part.Count(len(snap.Datasets))
	if len(snap.Datasets) == 0 {
		b.lines = append(b.lines, part.Line(e.Theme, w, part.S("  "), part.R(theme.Muted, "the schema has no types yet")))
	}
	name, rows := o.tableWidths(e, snap)
	name = min(name, max(10, w-rows-24))
	for _, d := range snap.Datasets {
		b.items = append(b.items, tableItem(e, d, name, rows))
	}
	return b
}

// tableWidths are the widths of the widest name and count, measured once for
// each list of tables.
func (o *Overview) tableWidths(e *Env, snap *engine.Snapshot) (name, rows int) {
	if o.measured != snap {
		o.measured, o.nameW, o.rowsW = snap, 0, 0
		for _, d := range snap.Datasets {
			o.nameW = max(o.nameW, part.Width(part.Clean(d.Table(), e.Theme.Glyph)))
			o.rowsW = max(o.rowsW, len(part.Count(d.EntityCount)))
		}
	}
	return o.nameW, o.rowsW
}

func tableItem(e *Env, d engine.Dataset, name, rows int) item {
	g := e.Theme.Glyph
	return item{
		key: "table/" + d.Table(),
		spans: func() []part.Span {
			return []part.Span{
				part.S(part.Pad(part.Cut(part.Clean(d.Table(), g), name, g.More), name) + "  " + part.PadLeft(part.Count(d.EntityCount), rows)),
				part.R(theme.Muted, plural(d.EntityCount, " row ", " rows")+"  v"+part.Count(d.Version)),
			}
		},
		open:   func() Effect { return Effect{Push: NewTable(d.Table())} },
		detail: func(doc *part.Doc) { tableDoc(doc, d); lieDoc(doc, d) },
		copies: func() []Copy { return tableCopies(e, d) },
	}
}

func plural(n uint64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
