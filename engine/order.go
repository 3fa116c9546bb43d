package engine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/engine/load"
)

// Bounds of what is sorted in memory.
const (
	maxSorted      = 2_000_000 // rows
	maxSortedBytes = 512 << 20 // of text
)

// order is a column to sort by.
type order struct {
	column string
	desc   bool
	text   bool // by code point; else by a number
	where  string
}

// order types what was asked to sort by. from and to name the ends of an edge.
func (c *tableColumns) order(name string, desc bool) (*order, error) {
	column := name
	if c.edge {
		switch name {
		case "from":
			column = load.ColSrc
		case "to":
			column = load.ColDst
		}
	}
	at := c.index(column)
	if at < 0 {
		names := slices.Concat(c.structural(), c.properties())
		why := fmt.Sprintf("%s has no column %q", c.entry.Alias, name)
		if alike := Suggest(name, names); len(alike) > 0 {
			why += "; there is " + strings.Join(alike, ", ")
		}
		return nil, &UsageError{What: "sort", Why: why}
	}
	out := &order{column: column, desc: desc}
	if c.blobs[at] {
		return nil, &UsageError{What: "sort", Why: fmt.Sprintf("%s of %s holds blobs: they cannot be sorted", name, c.entry.Alias)}
	}
	switch t := c.fields[at].Type; t.ID() {
	case arrow.STRING, arrow.LARGE_STRING:
		out.text = true
	case arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.FLOAT32, arrow.FLOAT64, arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP:
	default:
		return nil, &UsageError{What: "sort", Why: fmt.Sprintf("%s of %s is of type %s, which cannot be sorted: lists, vectors and blobs have no order", name, c.entry.Alias, spellType(t, false))}
	}
	return out, nil
}

// tooMany refuses to sort.
func (r *rowReader) tooMany(what string) error {
	return &UsageError{What: "sort", Why: fmt.Sprintf("%s of %s would have to be sorted in memory, at most %d rows are: choose fewer with a condition (--where) first, or read them unsorted", what, r.cols.entry.Alias, maxSorted)}
}

// checkSortable refuses by the recorded count, before rows are read.
func (r *rowReader) checkSortable() error {
	if n, known := r.snap.CountRows(); known && n > maxSorted && r.filter == nil {
		return r.tooMany(fmt.Sprintf("%d rows", n))
	}
	return nil
}

// sortKey is a row to be sorted: by text or by number, then by where it was
// met.
type sortKey[K cmp.Ordered] struct {
	key  K
	addr uint64
	seq  uint32
}

// runSorted sorts the addresses of the rows that meet the filter and takes
// those of the window.
func (r *rowReader) runSorted(ctx context.Context, offset uint64, limit int, visit func(Row) error) error {
	addrs, err := r.sorted(ctx)
	if err != nil {
		return err
	}
	addrs = addrs[min(offset, uint64(len(addrs))):]
	if limit > 0 {
		addrs = addrs[:min(limit, len(addrs))]
	}
	for part := range slices.Chunk(addrs, r.scattered()) {
		if err := r.take(ctx, part, visit); err != nil {
			return err
		}
	}
	return nil
}

// Bounds of the rows that are taken together once they are in order. They lie
// anywhere in the table, so that a take of few reads about as much as one of
// many.
const (
	maxScattered   = 1 << 17
	scatteredBytes = 64 << 20 // as stored
)

// scattered is the number of rows to take together.
func (r *rowReader) scattered() int {
	var bytes, rows uint64
	for i := range r.snap.Fragments() {
		f := &r.snap.Fragments()[i]
		rows += f.PhysicalRows
		for k := range f.Files {
			bytes += f.Files[k].Size
		}
	}
	each := bytes/max(rows, 1) + 1
	return int(min(max(scatteredBytes/each, takeRows), maxScattered))
}

// sorted are the addresses of all rows that meet the filter, in order. They must
// not be changed.
func (r *rowReader) sorted(ctx context.Context) (addrs []uint64, err error) {
	e, o := &r.cols.entry, r.order
	key := orderKey{e.Location, e.Owner, r.snap.Object().ETag, e.Version, o.where, o.column, o.desc}
	if addrs, ok := r.orders.get(key); ok {
		return addrs, nil
	}
	if o.text {
		addrs, err = sortedBy(ctx, r, textKey)
	} else {
		addrs, err = sortedBy(ctx, r, numberKey)
	}
	if err == nil {
		r.orders.put(key, addrs)
	}
	return addrs, err
}

