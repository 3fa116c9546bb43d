// Package where is the small language of `rows --where`: a condition on the
// columns of one table.
//
//	condition = condition "or" condition | condition "and" condition
//	          | "not" condition | "(" condition ")" | test
//	test      = NAME ("=" | "!=" | "<" | "<=" | ">" | ">=") LITERAL
//	          | NAME ["not"] "in" "(" LITERAL {"," LITERAL} ")"
//	          | NAME ["not"] "contains" LITERAL     substring, or element of a list
//	          | NAME ["not"] "starts_with" STRING
//	          | NAME "is" ["not"] "null"
//	LITERAL   = STRING | NUMBER | "true" | "false" | "date(" STRING ")" | "datetime(" STRING ")"
//
// Words are not case-sensitive, names are. Strings stand in " or ', with \
// before a quote or backslash (\n and \t are known too). A Date column takes
// "2024-02-29" or days since 1970, a DateTime column RFC 3339, a date, or
// milliseconds. `not` binds tighter than `and`, `and` tighter than `or`.
//
// A test of a null value is unknown, except `is null`; a row is chosen when
// the condition is true, so that neither `x = 1` nor `not x = 1` chooses a row
// whose x is null. Numbers compare by value, whatever their types; a literal
// compared with F32 is rounded to F32 first; NaN is equal and ordered to
// nothing. Text compares by bytes.
//
// Parse knows nothing of tables; Bind gives types to names; Open looks at the
// rows of a batch. No part does I/O.
package where

import (
	"fmt"
	"unicode/utf8"
)

// Error says what is wrong with a condition, and where.
type Error struct {
	Column int    // 1 = the first character of the text
	Name   string // the table's column that it is about; may be empty
	Msg    string
}

func (e *Error) Error() string { return fmt.Sprintf("at character %d: %s", e.Column, e.Msg) }

// Bounds that no reasonable condition meets.
const (
	maxText  = 64 << 10
	maxDepth = 200
)

// Expr is a parsed condition.
type Expr struct {
	text string
	root node
}

// node is a parsed condition or test.
type node interface{}

type (
	orNode   struct{ a, b node }
	andNode  struct{ a, b node }
	notNode  struct{ a node }
	testNode struct {
		name token
		op   string // = != < <= > >= in contains starts_with null
		at   int    // of the operator
		lits []literal
	}
)

// literal is a value as written.
type literal struct {
	kind litKind
	text string // of a string; digits of a number
	b    bool
	pos  int
}

type litKind uint8

const (
	litString litKind = iota
	litNumber
	litBool
	litDate
	litDateTime
)

func (k litKind) String() string {
	return [...]string{"a string", "a number", "true or false", "a date", "a datetime"}[k]
}

// fail makes an error at a byte position.
func fail(text string, pos int, name, msg string, args ...any) *Error {
	return &Error{utf8.RuneCountInString(text[:min(pos, len(text))]) + 1, name, fmt.Sprintf(msg, args...)}
}
