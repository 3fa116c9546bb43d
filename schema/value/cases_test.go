package value_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
)

type loadCase struct {
	Name, Schema, Defect string
	Data                 []string
	Expect               struct {
		OK    bool   `json:"ok"`
		Error string `json:"error_contains"`
	}
}

// The load cases of the conformance file, as far as a value alone decides:
// where a load succeeds no value is refused, and what we refuse is refused in
// the recorded words.
func TestLoadCases(t *testing.T) {
	file, err := fixtures.Shared("conformance", "languages.jsonl")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	refused, accepted := 0, 0
	for line := range strings.Lines(string(file)) {
		if !strings.HasPrefix(line, `{"name":"load/`) {
			continue
		}
		var c loadCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		ir := pgtest.IR(t, c.Schema)
		var first error
		for _, line := range c.Data {
			if err := lineValues(ir, []byte(line)); err != nil && first == nil {
				first = err
			}
		}
		switch {
		case first == nil:
			accepted++
		case c.Expect.Error == "":
			t.Errorf("%s: refused: %v", c.Name, first)
		case !strings.Contains(first.Error(), c.Expect.Error):
			t.Errorf("%s: says %v, recorded %s", c.Name, first, c.Expect.Error)
		default:
			refused++
		}
	}
	if refused < 13 || accepted < 20 {
		t.Errorf("%d cases refused by a value, %d not", refused, accepted)
	}
}

// lineValues parses and checks every property that a line of data gives.
func lineValues(ir *schema.IR, raw []byte) error {
	v, err := ojson.Parse(raw)
	if err != nil {
		return nil // the reader of lines refuses it
	}
	members := map[string]ojson.Value{}
	for _, m := range v.Members() {
		members[m.Name] = m.Value
	}
	ty, ok := ir.Type(schema.KindNode, members["type"].Text())
	if _, both := members["edge"]; !ok || both {
		return nil
	}
	rules, err := value.NewRules(ty)
	if err != nil {
		return err
	}
	data := map[string]ojson.Value{}
	for _, m := range members["data"].Members() {
		data[m.Name] = m.Value
	}
	for _, p := range ty.Properties {
		v, err := value.Parse(p.Name, p.Type, data[p.Name])
		if err == nil {
			err = rules.Check(p.Name, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
