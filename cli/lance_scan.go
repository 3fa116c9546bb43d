package cli

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/file"
)

func lanceScanVerb() *verb {
	return &verb{
		name: "lance scan", place: onDataset, limit: defaultRows,
		flags:   []string{"branch", "at-version", "limit", "offset", "columns", "fragment", "with-row-id", "ndjson", "quiet", "external"},
		short:   "The rows of a dataset or a data file",
		long:    "The rows of a dataset or a data file, as a table or as JSON. Blob columns show where their bytes lie.\nSays on stderr when there is more than --limit.",
		example: "lance scan demo:__manifest --columns object_id,object_type --limit 5\nlance scan ./data/file.lance --ndjson",
		run: onLance(func(ctx context.Context, c *call, d *dataset) error {
			batches, err := d.scan(ctx)
			if err != nil {
				return err
			}
			return printBatches(c, batches, c.integer("limit"))
		}),
	}
}

func lanceTakeVerb() *verb {
	return &verb{
		name: "lance take", place: onDataset, flags: []string{"branch", "at-version", "columns", "row", "row-id", "row-address", "ndjson", "external"},
		short:   "Single rows of a dataset or a data file, in the order asked for",
		example: "lance take demo:__manifest --row-address 0,4294967296\nlance take ./data/file.lance --row 5,2,5 --json",
		run: onLance(func(ctx context.Context, c *call, d *dataset) error {
			batch, err := d.take(ctx)
			if err != nil {
				return err
			}
			return printBatches(c, func(yield func(arrow.RecordBatch, error) bool) { yield(batch, nil) }, 0)
		}),
	}
}

// scan yields the rows that the flags select, one more than --limit.
func (d *dataset) scan(ctx context.Context) (iter.Seq2[arrow.RecordBatch, error], error) {
	c := d.c
	limit, offset := int64(c.integer("limit")), c.number("offset")
	if offset > math.MaxInt64/2 {
		return nil, usagef("--offset is %d, more rows than there can be", offset)
	}
	if limit > 0 {
		limit = min(limit, math.MaxInt64/2) + 1
	}
	columns := c.list("columns")
	fragments, err := numbers(c, "fragment")
	if err != nil {
		return nil, err
	}
	if d.key != "" {
		if len(fragments) > 0 || c.boolean("with-row-id") {
			return nil, usagef("%s is one data file: it has neither fragments nor row ids", c.uri)
		}
		return d.scanFile(ctx, columns, int64(offset), limit)
	}
	s, err := d.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	o := lance.ScanOptions{Fragments: fragments, Offset: int64(offset), Limit: limit, WithRowID: c.boolean("with-row-id"), WithRowAddress: c.boolean("with-row-id")}
	if len(columns) > 0 {
		o.Columns = columns
	}
	return s.Scan(ctx, o), nil
}

func (d *dataset) scanFile(ctx context.Context, columns []string, offset, limit int64) (iter.Seq2[arrow.RecordBatch, error], error) {
	r, cols, err := d.bound(ctx, columns)
	if err != nil {
		return nil, err
	}
	o := file.ScanOptions{From: min(offset, r.NumRows()), To: -1}
	if limit > 0 {
		o.To = min(o.From+limit, r.NumRows())
	}
	return r.Scan(ctx, cols, o), nil
}

// bound opens the loose file and binds the columns asked for, or all.
func (d *dataset) bound(ctx context.Context, columns []string) (*file.Reader, []file.Column, error) {
	r, err := d.reader(ctx, d.key, d.size)
	if err != nil {
		return nil, nil, err
	}
	all, err := r.BindAll()
	if err != nil {
		return nil, nil, fmt.Errorf("read the schema of %s: %w", d.key, err)
	}
	if len(columns) == 0 {
		return r, all, nil
	}
	byName := map[string]file.Column{}
	for _, col := range all {
		byName[col.Field.Name] = col
	}
	cols := make([]file.Column, 0, len(columns))
	for _, name := range columns {
		col, ok := byName[name]
		if !ok {
			return nil, nil, fmt.Errorf("%s has no column %q; `omnideck lance info` lists them", d.key, name)
		}
		cols = append(cols, col)
	}
	return r, cols, nil
}

