package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

func diffVerb() *verb {
	return &verb{
		name: "diff", args: "A B", need: 2, group: "look", flags: []string{"branch", "table", "limit", "ndjson"}, limit: 1000,
		short: "Which nodes and edges differ between two commits, branches or versions",
		long: "Which nodes and edges differ between A and B: a branch, a commit id or a unique part of its beginning or end,\n" +
			"or a manifest version of --branch. Counts are whole; --limit bounds the changes that are told. Reads only what\n" +
			"was written between the two; a blob is told by its size.",
		example: "diff demo: main review/new-calls\ndiff demo: 14 15 --table node:Port\ndiff demo: CGYZB0DJ main --json",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
			ends, err := c.ends(ctx, g, at.Branch)
			if err != nil {
				return err
			}
			d, err := g.Diff(ctx, ends[0], ends[1], engine.DiffOptions{Tables: c.list("table"), Limit: unlimited(c.integer("limit"))})
			if err != nil && (d == nil || !partial(err)) {
				return err
			}
			c.notCompared(err)
			if d.Truncated {
				c.note("%s told of %s; --limit 0 tells all", part.Plural(len(d.Changes), "change", "changes"), decimal(changesOf(d)))
			}
			if c.boolean("ndjson") {
				return also(lines(c, slices.Values(d.Changes)), err)
			}
			doc := struct {
				From diffEnd `json:"from"`
				To   diffEnd `json:"to"`
				*engine.Diff
			}{endOf(d.A), endOf(d.B), d}
			return also(c.own(doc, func(t *out.Text) { printDiff(t, d, err == nil) }), err)
		}),
	}
}

// notCompared warns of each table that could not be compared, where the error
// names only the first.
func (c *call) notCompared(err error) {
	var e *engine.IncompleteError
	if !errors.As(err, &e) || len(e.Problems) < 2 {
		return
	}
	for _, p := range e.Problems {
		c.warn("not compared: %s", p)
	}
}

// ends are the two points that the arguments name.
func (c *call) ends(ctx context.Context, g *engine.Graph, branch string) (ends [2]engine.At, err error) {
	for i, text := range c.args {
		if strings.TrimSpace(text) == "" {
			return ends, usagef("%s is empty: name a branch, a commit or a manifest version", [2]string{"A", "B"}[i])
		}
	}
	found, err := g.ResolveAll(ctx, branch, c.args...)
	if err != nil {
		return ends, err
	}
	copy(ends[:], found)
	c.commit = ends[1].Commit
	return ends, nil
}

// diffEnd is one of the two points as it was read.
type diffEnd struct {
	Branch  string  `json:"branch"`
	Version uint64  `json:"graph_manifest_version"`
	Commit  *string `json:"graph_commit_id"` // null when no commit was asked for
}

func endOf(at engine.At) diffEnd {
	e := diffEnd{Branch: mainOr(at.Branch), Version: at.Version}
	if at.Commit != "" {
		e.Commit = &at.Commit
	}
	return e
}

func changesOf(d *engine.Diff) (n uint64) {
	for _, x := range d.Counts {
		n += x.Inserted + x.Updated + x.Deleted
	}
	return n
}

// printDiff prints a table of counts and a line for each change. whole says that
// every table was compared.
func printDiff(t *out.Text, d *engine.Diff, whole bool) {
	t.Line("%s → %s", pointText(d.A), pointText(d.B))
	if len(d.Counts) == 0 {
		if whole {
			t.Line("no table differs")
		}
		return
	}
	rows := make([][]out.Cell, 0, len(d.Counts))
	for _, x := range d.Counts {
		rows = append(rows, []out.Cell{
			out.C(x.Table), count(x.Inserted, theme.OK), count(x.Updated, theme.Warn), count(x.Deleted, theme.Bad), {Text: movedText(x), Role: theme.Muted},
		})
	}
	t.Table([]out.Column{{Name: "table"}, {Name: "inserted", Right: true}, {Name: "updated", Right: true}, {Name: "deleted", Right: true}, {Name: "version"}}, rows)
	for _, ch := range d.Changes {
		sign, role := "~", theme.Warn
		switch ch.Op {
		case "insert":
			sign, role = "+", theme.OK
		case "delete":
			sign, role = "-", theme.Bad
		}
		t.Raw(t.Paint(role, sign) + " " + out.Clean(ch.Kind+":"+ch.Type+" "+ch.ID+changedText(ch)) + "\n")
	}
}

