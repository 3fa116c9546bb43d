package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
)

// Limits of the palette.
const (
	paletteCommits = 20_000 // of the newest, that are looked through
	paletteTables  = 2_000  // whose tabs are offered each
	paletteShown   = 200    // offers for one text
)

// palette searches everything that can be done or gone to.
type palette struct {
	field part.Field
	fixed []offer         // actions and things, in the order in which they stand unsearched
	log   *screen.History // nil = not read
	found []offer
	list  part.List
}

// offer is one line of the palette and what it does.
type offer struct {
	part.Offer
	run func(m *model) tea.Cmd
}

func (m *model) openPalette() tea.Cmd {
	p := &palette{}
	p.collect(m)
	m.show(p)
	return m.names()
}

// names asks for the branches and types, by which things are called, when
// nobody has asked for them yet. They are on the meter of the navigator.
func (m *model) names() tea.Cmd {
	if m.picking() || m.ws == nil {
		return nil
	}
	return m.ask(m.nav, m.nav.screen.Start(&m.env))
}

func (p *palette) collect(m *model) {
	p.fixed = nil
	p.actions(m)
	// What cannot be done now stands behind what can.
	slices.SortStableFunc(p.fixed, func(a, b offer) int { return cmp.Compare(min(1, len(a.Why)), min(1, len(b.Why))) })
	if !m.picking() {
		p.things(m)
	}
	p.search(m)
}

// loaded takes up what came while the palette is open; the selection stays.
func (p *palette) loaded(m *model) {
	sel := p.list
	p.collect(m)
	p.list = sel
	p.list.Move(0, len(p.found))
}

func (p *palette) actions(m *model) {
	c := m.context()
	for _, a := range m.env.Keys.Actions() {
		if a.ID == action.Palette || !(a.In(c.Screen) || a.In(action.Lists) || a.In(action.Global)) {
			continue
		}
		id, more := a.ID, a.Help
		if more == a.Title {
			more = ""
		}
		p.fixed = append(p.fixed, offer{
			part.Offer{Kind: "action", Text: a.Title, Detail: more, Key: part.Clean(a.Key(), m.env.Theme.Glyph), Why: a.Why(c)},
			func(m *model) tea.Cmd { return m.act(id) },
		})
	}
}

// things are branches, types with their tabs, findings and commits, as far as
// they were read.
func (p *palette) things(m *model) {
	g := m.env.Theme.Glyph
	names, _ := m.env.Data.Names.Get()
	for _, name := range names {
		at := engine.At{Branch: name}
		if name == "main" {
			at.Branch = ""
		}
		p.fixed = append(p.fixed, offer{part.Offer{Kind: "branch", Text: part.Clean(name, g), Detail: "show it on all screens"}, func(m *model) tea.Cmd {
			if at == m.env.At {
				return m.say("all screens show " + name + " already")
			}
			return tea.Batch(m.say("all screens show "+name), m.look(at))
		}})
	}
	if snap, ok := m.env.Data.Snapshot.Get(); ok {
		for _, ds := range snap.Datasets[:min(len(snap.Datasets), paletteTables)] {
			p.table(ds, part.Clean(ds.Table(), g))
		}
	}
	if info, ok := m.env.Data.Info.Get(); ok {
		for _, f := range info.Findings {
			p.fixed = append(p.fixed, offer{part.Offer{Kind: "finding", Text: part.Clean(f.ID, g), Detail: part.Clean(f.Title, g)}, func(m *model) tea.Cmd {
				return m.effect(screen.Effect{Push: screen.NewFinding(f)})
			}})
		}
	}
	p.log, _ = m.env.Data.History.Get()
}

func (p *palette) table(ds engine.Dataset, name string) {
	for _, tab := range screen.TableTabs() {
		place := ds.Table() + "/" + tab
		p.fixed = append(p.fixed, offer{
			part.Offer{Kind: "table", Text: name + " " + tab, Detail: part.Count(ds.EntityCount) + " rows"},
			func(m *model) tea.Cmd { return m.visit(place) },
		})
	}
}

// visit opens a place from anywhere.
func (m *model) visit(place string) tea.Cmd {
	s, err := screen.At(place)
	if err != nil {
		return m.say(err.Error())
	}
	if id := numbered(s); id != "" {
		return m.root(id)
	}
	return m.effect(screen.Effect{Push: s})
}

// search finds what matches the text: things by their letters in order,
// commits by a piece of their id.
func (p *palette) search(m *model) {
	text := strings.TrimSpace(p.field.String())
	p.list = part.List{}
	p.found = p.found[:0]
	hits := part.Rank(text, len(p.fixed), func(i int) string { return p.fixed[i].Text }, paletteShown)
	for _, h := range hits {
		o := p.fixed[h.Index]
		o.At = h.At
		p.found = append(p.found, o)
	}
	if text != "" {
		p.more(text, func(i int) string { return p.fixed[i].Detail })
	}
	p.commits(m, text)
}

