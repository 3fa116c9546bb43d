package cli

import (
	"encoding/json"
	"strings"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/theme"
)

// rowPrinter prints rows for people: table, kv or csv.
type rowPrinter struct {
	t       *out.Text
	format  string
	columns []string
	grid    *out.Grid
	n       int
}

func newRowPrinter(c *call, format string, page *engine.RowPage) *rowPrinter {
	p := &rowPrinter{t: c.paper(), format: format, columns: page.Columns}
	switch format {
	case "kv":
	case "csv":
		p.csv(page.Columns)
	default:
		p.table(c, page)
	}
	return p
}

func (p *rowPrinter) table(c *call, page *engine.RowPage) {
	cols := make([]out.Column, len(page.Columns))
	for i, name := range page.Columns {
		cols[i] = out.Column{Name: name, Right: len(page.Rows) > 0}
		for _, row := range page.Rows {
			if k := row.Values[i].Kind; k != engine.CellNumber && k != engine.CellNull {
				cols[i].Right = false
				break
			}
		}
	}
	sample := make([][]out.Cell, len(page.Rows))
	for i, row := range page.Rows {
		sample[i] = p.cells(row)
	}
	layout := out.Layout{MaxWidth: c.op.Defaults.ColumnWidth, Wrap: c.op.Defaults.CellLayout == "wrap"}
	p.grid = p.t.NewGrid(cols, layout, sample)
}

func (p *rowPrinter) row(row engine.Row) {
	switch p.format {
	case "kv":
		p.kv(row)
	case "csv":
		fields := make([]string, len(row.Values))
		for i := range row.Values {
			fields[i] = p.value(row, i)
		}
		p.csv(fields)
	default:
		p.grid.Row(p.cells(row))
	}
	p.n++
}

// cells shows values so that null, "", a text that looks like either, and an
// empty list are told apart without colour.
func (p *rowPrinter) cells(row engine.Row) []out.Cell {
	null := p.t.Theme().Glyph.Null
	cells := make([]out.Cell, len(row.Values))
	for i, v := range row.Values {
		switch {
		case v.Kind == engine.CellNull:
			cells[i] = out.Cell{Text: null, Role: theme.Muted}
		case v.Kind == engine.CellText && (v.Text == "" || v.Text == null || strings.HasPrefix(v.Text, `"`) || v.Text != strings.TrimSpace(v.Text)):
			cells[i] = out.C(`"` + v.Text + `"`)
		case v.Kind == engine.CellBlob:
			cells[i] = out.Cell{Text: v.Text, Role: theme.Muted}
		default:
			cells[i] = out.C(v.Text)
		}
	}
	return cells
}

// kv prints a row as name: value lines, a blank line between rows.
func (p *rowPrinter) kv(row engine.Row) {
	if p.n > 0 {
		p.t.Raw("\n")
	}
	p.t.Line("row %d", p.n+1)
	for i := range row.Values {
		p.t.Line("%s: %s", p.columns[i], p.value(row, i))
	}
}

// value is a whole value as kv and csv spell it: null as the Rust CLI does, and
// what a cell only sums up (lists, vectors, blobs) as export does.
func (p *rowPrinter) value(row engine.Row, i int) string {
	switch v := row.Values[i]; v.Kind {
	case engine.CellNull:
		return "null"
	case engine.CellList, engine.CellVector, engine.CellBlob:
		return exported(row.Line, p.columns[i])
	default:
		return v.Text
	}
}

// exported is a property in an export line: text as it is, the rest as JSON.
func exported(line []byte, name string) string {
	var entity struct {
		Data map[string]json.RawMessage `json:"data"`
	}
	var text string
	if err := json.Unmarshal(line, &entity); err != nil {
		return "unreadable: " + err.Error()
	}
	raw := entity.Data[name]
	if err := json.Unmarshal(raw, &text); err == nil {
		return text
	}
	return string(raw)
}

// csv prints one record; fields with a comma, a quote or a line end are quoted.
func (p *rowPrinter) csv(fields []string) {
	for i, f := range fields {
		if strings.ContainsAny(f, ",\"\r\n") {
			f = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
		}
		if i > 0 {
			p.t.Raw(",")
		}
		p.t.Raw(f)
	}
	p.t.Raw("\n")
}
