package schema

import (
	"fmt"
	"slices"

	"github.com/omnideck/omnideck/internal/lex"
)

// SourceError: a text is no schema. It is the first thing that is wrong, in the
// order of the package comment.
type SourceError struct {
	Stage   string  // which step refuses, see the Stage constants
	Pos     lex.Pos // where
	Problem string
}

func (e *SourceError) Error() string {
	return fmt.Sprintf("%s: %s (%s)", e.Stage, e.Problem, e.Pos)
}

// The steps that may refuse a text, as the Rust engine names them.
const (
	StageParse    = "parse error"                       // grammar, annotations, constraints
	StageCatalog  = "catalog error"                     // names and ends across declarations
	StageIdentity = "schema identity resolution failed" // references of properties
	StageIR       = "invalid accepted SchemaIR"         // properties that stand twice
)

// file is a parsed text.
type file struct {
	src   string
	decls []*decl
}

// decl is one interface, node or edge as it is written. Every at is a byte
// offset in the text.
type decl struct {
	kind        Kind
	name        string
	at          int // of the name
	annotations []annotation
	implements  []name // nodes
	from, to    name   // edges
	card        Card   // edges
	props       []*prop
	rules       []rule // of the body, then those of the properties themselves
}

type name struct {
	text string
	at   int
}

type annotation struct {
	Annotation
	at int
}

// prop is a property as written, or one that an interface injects.
type prop struct {
	name        string
	at          int
	typ         PropType
	annotations []annotation
	injected    bool
	satisfies   []PropRef // interface properties, by names alone
}

// rule is a constraint by the names of its columns.
type rule struct {
	kind     string // key, unique, index, range, check
	columns  []string
	min, max *Bound
	pattern  string
	at       int
}

func (f *file) fail(stage string, at int, format string, args ...any) *SourceError {
	return &SourceError{stage, lex.Position(f.src, at), fmt.Sprintf(format, args...)}
}

// byName finds the properties; of a name that stands twice the first counts.
func (d *decl) byName() map[string]*prop {
	out := map[string]*prop{}
	for _, p := range slices.Backward(d.props) {
		out[p.name] = p
	}
	return out
}

// bare reports a name among the annotations without value, as @key is meant.
func (p *prop) bare(name string) bool {
	for _, a := range p.annotations {
		if a.Name == name && a.Value == nil {
			return true
		}
	}
	return false
}

// display is the type as messages spell it.
func (t PropType) display() string {
	if t.Nullable {
		return t.Spell() + "?"
	}
	return t.Spell()
}
