package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/txn"
)

// The two that must pass together, with the Rust engine as the other program: its
// optimize is flown over, its update and its schema apply refuse a strict write of
// a handle until it is refreshed (long_lived_handle_rejects_schema_*).
func TestContractWithTheRustEngine(t *testing.T) {
	g, root, rust := besideRust(t, "optimize, update and apply a schema under a handle of ours", people, crowd)
	mutate(t, g, `insert Person { name: "cid" }`) // a second fragment, to be compacted
	act := func(statements string) error {
		t.Helper()
		_, err := mutation(statements).do(t.Context(), g, engine.WriteOptions{Base: engine.BaseHandle})
		return err
	}
	refused := func(statements string) {
		t.Helper()
		var changed *txn.ReadSetChangedError
		if err := act(statements); !errors.As(err, &changed) {
			t.Errorf("%s: %T: %v", statements, err, err)
		}
		if _, err := g.Refresh(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if err := act(statements); err != nil {
			t.Errorf("%s, refreshed: %v", statements, err)
		}
	}
	plan, err := mutation(`update Person set { age: 7 } where name = "cid"`).plan(t.Context(), g, engine.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rust("optimize", root)
	r, err := mutation(`update Person set { age: 7 } where name = "cid"`).do(t.Context(), g, engine.WriteOptions{Plan: plan})
	if err != nil || r.Tables[0].From <= plan.Tables[0].From {
		t.Errorf("a plan over an optimize that moved the table: %+v, %v", r, err)
	}
	rust("optimize", root)
	if err := act(`delete Knows where from = "ann"`); err != nil {
		t.Errorf("a strict delete over an optimize: %v", err)
	}
	rust("mutate", "--store", root, "-e", `query q() { update Person set { email: "theirs" } where name = "ann" }`)
	refused(`update Person set { age: 9 } where name = "ann"`)
	file := filepath.Join(t.TempDir(), "next.pg")
	if err := os.WriteFile(file, []byte(strings.Replace(people, "city: String?", "city: String?\n zip: String?", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Refresh(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	rust("schema", "apply", "--schema", file, root)
	refused(`update Person set { age: 10 } where name = "ann"`)
	if got := exported(t, g); !strings.Contains(got, `"age":10,"email":"theirs"`) || !strings.Contains(got, `"age":7`) {
		t.Error(got)
	}
	if rep, err := g.Verify(t.Context(), engine.VerifyOptions{Deep: true}); err != nil || len(rep.Problems) > 0 {
		t.Errorf("%v: %+v", err, rep)
	}
}
