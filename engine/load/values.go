package load

import (
	"encoding/base64"
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// valueOf chooses how the values of a column are written. A struct column is a
// blob's descriptor: its bytes come from blob.
func valueOf(name string, arr arrow.Array, blob BlobText) (appender, error) {
	if _, ok := arr.(*array.Struct); ok {
		if blob == nil {
			return appender{}, fmt.Errorf("a blob whose bytes were not handed in")
		}
		return appender{arr: arr, blob: true, put: func(_ *Lines, dst []byte, row int) ([]byte, error) {
			return putBlob(dst, name, row, blob)
		}}, nil
	}
	put, err := scalar(arr)
	if err != nil {
		return appender{}, err
	}
	return appender{arr: arr, put: func(l *Lines, dst []byte, row int) ([]byte, error) {
		return put(l, dst, row), nil
	}}, nil
}

func putBlob(dst []byte, name string, row int, blob BlobText) ([]byte, error) {
	data, uri, null, err := blob(name, row)
	switch {
	case err != nil:
		return dst, err
	case null:
		return append(dst, "null"...), nil
	case uri != "":
		dst, ok := AppendString(dst, uri)
		if !ok {
			return dst, fmt.Errorf("the URI of an external blob is not UTF-8")
		}
		return dst, nil
	}
	dst = append(dst, `"base64:`...)
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, '"'), nil
}

// putFunc writes the value at i, which is not null.
type putFunc func(l *Lines, dst []byte, i int) []byte

// scalar chooses the spelling of a type that is not a blob.
func scalar(arr arrow.Array) (putFunc, error) {
	switch a := arr.(type) {
	case *array.String:
		return func(l *Lines, dst []byte, i int) []byte { return l.put(dst, a.Value(i)) }, nil
	case *array.LargeString:
		return func(l *Lines, dst []byte, i int) []byte { return l.put(dst, a.Value(i)) }, nil
	case *array.Boolean:
		return func(_ *Lines, dst []byte, i int) []byte { return strconv.AppendBool(dst, a.Value(i)) }, nil
	case *array.Binary:
		return func(_ *Lines, dst []byte, i int) []byte { return putBytes(dst, a.Value(i)) }, nil
	case *array.LargeBinary:
		return func(_ *Lines, dst []byte, i int) []byte { return putBytes(dst, a.Value(i)) }, nil
	case *array.Float32:
		return func(l *Lines, dst []byte, i int) []byte { return l.float(dst, float64(a.Value(i))) }, nil
	case *array.Float64:
		return func(l *Lines, dst []byte, i int) []byte { return l.float(dst, a.Value(i)) }, nil
	case *array.FixedSizeList:
		return elements(a.ListValues(), a.ValueOffsets)
	case *array.List:
		return elements(a.ListValues(), a.ValueOffsets)
	case *array.LargeList:
		return elements(a.ListValues(), a.ValueOffsets)
	}
	return integer(arr)
}

func integer(arr arrow.Array) (putFunc, error) {
	switch a := arr.(type) {
	case *array.Int8:
		return putInt[int8](a), nil
	case *array.Int16:
		return putInt[int16](a), nil
	case *array.Int32:
		return putInt[int32](a), nil
	case *array.Int64:
		return putInt[int64](a), nil
	case *array.Date32:
		return putInt[arrow.Date32](a), nil
	case *array.Date64:
		return putInt[arrow.Date64](a), nil
	case *array.Uint8:
		return putUint[uint8](a), nil
	case *array.Uint16:
		return putUint[uint16](a), nil
	case *array.Uint32:
		return putUint[uint32](a), nil
	case *array.Uint64:
		return putUint[uint64](a), nil
	}
	return nil, fmt.Errorf("no property has the type %s", arr.DataType())
}

func putInt[T int8 | int16 | int32 | int64 | arrow.Date32 | arrow.Date64](a interface{ Value(int) T }) putFunc {
	return func(_ *Lines, dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(a.Value(i)), 10) }
}

func putUint[T uint8 | uint16 | uint32 | uint64](a interface{ Value(int) T }) putFunc {
	return func(_ *Lines, dst []byte, i int) []byte { return strconv.AppendUint(dst, uint64(a.Value(i)), 10) }
}

func putBytes(dst, b []byte) []byte {
	dst = base64.StdEncoding.AppendEncode(append(dst, '"'), b)
	return append(dst, '"')
}

func (l *Lines) float(dst []byte, x float64) []byte {
	dst, ok := AppendFloat(dst, x)
	if !ok {
		l.bad = "a number that JSON cannot spell, shown as text"
	}
	return dst
}

// elements writes a list: offsets gives the part of items that a row has.
func elements(items arrow.Array, offsets func(i int) (from, to int64)) (putFunc, error) {
	put, err := scalar(items)
	if err != nil {
		return nil, err
	}
	return func(l *Lines, dst []byte, i int) []byte {
		from, to := offsets(i)
		dst = append(dst, '[')
		for k := from; k < to; k++ {
			if k > from {
				dst = append(dst, ',')
			}
			if items.IsNull(int(k)) {
				dst = append(dst, "null"...)
			} else {
				dst = put(l, dst, int(k))
			}
		}
		return append(dst, ']')
	}, nil
}