// more adds what only the words of the detail mention.
func (p *palette) more(text string, detail func(int) string) {
	text = strings.ToLower(text)
	if len(text) < 3 {
		return
	}
	shown := map[string]bool{}
	for i := range p.found {
		shown[p.found[i].Kind+p.found[i].Text] = true
	}
	for i := range p.fixed {
		o := p.fixed[i]
		if len(p.found) < paletteShown && o.Kind != "table" && !shown[o.Kind+o.Text] && strings.Contains(strings.ToLower(detail(i)), text) {
			p.found = append(p.found, o)
		}
	}
}

// commits adds those whose id ends with the text, then those that hold it.
func (p *palette) commits(m *model, text string) {
	want := strings.ToUpper(strings.TrimLeft(text, "….~"))
	if p.log == nil || len(want) < 2 || len(want) > 26 || strings.ContainsAny(want, " :") {
		return
	}
	var within []int
	n := 0
	add := func(i int) {
		p.found = append(p.found, p.commit(m, i, want))
		n++
	}
	for i := range min(p.log.Len(), paletteCommits) {
		switch id := p.log.ID(i); {
		case n >= paletteShown/4:
			return
		case strings.HasSuffix(id, want):
			add(i)
		case len(within) < paletteShown/4 && strings.Contains(id, want):
			within = append(within, i)
		}
	}
	for _, i := range within[:min(len(within), max(0, paletteShown/4-n))] {
		add(i)
	}
}

func (p *palette) commit(m *model, i int, want string) offer {
	g := m.env.Theme.Glyph
	c := p.log.Entry(i)
	text := part.Clean(c.ID, g)
	var at []int
	if from := strings.LastIndex(text, want); from >= 0 {
		for k := range len(want) {
			at = append(at, from+k)
		}
	}
	id := c.ID
	return offer{
		part.Offer{Kind: "commit", Text: text, At: at, Detail: part.Clean(c.BranchName(), g) + " v" + part.Count(c.ManifestVersion) + ", " + part.Ago(m.env.Now, c.Time())},
		func(m *model) tea.Cmd { return m.toCommit(id) },
	}
}

// toCommit selects a commit on the screen of commits.
func (m *model) toCommit(id string) tea.Cmd {
	cmd := m.root(action.Commits)
	s := m.top().screen
	if f, ok := s.(screen.Filterer); ok && f.Filter() != "" {
		cmd = tea.Batch(cmd, m.effect(f.SetFilter(&m.env, "")))
	}
	if x, ok := s.(interface{ Select(key string) }); ok {
		x.Select(id)
	}
	return cmd
}

func (p *palette) paste(m *model, text string) tea.Cmd {
	p.field.Insert(text)
	p.search(m)
	return nil
}

func (p *palette) key(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	n := len(p.found)
	switch k.String() {
	case "esc":
		return nil, true
	case "enter":
		if p.list.Sel >= n {
			return nil, false
		}
		o := p.found[p.list.Sel]
		if o.Why != "" {
			return m.say(o.Text + ": " + o.Why), false
		}
		m.shut(p)
		return o.run(m), true
	case "down", "ctrl+n", "tab":
		p.list.Move(1, n)
		return nil, false
	case "up", "ctrl+p", "shift+tab":
		p.list.Move(-1, n)
		return nil, false
	case "pgdown":
		p.list.Page(1, n, false)
		return nil, false
	case "pgup":
		p.list.Page(-1, n, false)
		return nil, false
	}
	before := slices.Clone(p.field.Text)
	typed(&p.field, k)
	if !slices.Equal(before, p.field.Text) {
		p.search(m)
	}
	return nil, false
}

func (p *palette) cover(m *model, body []string, w int) []string {
	t := m.env.Theme
	inner := min(w-4, 96)
	lines := []string{part.Line(t, 3, part.R(theme.Accent, " "+t.Glyph.Pointer)) + p.field.Render(t, inner-3), part.Rule(t, "", inner)}
	rows := max(1, min(16, len(body)-5))
	if len(p.found) == 0 {
		lines = append(lines, part.Fit([]string{part.Line(t, inner, part.R(theme.Muted, "  nothing that is loaded is called that"))}, inner, rows)...)
	} else {
		lines = append(lines, part.Offers(t, len(p.found), func(i int) part.Offer { return p.found[i].Offer }, &p.list, inner, rows)...)
	}
	return part.Over(body, part.Box(t, "palette", lines, inner+2), w, part.Centre)
}
