package lance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance/format"
)

// verifyScans is the number of fragments that are decoded at a time: each may
// hold a scan's worth of memory.
const verifyScans = 4

// values decodes every column that the files of a fragment hold, of every
// fragment in which nothing was found wrong before: files do not carry check
// sums, so only decoding tells whether a page is what it should be. Text must
// be UTF-8, and blobs must lie within their objects. A value that was changed
// into another legal value is not seen, nor is a change inside a blob.
func (c *checker) values(ctx context.Context) error {
	if !c.o.Deep {
		return nil
	}
	var whole []*format.Fragment // chosen before the first goroutine finds damage
	for i := range c.s.frags {
		if f := c.s.frags[i].f; !c.broken[f.ID] {
			whole = append(whole, f)
		}
	}
	g := beside.New(ctx, verifyScans)
	for _, f := range whole {
		if columns := c.stored(f); len(columns) > 0 {
			g.Go(func(ctx context.Context) error { return c.decode(ctx, f, columns) })
		}
	}
	return g.Wait()
}

// stored are the columns of which a file of the fragment holds a part.
func (c *checker) stored(f *format.Fragment) []string {
	var out []string
	for _, field := range c.s.Schema().Fields {
		if fileOf(f, field) != nil {
			out = append(out, field.Name)
		}
	}
	return out
}

// fileOf is the first file of the fragment that holds a part of a field; nil
// when none does.
func fileOf(f *format.Fragment, field *format.Field) *format.DataFile {
	for i := range f.Files {
		if slices.Contains(f.Files[i].Fields, field.ID) {
			return &f.Files[i]
		}
	}
	for _, child := range field.Children {
		if d := fileOf(f, child); d != nil {
			return d
		}
	}
	return nil
}

func (c *checker) decode(ctx context.Context, f *format.Fragment, columns []string) error {
	bad := map[string]uint64{} // values that are no text, by column
	blobs := c.newBlobCheck(columns)
	scan := ScanOptions{Fragments: []uint64{f.ID}, Columns: columns}
	if len(blobs.columns) > 0 {
		scan.Columns = append(slices.Clone(columns), ColRowAddress)
	}
	for batch, err := range c.s.Scan(ctx, scan) {
		if err != nil {
			key := ""
			if fe := (*FragmentError)(nil); errors.As(err, &fe) {
				key, err = fe.Key, fe.Err
			}
			return c.read(ctx, f, "rows", key, err)
		}
		for i, name := range columns {
			if n := illegible(batch.Column(i)); n > 0 {
				bad[name] += n
			}
		}
		err = blobs.batch(ctx, batch)
		batch.Release()
		if err != nil {
			return c.read(ctx, f, "blob", "", err)
		}
	}
	blobs.report(f.ID)
	for _, name := range columns {
		if n := bad[name]; n > 0 {
			d := fileOf(f, c.s.Schema().Lookup(name))
			key := d.DataPath()
			if here, _, ok, err := c.s.bases.own(d.Base); err == nil && ok {
				key = here.dataKey(d.Path)
			}
			c.add(Problem{ID: "text", Key: key, Found: fmt.Sprintf("fragment %d, column %s: %d values that are not UTF-8", f.ID, name, n), Expected: "text", RowsAffected: n})
		}
	}
	return nil
}

// illegible counts the texts in an array, at any depth, that are not UTF-8.
func illegible(a arrow.Array) (n uint64) {
	switch a := a.(type) {
	case array.StringLike:
		for i := range a.Len() {
			if a.IsValid(i) && !utf8.ValidString(a.Value(i)) {
				n++
			}
		}
	case *array.Dictionary:
		return illegible(a.Dictionary())
	case *array.Struct:
		for i := range a.NumField() {
			n += illegible(a.Field(i))
		}
	case array.ListLike:
		return illegible(a.ListValues())
	}
	return n
}