func pointText(at engine.At) string {
	s := mainOr(at.Branch) + " v" + decimal(at.Version)
	if at.Commit != "" {
		s += " " + at.Commit
	}
	return s
}

func count(n uint64, role theme.Role) out.Cell {
	if n == 0 {
		role = theme.Muted
	}
	return out.Cell{Text: decimal(n), Role: role}
}

func movedText(x engine.DiffCount) string {
	switch {
	case x.From == 0:
		return "new at v" + decimal(x.To)
	case x.To == 0:
		return "dropped at v" + decimal(x.From)
	case x.Physical:
		return fmt.Sprintf("v%d → v%d, only its files differ", x.From, x.To)
	case x.From == x.To: // of another branch, or of another table of that name
		return fmt.Sprintf("v%d → another v%d", x.From, x.To)
	}
	return fmt.Sprintf("v%d → v%d", x.From, x.To)
}

// changedText is what a line says behind the id: the ends of an edge, or of an
// update the properties that differ.
func changedText(ch engine.Change) string {
	switch ch.Op {
	case "insert":
		return endsText(ch.After)
	case "delete":
		return endsText(ch.Before)
	}
	before, after := members(ch.Before), members(ch.After)
	var parts []string
	for _, m := range before {
		if now := after.find(m.name); !bytes.Equal(m.value, now) {
			parts = append(parts, m.name+" "+short(m.value)+" → "+short(now))
		}
	}
	for _, m := range after {
		if before.find(m.name) == nil {
			parts = append(parts, m.name+" "+short(nil)+" → "+short(m.value))
		}
	}
	if len(parts) == 0 {
		return "  the bytes of a blob" // of the same size
	}
	return "  " + strings.Join(parts, ", ")
}

func endsText(object json.RawMessage) string {
	m := members(object)
	if m.find("from") == nil {
		return ""
	}
	return "  " + short(m.find("from")) + " → " + short(m.find("to"))
}

// member is a member of an exported object; those of its data follow the ends
// of an edge.
type member struct {
	name  string
	value json.RawMessage
}

type memberList []member

func (l memberList) find(name string) json.RawMessage {
	for _, m := range l {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// members are the values of an exported object in its order, the type and the
// id left out. An object that is none has no members.
func members(object json.RawMessage) memberList {
	var whole struct {
		From json.RawMessage `json:"from"`
		To   json.RawMessage `json:"to"`
		Data json.RawMessage `json:"data"`
	}
	if json.Unmarshal(object, &whole) != nil {
		return nil
	}
	var list memberList
	if whole.From != nil {
		list = append(list, member{"from", whole.From}, member{"to", whole.To})
	}
	dec := json.NewDecoder(bytes.NewReader(whole.Data))
	if _, err := dec.Token(); err != nil {
		return list
	}
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return list
		}
		if s, ok := name.(string); ok && s != "id" {
			list = append(list, member{s, value})
		}
	}
	return list
}

// shortValue is how much of a value a line shows.
const shortValue = 40

// short is a value in few letters: text as it is where it is a word, JSON
// otherwise, nothing as "(none)".
func short(value json.RawMessage) string {
	if value == nil {
		return "(none)"
	}
	text := string(value)
	var word string
	if json.Unmarshal(value, &word) == nil && word != "" && word != "null" && !strings.ContainsFunc(word, notInWord) {
		text = word
	}
	if r := []rune(text); len(r) > shortValue {
		return string(r[:shortValue-1]) + "…"
	}
	return text
}

// notInWord are letters that make a text look like something else on a line.
func notInWord(r rune) bool {
	return strings.ContainsRune(" \"',→[]{}\t\n\r", r)
}
