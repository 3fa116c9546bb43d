package screen

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

const (
	firstChanges = 1000          // changes asked for at first
	allChanges   = math.MaxInt32 // when they are written to a file
)

// fieldPair is one property of an entity before and after; nil where the
// entity, or the property, was not there.
type fieldPair struct {
	name          string
	before, after *engine.Cell
	same          bool
}

// fieldsOf splits the objects of a change into properties: what stands around
// the data first, then the id, then the others by name. It says false when an
// object cannot be read.
func fieldsOf(before, after json.RawMessage, types map[string]string) ([]fieldPair, bool) {
	a, okA := flat(before)
	b, okB := flat(after)
	var all []string
	for n := range a {
		all = append(all, n)
	}
	for n := range b {
		if _, ok := a[n]; !ok {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(x, y string) int {
		if d := rank(x) - rank(y); d != 0 {
			return d
		}
		return strings.Compare(x, y)
	})
	out := make([]fieldPair, 0, len(all))
	for _, n := range all {
		x, inA := a[n]
		y, inB := b[n]
		f := fieldPair{name: strings.TrimPrefix(n, "."), same: inA && inB && bytes.Equal(x, y)}
		if inA {
			f.before = cellOf(x, types[f.name])
		}
		if inB {
			f.after = cellOf(y, types[f.name])
		}
		out = append(out, f)
	}
	return out, okA && okB
}

// rank orders properties: from and to of an edge, the id, the rest.
func rank(name string) int {
	switch name {
	case "from":
		return 0
	case "to":
		return 1
	case ".id":
		return 2
	}
	return 3
}

// flat reads an object as `export` spells it. Members of its data have a dot in
// front, so that a property may be called from.
func flat(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	out := map[string]json.RawMessage{}
	if len(raw) == 0 || string(raw) == "null" {
		return out, true
	}
	var top, data map[string]json.RawMessage
	if json.Unmarshal(raw, &top) != nil {
		return out, false
	}
	for n, v := range top {
		switch n {
		case "type", "edge":
		case "data":
			if json.Unmarshal(v, &data) != nil {
				return out, false
			}
		default:
			out[n] = v
		}
	}
	for n, v := range data {
		out["."+n] = v
	}
	return out, true
}

// cellOf is a JSON value as rows show values. Times are numbers where they are
// exported; the type of the property says which numbers are times.
func cellOf(raw json.RawMessage, typ string) *engine.Cell {
	text := strings.TrimSpace(string(raw))
	c := &engine.Cell{Kind: engine.CellNumber, Text: text}
	switch {
	case text == "null":
		c.Kind, c.Text = engine.CellNull, ""
	case strings.HasPrefix(text, `"`):
		c.Kind = engine.CellText
		if json.Unmarshal(raw, &c.Text) != nil {
			c.Text = text
		}
	case text == "true" || text == "false":
		c.Kind = engine.CellBool
	case strings.HasPrefix(text, "["):
		c.Kind = engine.CellList
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && c.Kind == engine.CellNumber {
		asTime(c, n, typ)
	}
	return c
}

const lastDay = 2_932_896 // 9999-12-31, in days since 1970

// asTime spells a number as the time that it is by its type.
func asTime(c *engine.Cell, n int64, typ string) {
	const day = 24 * 60 * 60 * 1000
	switch typ = strings.TrimSuffix(typ, "?"); {
	case typ == "Date" && n > -lastDay && n <= lastDay:
		c.Kind, c.Text = engine.CellTime, time.UnixMilli(n*day).UTC().Format("2006-01-02")
	case typ == "DateTime" && n > -lastDay*day && n <= lastDay*day:
		c.Kind, c.Text = engine.CellTime, time.UnixMilli(n).UTC().Format("2006-01-02T15:04:05.000Z")
	}
}

// changed names the properties that differ, for a column.
func changed(fields []fieldPair) string {
	var out []string
	for _, f := range fields {
		if !f.same {
			out = append(out, f.name)
		}
	}
	return strings.Join(out, ", ")
}

// changeSet is the changes of a comparison as a list.
type changeSet struct {
	changes []engine.Change
	types   func(table string) map[string]string // of properties, which say which numbers are times
	fields  map[int][]fieldPair                  // of those that were looked at
}

func newChangeSet(changes []engine.Change, types func(table string) map[string]string) *changeSet {
	return &changeSet{changes, types, map[int][]fieldPair{}}
}

func (c *changeSet) table(i int) string { return c.changes[i].Kind + ":" + c.changes[i].Type }

// key names a change. Of a table that was made anew an id may have two.
func (c *changeSet) key(i int) string {
	return c.table(i) + "\x00" + c.changes[i].ID + "\x00" + c.changes[i].Op
}

// pairs are the properties of a change.
func (c *changeSet) pairs(i int) []fieldPair {
	f, ok := c.fields[i]
	if !ok {
		if len(c.fields) > 4*firstChanges {
			clear(c.fields)
		}
		f, _ = fieldsOf(c.changes[i].Before, c.changes[i].After, nil)
		c.fields[i] = f
	}
	return f
}

// what says in a few words what happened to an entity.
func (c *changeSet) what(i int) string {
	if c.changes[i].Op == "update" {
		return changed(c.pairs(i))
	}
	return ""
}

// differ is what, without remembering anything: for commands.
func (c *changeSet) differ(i int) string {
	if c.changes[i].Op != "update" {
		return ""
	}
	f, _ := fieldsOf(c.changes[i].Before, c.changes[i].After, nil)
	return changed(f)
}

func (c *changeSet) facets() []facet {
	return []facet{
		{name: "op", text: func(i int) string { return c.changes[i].Op }},
		{name: "table", text: c.table},
		{name: "id", text: func(i int) string { return c.changes[i].ID }},
		{name: "changed", text: c.differ},
	}
}

// mark is the sign of an operation, and how it is painted.
func mark(op string) (string, theme.Role) {
	switch op {
	case "insert":
		return "+", theme.Added
	case "delete":
		return "-", theme.Removed
	}
	return "~", theme.Strong
}

// row is a change in a list; before is the change above it, -1 for none.
func (c *changeSet) row(g theme.Glyphs, i, before int) []part.Span {
	sign, role := mark(c.changes[i].Op)
	table := ""
	if before < 0 || c.table(before) != c.table(i) {
		table = part.Clean(c.table(i), g)
	}
	return []part.Span{
		part.R(role, sign+" "+part.Clean(c.changes[i].Op, g)), part.R(theme.Muted, table),
		part.S(part.Clean(c.changes[i].ID, g)), part.R(theme.Muted, part.Clean(part.Head(c.what(i), 200), g)),
	}
}

// counts writes what happened to a table: +12 ~3 -1.
func counts(n engine.DiffCount) string {
	switch {
	case n.From == 0:
		return "made, +" + part.Count(n.Inserted)
	case n.To == 0:
		return "dropped, -" + part.Count(n.Deleted)
	case n.Physical:
		return "only rewritten"
	}
	return plusMinus(n.Inserted, n.Updated, n.Deleted)
}

func plusMinus(inserted, updated, deleted uint64) string {
	return "+" + part.Count(inserted) + " ~" + part.Count(updated) + " -" + part.Count(deleted)
}

// fromTo writes the versions of a table on both sides.
func fromTo(g theme.Glyphs, n engine.DiffCount) string {
	name := func(v uint64) string {
		if v == 0 {
			return "none"
		}
		return "v" + part.Count(v)
	}
	return name(n.From) + " " + g.Arrow + " " + name(n.To)
}

// doc shows one entity before and after. What is equal is muted, or hidden.
func (c *changeSet) doc(e *Env, d *part.Doc, i int, hide bool) {
	ch := &c.changes[i]
	sign, role := mark(ch.Op)
	g := e.Theme.Glyph
	d.Line(part.R(role, sign+" "+part.Clean(ch.Op, g)), part.R(theme.Strong, " "+part.Clean(c.table(i)+" "+ch.ID, g)))
	fields, ok := fieldsOf(ch.Before, ch.After, c.types(c.table(i)))
	if !ok {
		d.Text(theme.Bad, g.Bad+" the entity as it was told cannot be read as an object; as it came:")
		d.Text(theme.Text, part.Head(string(ch.Before)+"\n"+string(ch.After), part.CleanMax))
		return
	}
	if ch.Op != "update" {
		wholeDoc(e, d, fields, sign, role)
		return
	}
	equal := pairsDoc(e, d, fields, hide)
	if equal > 0 && hide {
		d.Gap().Text(theme.Muted, part.Plural(equal, "equal property is", "equal properties are")+" hidden; "+press(e, action.HideSame)+" shows them")
	}
}

// wholeDoc writes an entity that is on one side only.
func wholeDoc(e *Env, d *part.Doc, pairs []fieldPair, sign string, role theme.Role) {
	page := &engine.RowPage{}
	for _, p := range pairs {
		page.Columns = append(page.Columns, p.name)
	}
	f := newFields(e, d, page)
	f.sign = part.R(role, sign+" ")
	for _, p := range pairs {
		v := p.after
		if v == nil {
			v = p.before
		}
		f.cell(p.name, "", *v)
	}
}

// pairsDoc writes properties before and after, and counts the equal ones.
func pairsDoc(e *Env, d *part.Doc, fields []fieldPair, hide bool) (equal int) {
	t := e.Theme
	width := func(text string) int { return part.Width(part.Clean(part.Head(text, part.CleanMax), t.Glyph)) }
	nameW, oldW, newW := 0, 1, 1
	var shown []part.Pair
	var values [][2]*engine.Cell
	for _, f := range fields {
		if f.same {
			if equal++; hide {
				continue
			}
		}
		p := part.Pair{Name: f.name, NoOld: f.before == nil, NoNew: f.after == nil}
		if f.before != nil {
			p.Old = oneLine(t.Glyph, *f.before)
		}
		if f.after != nil {
			p.New = oneLine(t.Glyph, *f.after)
		}
		if nameW = max(nameW, width(p.Name)); !f.same && !p.NoOld && !p.NoNew {
			oldW, newW = max(oldW, width(p.Old)), max(newW, width(p.New))
		}
		shown, values = append(shown, p), append(values, [2]*engine.Cell{f.before, f.after})
	}
	nameW = min(nameW, d.Width()/4)
	room := d.Width() - nameW - 8 // of both values
	for i, p := range shown {
		p.OldW = min(max(oldW, room/4), max(room/2, room-newW))
		pairDoc(e, d, p, nameW, values[i])
	}
	return equal
}

// pairDoc writes a property on two sides: beside each other, or below each
// other, what differs lit, and each in full where it does not fit so.
func pairDoc(e *Env, d *part.Doc, p part.Pair, nameW int, v [2]*engine.Cell) {
	if !strings.Contains(p.Old+p.New, "\n") && p.Fits(e.Theme, nameW, d.Width()) || p.Old == p.New && !p.NoOld && !p.NoNew {
		d.Add(p.Render(e.Theme, nameW, d.Width())...)
		return
	}
	d.Line(part.R(theme.Strong, part.Clean(p.Name, e.Theme.Glyph)))
	for i, side := range []struct {
		sign string
		role theme.Role
	}{{"- ", theme.Removed}, {"+ ", theme.Added}} {
		if v[i] != nil {
			valueDoc(e, d, side.role, side.sign, *v[i])
		} else {
			d.Line(part.R(side.role, "  "+side.sign), part.R(theme.Muted, "not there"))
		}
	}
}

// oneLine is a value as it stands in a line.
func oneLine(g theme.Glyphs, v engine.Cell) string {
	switch {
	case v.Kind == engine.CellNull:
		return g.Null + " null"
	case v.Text == "":
		return "\"\" empty text"
	}
	return v.Text
}

// valueDoc writes a value in full, with a sign in front of its first line.
func valueDoc(e *Env, d *part.Doc, role theme.Role, sign string, v engine.Cell) {
	g := e.Theme.Glyph
	switch {
	case v.Kind == engine.CellNull:
		d.Line(part.R(role, "  "+sign), part.R(theme.Muted, g.Null+" null"))
		return
	case v.Text == "":
		d.Line(part.R(role, "  "+sign), part.R(theme.Muted, "\"\" empty text"))
		return
	}
	shown := part.Head(v.Text, part.CleanMax)
	lead := part.R(role, "  "+sign)
	for _, para := range strings.Split(shown, "\n") {
		for _, l := range part.Wrap(part.Clean(para, g), max(4, d.Width()-7)) {
			d.Line(lead, part.S(l))
			lead = part.S("    ")
		}
	}
	if rest := len(v.Text) - len(shown); rest > 0 {
		d.Line(part.R(theme.Muted, "    "+part.Bytes(int64(rest))+" more"))
	}
}

// copies are what can be copied of a change.
func (c *changeSet) copies(i int) []Copy {
	out := []Copy{{Label: "id", Text: c.changes[i].ID}}
	for _, o := range []struct {
		label string
		raw   json.RawMessage
	}{{"row before, as JSON", c.changes[i].Before}, {"row after, as JSON", c.changes[i].After}} {
		if len(o.raw) > 0 && string(o.raw) != "null" {
			out = append(out, Copy{Label: o.label, Text: string(o.raw)})
		}
	}
	return out
}

// writeChanges writes changes as lines of JSON.
func writeChanges(ctx context.Context, w io.Writer, changes []engine.Change) (int, error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range changes {
		if err := ctx.Err(); err != nil {
			return i, err
		}
		if err := enc.Encode(&changes[i]); err != nil {
			return i, err
		}
	}
	return len(changes), nil
}

func plainNumber(n uint64) string { return strconv.FormatUint(n, 10) }
