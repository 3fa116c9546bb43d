package engine

import (
	"errors"

	"github.com/omnideck/omnideck/internal/lex"
	"github.com/omnideck/omnideck/query"
	"github.com/omnideck/omnideck/txn"
)

// QueryInfo is a query of a .gq source, as far as the source alone tells.
type QueryInfo struct {
	Name   string
	Reads  bool // it changes nothing
	Params []QueryParam
	Line   int // of its name, from 1
}

// QueryParam is a declared parameter.
type QueryParam struct {
	Name     string // without $
	Type     string // as declared, without '?'
	Nullable bool
}

// Queries are those of a source, in their order. The error says where it is
// none (PlaceOf).
func Queries(source string) ([]QueryInfo, error) {
	file, err := query.Parse(source)
	if err != nil {
		return nil, err
	}
	var out []QueryInfo
	for _, q := range file.Queries {
		i := QueryInfo{Name: q.Name, Reads: q.Reads(), Line: lex.Position(source, q.At).Line}
		for _, p := range q.Params {
			i.Params = append(i.Params, QueryParam{Name: p.Name, Type: p.Spelled, Nullable: p.Type.Nullable})
		}
		out = append(out, i)
	}
	return out, nil
}

// PlaceOf is where in a source an error is: the line, and the character in it,
// both from 1. ok is false for an error that is about no place.
func PlaceOf(err error) (line, column int, ok bool) {
	var (
		syntax  *lex.Error
		typing  *query.TypeError
		refused *query.RefusedError
	)
	switch {
	case errors.As(err, &syntax):
		return syntax.Line, syntax.Col, true
	case errors.As(err, &typing):
		return typing.Line, typing.Col, typing.Line > 0
	case errors.As(err, &refused):
		return refused.Line, refused.Col, refused.Line > 0
	}
	return 0, 0, false
}

// AboutParams says that an error is about the parameters of a query.
func AboutParams(err error) bool { return errors.As(err, new(*query.ParamError)) }

// BrokenRule is a rule of the schema that a write would break.
type BrokenRule struct {
	Table      string   // node:Port
	IDs        []string // of the entities that break it together
	Properties []string
	Found      string
	Expected   string
	Text       string // the sentence
}

// BrokenRules are the rules for which a write was refused; more says that there
// may be others. None when it was not refused for rules.
func BrokenRules(err error) (rules []BrokenRule, more bool) {
	var c *txn.ConstraintError
	if !errors.As(err, &c) {
		return nil, false
	}
	for _, v := range c.Violations {
		b := BrokenRule{IDs: v.IDs, Properties: v.Columns, Found: v.Value, Expected: v.Bound, Text: v.Text}
		if v.Type != nil {
			b.Table = v.Type.Alias()
		}
		rules = append(rules, b)
	}
	return rules, c.More
}

// Interrupted says that an operation, this one or one before it, stopped
// part-way, and that its recovery record decides what becomes of it.
func Interrupted(err error) bool { return errors.Is(err, txn.ErrRecovery) }

// WriteStep is how far a running write has come.
type WriteStep = txn.Step

// The steps, in their order. Waiting may come before each attempt, and
// StepAgain ends one. Up to StepChecked a write can still be given up; after it,
// it is carried to its end.
const (
	StepWaiting   = txn.StepWaiting
	StepRecovered = txn.StepRecovered
	StepCaptured  = txn.StepCaptured
	StepPrepared  = txn.StepPrepared
	StepChecked   = txn.StepChecked
	StepArmed     = txn.StepArmed
	StepEffect    = txn.StepEffect
	StepConfirmed = txn.StepConfirmed
	StepPublished = txn.StepPublished
	StepRetired   = txn.StepRetired
	StepAgain     = txn.StepAgain
)
