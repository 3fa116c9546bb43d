package exec_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine/exec"
	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/query"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/validate"
)

// notes are numbered lines.
func notes(from, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf(`{"type":"Note","data":{"id":"i%05d","text":"t","n":1}}`, from+i))
	}
	return out
}

// A write brings 8 192 rows of a type, and not one more; of a deletion rows are
// not counted.
func TestRowsAtTheLimit(t *testing.T) {
	g := newGraph(t, library, notes(0, validate.MaxRows)...)
	if p, _, err := g.mutate(`update Note set { text: "x" } where n = 1`); err != nil || p.Nodes != validate.MaxRows {
		t.Errorf("at the limit: %v", err)
	}
	if p, err := g.load(load.Merge, notes(0, validate.MaxRows)...); err != nil || p.Nodes != validate.MaxRows {
		t.Errorf("at the limit: %v", err)
	}
	for _, mode := range []load.Mode{load.Append, load.Merge} {
		err := g.untouched(func(g *graph) error {
			_, err := g.load(mode, notes(validate.MaxRows, validate.MaxRows+1)...)
			return err
		})
		wantErr[*validate.LimitError](t, err, "node:Note", "8193", "8192", "--chunk")
	}
	if _, err := g.load(load.Append, notes(validate.MaxRows, 1)...); err != nil {
		t.Fatal(err)
	}
	for _, statements := range []string{
		`update Note set { text: "y" } where n = 1`,
		`update Note set { text: "y" } where n = 1 update Note set { text: "z" } where n = 1`,
	} {
		err := g.untouched(func(g *graph) error { _, _, err := g.mutate(statements); return err })
		wantLimit(t, err, validate.ResourceRows)
		wantErr[*txn.ResourceLimitError](t, err, "node:Note", "8193", "8192", "load --chunk")
	}
	if p, _, err := g.mutate(`delete Note where n = 1`); err != nil || p.Nodes != validate.MaxRows+1 {
		t.Errorf("a deletion: %v", err)
	}
	if p, err := g.load(load.Overwrite, notes(0, validate.MaxRows+1)...); err != nil || p.Nodes != validate.MaxRows+1 {
		t.Errorf("an overwrite: %v", err)
	}
}

// Inserts are counted as updates are, statement by statement.
func TestInsertsAtTheLimit(t *testing.T) {
	g := newGraph(t, library)
	inserts := func(n int) func(*graph) error {
		return func(g *graph) error {
			_, _, err := g.run(func(ctx context.Context, tx *txn.Txn) (*exec.Plan, error) {
				typ, _ := tx.Contract.IR.Type(schema.KindNode, "Note")
				s := query.Statement{Verb: query.Insert, Type: typ}
				for i := range typ.Properties {
					if typ.Properties[i].Name == "text" {
						s.Set = []query.Setting{{Property: &typ.Properties[i], Value: "x"}}
					}
				}
				all := make([]query.Statement, n)
				for i := range all {
					all[i] = s
				}
				return exec.Mutate(ctx, tx, all, exec.Options{NewID: g.newID})
			})
			return err
		}
	}
	wantLimit(t, g.untouched(inserts(validate.MaxRows+1)), validate.ResourceRows)
	if err := inserts(validate.MaxRows)(g); err != nil {
		t.Errorf("at the limit: %v", err)
	}
}

// 32 MiB is what the rows of a type may weigh.
func TestBytesAtTheLimit(t *testing.T) {
	g := newGraph(t, library, notes(0, 32)...)
	set := func(n int) func(*graph) error {
		return func(g *graph) error {
			_, _, err := g.mutateWith("$x: String", `{"x":"`+strings.Repeat("x", n)+`"}`, `update Note set { text: $x } where n = 1`)
			return err
		}
	}
	tx, err := txn.Begin(t.Context(), g.s, g.options())
	if err != nil {
		t.Fatal(err)
	}
	typ, _ := tx.Contract.IR.Type(schema.KindNode, "Note")
	row := validate.Row{ID: "i00000", Values: make([]value.Value, len(typ.Properties))}
	for i := range typ.Properties {
		var of any = int32(1)
		if typ.Properties[i].Name == "text" {
			of = ""
		}
		if row.Values[i], err = value.Of(typ.Properties[i].Type, of); err != nil {
			t.Fatal(err)
		}
	}
	full := validate.MaxBytes/32 - int(validate.Size(typ, &row)) // of each of the 32 texts
	err = g.untouched(set(full + 1))
	wantLimit(t, err, validate.ResourceBytes)
	wantErr[*txn.ResourceLimitError](t, err, "node:Note", fmt.Sprint(validate.MaxBytes), "load --chunk")
	if err := set(full)(g); err != nil {
		t.Errorf("at the limit: %v", err)
	}
}
