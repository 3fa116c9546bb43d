package runner

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
)

// confirmation is what has to be done before a plan runs.
type confirmation struct {
	level  int    // 0 = there is nothing to run
	letter string // of level 2
	want   string // of level 3
	verb   string // what confirming does, in words
	field  part.Field
	onRun  bool // of level 1: the focus is on Run
	said   string
}

// confirms says how a plan is confirmed.
func (r *Runner) confirms(e *screen.Env) confirmation {
	if s := r.split; s != nil {
		c := confirmation{level: 1, verb: "load " + part.Plural(s.Nodes+s.Edges, "entity", "entities") + " in " + part.Plural(s.Chunks, "commit", "commits")}
		switch {
		case s.Chunks == 0:
			c.level = 0
		case s.Mode == engine.LoadMerge:
			c.level, c.letter = 2, letter(e, strconv.Itoa(s.Lines))
		}
		return c
	}
	ins, upd, del := totals(r.plan.Tables)
	c := confirmation{level: 1, verb: doing(ins, upd, del)}
	l := r.Write.Load
	switch {
	case len(r.plan.Tables) == 0:
		c.level = 0
	case l != nil && l.Mode == engine.LoadOverwrite:
		c.level, c.want = 3, screen.BranchName(r.Branch)
		if del >= 10 {
			c.want = strconv.FormatUint(del, 10)
		}
	case upd+del > 0 || r.plan.Class != "additive":
		c.level, c.letter = 2, letter(e, r.plan.ID)
	}
	return c
}

// letters are those of which a plan draws the one that confirms it: none moves
// or leaves anywhere, and none opens a write.
const letters = "acfimnosxz"

// reviewed are the actions of a review that move nowhere.
var reviewed = []action.ID{action.Hurry, action.Mark, action.Copy, action.Unlock, action.Recover}

// letter draws the letter of a plan: the same for the same plan, and none that
// the user gave to moving.
func letter(e *screen.Env, id string) string {
	n := 0
	for _, b := range []byte(id) {
		n += int(b)
	}
	for i := range letters {
		l := string(letters[(n+i)%len(letters)])
		if a, ok := e.Keys.Find(action.OnRecovery, l); !ok || !a.Harmless() && !slices.Contains(reviewed, a.ID) {
			return l
		}
	}
	return letters[:1]
}

func totals(tables []engine.WrittenTable) (ins, upd, del uint64) {
	for i := range tables {
		ins, upd, del = ins+tables[i].Inserted, upd+tables[i].Updated, del+tables[i].Deleted
	}
	return ins, upd, del
}

// doing says what happens to rows: "insert 1, update 2".
func doing(ins, upd, del uint64) string {
	var out []string
	for _, x := range []struct {
		n    uint64
		verb string
	}{{ins, "insert"}, {upd, "update"}, {del, "delete"}} {
		if x.n > 0 {
			out = append(out, x.verb+" "+part.Plural(x.n, "row", "rows"))
		}
	}
	if out == nil {
		return "run it"
	}
	return strings.Join(out, ", ")
}

// reviewKey handles a key of the review.
func (r *Runner) reviewKey(e *screen.Env, k tea.KeyPressMsg) Do {
	name, c := k.String(), &r.ask
	if name == "esc" {
		return r.back(e)
	}
	if e.Unready(r.began) {
		return Do{}
	}
	if c.level == 3 {
		return r.typedKey(e, k)
	}
	a, _ := e.Keys.Find(action.OnFinding, name)
	switch {
	case c.level == 2 && name == c.letter:
		return Do{Run: true}
	case a.ID == action.Back || a.ID == action.Leave:
		return r.back(e)
	case a.ID == action.Reload:
		return r.replan(e)
	case c.level == 1 && (a.ID == action.Flip || a.ID == action.NextTab || a.ID == action.PrevTab):
		c.onRun = !c.onRun
	case a.ID == action.Open && c.level == 1 && c.onRun:
		return Do{Run: true}
	case a.ID == action.Open && c.level < 2:
		return r.back(e)
	case a.ID == action.Open:
		c.said = "nothing ran: " + c.letter + " runs it, esc goes back"
	default:
		return r.shared(e, k)
	}
	return Do{}
}

