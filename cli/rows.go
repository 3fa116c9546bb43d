package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/omnideck/omnideck/cli/operator"
	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

// defaultRows is how many rows are shown unless --limit says otherwise.
const defaultRows = 100

// sampleRows are read before the first one is printed, to find the widths.
const sampleRows = 1000

func rowsVerb() *verb {
	return &verb{
		name: "rows", args: "TYPE", need: 1, group: "read", limit: defaultRows,
		flags: []string{"branch", "at", "limit", "offset", "where", "columns", "sort", "desc", "ndjson", "format"},
		short: "Rows of one type, as a table or as export spells them",
		long: "Rows of one type. TYPE is a declared name (Port) or a table (node:Port). For people a table, null shown as ∅;\n" +
			"--ndjson and --json give objects as export spells them. Says on stderr when there is more than --limit.\n\n" +
			"--where takes NAME = 'text' or a number, true, false, date(\"2024-02-29\"), datetime(…); != < <= > >= likewise; NAME in (…),\n" +
			"contains, starts_with and is null; all of it with and, or, not and parentheses. Null fulfils is null only.\n\n" +
			"--sort orders by numbers, times, text or truth values; equal ones stay in the order in which they lie.",
		example: "rows demo: Port\nrows demo: Vessel --where 'tonnage > 100000' --limit 5\nrows demo: Vessel --sort tonnage --desc\nrows demo: node:Port --at archive --ndjson",
		run: reading(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
			format, err := c.rowFormat()
			if err != nil {
				return err
			}
			o := engine.RowsOptions{Offset: c.number("offset"), Where: c.text("where"), Columns: c.list("columns"), Sort: c.text("sort"), Desc: c.boolean("desc")}
			if o.Desc && o.Sort == "" {
				return usagef("--desc needs --sort COLUMN: by what are rows to be ordered?")
			}
			r := &rowReader{c: c, g: g, table: c.args[0], at: at, o: o, limit: c.integer("limit")}
			switch format {
			case "json":
				return r.document(ctx)
			case "jsonl":
				return r.stream(ctx)
			}
			return r.text(ctx, format)
		}),
	}
}

// rowFormat is --json, --ndjson, --format, or defaults.output.
func (c *call) rowFormat() (string, error) {
	format := c.text("format")
	switch {
	case format != "" && (c.boolean("json") || c.boolean("ndjson")):
		return "", usagef("--format is mutually exclusive with --json and --ndjson: choose one")
	case c.boolean("json"):
		return "json", nil
	case c.boolean("ndjson"):
		return "jsonl", nil
	case format == "":
		return c.op.Defaults.Output, nil
	case !slices.Contains(operator.Formats, format):
		return "", usagef("--format is %q, expected one of %v", format, operator.Formats)
	}
	return format, nil
}

// rowReader reads rows of one type and prints them in one of the formats.
type rowReader struct {
	c     *call
	g     *engine.Graph
	table string
	at    engine.At
	o     engine.RowsOptions
	limit int // 0 = all
}

// each yields up to limit rows and says whether there are more: it asks for one
// row more than it yields.
func (r *rowReader) each(ctx context.Context, yield func(engine.Row) error) (more bool, err error) {
	o := r.o
	if r.limit > 0 {
		o.Limit = r.limit + 1
	}
	n := 0
	for row, err := range r.g.StreamRows(ctx, r.table, r.at, o) {
		if err != nil {
			return false, err
		}
		if r.limit > 0 && n == r.limit {
			return true, nil
		}
		if err := yield(row); err != nil {
			return false, err
		}
		n++
	}
	return false, nil
}

// document prints {uri, rows, truncated}, one row at a time.
func (r *rowReader) document(ctx context.Context) error {
	a, err := out.NewArray(r.c.out, "rows", out.M("uri", r.c.uri))
	if err != nil {
		return fmt.Errorf("print the answer: %w", err)
	}
	more, err := r.each(ctx, func(row engine.Row) error { return a.Add(row.Line) })
	if err != nil {
		return err
	}
	r.truncated(more)
	return a.Close(append([]out.Member{out.M("truncated", more)}, r.c.rpc()...)...)
}

// stream prints one object a line.
func (r *rowReader) stream(ctx context.Context) error {
	more, err := r.each(ctx, func(row engine.Row) error {
		_, err := r.c.out.Write(append(row.Line, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	r.truncated(more)
	return r.c.lastLine()
}

func (r *rowReader) truncated(more bool) {
	if more {
		r.c.note("stopped after %d rows of %s; --limit 0 shows all", r.limit, r.table)
	}
}

// text prints a table, kv or csv: the first page at once, for the widths and
// the names of the columns, and the rest as it comes.
func (r *rowReader) text(ctx context.Context, format string) error {
	o := r.o
	o.Limit = sampleRows
	if r.limit > 0 {
		o.Limit = min(r.limit, sampleRows)
	}
	page, err := r.g.Rows(ctx, r.table, r.at, o)
	if err != nil {
		return err
	}
	p := newRowPrinter(r.c, format, page)
	for _, row := range page.Rows {
		p.row(row)
	}
	more := page.Truncated
	if more && r.limit != len(page.Rows) {
		rest := *r
		rest.o.Offset += uint64(len(page.Rows))
		if r.limit > 0 {
			rest.limit -= len(page.Rows)
		}
		more, err = rest.each(ctx, func(row engine.Row) error { p.row(row); return p.t.Err() })
		if err != nil {
			return err
		}
	}
	r.truncated(more)
	r.c.tellRPC()
	return p.t.Err()
}
