package load

import (
	"fmt"

	"github.com/omnideck/omnideck/schema"
)

// InputError: a line is no entity of the graph's schema. Nothing was written.
type InputError struct {
	Line     int
	Type     *schema.Type // nil when the line says none that there is
	Property string       // "" when it is not about one
	Text     string       // what is wrong
	Others   int          // further lines with something wrong, as far as they were read
	rank     int          // which of a type's errors the Rust engine comes upon first
}

func (e *InputError) Error() string {
	s := fmt.Sprintf("line %d: %s", e.Line, e.Text)
	if e.Type != nil {
		s += fmt.Sprintf(" (%s %s)", e.Type.Kind, e.Type.Name)
	}
	if e.Others > 0 {
		s += fmt.Sprintf("; %d further lines are wrong", e.Others)
	}
	return s
}

// SyntaxError: a line is no JSON, or says a member twice.
type SyntaxError struct {
	Line int
	Text string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid strict JSON at line %d: %s", e.Line, e.Text)
}

// ChangedError: a file is not what it was when its chunks were planned. Nothing
// of the chunk was handed out.
type ChangedError struct {
	Chunk int // from 1
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("from chunk %d on the input is not what it was when its chunks were planned, and nothing of it was loaded", e.Chunk)
}
