package schema

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// written are texts that the generator below does not come upon.
var written = []string{
	"",
	"node A @card(3) { x: String @key }\nedge L: A -> A @card(3)",
	"edge L: A -> A @card(0 .. /* c */ 4) @card(x) @team(\"t\", a=1, b=true, a=2.5) {} node A{}",
	"node A { a: String // what?\n b: String ? c: [Date] /* x */ ? }",
	"node A { x: F64 @range(x, ..-3) @range(x, -0..5.) }",
	"node A { x: F64 @range(x, ..-3) @range(x, -0..5.5) @range(x, 99999999999999999999..) @range(x, -0.0..) @range(x, 0.0..) }",
	"node A { x: F64 @range(x, 0.00001..12345678901234567890.5, ignored) @range(x, 0.00002..0.1) @range(x, 1000000000000000000000.0..) }",
	"node A { a: String a: I32 }",
	"node A { a: String @key a: String }",
	"interface I { v: Vector(3) @embed(t) }",
	"interface I { v: Vector(3) @embed(t, model=\"m\") t: String? @rename_from(\"u\") } node A implements I { @index(v) }",
	"interface I { a: String } interface I { b: String } node A implements I {}",
	"interface I { a: String a: String } node A implements I {}",
	"interface I { a: String @x } interface J { a: String } node A implements J, I {}",
	"interface I { a: String @x } interface J { a: String } node A implements J, I { a: String }",
	"interface I { a: String @key } node A implements I { b: String @key }",
	"interface I { id: String }",
	"edge LinkTo: A -> A edge Linkto: A -> A node A {}",
	"edge L: A -> B node A {}",
	"edge L: I -> I interface I {}",
	"node A {} node A {} edge L: B -> A",
	"node A @description(\"\") {}", "node A @description(\"a\") @description(\"b\") {}", "node A @instruction {}",
	"node A { a: String @description(\" \\t\") }", "node A @key {}", "node A @embed(\"x\") {}", "edge L: A -> A @index node A {}",
	"node A @rename_from(\"B\") @rename_from(\"C\") {}", "node A @rename_from {}", "node A @rename_from(\"B\", x=1) {}",
	"node A { v: Vector(0) }", "node A { v: Vector(2147483648) }", "node A { v: Vector(99999999999) }", "node A { v: Vector(2147483647)? }",
	"edge L: A -> A @card(99999999999..) node A {}", "edge L: A -> A @card(1..99999999999) node A {}",
	"node A { _rowid: String }", "interface I { _row_created_at_version: I32 }", "node A { _row_id: String }",
	"node A { a: String @key(a, a) @unique(a) @index(a) @unique }", "node A { a: [I32] @unique(a) @range(a, 1..) }",
	"node A { a: String @key(true) }", "node A { a: String @key(trueish) }", "node A { a: String @range(a) }", "node A { a: I32 @range(a, 5) }",
	"node A { a: String @check(a) }", "node A { a: String @check(a, b) }", "node A { a: [String] @check(a, \"x\", 7) }",
	"node A { a: String @key(b) }", "node A { a: Blob @index(a) }", "node A { a: Blob @key(a) }", "node A { a: Vector(2) @key(a) }", "node A { a: [I32] @key(a) }",
	"node A {} edge L: A -> A { w: I32 @key }", "node A {} edge L: A -> A { w: Vector(2) @embed(w) }", "node A {} edge L: A -> A { w: String @check(w, \"x\") }",
	"node A { a: String @key(\"x\") }", "node A { a: String @key() }", "node A { a: enum() }", "node A { a: enum(9-x, _y, Z) @index }",
	"node A { a: String @x(1.50) @x(007) @x(\"q\\\"\") @x(w, k=\"v\") @x(w) @x(w) }", "interface I @x { a: String }", "node A implements { }",
	"/* open", "node A { } // end", "node A { a: Strin }", "node A { a String }", "node A { a: String, b: I32 }", "graph A {}", "node A { a: String @x(\"\\q\") }",
	"node A { a: \u00a0String }", "node A { a: String @note(\"\u2028 \\u0041\") }", "node A { a: String @note(\"\u2028\x7f\x01\") }",
	"edge Self: A->A{since:Date?@index src_note:String @unique(dst,src,since)@unique(since)}node A{}",
}

// generator makes schemas that are mostly sound.
type generator struct{ *rand.Rand }

func (g generator) one(words ...string) string { return words[g.IntN(len(words))] }

func (g generator) sometimes(n int, make func() string) string {
	if g.IntN(n) == 0 {
		return make()
	}
	return ""
}

func (g generator) typ() string {
	base := g.one("String", "String", "Bool", "I32", "I64", "U32", "U64", "F32", "F64", "Date", "DateTime", "Blob")
	t := g.one(base, base, base, base, "["+base+"]", "Vector("+strconv.Itoa(g.IntN(9)+1)+")", "enum(b, a"+g.one("", ", c-1", ", 9")+")")
	return t + g.one("", "", " ", "") + g.one("", "", "?")
}

func (g generator) note() string {
	return g.one(` @pii`, ` @team("core")`, ` @team(core, lead="é\n")`, ` @description("d")`, ` @x(1, b=2, a=true)`, ` @rename_from("old")`, ` @x(true)`)
}

