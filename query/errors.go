package query

import (
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/internal/lex"
)

// TypeError says what a query does that the schema does not allow.
type TypeError struct {
	lex.Pos
	Code string // T1 to T24; "" for rules without a number
	Text string
}

func (e *TypeError) Error() string {
	code := e.Code
	if code != "" {
		code += ": "
	}
	return fmt.Sprintf("type error: %s%s (%s)", code, e.Text, e.Pos)
}

// RefusedError says why a query that fits the schema is not run: the Rust
// engine refuses it too, later, or would answer with wrong rows.
type RefusedError struct {
	lex.Pos
	Query string
	Text  string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("query '%s' is not run: %s (%s)", e.Query, e.Text, e.Pos)
}

func refused(q *Query, at int, format string, args ...any) *RefusedError {
	return &RefusedError{lex.Position(q.source, at), q.Name, fmt.Sprintf(format, args...)}
}

// ParamError says what is wrong with the parameters that were handed over.
type ParamError struct {
	Param string // "" for all of them
	Text  string
}

func (e *ParamError) Error() string { return e.Text }

// SelectError says that a file does not have the one query that is asked for.
type SelectError struct {
	Name string   // "" when none was named
	Have []string // the names in the file
}

func (e *SelectError) Error() string {
	have := strings.Join(e.Have, ", ")
	switch {
	case e.Name != "" && have != "":
		return fmt.Sprintf("query '%s' not found; the query file has: %s", e.Name, have)
	case e.Name != "":
		return fmt.Sprintf("query '%s' not found; the query file has no query", e.Name)
	case have != "":
		return "query file contains multiple queries; pass --name, one of: " + have
	}
	return "the query file has no query"
}

// Select finds a query by name, the first of that name. Without a name the file
// must have exactly one query. The error is a *SelectError.
func (f *File) Select(name string) (*Query, error) {
	if name == "" && len(f.Queries) == 1 {
		return f.Queries[0], nil
	}
	fail := &SelectError{Name: name}
	for _, q := range f.Queries {
		if name != "" && q.Name == name {
			return q, nil
		}
		fail.Have = append(fail.Have, q.Name)
	}
	return nil, fail
}
