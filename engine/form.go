package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/engine/form"
	"github.com/omnideck/omnideck/schema"
)

// Form is the form of one entity of a table, named node:T or edge:T. The error
// says why none of it can be written: the schema does not have it, cannot be
// trusted, or has a rule that cannot be kept.
func (s *Schema) Form(table string) (*form.Form, error) {
	ir := s.ir
	if ir == nil && len(s.Types) > 0 { // a value that was not read from a graph
		shape, err := schema.Compile([]byte(s.Source))
		if err != nil {
			return nil, fmt.Errorf("reading the schema: %w", err)
		}
		ir = shape.Types
	}
	if ir == nil {
		if s.Finding != nil {
			return nil, errors.New("the schema cannot be trusted: " + s.Finding.Title)
		}
		return nil, errors.New("the schema of the graph is not known")
	}
	kind, name, _ := strings.Cut(table, ":")
	k := schema.KindNode
	if kind == "edge" {
		k = schema.KindEdge
	}
	t, ok := ir.Type(k, name)
	if !ok {
		return nil, fmt.Errorf("the accepted schema has no %s %s", kind, name)
	}
	return form.New(t)
}
