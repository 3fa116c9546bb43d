package engine

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/lance"
)

// spellType spells the type of a column as .pg does, as far as the table's own
// schema tells: an enum is a String there.
func spellType(t arrow.DataType, blob bool) string {
	if blob {
		return "Blob"
	}
	switch t := t.(type) {
	case *arrow.FixedSizeListType:
		if t.Elem().ID() == arrow.FLOAT32 {
			return fmt.Sprintf("Vector(%d)", t.Len())
		}
	case *arrow.ListType:
		return "[" + spellType(t.Elem(), false) + "]"
	case *arrow.LargeListType:
		return "[" + spellType(t.Elem(), false) + "]"
	}
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING:
		return "String"
	case arrow.BOOL:
		return "Bool"
	case arrow.INT32:
		return "I32"
	case arrow.INT64:
		return "I64"
	case arrow.UINT32:
		return "U32"
	case arrow.UINT64:
		return "U64"
	case arrow.FLOAT32:
		return "F32"
	case arrow.FLOAT64:
		return "F64"
	case arrow.DATE32:
		return "Date"
	case arrow.DATE64:
		return "DateTime"
	}
	return t.String()
}

// cellFunc gives the cell of a value that is not null.
type cellFunc func(row int) Cell

// cellsOf prepares the display of one column of a batch. blobs are the values
// of a blob column, nil for any other.
func cellsOf(arr arrow.Array, blobs []*lance.Blob) cellFunc {
	if blobs != nil {
		return func(row int) Cell { return blobCell(blobs[row]) }
	}
	value := valueCell(arr)
	return func(row int) Cell {
		if arr.IsNull(row) {
			return Cell{}
		}
		return value(row)
	}
}

func blobCell(b *lance.Blob) Cell {
	switch {
	case b == nil || b.Null:
		return Cell{}
	case b.Kind == lance.BlobExternal:
		return Cell{CellBlob, b.URI}
	}
	return Cell{CellBlob, strconv.FormatUint(b.Size, 10) + " bytes"}
}

func valueCell(arr arrow.Array) cellFunc {
	switch a := arr.(type) {
	case *array.String:
		return func(i int) Cell { return Cell{CellText, a.Value(i)} }
	case *array.LargeString:
		return func(i int) Cell { return Cell{CellText, a.Value(i)} }
	case *array.Boolean:
		return func(i int) Cell { return Cell{CellBool, strconv.FormatBool(a.Value(i))} }
	case *array.Float32:
		return func(i int) Cell { return Cell{CellNumber, spellFloat(float64(a.Value(i)), 32)} }
	case *array.Float64:
		return func(i int) Cell { return Cell{CellNumber, spellFloat(a.Value(i), 64)} }
	case *array.Date32:
		return func(i int) Cell { return Cell{CellTime, spellDate(int64(a.Value(i)))} }
	case *array.Date64:
		return func(i int) Cell { return Cell{CellTime, spellDateTime(int64(a.Value(i)))} }
	case *array.FixedSizeList:
		if v, ok := a.ListValues().(*array.Float32); ok {
			return func(i int) Cell { return vectorCell(a, v, i) }
		}
		return listCell(a)
	case array.ListLike:
		return listCell(a)
	}
	kind := CellText
	if arrow.IsInteger(arr.DataType().ID()) {
		kind = CellNumber
	}
	return func(i int) Cell { return Cell{kind, arr.ValueStr(i)} }
}

// vectorCell tells a vector by its length and norm.
func vectorCell(a *array.FixedSizeList, v *array.Float32, row int) Cell {
	from, to := a.ValueOffsets(row)
	sum := 0.0
	for i := int(from); i < int(to); i++ {
		if v.IsValid(i) {
			sum += float64(v.Value(i)) * float64(v.Value(i))
		}
	}
	return Cell{CellVector, fmt.Sprintf("%d numbers, norm %s", to-from, strconv.FormatFloat(math.Sqrt(sum), 'g', 4, 64))}
}

// listCell shows a list as compact JSON; its dates stand as text.
func listCell(a array.ListLike) cellFunc {
	items := a.ListValues()
	item := valueCell(items)
	return func(row int) Cell {
		from, to := a.ValueOffsets(row)
		text := []byte{'['}
		for i := int(from); i < int(to); i++ {
			if i > int(from) {
				text = append(text, ',')
			}
			if items.IsNull(i) {
				text = append(text, "null"...)
				continue
			}
			switch c := item(i); c.Kind {
			case CellText, CellTime:
				text, _ = load.AppendString(text, c.Text)
			default:
				text = append(text, c.Text...)
			}
		}
		return Cell{CellList, string(append(text, ']'))}
	}
}

// spellFloat is the shortest text that reads back as the same number of that
// many bits.
func spellFloat(x float64, bits int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'g', -1, bits)
	}
	if abs := math.Abs(x); abs == 0 || abs >= 1e-5 && abs < 1e16 {
		return strconv.FormatFloat(x, 'f', -1, bits)
	}
	return strconv.FormatFloat(x, 'e', -1, bits)
}

func spellDate(days int64) string {
	return time.Unix(days*86_400, 0).UTC().Format(time.DateOnly)
}

func spellDateTime(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}