// sortedBy reads the keys of all rows that meet the filter and sorts them.
// keys prepares one column of a batch; its size is what a key holds on to.
func sortedBy[K cmp.Ordered](ctx context.Context, r *rowReader, keys func(arrow.Array) (key func(row int) K, size func(K) int, err error)) ([]uint64, error) {
	var rows []sortKey[K]
	var nulls []uint64
	held := 0
	err := r.scanMatches(ctx, []string{r.order.column}, func(batch arrow.RecordBatch) (func(row int, addr uint64) error, error) {
		at := batch.Schema().FieldIndices(r.order.column)
		if len(at) != 1 {
			return nil, fmt.Errorf("a scan lost the column %s", r.order.column)
		}
		column := batch.Column(at[0])
		key, size, err := keys(column)
		if err != nil {
			return nil, err
		}
		return func(row int, addr uint64) error {
			switch {
			case len(rows)+len(nulls) == maxSorted:
				return r.tooMany("more rows")
			case column.IsNull(row):
				nulls = append(nulls, addr)
				return nil
			}
			k := key(row)
			if held += size(k); held > maxSortedBytes {
				return r.tooMany(fmt.Sprintf("%d MiB of text", maxSortedBytes>>20))
			}
			rows = append(rows, sortKey[K]{k, addr, uint32(len(rows))})
			return nil
		}, nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b sortKey[K]) int {
		c := cmp.Compare(a.key, b.key)
		if r.order.desc {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(a.seq, b.seq))
	})
	out := make([]uint64, 0, len(rows)+len(nulls))
	for _, x := range rows {
		out = append(out, x.addr)
	}
	return append(out, nulls...), ctx.Err()
}

// textKey are the values of a column of text. UTF-8 sorts by code point as its
// bytes do.
func textKey(column arrow.Array) (func(int) string, func(string) int, error) {
	t, ok := column.(interface{ Value(int) string })
	if !ok {
		return nil, nil, fmt.Errorf("a column of text was read as %s", column.DataType())
	}
	return func(i int) string { return strings.Clone(t.Value(i)) }, func(s string) int { return len(s) }, nil
}

// numberKey are the values of a column as numbers that sort alike.
func numberKey(column arrow.Array) (func(int) uint64, func(uint64) int, error) {
	free := func(uint64) int { return 0 }
	switch a := column.(type) {
	case *array.Boolean:
		return func(i int) uint64 {
			if a.Value(i) {
				return 1
			}
			return 0
		}, free, nil
	case *array.Int8:
		return signedKey(a.Int8Values()), free, nil
	case *array.Int16:
		return signedKey(a.Int16Values()), free, nil
	case *array.Int32:
		return signedKey(a.Int32Values()), free, nil
	case *array.Int64:
		return signedKey(a.Int64Values()), free, nil
	case *array.Date32:
		return signedKey(a.Date32Values()), free, nil
	case *array.Date64:
		return signedKey(a.Date64Values()), free, nil
	case *array.Timestamp:
		return signedKey(a.TimestampValues()), free, nil
	case *array.Uint8:
		return func(i int) uint64 { return uint64(a.Value(i)) }, free, nil
	case *array.Uint16:
		return func(i int) uint64 { return uint64(a.Value(i)) }, free, nil
	case *array.Uint32:
		return func(i int) uint64 { return uint64(a.Value(i)) }, free, nil
	case *array.Uint64:
		return a.Value, free, nil
	case *array.Float32:
		return func(i int) uint64 { return floatKey(float64(a.Value(i))) }, free, nil
	case *array.Float64:
		return func(i int) uint64 { return floatKey(a.Value(i)) }, free, nil
	}
	return nil, nil, fmt.Errorf("a column to sort by was read as %s", column.DataType())
}

const topBit = 1 << 63

func signedKey[T ~int8 | ~int16 | ~int32 | ~int64](values []T) func(int) uint64 {
	return func(i int) uint64 { return uint64(int64(values[i])) ^ topBit }
}

// floatKey sorts as numbers do: both zeros are one, what is no number is
// greater than all.
func floatKey(x float64) uint64 {
	switch {
	case math.IsNaN(x):
		return math.MaxUint64
	case x == 0:
		return topBit
	}
	b := math.Float64bits(x)
	if b&topBit != 0 {
		return ^b
	}
	return b | topBit
}
