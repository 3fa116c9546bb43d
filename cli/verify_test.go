package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/golden"
	"github.com/omnideck/omnideck/tui/theme"
)

// TestVerifyRules: how problems of rules are told, as text and in JSON. Names
// come from the graph and are cleaned.
func TestVerifyRules(t *testing.T) {
	const folder = "nodes/0000000000000001-000000000000000b"
	v := &engine.Verification{Problems: []engine.Problem{
		{ID: "dangling-edge", Severity: engine.SeverityError, Table: "edge:Owns", Branch: "main", Version: 4, Key: "edges/0000000000000005-000000000000000f", Found: "dst 'IMO\x1b[2J' not found in Vessel (edge Owns 'o1')",
			Expected: "a node of Vessel", RowsAffected: 1, Entities: []string{"o1"}, Property: "dst", Value: "IMO\x1b[2J"},
		{ID: "rules-incomplete", Severity: engine.SeverityWarn, Table: "node:Port", Branch: "main", Version: 4, Key: folder, Found: "9 rows were read and judged", Expected: "12 rows, as the graph recorded", RowsAffected: 3},
		{ID: "unique", Severity: engine.SeverityError, Table: "node:Port", Branch: "main", Version: 4, Key: folder, Found: "2 times, the first: @unique violation on Port.(country, name): value '(NL, Rotterdam)' held by 'NLRTM' and 'NLRT2'",
			Expected: "each value once", RowsAffected: 2, Entities: []string{"NLRTM", "NLRT2", "NLRT3"}, Property: "(country, name)", Value: "(NL, Rotterdam)"},
	}}
	th, err := theme.New("mono", theme.Unknown, true)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	printVerification(out.NewText(&text, th), v)
	doc, err := json.MarshalIndent(v.Problems, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "verify-rules.txt", append(append(text.Bytes(), doc...), '\n'))
}

// TestVerifyPage: the page of what is looked for names every problem of rules.
func TestVerifyPage(t *testing.T) {
	page, err := os.ReadFile("../docs/VERIFY.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range append(engine.RuleProblems(), "rules-incomplete", "count-scanned", "count") {
		if !strings.Contains(string(page), "`"+id+"`") {
			t.Errorf("docs/VERIFY.md does not name %s", id)
		}
	}
}
