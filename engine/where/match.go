package where

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Open prepares the filter for the rows of one batch.
func (f *Filter) Open(batch arrow.RecordBatch) (func(row int) bool, error) {
	m, err := f.root.open(batch)
	if err != nil {
		return nil, err
	}
	return func(row int) bool { return m(row) == yes }, nil
}

type (
	either  struct{ a, b test }
	both    struct{ a, b test }
	negated struct{ a test }
	isNull  struct{ name string }
	// substring is contains and starts_with on text.
	substring struct {
		name   string
		prefix bool
		text   string
	}
	// compare is a comparison with one operand, or `in` with several.
	compare struct {
		name     string
		op       string
		kind     kind
		operands []operand
	}
	// anyItem is `contains` on a list.
	anyItem struct{ compare }
)

func pair(a, b test, batch arrow.RecordBatch) (x, y func(int) truth, err error) {
	if x, err = a.open(batch); err != nil {
		return nil, nil, err
	}
	y, err = b.open(batch)
	return x, y, err
}

func (e either) open(batch arrow.RecordBatch) (func(int) truth, error) {
	x, y, err := pair(e.a, e.b, batch)
	return func(row int) truth { return max(x(row), y(row)) }, err
}

func (e both) open(batch arrow.RecordBatch) (func(int) truth, error) {
	x, y, err := pair(e.a, e.b, batch)
	return func(row int) truth { return min(x(row), y(row)) }, err
}

func (e negated) open(batch arrow.RecordBatch) (func(int) truth, error) {
	x, err := e.a.open(batch)
	return func(row int) truth { return yes - x(row) }, err
}

func (e isNull) open(batch arrow.RecordBatch) (func(int) truth, error) {
	arr, err := column(batch, e.name)
	if err != nil {
		return nil, err
	}
	return func(row int) truth { return truthOf(arr.IsNull(row)) }, nil
}

func column(batch arrow.RecordBatch, name string) (arrow.Array, error) {
	at := batch.Schema().FieldIndices(name)
	if len(at) != 1 {
		return nil, fmt.Errorf("evaluating a condition: the rows have %d columns named %s, expected one", len(at), name)
	}
	return batch.Column(at[0]), nil
}

// known makes a test of values unknown where the column is null.
func known(arr arrow.Array, f func(int) bool) func(int) truth {
	return func(row int) truth {
		if arr.IsNull(row) {
			return unknown
		}
		return truthOf(f(row))
	}
}

func (e substring) open(batch arrow.RecordBatch) (func(int) truth, error) {
	arr, err := column(batch, e.name)
	if err != nil {
		return nil, err
	}
	s, ok := arr.(interface{ Value(int) string })
	if !ok {
		return nil, fmt.Errorf("evaluating a condition: column %s is %s, expected text", e.name, arr.DataType())
	}
	has := strings.Contains
	if e.prefix {
		has = strings.HasPrefix
	}
	return known(arr, func(row int) bool { return has(s.Value(row), e.text) }), nil
}

func (e compare) open(batch arrow.RecordBatch) (func(int) truth, error) {
	arr, err := column(batch, e.name)
	if err != nil {
		return nil, err
	}
	m, err := e.values(arr)
	if err != nil {
		return nil, err
	}
	return known(arr, m), nil
}

func (e anyItem) open(batch arrow.RecordBatch) (func(int) truth, error) {
	arr, err := column(batch, e.name)
	if err != nil {
		return nil, err
	}
	list, ok := arr.(array.ListLike)
	if !ok {
		return nil, fmt.Errorf("evaluating a condition: column %s is %s, expected a list", e.name, arr.DataType())
	}
	items := list.ListValues()
	m, err := compare{e.name, "=", e.kind, e.operands}.values(items)
	if err != nil {
		return nil, err
	}
	return known(arr, func(row int) bool {
		for from, to := list.ValueOffsets(row); from < to; from++ {
			if items.IsValid(int(from)) && m(int(from)) {
				return true
			}
		}
		return false
	}), nil
}

// values tests the non-null values of an array.
func (e compare) values(arr arrow.Array) (func(int) bool, error) {
	order, err := ordering(e.kind, arr)
	if err != nil {
		return nil, fmt.Errorf("evaluating a condition on %s: %w", e.name, err)
	}
	ops := e.operands
	if e.op == "in" {
		return func(i int) bool {
			for _, o := range ops {
				if order(i, o) == 0 {
					return true
				}
			}
			return false
		}, nil
	}
	o := ops[0]
	switch e.op {
	case "=":
		return func(i int) bool { return order(i, o) == 0 }, nil
	case "!=":
		return func(i int) bool { return order(i, o) != 0 }, nil
	case "<":
		return func(i int) bool { return order(i, o) == -1 }, nil
	case "<=":
		return func(i int) bool { return order(i, o) == -1 || order(i, o) == 0 }, nil
	case ">":
		return func(i int) bool { return order(i, o) == 1 }, nil
	}
	return func(i int) bool { return order(i, o) == 1 || order(i, o) == 0 }, nil
}

// incomparable is the order of NaN and anything.
const incomparable = 2

// ordering compares the value at i with an operand: -1, 0, 1 or incomparable.
func ordering(k kind, arr arrow.Array) (func(i int, o operand) int, error) {
	switch k {
	case kindText:
		if s, ok := arr.(interface{ Value(int) string }); ok {
			return func(i int, o operand) int { return strings.Compare(s.Value(i), o.text) }, nil
		}
	case kindBool:
		if b, ok := arr.(*array.Boolean); ok {
			return func(i int, o operand) int {
				if b.Value(i) == o.b {
					return 0
				}
				return 1
			}, nil
		}
	case kindF32, kindF64:
		if f := floats(arr); f != nil {
			return func(i int, o operand) int {
				v := f(i)
				if v != v {
					return incomparable
				}
				return cmp.Compare(v, o.f)
			}, nil
		}
	case kindUint:
		if u := unsigned(arr); u != nil {
			return func(i int, o operand) int { return o.cmpUint(u(i)) }, nil
		}
	default:
		if n := signed(arr); n != nil {
			return func(i int, o operand) int { return o.cmpInt(n(i)) }, nil
		}
	}
	return nil, fmt.Errorf("the column is %s, which is not what its schema says", arr.DataType())
}

func floats(arr arrow.Array) func(int) float64 {
	switch a := arr.(type) {
	case *array.Float32:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Float64:
		return a.Value
	}
	return nil
}

func unsigned(arr arrow.Array) func(int) uint64 {
	switch a := arr.(type) {
	case *array.Uint8:
		return func(i int) uint64 { return uint64(a.Value(i)) }
	case *array.Uint16:
		return func(i int) uint64 { return uint64(a.Value(i)) }
	case *array.Uint32:
		return func(i int) uint64 { return uint64(a.Value(i)) }
	case *array.Uint64:
		return a.Value
	}
	return nil
}

func signed(arr arrow.Array) func(int) int64 {
	switch a := arr.(type) {
	case *array.Int8:
		return func(i int) int64 { return int64(a.Value(i)) }
	case *array.Int16:
		return func(i int) int64 { return int64(a.Value(i)) }
	case *array.Int32:
		return func(i int) int64 { return int64(a.Value(i)) }
	case *array.Int64:
		return a.Value
	case *array.Date32:
		return func(i int) int64 { return int64(a.Value(i)) }
	case *array.Date64:
		return func(i int) int64 { return int64(a.Value(i)) }
	}
	return nil
}
