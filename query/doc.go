// Package query is the .gq language: texts in, checked queries and executable
// mutations out. It does no I/O and has no clock.
//
//	file, err := Parse(source)            // *lex.Error
//	q, err := file.Select(name)           // *SelectError
//	checked, err := Check(q, ir)          // *TypeError
//	bound, err := checked.Bind(json, now) // *RefusedError, *ParamError
//	for _, s := range bound.Statements {…}
//
//	report := Lint(source, ir)
//
// # Grammar
//
// Texts, names and literals as in package lex; besides these: variables $name,
// $_ without a name, lists [a, b], date("…"), datetime("…"). There is no
// negative number, no exponent and no null. Alternatives stand in the order in
// which they are tried; the first that fits is taken.
//
//	file      = {query}
//	query     = 'query' ident '(' [param {',' param}] ')' {annotation} '{' (read | mutation {mutation}) '}'
//	param     = var ':' ('[' base ']' | base | 'Vector' '(' int ')') ['?']
//	annotation= ('@description' | '@instruction') '(' string ')'
//	read      = 'match' '{' clause {clause} '}' 'return' '{' projection {projection} '}'
//	            ['order' '{' ordering {',' ordering} '}'] ['limit' int]
//	clause    = 'not' '{' clause {clause} '}' | binding | traversal | expr operator expr | search
//	binding   = var ':' type ['{' ident ':' value {',' ident ':' value} [','] '}']
//	traversal = var [var ':'] ('<' edge '>' | edge) ['{' int ',' [int] '}'] var
//	projection= expr ['as' ident] [',']
//	ordering  = nearest | expr ['asc' | 'desc']
//	mutation  = 'insert' type set | 'update' type 'set' set where | 'delete' type where
//	set       = '{' ident ':' value [','] {ident ':' value [',']} '}'
//	where     = 'where' ident ('>=' | '<=' | '!=' | '>' | '<' | '=') value
//	operator  = 'starts_with' | 'contains' | those of where
//	value     = literal | var | 'now' '(' ')'
//	expr      = now() | nearest($x.p, expr) | search | bm25(expr, expr) | rrf(rank, rank[, expr])
//	          | (count | sum | avg | min | max)(expr) | var '.' ident | var | literal | ident
//	search    = search(expr, expr) | fuzzy(expr, expr[, expr]) | match_text(expr, expr)
//
// A clause that starts with two words is a traversal: `$x contains $y` follows
// an edge of that name. A word for an edge starts lower-case, and finds the edge
// type without regard to case. `not` blocks, calls and lists nest at most 128
// deep together.
//
// # Types
//
// Both lists or neither, and one base type or both numbers: then two types go
// together. Whether null is allowed is not asked. Integer literals are I64,
// floats F64, an empty list [String]. Enum values are held against the set only
// where a literal is assigned to or matched with a property. The rules have
// numbers, T1 to T24; messages begin with them.
//
// # What fits and is not run
//
// Checked.Refused says why. The Rust engine refuses these when they run: a
// mutation that mixes deletes with anything else, an update of a key, a required
// vector left to @embed. It runs these and answers with wrong rows: a variable
// that is no parameter in an inline match (it matches anything), a variable
// bound twice (it crosses the two), a traversal that no binding leads to (it
// leaves it out). A where over a list or a vector, which there finds nothing, is
// refused when it is bound.
//
// # Parameters and values
//
// Each is read by its declared type: integers written as integers or as strings
// of digits, U64 up to 2^63-1, dates as text. null needs a type with '?', which
// makes a parameter that was left out null; any other that is used must be
// there. Of two with one name the last counts.
//
// A value takes the type of its property: an integer becomes a float that has
// exactly its value (the Rust engine refuses it), in lists and vectors also one
// that is near; a float never becomes an integer. Dates are read as in package
// daytime. In where, numbers and dates are compared by value (the Rust engine
// fails on fractions, on numbers out of range and on all dates); null is never
// equal, unequal, less or greater.
//
// Sources: languages.md §2 and §3.8 of the design, decision 22, and the Rust CLI
// v0.10.0, whose verdicts the tests compare with ours.
package query
