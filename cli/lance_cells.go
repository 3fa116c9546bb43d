package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/tui/theme"
)

// arrowCell shows one Arrow value: null as ∅, text as it is, the rest as JSON.
func arrowCell(t *out.Text, arr arrow.Array, i int) out.Cell {
	null := t.Theme().Glyph.Null
	if arr.IsNull(i) {
		return out.Cell{Text: null, Role: theme.Muted}
	}
	switch a := arr.(type) {
	case *array.String:
		return textCell(a.Value(i), null)
	case *array.LargeString:
		return textCell(a.Value(i), null)
	}
	return out.C(string(out.AppendValue(nil, arr, i)))
}

// textCell quotes a text that could be taken for something else.
func textCell(s, null string) out.Cell {
	if s == "" || s == null || s[0] == '"' || s[0] == ' ' || s[len(s)-1] == ' ' {
		return out.C(`"` + s + `"`)
	}
	return out.C(s)
}

// takePositions takes rows by their place in the table: live rows counted from
// 0 in fragment order. It reads the deletion files of fragments that have one.
func takePositions(ctx context.Context, s *lance.Snapshot, columns []string, rows []uint64) (arrow.RecordBatch, error) {
	want := map[uint64][]int{} // place → indexes in the result
	for i, n := range rows {
		want[n] = append(want[n], i)
	}
	addrs := make([]uint64, len(rows))
	var before uint64 // live rows in the fragments passed
	for _, f := range s.Fragments() {
		live, known := f.LiveRows()
		if !known {
			return nil, fmt.Errorf("take by position: the manifest does not record how many rows fragment %d has; take by --row-address instead", f.ID)
		}
		if err := addressesIn(ctx, s, f, span{before, before + live}, want, addrs); err != nil {
			return nil, err
		}
		before += live
	}
	if len(want) > 0 {
		return nil, fmt.Errorf("take row %d: the table has %d rows", slices.Min(slices.Collect(maps.Keys(want))), before)
	}
	return s.Take(ctx, columns, addrs)
}

// span is a range of places in the table: from (included) to (excluded).
type span struct{ from, to uint64 }

// addressesIn finds the wanted rows that lie in one fragment and strikes them
// from want.
func addressesIn(ctx context.Context, s *lance.Snapshot, f format.Fragment, places span, want map[uint64][]int, addrs []uint64) error {
	var inside []uint64
	for n := range want {
		if n >= places.from && n < places.to {
			inside = append(inside, n)
		}
	}
	if len(inside) == 0 {
		return nil
	}
	deleted, err := s.Deletions(ctx, f.ID)
	if err != nil {
		return err
	}
	slices.Sort(inside)
	at := places.from
	for a, b := range deleted.Live(0, f.PhysicalRows) {
		for len(inside) > 0 && inside[0] < at+(b-a) {
			for _, i := range want[inside[0]] {
				addrs[i] = f.ID<<32 | (a + inside[0] - at)
			}
			delete(want, inside[0])
			inside = inside[1:]
		}
		at += b - a
	}
	if len(inside) > 0 {
		return fmt.Errorf("take row %d: fragment %d should have %d live rows and has fewer; run `omnideck lance verify`", inside[0], f.ID, places.to-places.from)
	}
	return nil
}