// typedKey handles a key where a number or a name is typed.
func (r *Runner) typedKey(e *screen.Env, k tea.KeyPressMsg) Do {
	c := &r.ask
	switch name := k.String(); {
	case name == "enter" && c.field.String() == c.want:
		return Do{Run: true}
	case name == "enter":
		c.said = "nothing ran: that is not " + c.want
	case name == "up" || name == "down" || name == "pgup" || name == "pgdown":
		return r.shared(e, k)
	case e.Keys.Is(action.Copy, name) && c.field.String() == "" && !strings.HasPrefix(c.want, name):
		return r.copy(e)
	default:
		if c.field.Key(name) || k.Text != "" && c.field.Insert(k.Text) {
			c.said = ""
		}
	}
	return Do{}
}

// planDoc is what would be done.
func (r *Runner) planDoc(e *screen.Env, w int) *part.Doc {
	d := part.NewDoc(e.Theme, w)
	r.target(e, d)
	if r.moved != nil && r.plan != nil {
		r.movedDoc(e, d)
	}
	switch {
	case r.split != nil:
		r.splitDoc(d)
	default:
		r.oneDoc(e, d)
	}
	d.Gap()
	d.Text(theme.Muted, r.CommandLine(e))
	return d
}

// target says where it would be done, where that is no file of one's own.
func (r *Runner) target(e *screen.Env, d *part.Doc) {
	switch {
	case e.Remote:
		d.Line(part.R(theme.RW, " REMOTE "), part.S(" "), part.R(theme.Strong, part.Clean(e.Address, e.Theme.Glyph)))
	case e.Sandbox():
		d.Text(theme.Muted, "A sandbox in memory: what is written here is gone when omnideck ends.")
	}
}

func (r *Runner) oneDoc(e *screen.Env, d *part.Doc) {
	p := r.plan
	if r.Write.Shows != nil {
		r.Write.Shows(e, d)
	}
	if len(p.Tables) == 0 {
		d.Text(theme.Strong, "Nothing would change: no entity meets it.")
		return
	}
	d.Add(tableLines(e, p.Tables, d.Width())...)
	d.Gap()
	d.Fact("affected", part.Plural(p.Nodes, "node", "nodes")+", "+part.Plural(p.Edges, "edge", "edges"))
	for _, t := range p.Tables {
		if t.Why != "" {
			d.Fact("why", t.Table+": "+t.Why)
		}
		if t.Text != "" {
			d.Fact("where", t.Table+": "+t.Text)
		}
	}
	if n := p.RequestsEstimate; n > 0 {
		d.Fact("requests", "about "+part.Count(n)+", of which the plan has read some already")
	}
	d.Fact("taken back", p.Reversible)
}

func (r *Runner) splitDoc(d *part.Doc) {
	s := r.split
	d.Fact("file", r.Write.Load.File)
	d.Fact("lines", part.Count(s.Lines))
	d.Fact("entities", part.Plural(s.Nodes, "node", "nodes")+", "+part.Plural(s.Edges, "edge", "edges"))
	d.Fact("commits", part.Count(s.Chunks)+", one for each chunk; what stands in the graph already is passed over")
	d.Text(theme.Muted, "Each chunk is checked when its turn comes: one that is refused leaves those before it. The same file loaded again goes on where it ended.")
}

