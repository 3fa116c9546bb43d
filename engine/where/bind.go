package where

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// Column is a column that a condition may name.
type Column struct {
	Name  string
	Type  arrow.DataType
	Label string // the type as a person knows it: String, [I32], Vector(8)
	Blob  bool   // only `is null` can be asked
}

// Filter is a condition with types: it can be asked about the rows of batches
// that have the columns it names.
type Filter struct {
	columns []string
	root    test
}

// Columns are the columns that the condition looks at, each once.
func (f *Filter) Columns() []string { return f.columns }

// test is a typed condition; open prepares it for one batch.
type test interface {
	open(batch arrow.RecordBatch) (func(row int) truth, error)
}

// truth is the value of a condition in one row.
type truth uint8

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// Bind gives types to the names of a condition. Errors name the character
// where the trouble stands and, when it is about one, the column.
func (e *Expr) Bind(columns []Column) (*Filter, error) {
	b := &binder{text: e.text, columns: columns}
	root := b.bind(e.root)
	if b.err != nil {
		return nil, b.err
	}
	return &Filter{b.used, root}, nil
}

type binder struct {
	text    string
	columns []Column
	used    []string
	err     *Error
}

func (b *binder) fail(pos int, name, msg string, args ...any) test {
	if b.err == nil {
		b.err = fail(b.text, pos, name, msg, args...)
	}
	return nil
}

func (b *binder) bind(n node) test {
	switch n := n.(type) {
	case orNode:
		return either{b.bind(n.a), b.bind(n.b)}
	case andNode:
		return both{b.bind(n.a), b.bind(n.b)}
	case notNode:
		return negated{b.bind(n.a)}
	case testNode:
		return b.test(n)
	}
	return b.fail(0, "", "the condition is empty")
}

func (b *binder) test(t testNode) test {
	i := slices.IndexFunc(b.columns, func(c Column) bool { return c.Name == t.name.text })
	if i < 0 {
		names := make([]string, len(b.columns))
		for i, c := range b.columns {
			names[i] = c.Name
		}
		return b.fail(t.name.pos, t.name.text, "there is no property %s; there is %s", t.name.text, strings.Join(names, ", "))
	}
	c := b.columns[i]
	if !slices.Contains(b.used, c.Name) {
		b.used = append(b.used, c.Name)
	}
	if t.op == "null" {
		return isNull{c.Name}
	}
	if c.Blob {
		return b.fail(t.at, c.Name, "%s is a Blob: only `is null` and `is not null` can be asked of it", c.Name)
	}
	return b.value(t, c)
}

// value binds a test that compares the values of a column.
func (b *binder) value(t testNode, c Column) test {
	typ, ofList := c.Type, false
	if item, ok := listItem(c.Type); ok {
		if t.op != "contains" {
			return b.fail(t.at, c.Name, "%s is %s: ask `contains`, or `is null`", c.Name, c.Label)
		}
		typ, ofList = item, true
	}
	if !ofList && (t.op == "contains" || t.op == "starts_with") {
		return b.substring(t, c)
	}
	kind, ok := kindOf(typ)
	if !ok {
		return b.fail(t.at, c.Name, "%s is %s, which cannot be compared", c.Name, c.Label)
	}
	if kind == kindBool && t.op != "=" && t.op != "!=" && t.op != "in" && !ofList {
		return b.fail(t.at, c.Name, "%s is Bool: it is equal to true or false, or not", c.Name)
	}
	v := compare{name: c.Name, op: t.op, kind: kind}
	for _, l := range t.lits {
		o, msg := operandOf(kind, l)
		if msg != "" {
			return b.fail(l.pos, c.Name, "%s is %s, compared with %s: %s", c.Name, c.Label, l.kind, msg)
		}
		v.operands = append(v.operands, o)
	}
	if ofList {
		return anyItem{v}
	}
	return v
}

func (b *binder) substring(t testNode, c Column) test {
	if k, _ := kindOf(c.Type); k != kindText {
		return b.fail(t.at, c.Name, "%s is %s: %s is asked of text and lists", c.Name, c.Label, t.op)
	}
	l := t.lits[0]
	if l.kind != litString {
		return b.fail(l.pos, c.Name, "%s is text, %s stands where a string was expected", c.Name, l.kind)
	}
	return substring{c.Name, t.op == "starts_with", l.text}
}

func listItem(t arrow.DataType) (arrow.DataType, bool) {
	switch t := t.(type) {
	case *arrow.ListType:
		return t.Elem(), true
	case *arrow.LargeListType:
		return t.Elem(), true
	case *arrow.FixedSizeListType:
		return t.Elem(), true
	}
	return nil, false
}