// take reads the rows that the flags name.
func (d *dataset) take(ctx context.Context) (arrow.RecordBatch, error) {
	c := d.c
	rows, errRows := numbers(c, "row")
	ids, errIDs := numbers(c, "row-id")
	addrs, errAddrs := numbers(c, "row-address")
	for _, err := range []error{errRows, errIDs, errAddrs} {
		if err != nil {
			return nil, err
		}
	}
	ways := 0
	for _, list := range [][]uint64{rows, ids, addrs} {
		if len(list) > 0 {
			ways++
		}
	}
	if ways != 1 {
		return nil, usagef("take needs exactly one of --row, --row-id and --row-address")
	}
	columns := c.list("columns")
	if d.key != "" {
		if len(rows) == 0 {
			return nil, usagef("%s is one data file: it has no row ids, so name rows by position with --row", c.uri)
		}
		return d.takeFile(ctx, columns, rows)
	}
	s, err := d.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		columns = nil
	}
	switch {
	case len(ids) > 0:
		return s.TakeRowIDs(ctx, columns, ids)
	case len(addrs) > 0:
		return s.Take(ctx, columns, addrs)
	}
	return takePositions(ctx, s, columns, rows)
}

func (d *dataset) takeFile(ctx context.Context, columns []string, rows []uint64) (arrow.RecordBatch, error) {
	r, cols, err := d.bound(ctx, columns)
	if err != nil {
		return nil, err
	}
	at := make([]int64, len(rows))
	for i, n := range rows {
		if n >= uint64(r.NumRows()) {
			return nil, fmt.Errorf("row %d of %s: the file has %d rows", n, d.key, r.NumRows())
		}
		at[i] = int64(n)
	}
	return r.Take(ctx, cols, at)
}

// numbers are the values of a repeatable flag as numbers.
func numbers(c *call, id string) ([]uint64, error) {
	var out []uint64
	for _, s := range c.list(id) {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return nil, usagef("--%s: %q is no number that is not negative", nameOf(id), s)
		}
		out = append(out, n)
	}
	return out, nil
}

// printBatches prints batches as a table, a document or lines; limit 0 = all.
func printBatches(c *call, batches iter.Seq2[arrow.RecordBatch, error], limit int) error {
	p, err := newBatchPrinter(c)
	if err != nil {
		return err
	}
	n, more := 0, false
	for b, err := range batches {
		if err != nil {
			return err
		}
		err = func() error {
			defer b.Release()
			for i := range int(b.NumRows()) {
				if more = limit > 0 && n == limit; more {
					return nil
				}
				if err := p.row(b, i); err != nil {
					return err
				}
				n++
			}
			return nil
		}()
		if err != nil {
			return err
		}
		if more {
			break
		}
	}
	if more {
		c.note("stopped after %d rows; --limit 0 shows all", limit)
	}
	return p.end(more)
}

// batchPrinter prints rows of batches in the form that the flags ask for.
type batchPrinter struct {
	c     *call
	doc   *out.Array
	text  *out.Text
	grid  *out.Grid
	cols  []out.Column
	held  [][]out.Cell // first rows, until the widths are known
	lines bool
}

func newBatchPrinter(c *call) (*batchPrinter, error) {
	p := &batchPrinter{c: c, lines: c.boolean("ndjson")}
	var err error
	switch {
	case c.boolean("json"):
		p.doc, err = out.NewArray(c.out, "rows", out.M("uri", c.uri))
	case !p.lines:
		p.text = c.paper()
	}
	return p, err
}

func (p *batchPrinter) row(b arrow.RecordBatch, i int) error {
	switch {
	case p.doc != nil:
		return p.doc.Add(out.AppendRow(nil, b, i))
	case p.lines:
		_, err := p.c.out.Write(append(out.AppendRow(nil, b, i), '\n'))
		return err
	}
	if p.cols == nil {
		for _, f := range b.Schema().Fields() {
			p.cols = append(p.cols, out.Column{Name: f.Name, Right: arrow.IsInteger(f.Type.ID()) || arrow.IsFloating(f.Type.ID())})
		}
	}
	cells := make([]out.Cell, b.NumCols())
	for k := range cells {
		cells[k] = arrowCell(p.text, b.Column(k), i)
	}
	if p.grid != nil {
		p.grid.Row(cells)
		return p.text.Err()
	}
	if p.held = append(p.held, cells); len(p.held) == sampleRows {
		p.show()
	}
	return p.text.Err()
}

// show finds the widths from the rows held and prints them.
func (p *batchPrinter) show() {
	p.grid = p.text.NewGrid(p.cols, out.Layout{}, p.held)
	for _, r := range p.held {
		p.grid.Row(r)
	}
	p.held = nil
}

func (p *batchPrinter) end(more bool) error {
	switch {
	case p.doc != nil:
		return p.doc.Close(append([]out.Member{out.M("truncated", more)}, p.c.rpc()...)...)
	case p.lines:
		return p.c.lastLine()
	}
	if p.grid == nil {
		p.show()
	}
	p.c.tellRPC()
	return p.text.Err()
}
