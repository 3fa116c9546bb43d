package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/fixtures"
)

type conformanceCase struct {
	Name, Op, Schema, Defect string
	Expect                   struct {
		OK     bool   `json:"ok"`
		Error  string `json:"error_contains"`
		Shape  string `json:"schema_shape_hash"`
		NextID uint64 `json:"next_identity_id"`
		IR     string `json:"ir_hash_for_domain_01ARZ3NDEKTSV4RRFFQ69G5FAV"`
	}
}

// kept are the lines of a file of cases that concern schemas alone.
func kept(file []byte) (lines []string) {
	for line := range strings.Lines(string(file)) {
		if strings.HasPrefix(line, `{"name":"schema/`) || strings.HasPrefix(line, `{"name":"fingerprint/`) {
			lines = append(lines, line)
		}
	}
	return lines
}

func caseLines(t *testing.T) []string {
	t.Helper()
	file, err := os.ReadFile("testdata/languages.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return kept(file)
}

func TestCasesAreThoseOfTheConformanceFile(t *testing.T) {
	file, err := fixtures.Shared("conformance", "languages.jsonl")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	if !slices.Equal(kept(file), caseLines(t)) {
		t.Error("testdata/languages.jsonl is not what the conformance file has")
	}
}

// ours are the cases in which we refuse, as decided, before the Rust engine
// fails later with a text of its storage.
var ours = map[string]string{
	"schema/property-named-id":          "property A.id has the name of a column that every node has",
	"schema/property-named-src-on-edge": "property L.src has the name of a column that every edge has",
}

func TestConformance(t *testing.T) {
	lines := caseLines(t)
	if len(lines) != 33 {
		t.Errorf("%d cases, expected 28 and 5", len(lines))
	}
	for _, line := range lines {
		var c conformanceCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		runCase(t, c)
	}
}

func runCase(t *testing.T, c conformanceCase) {
	t.Helper()
	want := c.Expect.Error
	if ours[c.Name] != "" {
		want = ours[c.Name]
	}
	shape, err := Compile([]byte(c.Schema))
	if want != "" {
		var e *SourceError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || e.Pos.Line == 0 {
			t.Errorf("%s: %v, want an error with %q", c.Name, err, want)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return
	}
	ir := shape.Resolve("01ARZ3NDEKTSV4RRFFQ69G5FAV")
	if found := ir.Check(); len(found) > 0 {
		t.Errorf("%s: the IR is not sound: %q", c.Name, found)
	}
	if c.Op != "fingerprint" {
		return
	}
	if shape.Hash() != c.Expect.Shape || ir.ShapeHash() != c.Expect.Shape || ir.Hash() != c.Expect.IR || ir.NextID != c.Expect.NextID {
		t.Errorf("%s: shape %s, with identities %s, IR %s, next %d\nwant %+v", c.Name, shape.Hash(), ir.ShapeHash(), ir.Hash(), ir.NextID, c.Expect)
	}
}

// The graphs that the Rust engine made from their texts.
func TestGraphsCompileToTheirContracts(t *testing.T) {
	graphs := map[string]map[string][]byte{"midlife": fixture(t)}
	for _, name := range []string{"maintained", "diverged", "deep", "wide"} {
		archive, err := fixtures.Shared("graphs", name+".tar.gz")
		if err != nil {
			t.Logf("SKIPPED %s: %v", name, err)
			continue
		}
		if graphs[name], err = fixtures.Unpack(archive); err != nil {
			t.Fatal(err)
		}
	}
	for name, files := range graphs {
		shape, err := Compile(files[SourceKey])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		ir, err := ParseIR(files[IRKey])
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range Objects(files[SourceKey], shape.Resolve(ir.Domain)) {
			if !bytes.Equal(o.Data, files[o.Key]) {
				t.Errorf("%s: %s made anew differs from what the Rust engine wrote", name, o.Key)
			}
		}
	}
}

// What is said, word for word, and where.
func TestErrorsAreSentences(t *testing.T) {
	many := "interface I {" + strings.Repeat(" a: I32", maxProperties/2+1) + " } node A implements I, I {}"
	for source, want := range map[string]string{
		"node A {\n  é: String }": "parse error: expected \"}\", \"@\" or ident, found \"é\" (line 2, column 3)",
		"nod A {}":                "parse error: expected end of text, \"interface\", \"node\" or \"edge\", found \"nod\" (line 1, column 1)",
		"node A { /* é */ a: String @key @key }":                               "parse error: property A.a declares @key multiple times (line 1, column 33)",
		"node A { a: I32\n @range(a, 1" + strings.Repeat("0", 400) + ".0..) }": "parse error: invalid constraint bound: 1000000000000000000000000000000000000000… is beyond a double (line 2, column 12)",
		"edge L: A -> B\nnode A {}":                                            "catalog error: edge 'L' has an unresolved endpoint: no node type 'B' (line 1, column 6)",
		"node A { a: String @x(\"\\q\") }\nnode B {":                           "parse error: expected \"}\", \"@\" or ident, found the end of the text (line 2, column 9)",
		"interface I { v: Vector(2) @embed(t) }":                               "schema identity resolution failed: unknown property reference 'I.t' (line 1, column 11)",
		"node A { a: String\n a: String }":                                     "invalid accepted SchemaIR: duplicate property 'A.a' (line 1, column 6)",
		"\xff":                                                                 "parse error: the text is not UTF-8 here (line 1, column 1)",
		"node A @x" + strings.Repeat(" @x", maxPieces) + "{}":                  fmt.Sprintf("parse error: the schema has more than %d declarations, properties, annotations and constraints (line 1, column %d)", maxPieces, 7+3*maxPieces),
		many: fmt.Sprintf("parse error: the schema has more than %d properties with those of interfaces (line 1, column %d)", maxProperties, strings.Index(many, ", I {}")),
	} {
		if _, err := Compile([]byte(source)); err == nil || err.Error() != want {
			t.Errorf("%.60q\n got %v\nwant %s", source, err, want)
		}
	}
}

// A graph made before 0.10 may have what no new schema may.
func TestAcceptedTexts(t *testing.T) {
	source := "node A { a: Blob b: String @unique(b, a) }"
	if _, err := Compile([]byte(source)); err == nil {
		t.Error("@unique over a Blob is accepted")
	}
	shape, err := compile([]byte(source), true)
	if err != nil {
		t.Fatal(err)
	}
	ir := shape.Resolve("01ARZ3NDEKTSV4RRFFQ69G5FAV")
	files := map[string]File{}
	for _, o := range Objects([]byte(source), ir) {
		files[o.Key] = File{Data: o.Data}
	}
	if c := Load(files, tablesOf(ir)); len(c.Problems) > 0 || c.IR == nil {
		t.Errorf("the graph is refused: %v", c.Problems)
	}
}

func TestDisagreement(t *testing.T) {
	ir := mustParse(t, example)
	for source, want := range map[string]string{
		exampleSource: "",
		"// other words\n" + exampleSource + "interface I {}":            "interface I is only in the text",
		"node Person { name: String @key }":                              "Person.age is missing from the text, edge Knows is missing from the text",
		strings.Replace(exampleSource, "I32", "I64", 1):                  "Person.age differs",
		strings.Replace(exampleSource, "since", "till", 1):               "Knows.since is missing from the text, Knows.till is only in the text",
		strings.Replace(exampleSource, "Date?", "Date? @unique(src)", 1): "edge Knows differs beyond its properties",
		strings.Replace(exampleSource, "node", "nodes", 1):               "does not compile: parse error: expected type_name",
		"node A{} node B{} node C{}":                                     "node A is only in the text, node B is only in the text, node C is only in the text and 2 more",
	} {
		got := disagreement([]byte(source), ir, exampleShapeHash)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
}

func TestRenames(t *testing.T) {
	shape, err := Compile([]byte(`node A @rename_from("B") { a: String @rename_from(b) } edge L: A -> A @rename_from("M")`))
	want := []Rename{{KindNode, "A", "", "B"}, {KindNode, "A", "a", "b"}, {KindEdge, "L", "", "M"}}
	if err != nil || !slices.Equal(shape.Renames, want) {
		t.Errorf("%v, %v", shape, err)
	}
	plain, err := Compile([]byte("edge L: A -> A node A { a: String }"))
	if err != nil || plain.Hash() != shape.Hash() {
		t.Errorf("hints are part of the hash (%v)", err)
	}
}

func FuzzCompile(f *testing.F) {
	for _, text := range written {
		f.Add(text)
	}
	f.Add(exampleSource)
	f.Fuzz(func(t *testing.T, source string) {
		shape, err := Compile([]byte(source))
		if err != nil {
			var e *SourceError
			if !errors.As(err, &e) || e.Pos.Line < 1 || e.Pos.Col < 1 || e.Problem == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		ir := shape.Resolve("01ARZ3NDEKTSV4RRFFQ69G5FAV")
		if found := ir.Check(); len(found) > 0 {
			t.Fatalf("the IR is not sound: %q", found)
		}
		back, err := ParseIR(ir.JSON().AppendPretty(nil))
		if err != nil || back.Hash() != ir.Hash() || back.ShapeHash() != shape.Hash() {
			t.Fatalf("the IR reads back as another (%v)", err)
		}
		files := map[string]File{}
		for _, o := range Objects([]byte(source), ir) {
			files[o.Key] = File{Data: o.Data}
		}
		if c := Load(files, tablesOf(ir)); len(c.Problems) > 0 {
			t.Fatalf("our own contract is refused: %v", c.Problems)
		}
	})
}

func TestConstraintsOfAType(t *testing.T) {
	shape, err := Compile([]byte(`node A { a: I32 b: String c: F64? @key(b, a) @unique(c) @unique(b, c) @range(c, -1.5..2) @range(a, ..7) @check(b, "^x") }
edge LinkTo: A -> A @card(1..2) { w: I32 @unique(src, w) }`))
	if err != nil {
		t.Fatal(err)
	}
	ir := shape.Resolve("01ARZ3NDEKTSV4RRFFQ69G5FAV")
	a := &ir.Nodes[0]
	edge, ok := ir.Edge("LINKto")
	if _, none := ir.Edge("Link"); !ok || none {
		t.Error("an edge is not found by its name in another case, or one is found that is not there")
	}
	var got []string
	for _, c := range append(a.Ranges(), a.Checks()...) {
		got = append(got, c.Spell())
	}
	for _, key := range a.Key() {
		got = append(got, key.Name)
	}
	got = append(got, fmt.Sprint(a.Unique(), edge.Unique(), a.Ranges()[0].Min.Number(), a.Ranges()[1].Min.Number(), edge.Card.Spell()))
	want := []string{"@range(a, 7..)", "@range(c, -1.5..2)", `@check(b, "^x")`, "a", "b", "[[b c] [c]] [[src w]] 7 -1.5@card(1..2)"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