// movedDoc says what became different since the plan was looked at.
func (r *Runner) movedDoc(e *screen.Env, d *part.Doc) {
	g := e.Theme.Glyph
	d.Line(part.R(theme.Warn, g.Warn+" the graph moved while you looked: "), part.S(part.Short(r.moved.PinnedHead, g)+" "+g.Arrow+" "+part.Short(r.plan.PinnedHead, g)+"; this is planned anew"))
	was := map[string]engine.WrittenTable{}
	for _, t := range r.moved.Tables {
		was[t.Table] = t
	}
	same := len(r.moved.Tables) == len(r.plan.Tables)
	for _, t := range r.plan.Tables {
		o, ok := was[t.Table]
		delete(was, t.Table)
		now, before := doing(t.Inserted, t.Updated, t.Deleted), doing(o.Inserted, o.Updated, o.Deleted)
		if !ok {
			before = "nothing"
		}
		if now != before {
			d.Line(part.R(theme.Changed, "  "+part.Clean(t.Table, g)+": "+before+" "+g.Arrow+" "+now))
			same = false
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		o := was[name]
		d.Line(part.R(theme.Changed, "  "+part.Clean(name, g)+": "+doing(o.Inserted, o.Updated, o.Deleted)+" "+g.Arrow+" nothing"))
	}
	if same {
		d.Line(part.R(theme.Muted, "  it would do the same as before"))
	}
	d.Gap()
}

// tableLines are the tables of a plan or a receipt.
func tableLines(e *screen.Env, tables []engine.WrittenTable, w int) []string {
	t := e.Theme
	g := t.Glyph
	head := []string{"table", "version", "insert", "update", "delete", "rows after"}
	rows := [][]string{head}
	for _, x := range tables {
		version := "v" + part.Count(x.From)
		if x.To != 0 {
			version += " " + g.Arrow + " v" + part.Count(x.To)
		}
		rows = append(rows, []string{part.Clean(x.Table, g), version, signed("+", x.Inserted), signed("~", x.Updated), signed("-", x.Deleted), part.Count(x.Rows)})
	}
	widths := make([]int, len(head))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], part.Width(c))
		}
	}
	rest := 1
	for _, n := range widths[1:] {
		rest += n + 2
	}
	widths[0] = min(widths[0], max(8, w-rest-1))
	roles := []theme.Role{theme.Strong, theme.Text, theme.Added, theme.Changed, theme.Removed, theme.Text}
	var out []string
	for n, row := range rows {
		spans := []part.Span{part.S(" ")}
		for i, c := range row {
			role := roles[i]
			if n == 0 {
				role = theme.Muted
			}
			c = part.Cut(c, widths[i], g.More)
			if i > 1 {
				c = part.PadLeft(c, widths[i])
			} else {
				c = part.Pad(c, widths[i])
			}
			spans = append(spans, part.R(role, c), part.S("  "))
		}
		out = append(out, part.Line(t, w, spans...))
	}
	return out
}

func signed(sign string, n uint64) string {
	if n == 0 {
		return "0"
	}
	return sign + part.Count(n)
}

// askLines is how a plan is confirmed, at the foot of the review.
func (r *Runner) askLines(e *screen.Env, w int) []string {
	t, c := e.Theme, &r.ask
	button := func(on bool, text string) part.Span {
		if on {
			return part.R(theme.Select, " "+t.Glyph.Pointer+" "+text+" ")
		}
		return part.S("   " + text + " ")
	}
	var out []string
	switch c.level {
	case 0:
		out = append(out, part.Line(t, w, part.S(" "), button(true, "back")))
	case 1:
		out = append(out, part.Line(t, w, part.S(" "), button(!c.onRun, "Cancel"), part.S("  "), button(c.onRun, "Run: "+c.verb)))
	case 2:
		out = append(out, part.Line(t, w, part.S(" Press "), part.R(theme.Chip, " "+c.letter+" "), part.S(" to "), part.R(theme.Strong, c.verb)))
	case 3:
		what := "the rows that go"
		if c.want == screen.BranchName(r.Branch) {
			what = "the branch"
		}
		lead := " Type " + part.Clean(c.want, t.Glyph) + ", " + what + ", to " + c.verb + ": "
		lead = part.Cut(lead, max(1, w-12), t.Glyph.More)
		out = append(out, part.Line(t, part.Width(lead), part.R(theme.Strong, lead))+c.field.Render(t, max(1, w-part.Width(lead)-1))+" ")
	}
	if c.said != "" {
		out = append(out, part.Line(t, w, part.S(" "), part.R(theme.Bad, part.Clean(c.said, t.Glyph))))
	}
	return out
}
