package out

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/internal/ojson"
)

// AppendRow appends row i of a batch as one JSON object on one line: members in
// the order of the columns.
func AppendRow(dst []byte, batch arrow.RecordBatch, i int) []byte {
	dst = append(dst, '{')
	for c, f := range batch.Schema().Fields() {
		if c > 0 {
			dst = append(dst, ',')
		}
		dst = append(ojson.AppendString(dst, utf8Text(f.Name)), ':')
		dst = AppendValue(dst, batch.Column(c), i)
	}
	return append(dst, '}')
}

// AppendValue appends one Arrow value as JSON: integers and finite floats as
// numbers, floats that are not finite as "NaN", "inf" and "-inf", text as text,
// bytes as "base64:…", lists as arrays, structs as objects, and every other
// type as the text of Arrow's own spelling.
func AppendValue(dst []byte, arr arrow.Array, i int) []byte {
	if arr.IsNull(i) {
		return append(dst, "null"...)
	}
	switch a := arr.(type) {
	case *array.Boolean:
		return strconv.AppendBool(dst, a.Value(i))
	case *array.Float16:
		return appendFloat(dst, float64(a.Value(i).Float32()))
	case *array.Float32:
		return appendFloat32(dst, a.Value(i))
	case *array.Float64:
		return appendFloat(dst, a.Value(i))
	case *array.String:
		return ojson.AppendString(dst, utf8Text(a.Value(i)))
	case *array.LargeString:
		return ojson.AppendString(dst, utf8Text(a.Value(i)))
	case *array.Binary:
		return appendBytes(dst, a.Value(i))
	case *array.LargeBinary:
		return appendBytes(dst, a.Value(i))
	case *array.FixedSizeBinary:
		return appendBytes(dst, a.Value(i))
	case *array.Struct:
		return appendStruct(dst, a, i)
	case *array.Dictionary:
		return AppendValue(dst, a.Dictionary(), a.GetValueIndex(i))
	case array.ListLike:
		return appendList(dst, a, i)
	case array.ExtensionArray:
		return AppendValue(dst, a.Storage(), i)
	}
	if arrow.IsInteger(arr.DataType().ID()) {
		return append(dst, arr.ValueStr(i)...)
	}
	return ojson.AppendString(dst, utf8Text(arr.ValueStr(i)))
}

func appendStruct(dst []byte, a *array.Struct, i int) []byte {
	fields := a.DataType().(*arrow.StructType).Fields()
	dst = append(dst, '{')
	for c, f := range fields {
		if c > 0 {
			dst = append(dst, ',')
		}
		dst = append(ojson.AppendString(dst, utf8Text(f.Name)), ':')
		dst = AppendValue(dst, a.Field(c), i)
	}
	return append(dst, '}')
}

func appendList(dst []byte, a array.ListLike, i int) []byte {
	from, to := a.ValueOffsets(i)
	values := a.ListValues()
	dst = append(dst, '[')
	for k := from; k < to; k++ {
		if k > from {
			dst = append(dst, ',')
		}
		dst = AppendValue(dst, values, int(k))
	}
	return append(dst, ']')
}

func appendFloat(dst []byte, x float64) []byte {
	if text := notFinite(x); text != "" {
		return append(append(append(dst, '"'), text...), '"')
	}
	return ojson.AppendFloat(dst, x)
}

// appendFloat32 takes the shortest text that reads back the same float32.
func appendFloat32(dst []byte, x float32) []byte {
	wide, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	if err != nil || notFinite(float64(x)) != "" {
		return appendFloat(dst, float64(x))
	}
	return appendFloat(dst, wide)
}

func notFinite(x float64) string {
	switch {
	case x != x:
		return "NaN"
	case x > 1.7976931348623157e308:
		return "inf"
	case x < -1.7976931348623157e308:
		return "-inf"
	}
	return ""
}

func appendBytes(dst, b []byte) []byte {
	dst = append(dst, `"base64:`...)
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// utf8Text replaces what is not UTF-8, which JSON cannot hold.
func utf8Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