func (g generator) props(n int) (text string, names []string) {
	all := []string{"a", "b", "c", "d", "e", "f_1", "_g", "name", "zz", "src", "key"}
	g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, name := range all[:g.IntN(n+1)] {
		names = append(names, name)
		text += g.one("\n  ", " ") + name + g.one(":", ": ", " :") + g.typ()
		text += g.sometimes(25, func() string { return " @key" }) + g.sometimes(9, func() string { return " @index" })
		text += g.sometimes(15, func() string { return " @unique" }) + g.sometimes(8, g.note)
		text += g.sometimes(60, func() string { return " @embed(" + g.one(names...) + `, model="m")` })
	}
	return text, names
}

func (g generator) rules(names []string) (text string) {
	if len(names) == 0 {
		return ""
	}
	for range g.IntN(5) / 3 {
		a, b := g.one(names...), g.one(append(names, "dst", "src")...)
		text += "\n  " + g.one("@unique("+a+", "+b+")", "@index("+a+")", "@key("+a+")", "@index("+b+","+a+")",
			"@range("+a+", "+g.one("0..5", "-1.5..", "..7", "1..2.5", "-9..-3")+")", "@check("+a+`, "^[a-z]\\d+\"$")`)
	}
	return text
}

func (g generator) schema() string {
	var parts []string
	interfaces := []string{"Named", "Tagged"}
	for _, i := range interfaces {
		text, _ := g.props(2)
		parts = append(parts, "interface "+i+" {"+text+"}")
	}
	for _, n := range []string{"Ant", "Bee", "Cat_2"} {
		text, names := g.props(4)
		implements := g.sometimes(3, func() string { return " implements " + g.one("Named", "Tagged", "Tagged, Named", "Named,Named") })
		parts = append(parts, "node "+n+g.sometimes(3, g.note)+implements+" {"+text+g.rules(names)+"\n}")
	}
	for _, n := range []string{"Likes", "Eats"} {
		text, names := g.props(2)
		parts = append(parts, "edge "+n+": "+g.one("Ant", "Bee")+" -> "+g.one("Cat_2", "Bee")+
			g.one("", "", " @card(0..1)", " @card(2..)")+g.sometimes(3, g.note)+g.one("", " {"+text+g.rules(names)+" }"))
	}
	g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts, g.one("\n", " ", " // c\n"))
}

// The Rust CLI accepts what we accept, and then writes the same IR and marker;
// where it refuses, it says the same.
func TestRustInitAgrees(t *testing.T) {
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("SKIPPED: OMNIGRAPH_BIN is not set; the Rust CLI would init from our schemas")
	}
	texts := written
	more := 10
	if n, err := strconv.Atoi(os.Getenv("OMNIDECK_SCHEMAS")); err == nil {
		more = n
	}
	g := generator{rand.New(rand.NewPCG(7, uint64(more)))}
	for range more {
		texts = append(texts, g.schema())
	}
	accepted := 0
	for i, text := range texts {
		if agrees(t, bin, filepath.Join(t.TempDir(), strconv.Itoa(i)), text) {
			accepted++
		}
	}
	t.Logf("%d schemas, %d accepted by both", len(texts), accepted)
}

// agrees reports whether both programs accept a text.
func agrees(t *testing.T, bin, dir, text string) bool {
	t.Helper()
	root := filepath.Join(dir, "g")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "s.pg")
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "init", "--schema", source, root)
	cmd.Env = append(os.Environ(), "HOME="+dir)
	said, failed := cmd.CombinedOutput()
	shape, err := Compile([]byte(text))
	if err != nil || failed != nil {
		refusesAlike(t, text, err, failed, strings.Join(strings.Fields(string(said)), " "))
		return false
	}
	ir, err := os.ReadFile(filepath.Join(root, IRKey))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := ParseIR(ir)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range Objects([]byte(text), shape.Resolve(theirs.Domain)) {
		want, err := os.ReadFile(filepath.Join(root, o.Key))
		if err != nil || !bytes.Equal(o.Data, want) {
			t.Errorf("%s of\n%s\nours  %s\nRust  %s (%v)", o.Key, text, o.Data, want, err)
		}
	}
	return true
}

func refusesAlike(t *testing.T, text string, err, failed error, said string) {
	t.Helper()
	problem := fmt.Sprint(err)
	if e, ok := err.(*SourceError); ok {
		problem = strings.Join(strings.Fields(e.Stage+": "+e.Problem), " ")
	}
	switch {
	case strings.Contains(problem, "has the name of a column"), strings.Contains(problem, "is beyond a double"):
		return // decided: earlier, or where the Rust engine breaks its own graph
	case err == nil || failed == nil:
		t.Errorf("we say %v, the Rust CLI says %s (%v) of\n%s", err, said, failed, text)
	case strings.Contains(problem, "expected "):
		if !strings.Contains(said, "-->") && !strings.Contains(said, problem) {
			t.Errorf("we say %s, the Rust CLI says %s of\n%s", problem, said, text)
		}
	case !strings.Contains(said, problem) && !strings.Contains(said, beginning(problem)):
		t.Errorf("we say %s, the Rust CLI says %s of\n%s", problem, said, text)
	}
}

// beginning is a problem without what only we add to it.
func beginning(problem string) string {
	end := len(problem)
	for _, mark := range []string{"; ", " (", ": no node type", ": '", ": 99999999999 ", " column that"} {
		if i := strings.Index(problem, mark); i > 0 {
			end = min(end, i)
		}
	}
	return problem[:end]
}
