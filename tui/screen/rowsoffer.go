package screen

import (
	"context"
	"encoding/json"
	"io"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/workspace"
)

// ChoosableColumns implements Chooser: all but the id.
func (r *rows) ChoosableColumns(e *Env) []MenuItem {
	if r.shape == nil {
		return nil
	}
	var out []MenuItem
	for i, name := range r.shape.Columns {
		if i == 0 {
			continue
		}
		it := MenuItem{Label: part.Clean(name, e.Theme.Glyph), On: !r.hide[name]}
		if i < len(r.shape.Types) {
			it.Detail = part.Clean(r.shape.Types[i], e.Theme.Glyph)
		}
		out = append(out, it)
	}
	return out
}

// SwitchColumn implements Chooser.
func (r *rows) SwitchColumn(_ *Env, i int) Effect {
	if r.shape == nil || i < 0 || i+1 >= len(r.shape.Columns) {
		return Effect{}
	}
	name := r.shape.Columns[i+1]
	if r.hide[name] {
		delete(r.hide, name)
	} else {
		r.hide[name] = true
	}
	r.col = min(r.col, max(0, len(r.visible(r.shape))-2))
	return Effect{}
}

// Pin implements Pinner.
func (r *rows) Pin(e *Env) *Pin {
	r.take()
	if _, row := r.selected(); row != nil {
		return rowPin(r.table, row.ID, e.At)
	}
	return nil
}

const valuesCopied = 9 // values of a row that are offered one by one

// Copies implements Copier.
func (r *rows) Copies(e *Env) []Copy {
	r.take()
	var out []Copy
	page, row := r.selected()
	if row != nil {
		out = append(out, Copy{Label: "id", Text: row.ID})
		if len(row.Line) > 0 {
			out = append(out, Copy{Label: "row as JSON", Text: string(row.Line)})
		}
	}
	out = append(out, Copy{Label: "command line", Text: r.command(e)})
	if row == nil {
		return out
	}
	cols := r.visible(page)
	for _, c := range cols[min(len(cols), 1+r.col):] {
		if c < len(row.Values) && row.Values[c].Kind != engine.CellNull && len(out) < valuesCopied {
			out = append(out, Copy{Label: "value of " + page.Columns[c], Text: row.Values[c].Text})
		}
	}
	return out
}

func (r *rows) command(e *Env) string {
	args := []string{r.table}
	if r.now.where != "" {
		args = append(args, "--where", r.now.where)
	}
	if r.now.sort != "" {
		args = append(args, "--sort", r.now.sort)
		if r.now.desc {
			args = append(args, "--desc")
		}
	}
	return onGraph(e, e.At, "rows", args...)
}

// Exports implements Exporter: every row of the question, from the store.
func (r *rows) Exports(e *Env) *Export {
	r.take()
	if r.shape == nil || r.count() == 0 && !r.sieve.on() {
		return nil
	}
	at, table, q := e.At, r.table, r.now
	what := "every row of " + table
	if said := q.said(); said != "" {
		what += " " + said
	}
	if r.sieve.on() {
		what += "; /" + r.sieve.text + " narrows the screen alone"
	}
	return &Export{
		Name: fileName(typeOf(table)) + ".ndjson", Title: what + ", one JSON object a line",
		Write: func(ctx context.Context, ws workspace.Workspace, w io.Writer) (int, error) {
			return ws.WriteRows(ctx, w, table, at, engine.RowsOptions{Where: q.where, Sort: q.sort, Desc: q.desc})
		},
	}
}

// keptRows is what outlives the program.
type keptRows struct {
	Where string   `json:"where,omitempty"`
	Sort  string   `json:"sort,omitempty"`
	Desc  bool     `json:"desc,omitempty"`
	Words string   `json:"words,omitempty"`
	Hide  []string `json:"hide,omitempty"`
	Row   int      `json:"row,omitempty"`
}

// Keep implements Keeper.
func (r *rows) Keep() json.RawMessage {
	k := keptRows{Where: r.now.where, Sort: r.now.sort, Desc: r.now.desc, Words: r.sieve.text, Row: max(r.at(r.list.Sel), r.goal), Hide: r.hidden()}
	if k.Where == "" && k.Sort == "" && k.Words == "" && k.Row == 0 && len(k.Hide) == 0 {
		return nil
	}
	out, err := json.Marshal(k)
	if err != nil {
		return nil
	}
	return out
}

// Restore implements Keeper.
func (r *rows) Restore(raw json.RawMessage) {
	var k keptRows
	if json.Unmarshal(raw, &k) != nil {
		return
	}
	if meant, err := condition(k.Where); meant && err == nil {
		r.now.where = k.Where
	}
	r.now.sort, r.now.desc = k.Sort, k.Desc
	_ = r.sieve.set(k.Words, nil) // words that cannot be read are forgotten
	for _, name := range k.Hide {
		r.hide[name] = true
	}
	if k.Row > 0 && k.Words == "" {
		r.goal = k.Row
	}
}
