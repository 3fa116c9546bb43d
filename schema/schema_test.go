package schema

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/fixtures"
)

// The IR of omnigraph-storage.md §1.2 in another layout than the file has.
const example = `{"ir_version":2,"schema_identity_domain":"01ARZ3NDEKTSV4RRFFQ69G5FAV","next_identity_id":8,"interfaces":[],
"nodes":[{"name":"Person","type_id":1,"table_incarnation_id":6,"annotations":[],"implements":[],"properties":[
 {"name":"age","property_id":3,"prop_type":{"scalar":"I32","nullable":true,"list":false,"enum_values":null},
  "annotations":[],"property_constraints":[],"embed_source":null,"declared_directly":true,"satisfies_interface_properties":[]},
 {"property_id":4,"name":"name","prop_type":{"scalar":"String","nullable":false,"list":false},"unknown":[1],
  "annotations":[],"property_constraints":["key"],"embed_source":null,"declared_directly":true,"satisfies_interface_properties":[]}],
 "constraints":[{"kind":"key","fields":[{"kind":"property","owner_type_id":1,"owner_type_name":"Person","property_id":4,"property_name":"name"}]}]}],
"edges":[{"name":"Knows","type_id":2,"table_incarnation_id":7,"from_type":{"type_id":1,"type_name":"Person"},
 "to_type":{"type_id":1,"type_name":"Person"},"cardinality":{"min":0,"max":null},"annotations":[],
 "properties":[{"name":"since","property_id":5,"prop_type":{"scalar":"Date","nullable":true,"list":false,"enum_values":null},
  "annotations":[],"property_constraints":[],"embed_source":null,"declared_directly":true,"satisfies_interface_properties":[]}],"constraints":[]}]}`

const (
	exampleIRHash    = "sha256:e349a3a639e487a923e37311d280f61ccf4ba90c8dbb528a9e2e039dfc6fa6bd"
	exampleShapeHash = "sha256:c8d565c42aebb6d8092b006081b647523eb144420841c8640c6dcdf080f689af"
	exampleMarker    = `{"format_version":2,"schema_shape_hash":"` + exampleShapeHash + `","schema_ir_hash":"` + exampleIRHash +
		`","schema_identity_version":2,"schema_identity_domain":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}`
	exampleSource = "node Person { name: String @key   age: I32? }\nedge Knows: Person -> Person { since: Date? }\n"
)

var examplePublished = Published{Known: true, Tables: []Table{{"edge:Knows", 2, 7}, {"node:Person", 1, 6}}}

func exampleFiles() map[string]File {
	return map[string]File{SourceKey: {Data: []byte(exampleSource)}, IRKey: {Data: []byte(example)}, StateKey: {Data: []byte(exampleMarker)}}
}

