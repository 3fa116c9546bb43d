package lance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/lance/format"
)

// Copy is where one of several rows with the same key lies.
type Copy struct {
	Key      string `json:"key"`
	Fragment uint64 `json:"fragment"`
	Address  uint64 `json:"address"`
	RowID    uint64 `json:"row_id"` // without stable row ids the address
}

// MaxCopies is how many rows Copies tells one by one.
const MaxCopies = 1000

// Copies finds the live rows that have a value in a top-level column of text
// which another row has too, by value and then by address; nulls are equal to
// nothing. At most MaxCopies are told; all is how many there are, as far as
// eight bytes of each value tell. With of, only these values are looked for.
//
// It scans the column once, remembering eight bytes a row, and once more when a
// value seems to stand twice.
func (s *Snapshot) Copies(ctx context.Context, column string, of ...string) (list []Copy, all uint64, err error) {
	f := s.Schema().Lookup(column)
	if f == nil {
		return nil, 0, fmt.Errorf("looking for equal rows of %s: %w", s.env.at(), &NoColumnError{column, s.columnNames()})
	}
	if !isText(f) {
		return nil, 0, fmt.Errorf("looking for equal rows of %s: column %q is of type %s, not text", s.env.at(), column, f.LogicalType)
	}
	var hashes []uint64
	wanted := len(of) == 0
	if wanted {
		err = s.eachText(ctx, column, ScanOptions{}, func(key string, _ arrow.RecordBatch, _ int) { hashes = append(hashes, keyHash(key)) })
	} else {
		for _, key := range of {
			hashes = append(hashes, keyHash(key), keyHash(key))
		}
	}
	twice := map[uint64]bool{}
	slices.Sort(hashes)
	for i := 0; i < len(hashes); {
		k := i + 1
		for k < len(hashes) && hashes[k] == hashes[i] {
			k++
		}
		if k > i+1 {
			twice[hashes[i]] = true
			all += uint64(k - i)
		}
		i = k
	}
	if err != nil || len(twice) == 0 {
		return nil, 0, err
	}
	list, n, err := s.copies(ctx, column, func(key string) bool { return twice[keyHash(key)] && (wanted || slices.Contains(of, key)) })
	if !wanted || n <= MaxCopies {
		all = uint64(len(list))
	}
	return list, all, err
}

// copies places rows of which others have the same text, and says how many were
// asked about.
func (s *Snapshot) copies(ctx context.Context, column string, suspect func(string) bool) (list []Copy, n int, err error) {
	err = s.eachText(ctx, column, ScanOptions{WithRowID: true, WithRowAddress: true}, func(key string, batch arrow.RecordBatch, i int) {
		if !suspect(key) {
			return
		}
		if n++; n > MaxCopies {
			return
		}
		number := func(name string) uint64 {
			return batch.Column(batch.Schema().FieldIndices(name)[0]).(*array.Uint64).Value(i)
		}
		addr := number(ColRowAddress)
		list = append(list, Copy{strings.Clone(key), addr >> 32, addr, number(ColRowID)})
	})
	slices.SortFunc(list, func(a, b Copy) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), cmp.Compare(a.Address, b.Address))
	})
	if n <= MaxCopies { // what is told of some is told of all
		times := map[string]int{}
		for _, c := range list {
			times[c.Key]++
		}
		list = slices.DeleteFunc(list, func(c Copy) bool { return times[c.Key] < 2 })
	}
	return list, n, err
}

func keyHash(key string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(key))
	return h.Sum64()
}

// eachText visits the texts of a column; fragments that cannot be read are
// passed over.
func (s *Snapshot) eachText(ctx context.Context, column string, o ScanOptions, visit func(key string, batch arrow.RecordBatch, row int)) error {
	o.Columns = []string{column}
	o.OnDamaged = func(*FragmentError) bool { return true }
	for batch, err := range s.Scan(ctx, o) {
		if err != nil {
			return err
		}
		c := batch.Column(batch.Schema().FieldIndices(column)[0])
		value, err := textsOf(c)
		for i := 0; err == nil && i < c.Len(); i++ {
			if v := value(i); !v.null {
				visit(v.text, batch, i)
			}
		}
		batch.Release()
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// keys tells the rows that have the same key: of the column asked for, or of the
// primary key that the schema marks, which nobody enforces.
func (c *checker) keys(ctx context.Context) error {
	if !c.o.Deep || !c.o.Keys {
		return nil
	}
	column := c.o.Key
	if column == "" {
		marked := c.s.Schema().PrimaryKey()
		if len(marked) != 1 || !isText(marked[0]) {
			return nil
		}
		column = marked[0].Name
	}
	list, all, err := c.s.Copies(ctx, column)
	if err != nil && ctx.Err() == nil && errors.Is(err, format.ErrCorrupt) {
		return nil // said by the check of values
	}
	for i := 0; err == nil && i < len(list); {
		k := i + 1
		for k < len(list) && list[k].Key == list[i].Key {
			k++
		}
		c.add(sameKey(column, list[i:k]))
		i = k
	}
	if more := all - uint64(len(list)); err == nil && more > 0 {
		c.add(Problem{ID: "duplicate-key", Found: fmt.Sprintf("column %s: %d rows more that have the key of another one", column, more), Expected: "each key once", RowsAffected: more})
	}
	return err
}

func sameKey(column string, rows []Copy) Problem {
	const most = 20
	var at []string
	for _, r := range rows[:min(most, len(rows))] {
		at = append(at, fmt.Sprintf("fragment %d, row address %d, row id %d", r.Fragment, r.Address, r.RowID))
	}
	if len(rows) > most {
		at = append(at, fmt.Sprintf("and %d more", len(rows)-most))
	}
	return Problem{ID: "duplicate-key", Found: fmt.Sprintf("column %s: %d rows with the key '%s': %s", column, len(rows), clipKey(rows[0].Key), strings.Join(at, "; ")), Expected: "each key once", RowsAffected: uint64(len(rows)), Copies: rows}
}

// clipKey keeps a text of a row short enough to be told.
func clipKey(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
