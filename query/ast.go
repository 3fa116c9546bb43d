package query

import (
	"slices"

	"github.com/omnideck/omnideck/schema"
)

// File is a parsed .gq source.
type File struct {
	Source  string
	Queries []*Query // in source order; names may repeat
}

// Query is one declaration. It reads (Match and Return) or it mutates
// (Mutations), never both.
type Query struct {
	At          int // byte offset of its name
	Name        string
	Description *string
	Instruction *string
	Params      []Param
	Match       []Clause
	Return      []Projection
	Order       []Ordering
	Limit       *uint64
	Mutations   []Mutation

	source string
}

// Reads tells a reading query from a mutation.
func (q *Query) Reads() bool { return len(q.Mutations) == 0 }

// Param is a declared parameter.
type Param struct {
	At      int
	Name    string // without $
	Spelled string // the type as declared, without '?' and spaces
	Type    schema.PropType
}

// Clause is a piece of a match or not block: *Binding, *Traversal, *Filter or
// *Not.
type Clause interface{ clause() }

// Binding is $s: Service { slug: "api" }.
type Binding struct {
	At    int
	Var   string
	Type  string
	Props []Assign
}

// Traversal is $a $e:edge{1,3} $b, or $a <edge> $b for both directions.
type Traversal struct {
	At         int
	From, To   string // "_" for the variable without a name
	Edge       string // as written; found without regard to case
	EdgeVar    *string
	Undirected bool
	Bounded    bool    // bounds are written
	Min        uint32  // 1 when not written
	Max        *uint32 // nil = no upper bound is written
}

// Filter is left op right. A search that stands alone is search = true.
type Filter struct {
	At          int
	Left, Right *Expr
	Op          Op
}

// Not is not { … }.
type Not struct {
	At      int
	Clauses []Clause
}

func (*Binding) clause()   {}
func (*Traversal) clause() {}
func (*Filter) clause()    {}
func (*Not) clause()       {}

// Projection is a column of the answer.
type Projection struct {
	Expr  *Expr
	Alias *string
}

// Ordering is a key of the order.
type Ordering struct {
	Expr *Expr
	Desc bool
}

// Mutation is a statement that writes.
type Mutation struct {
	At    int // of the type's name
	Verb  Verb
	Type  string
	Set   []Assign // insert, update
	Where *Where   // update, delete
}

// Verb of a mutation.
type Verb uint8

// The verbs.
const (
	Insert Verb = iota
	Update
	Delete
)

func (v Verb) String() string { return [...]string{"insert", "update", "delete"}[v%3] }

// Assign is property: value.
type Assign struct {
	At    int
	Name  string
	Value *Expr // literal, variable or now()
}

// Where is property op value.
type Where struct {
	At    int
	Name  string
	Op    Op
	Value *Expr // literal, variable or now()
}

// Op is an operator of a filter or of a where.
type Op string

// The operators. Mutations have the first six.
const (
	Eq         Op = "="
	Ne         Op = "!="
	Lt         Op = "<"
	Le         Op = "<="
	Gt         Op = ">"
	Ge         Op = ">="
	Contains   Op = "contains"
	StartsWith Op = "starts_with"
)

// ExprKind is the kind of an Expr.
type ExprKind uint8

// The kinds, and which members of Expr they use.
const (
	ExprLiteral  ExprKind = iota // Lit
	ExprVar                      // Var: a parameter or a bound variable
	ExprProperty                 // Var, Name
	ExprAlias                    // Name
	ExprNow                      // none
	ExprCall                     // Name: search fuzzy match_text bm25 nearest rrf count sum avg min max; Args
)

// Expr is an expression.
type Expr struct {
	At   int
	Kind ExprKind
	Var  string // without $
	Name string
	Lit  Literal
	Args []*Expr
}

var aggregates = []string{"count", "sum", "avg", "min", "max"}

func (e *Expr) aggregate() bool { return e.Kind == ExprCall && slices.Contains(aggregates, e.Name) }

// calls reports a call of that function.
func (e *Expr) calls(name string) bool { return e.Kind == ExprCall && e.Name == name }

// mentions reports a variable of which ok is true anywhere in the expression.
func (e *Expr) mentions(ok func(name string) bool) bool {
	if e.Kind == ExprVar || e.Kind == ExprProperty {
		return ok(e.Var)
	}
	return slices.ContainsFunc(e.Args, func(a *Expr) bool { return a.mentions(ok) })
}

// LitKind is the kind of a Literal.
type LitKind uint8

// The kinds. Null cannot be written: it is the value of a parameter.
const (
	LitNull LitKind = iota
	LitString
	LitInteger
	LitFloat
	LitBool
	LitDate
	LitDateTime
	LitList
)

// Literal is a value as written, or as a parameter brought it: dates are not
// read yet.
type Literal struct {
	Kind  LitKind
	Text  string // String, Date, DateTime
	Int   int64
	Float float64
	Bool  bool
	Items []Literal
}