func mustParse(t *testing.T, text string) *IR {
	t.Helper()
	ir, err := ParseIR([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return ir
}

func TestHashesOfTheExample(t *testing.T) {
	ir := mustParse(t, example)
	if n := len(ir.JSON().Append(nil)); n != 1315 {
		t.Errorf("compact IR has %d bytes, want 1315", n)
	}
	if got := ir.Hash(); got != exampleIRHash {
		t.Errorf("IR hash %s", got)
	}
	if got := ir.ShapeHash(); got != exampleShapeHash {
		t.Errorf("shape hash %s", got)
	}
	if found := ir.Check(); len(found) != 0 {
		t.Errorf("a sound IR is refused: %v", found)
	}
}

// Cases fingerprint/minimal and fingerprint/body-constraint-differs-… of the
// conformance file.
func TestFingerprints(t *testing.T) {
	ref := PropRef{1, "Shelf", 2, "label"}
	ir := &IR{Version: 2, Domain: "01ARZ3NDEKTSV4RRFFQ69G5FAV", NextID: 4, Nodes: []Type{{
		Kind: KindNode, Name: "Shelf", ID: 1, Incarnation: 3,
		Properties:  []Property{{Name: "label", ID: 2, Type: PropType{Scalar: Scalar{Name: "String"}}, Constraints: []string{"key"}, Declared: true}},
		Constraints: []Constraint{{Kind: "key", Fields: []FieldRef{{Prop: &ref}}}},
	}}}
	if got := ir.ShapeHash(); got != "sha256:bdd6d1f9cc9370578156c3fb4c7dd02c13ce1f80fabc7ce8edbb3c5ee10a8208" {
		t.Errorf("minimal: shape hash %s", got)
	}
	if got := ir.Hash(); got != "sha256:e3b73b28c2007687f4c85c0c712a59d31280d4f9d77d001c36ce062717f934a6" {
		t.Errorf("minimal: IR hash %s", got)
	}
	ir.Nodes[0].Properties[0].Constraints = nil
	if got := ir.ShapeHash(); got != "sha256:ad11653f794c7514effd854171b1ca2bc40fbb82c214e6c4864ed8df64f25586" {
		t.Errorf("body constraint: shape hash %s", got)
	}
	if got := ir.Hash(); got != "sha256:e150dccf192f5073351d35b1358ac6a33f7a931842fd5e21dff62d6c239cc231" {
		t.Errorf("body constraint: IR hash %s", got)
	}
}

func fixture(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func contractFiles(files map[string][]byte) map[string]File {
	out := map[string]File{}
	for _, key := range slices.Concat(Keys, StagedKeys) {
		if data, ok := files[key]; ok {
			out[key] = File{Data: data}
		}
	}
	return out
}

func tablesOf(ir *IR) Published {
	pub := Published{Known: true}
	for _, types := range [][]Type{ir.Nodes, ir.Edges} {
		for i := range types {
			pub.Tables = append(pub.Tables, Table{types[i].Alias(), types[i].ID, types[i].Incarnation})
		}
	}
	return pub
}

// The contract that OmniGraph 0.10.0 wrote: every property type and constraint.
func TestContractOfARealGraph(t *testing.T) {
	files := fixture(t)
	c := Load(contractFiles(files), Published{})
	if len(c.Problems) != 0 || c.IR == nil || c.Unconfirmed != "" || c.Staged || c.Source != string(files[SourceKey]) {
		t.Fatalf("problems %v, IR %v, unconfirmed %q", c.Problems, c.IR != nil, c.Unconfirmed)
	}
	if got := c.IR.JSON().AppendPretty(nil); !bytes.Equal(got, files[IRKey]) {
		t.Error("the IR written anew differs from the file")
	}
	if c = Load(contractFiles(files), tablesOf(c.IR)); len(c.Problems) != 0 || c.IR == nil {
		t.Errorf("problems %v", c.Problems)
	}
	var got []string
	for _, types := range c.IR.kinds() {
		for i := range types {
			got = append(got, describe(&types[i])...)
		}
	}
	want := strings.Split(strings.TrimSpace(described), "\n")
	if !slices.Equal(got, want) {
		t.Errorf("types:\n%s", strings.Join(got, "\n"))
	}
}

func describe(t *Type) []string {
	head := fmt.Sprintf("%s %d/%d %s", t.Alias(), t.ID, t.Incarnation, strings.Join(t.SpellConstraints(), " "))
	if t.Kind == KindEdge {
		head += " " + t.From.Name + "->" + t.To.Name
	}
	for _, a := range t.Annotations {
		head += " " + a.Spell()
	}
	out := []string{strings.TrimSpace(head)}
	if t.Kind == KindInterface {
		return out
	}
	for _, c := range t.Columns() {
		null := ""
		if c.Nullable {
			null = "?"
		}
		out = append(out, fmt.Sprintf("  %s: %s%s %s", c.Name, c.Spelled, null, c.Arrow))
	}
	return out
}

func TestSpelling(t *testing.T) {
	val := func(s string) *string { return &s }
	five := uint64(5)
	p := FieldRef{Prop: &PropRef{Name: "p"}}
	for want, got := range map[string]string{
		"[I32]":                     PropType{Scalar: Scalar{Name: "I32"}, List: true}.Spell(),
		"Vector(8)":                 PropType{Scalar: Scalar{"Vector", 8}}.Spell(),
		"enum(a, b)":                PropType{Scalar: Scalar{Name: "String"}, Enum: []string{"a", "b"}}.Spell(),
		"@unique(src, p)":           Constraint{Kind: "unique", Fields: []FieldRef{{Role: "src"}, p}}.Spell(),
		"@range(p, -3..)":           Constraint{Kind: "range", Fields: []FieldRef{p}, Min: &Bound{Int: -3}}.Spell(),
		"@range(p, 0.0..1000000.0)": Constraint{Kind: "range", Fields: []FieldRef{p}, Min: &Bound{IsFloat: true}, Max: &Bound{IsFloat: true, Float: 1e6}}.Spell(),
		"@range(p, ..0.0000001)":    Constraint{Kind: "range", Fields: []FieldRef{p}, Max: &Bound{IsFloat: true, Float: 1e-7}}.Spell(),
		`@check(p, "^\\d\"\n$")`:    Constraint{Kind: "check", Fields: []FieldRef{p}, Pattern: "^\\d\"\n$"}.Spell(),
		"@card(0..5)":               Card{Max: &five}.Spell(),
		"@card(2..)":                Card{Min: 2}.Spell(),
		"":                          Card{}.Spell(),
		`@description("a \"b\"")`:   Annotation{Name: "description", Value: val(`a "b"`)}.Spell(),
		`@x("1", k="v")`:            Annotation{Name: "x", Value: val("1"), Kwargs: [][2]string{{"k", "v"}}}.Spell(),
		"@flag":                     Annotation{Name: "flag"}.Spell(),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Rust's Debug form of floats orders constraints.
func TestDebugFloat(t *testing.T) {
	for x, want := range map[float64]string{0: "0.0", 0.5: "0.5", 2: "2.0", 1e-4: "0.0001", 1e-5: "1e-5", 1.234e-5: "1.234e-5", 1e15: "1000000000000000.0", 1e16: "1e16", -3.5e16: "-3.5e16"} {
		if got := debugFloat(x); got != want {
			t.Errorf("%g is %s, want %s", x, got, want)
		}
	}
}

func TestKeyOrder(t *testing.T) {
	typ := Type{Constraints: []Constraint{{Kind: "index"}, {Kind: "key", Fields: []FieldRef{{Prop: &PropRef{ID: 9, Name: "a"}}, {Prop: &PropRef{ID: 4, Name: "b"}}}}}}
	if key := typ.Key(); len(key) != 2 || key[0].Name != "b" || key[1].Name != "a" {
		t.Errorf("key %v, want by property id", key)
	}
	if key := (&Type{}).Key(); key != nil {
		t.Errorf("key of a type without one: %v", key)
	}
}

func TestTableLookup(t *testing.T) {
	ir := mustParse(t, example)
	if typ, ok := ir.Table(2, 7); !ok || typ.Alias() != "edge:Knows" {
		t.Error("Table(2, 7) is not Knows")
	}
	if _, ok := ir.Table(2, 6); ok {
		t.Error("another incarnation is taken for the table")
	}
	if typ, ok := ir.Type(KindNode, "Person"); !ok || typ.ID != 1 {
		t.Error("node Person not found")
	} else if p, ok := typ.Property("age"); !ok || !arrow.TypeEqual(p.Type.Arrow(), arrow.PrimitiveTypes.Int32) {
		t.Error("Person.age is not an int32")
	}
	if _, ok := ir.Type(KindEdge, "Person"); ok {
		t.Error("a node was found among the edges")
	}
}

var missing = File{Err: fmt.Errorf("get: %w", fs.ErrNotExist)}

func TestLoadJudges(t *testing.T) {
	swap := func(old, new string) string { return strings.Replace(example, old, new, 1) }
	denied := File{Err: fs.ErrPermission}
	for name, c := range map[string]struct {
		files       map[string]File
		pub         Published
		rule        Rule // "" = no problem
		key         string
		types       bool
		unconfirmed bool
	}{
		"sound":              {nil, examplePublished, "", "", true, false},
		"catalogue unknown":  {nil, Published{}, "", "", true, false},
		"no source":          {map[string]File{SourceKey: missing}, examplePublished, RuleMissing, SourceKey, true, true},
		"source unreadable":  {map[string]File{SourceKey: denied}, examplePublished, RuleUnreadable, SourceKey, true, true},
		"source not text":    {map[string]File{SourceKey: {Data: []byte{0xff}}}, examplePublished, RuleSyntax, SourceKey, true, true},
		"source spelled":     {map[string]File{SourceKey: {Data: []byte("nodePerson{name:String @key /* node } */ age:I32?} edge\nKnows:Person->Person{since : Date?}")}}, examplePublished, "", "", true, false},
		"source empty":       {map[string]File{SourceKey: {}}, examplePublished, RuleSource, SourceKey, true, true},
		"source cut":         {map[string]File{SourceKey: {Data: []byte(exampleSource[:len(exampleSource)/2])}}, examplePublished, RuleSource, SourceKey, true, true},
		"source commented":   {map[string]File{SourceKey: {Data: []byte("// " + strings.ReplaceAll(exampleSource, "\n", "\n// "))}}, examplePublished, RuleSource, SourceKey, true, true},
		"source other type":  {map[string]File{SourceKey: {Data: []byte(strings.Replace(exampleSource, "I32", "I64", 1))}}, examplePublished, RuleSource, SourceKey, true, true},
		"source more":        {map[string]File{SourceKey: {Data: []byte(exampleSource + "node Tag {}")}}, examplePublished, RuleSource, SourceKey, true, true},
		"no marker":          {map[string]File{StateKey: missing}, examplePublished, RuleMissing, StateKey, true, true},
		"no marker, unknown": {map[string]File{StateKey: missing}, Published{}, RuleMissing, StateKey, false, false},
		"marker cut":         {map[string]File{StateKey: {Data: []byte(exampleMarker[:40])}}, examplePublished, RuleSyntax, StateKey, true, true},
		"no IR":              {map[string]File{IRKey: missing}, examplePublished, RuleMissing, IRKey, false, false},
		"IR empty":           {map[string]File{IRKey: {}}, examplePublished, RuleSyntax, IRKey, false, false},
		"IR unreadable":      {map[string]File{IRKey: denied}, examplePublished, RuleUnreadable, IRKey, false, false},
		"IR contradicts":     {map[string]File{IRKey: {Data: []byte(swap(`"next_identity_id":8`, `"next_identity_id":7`))}}, examplePublished, RuleSound, IRKey, false, false},
		"IR changed":         {map[string]File{IRKey: {Data: []byte(swap(`"I32"`, `"I64"`))}}, examplePublished, RuleHash, IRKey, false, false},
		"IR hash changed":    {map[string]File{StateKey: {Data: []byte(strings.Replace(exampleMarker, exampleIRHash, "sha256:0", 1))}}, examplePublished, RuleHash, IRKey, true, true},
		"both hashes":        {map[string]File{StateKey: {Data: []byte(strings.ReplaceAll(exampleMarker, "sha256:", "sha256:0"))}}, examplePublished, RuleHash, IRKey, false, false},
		"marker version":     {map[string]File{StateKey: {Data: []byte(strings.Replace(exampleMarker, `"format_version":2`, `"format_version":3`, 1))}}, examplePublished, RuleVersion, StateKey, false, false},
		"domain":             {map[string]File{StateKey: {Data: []byte(strings.Replace(exampleMarker, "FAV", "FAW", 1))}}, examplePublished, RuleHash, StateKey, false, false},
		"table missing":      {nil, Published{Known: true, Tables: examplePublished.Tables[:1]}, RuleIdentity, IRKey, false, false},
		"table too many":     {nil, Published{Known: true, Tables: append(slices.Clone(examplePublished.Tables), Table{"node:X", 9, 9})}, RuleIdentity, IRKey, false, false},
		"other incarnation":  {nil, Published{Known: true, Tables: []Table{{"edge:Knows", 2, 7}, {"node:Person", 1, 9}}}, RuleIdentity, IRKey, false, false},
		"other IR published": {nil, Published{Known: true, Tables: examplePublished.Tables, TargetIRHash: "sha256:1"}, RuleHash, IRKey, false, false},
		"that IR published":  {nil, Published{Known: true, Tables: examplePublished.Tables, TargetIRHash: exampleIRHash}, "", "", true, false},
	} {
		files := exampleFiles()
		maps.Copy(files, c.files)
		got := Load(files, c.pub)
		if c.rule == "" && len(got.Problems) != 0 || c.rule != "" && !slices.ContainsFunc(got.Problems, func(p Problem) bool { return p.Rule == c.rule && p.Key == c.key && p.Refuses && p.Text != "" }) {
			t.Errorf("%s: problems %v, want one of rule %q on %q", name, got.Problems, c.rule, c.key)
		}
		if (got.IR != nil) != c.types || (got.Unconfirmed != "") != c.unconfirmed || (got.IRHash == "") == c.types {
			t.Errorf("%s: types %v, unconfirmed %q", name, got.IR != nil, got.Unconfirmed)
		}
	}
	if c := Load(map[string]File{}, Published{}); len(c.Problems) != 3 || c.IR != nil || c.HasSource {
		t.Errorf("nothing there: %v", c.Problems)
	}
}

// The stages of a schema apply that adds a node type, killed after its publish
// at each step of promotion, and one killed before it.
func TestLoadStaged(t *testing.T) {
	next := mustParse(t, example)
	next.NextID = 10
	next.Nodes = append(next.Nodes, Type{Kind: KindNode, Name: "Tag", ID: 8, Incarnation: 9})
	nextMarker := fmt.Sprintf(`{"format_version":2,"schema_shape_hash":%q,"schema_ir_hash":%q,"schema_identity_version":2,"schema_identity_domain":%q}`, next.ShapeHash(), next.Hash(), next.Domain)
	staged := map[string]File{
		SourceKey: {Data: []byte(exampleSource + "node Tag {}\n")}, IRKey: {Data: next.JSON().AppendPretty(nil)}, StateKey: {Data: []byte(nextMarker)},
	}
	pub := Published{Known: true, Tables: append(slices.Clone(examplePublished.Tables), Table{"node:Tag", 8, 9}), TargetIRHash: next.Hash()}
	noTarget := Published{Known: true, Tables: pub.Tables}
	for done := 0; done <= 3; done++ {
		files := exampleFiles()
		for i, key := range Keys {
			if i < done {
				files[key] = staged[key]
			} else {
				files[key+Staging] = staged[key]
			}
		}
		for what, p := range map[string]Published{"target known": pub, "target unknown": noTarget} {
			c := Load(files, p)
			if c.IR == nil || c.IRHash != next.Hash() || c.Staged != (done < 3) || c.Source != string(staged[SourceKey].Data) {
				t.Errorf("%d files promoted, %s: IR %s, staged %v, problems %v", done, what, c.IRHash, c.Staged, c.Problems)
			}
		}
		if done == 0 {
			if c := Load(files, examplePublished); c.IR == nil || c.Staged || c.IRHash != exampleIRHash || len(c.Problems) != 1 || c.Problems[0].Rule != RuleStaging {
				t.Errorf("before the publish: IR %s, staged %v, problems %v", c.IRHash, c.Staged, c.Problems)
			}
		}
	}
	files := exampleFiles()
	files[IRKey+Staging] = File{Data: staged[IRKey].Data[:100]}
	if c := Load(files, pub); c.IR != nil || c.Staged {
		t.Errorf("a cut staged IR: types are shown, problems %v", c.Problems)
	}
}

func TestCheckRefuses(t *testing.T) {
	files := fixture(t)
	for name, c := range map[string]struct {
		edit func(*IR)
		want string
	}{
		"ir_version":        {func(ir *IR) { ir.Version = 1 }, "ir_version"},
		"domain":            {func(ir *IR) { ir.Domain = strings.ToLower(ir.Domain) }, "schema_identity_domain"},
		"reused identity":   {func(ir *IR) { ir.Nodes[0].Properties[0].ID = ir.Nodes[0].ID }, "is that of"},
		"next identity":     {func(ir *IR) { ir.NextID = 3 }, "next_identity_id"},
		"type order":        {func(ir *IR) { ir.Nodes[0], ir.Nodes[1] = ir.Nodes[1], ir.Nodes[0] }, "nodes are not sorted"},
		"duplicate type":    {func(ir *IR) { ir.Nodes[1].Name = ir.Nodes[0].Name }, "nodes are not sorted"},
		"property order":    {func(ir *IR) { p := ir.Nodes[0].Properties; p[0], p[1] = p[1], p[0] }, "properties of"},
		"reserved name":     {func(ir *IR) { ir.Nodes[0].Properties[0].Name = "_rowid" }, "reserved"},
		"enum order":        {func(ir *IR) { ir.Nodes[0].Properties[0].Type.Enum = []string{"b", "a"} }, "enum values"},
		"key among free":    {func(ir *IR) { ir.Nodes[0].Annotations = []Annotation{{Name: "key"}} }, "free annotations"},
		"annotation order":  {func(ir *IR) { ir.Nodes[0].Annotations = []Annotation{{Name: "b"}, {Name: "a"}} }, "annotations of"},
		"constraint order":  {func(ir *IR) { k := ir.Nodes[0].Constraints; k[0], k[1] = k[1], k[0] }, "constraints of"},
		"constraint target": {func(ir *IR) { ir.Nodes[0].Constraints[0].Fields[0].Prop.Name = "zz" }, "refers to property"},
		"property marks":    {func(ir *IR) { ir.Nodes[0].Properties[0].Constraints = []string{"unique", "key"} }, "property_constraints"},
		"edge end":          {func(ir *IR) { ir.Edges[0].From.Name = "zz" }, "refers to node"},
		"interface ref":     {func(ir *IR) { ir.Nodes[0].Implements[0].ID = ir.Nodes[0].ID }, "refers to interface"},
		"not satisfied":     {func(ir *IR) { clearSatisfies(&ir.Nodes[0]) }, "no property of it satisfies"},
		"not implemented":   {func(ir *IR) { ir.Nodes[0].Implements = nil }, "does not implement"},
		"injected, no link": {func(ir *IR) { clearSatisfies(&ir.Nodes[0]); ir.Nodes[0].Properties[0].Declared = false }, "names no interface property"},
		"edge provenance":   {func(ir *IR) { withProps(ir.Edges).Properties[0].Declared = false }, "marked as coming from an interface"},
		"edge embed":        {func(ir *IR) { e := withProps(ir.Edges); e.Properties[0].Embed = &Embed{} }, "embed source"},
		"interface marks":   {func(ir *IR) { ir.Interfaces[0].Properties[0].Declared = false }, "marked as coming from an interface"},
		"other type":        {func(ir *IR) { ir.Interfaces[0].Properties[0].Type.Nullable = true }, "another type"},
		"system column": {func(ir *IR) {
			ir.Nodes[0].Constraints[0].Fields = []FieldRef{{Role: "src", TableID: ir.Nodes[0].ID, TableName: ir.Nodes[0].Name, Incarnation: ir.Nodes[0].Incarnation}}
		}, "system column"},
	} {
		ir := mustParse(t, string(files[IRKey]))
		c.edit(ir)
		if found := ir.Check(); !slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, c.want) }) {
			t.Errorf("%s: found %q, want a sentence with %q", name, found, c.want)
		}
	}
}

func clearSatisfies(t *Type) {
	for i := range t.Properties {
		t.Properties[i].Satisfies = nil
	}
}

// withProps is the first edge type that has properties.
func withProps(edges []Type) *Type {
	i := slices.IndexFunc(edges, func(t Type) bool { return len(t.Properties) > 0 })
	return &edges[i]
}

// Any byte of IR or marker flipped gives a problem, or the same contract.
func TestByteFlips(t *testing.T) {
	files := exampleFiles()
	whole := Load(files, examplePublished)
	for _, key := range []string{IRKey, StateKey} {
		data := files[key].Data
		for i := range data {
			for _, bit := range []byte{0x01, 0x20, 0x80} {
				flipped := bytes.Clone(data)
				flipped[i] ^= bit
				files[key] = File{Data: flipped}
				c := Load(files, examplePublished)
				if len(c.Problems) == 0 && (c.IRHash != whole.IRHash || c.ShapeHash != whole.ShapeHash) {
					t.Fatalf("%s byte %d ^ %#x: another contract and no problem", key, i, bit)
				}
				if c.IR != nil && c.IRHash != whole.IRHash && c.Unconfirmed == "" {
					t.Fatalf("%s byte %d ^ %#x: changed types pass for proven", key, i, bit)
				}
			}
		}
		files[key] = File{Data: data}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(example), []byte(exampleMarker))
	f.Fuzz(func(t *testing.T, ir, marker []byte) {
		c := Load(map[string]File{SourceKey: {Data: []byte(exampleSource)}, IRKey: {Data: ir}, StateKey: {Data: marker}}, Published{})
		if c.IR == nil {
			return
		}
		again, err := ParseIR(c.IR.JSON().AppendPretty(nil))
		if err != nil || again.Hash() != c.IRHash {
			t.Fatalf("the IR written anew is another: %v", err)
		}
		for _, types := range c.IR.kinds() {
			for i := range types {
				types[i].Columns()
				types[i].Key()
				types[i].SpellConstraints()
			}
		}
	})
}
