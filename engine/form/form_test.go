package form

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/internal/pgtest"
	"github.com/omnideck/omnideck/query"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
)

const wide = `
node Thing {
    slug: String @key @description("what it is called")
    name: String
    tier: enum(gold, iron, new)
    up: Bool?
    a: I32?
    b: I64?
    c: U32?
    d: U64?
    e: F32?
    f: F64?
    day: Date?
    at: DateTime?
    vec: Vector(3)?
    tags: [String]?
    days: [Date]?
    nums: [I32]?
    big: [U64]?
    logo: Blob?
    code: String?
    __nanograph_now: I32?
    @range(a, -5..10)
    @range(f, 0.5..2.5)
    @range(b, ..100)
    @check(code, "^[A-Z]{2}$")
}
node Pair { x: String y: I32 note: String? at: DateTime? @key(x, y) }
node Loose { note: String? n: I64? ok: Bool? v: Vector(2)? }
node Named { slug: String @key mail: String? @unique n: I32? }
edge Ties: Thing -> Pair @card(0..2) { since: Date? weight: F64 }
`

func typ(t testing.TB, kind schema.Kind, name string) (*schema.IR, *schema.Type) {
	t.Helper()
	ir := pgtest.IR(t, wide)
	out, ok := ir.Type(kind, name)
	if !ok {
		t.Fatalf("no type %s", name)
	}
	return ir, out
}

func of(t testing.TB, kind schema.Kind, name string) (*schema.IR, *Form) {
	t.Helper()
	ir, typ := typ(t, kind, name)
	f, err := New(typ)
	if err != nil {
		t.Fatal(err)
	}
	return ir, f
}

func (f *Form) at(name string) int {
	for i := range f.Fields {
		if f.Fields[i].Name == name {
			return i
		}
	}
	panic(name)
}

func given(text string) Entry { return Entry{Given: true, Text: text} }

// run binds a mutation as the engine does, and asks the rules of the type about
// the values.
func run(ir *schema.IR, m *Mutation) (*query.Bound, error) {
	file, err := query.Parse(m.Source)
	if err != nil {
		return nil, err
	}
	q, err := file.Select(m.Name)
	if err != nil {
		return nil, err
	}
	checked, err := query.Check(q, ir)
	if err != nil {
		return nil, err
	}
	b, err := checked.Bind(m.Params, time.Unix(0, 0))
	if err != nil {
		return nil, err
	}
	for _, s := range b.Statements {
		rules, err := value.NewRules(s.Type)
		if err != nil {
			return nil, err
		}
		for _, set := range s.Set {
			v, err := value.Of(set.Property.Type, set.Value)
			if err == nil {
				err = rules.Check(set.Property.Name, v)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// engine is the mutation of one field as the engine judges it, whatever the
// form says of the text.
func (f *Form) engine(ir *schema.IR, i int, param ojson.Value) error {
	x := &f.Fields[i]
	where := f.Addresses(before(f))[0]
	w := f.writer("update")
	w.body.WriteString("    " + x.Name + ": $" + w.param(x.Name, x, param) + "\n")
	_, err := run(ir, w.done("update "+f.Type+" set {\n"+w.body.String()+"  }", &where))
	return err
}

func before(f *Form) []Entry {
	out := f.Empty()
	out[f.at("slug")] = given("s")
	out[f.at("name")] = given("n")
	out[f.at("tier")] = given("gold")
	return out
}

// accepted and refused are texts of each property.
var accepted = map[string][]string{
	"name": {"", " ", "x", "日本語", "a\nb", `"; delete Thing where slug != "`, "\u2028", "∅", "base64:%%", "null"},
	"tier": {"gold", "iron"},
	"up":   {"true", "false"},
	"a":    {"0", "-5", "10", " 7 "},
	"b":    {"100", "9223372036854775807"}, // ..100 is a lower bound: D1
	"c":    {"0", "4294967295"},
	"d":    {"0", "9223372036854775807"},
	"e":    {"0", "1.5", "-1e10", "3.4e38", "1e-50", "16777217"},
	"f":    {"0.5", "2.5", "1", "5e-1"},
	"day":  {"2026-11-29", "20261129", "2026-1-2", "-0001-01-01", "2026-11-29T23:00:00-05:00"},
	"at":   {"2026-11-29", "2026-11-29T14:02:11Z", "2026-11-29 14:02:11.123456+02:00", "2026-11-29T14:02:11"},
	"vec":  {"[1, 2, 3]", "[0.5,-1e3,2]"},
	"tags": {"[]", `["a", "b"]`, `["\u0000"]`},
	"days": {`["2026-11-29", "20261130"]`},
	"nums": {"[1, -2]"},
	"big":  {"[9223372036854775807]"},
	"logo": {"base64:aGk=", "base64:"},
	"code": {"AB"},
}

var refused = map[string][]string{
	"tier":            {"", "Gold", "silver"},
	"up":              {"", "yes", "True", "1"},
	"a":               {"", "11", "-6", "1.0", "ten", "2147483648", "1e1", "+1", "0x1", "١", "1 2", "NaN", "null", "[1]", "-0"},
	"b":               {"99", "9223372036854775808"},
	"c":               {"-1", "4294967296"},
	"d":               {"-1", "9223372036854775808", "18446744073709551615"},
	"e":               {"1e39", "Infinity", "."},
	"f":               {"0.49", "2.51", "NaN", "1e999"},
	"day":             {"", "2026-02-30", "29.11.2026", "now", "12"},
	"at":              {"", "2026-11-29T14:02", "2026-11-29T14:02:11 CET", "tomorrow"},
	"vec":             {"[1, 2]", "[1,2,null]", "1", "[1,2,3", "[1,2,\"3\"]", "[1e39,0,0]"},
	"tags":            {"a", "[null]", "[1]", `{"a":1}`},
	"days":            {"[1]", `["2026-02-30"]`},
	"nums":            {"[1.5]", "[2147483648]"},
	"big":             {"[9223372036854775808]"},
	"logo":            {"base64:!", "base64:aGk"},
	"code":            {"abc", "A", ""},
	"__nanograph_now": {"x"},
}

func TestWhatIsAcceptedTheEngineTakes(t *testing.T) {
	ir, f := of(t, schema.KindNode, "Thing")
	for name, texts := range accepted {
		for _, text := range texts {
			i := f.at(name)
			if err := f.Check(i, given(text)); err != nil {
				t.Errorf("%s %q is refused: %v", name, text, err)
				continue
			}
			now := before(f)
			now[i] = given(text)
			m, err := f.Update(before(f), now, f.Addresses(before(f))[0])
			if err != nil {
				if !errors.Is(err, ErrUnchanged) {
					t.Errorf("%s %q: %v", name, text, err)
				}
				continue
			}
			if _, err := run(ir, m); err != nil {
				t.Errorf("%s %q is accepted, and the engine says %v:\n%s%s", name, text, err, m.Source, m.Params)
			}
		}
	}
}

// TestWhatIsRefusedTheEngineRefuses holds what the form refuses against the
// engine, as far as the text can be handed to it at all.
func TestWhatIsRefusedTheEngineRefuses(t *testing.T) {
	ir, f := of(t, schema.KindNode, "Thing")
	for name, texts := range refused {
		for _, text := range texts {
			i := f.at(name)
			if err := f.Check(i, given(text)); err == nil {
				t.Errorf("%s %q is accepted", name, text)
			}
			param, err := ojson.Parse([]byte(text))
			if f.Fields[i].Kind != Number && f.Fields[i].Kind != JSON || err != nil {
				param = ojson.Str(text)
			}
			if err := f.engine(ir, i, param); err == nil && !lenient[name+" "+text] {
				t.Errorf("%s %q is refused, and the engine takes it", name, text)
			}
		}
	}
}

// lenient is what only the form refuses: parameters of whole numbers may be
// texts of digits, with a sign, and null is the word for it.
var lenient = map[string]bool{"a +1": true, "a null": true}

func TestNullIsNotEmptyText(t *testing.T) {
	ir, f := of(t, schema.KindNode, "Thing")
	now := before(f)
	now[f.at("code")] = given("AB")
	m, err := f.Update(now, before(f), f.Addresses(now)[0])
	if err != nil || string(m.Params) != `{"code":null,"slug":"s"}` {
		t.Errorf("taking a value away: %s %v", m.Params, err)
	}
	b, err := run(ir, m)
	if err != nil || len(b.Statements) != 1 || b.Statements[0].Set[0].Value != nil {
		t.Errorf("null is not bound as null: %v %v", b, err)
	}
	for i, x := range f.Fields {
		if err := f.Check(i, Entry{}); (err == nil) != x.Nullable {
			t.Errorf("null in %s, nullable %v: %v", x.Name, x.Nullable, err)
		}
	}
}

func TestHostileTextStaysAParameter(t *testing.T) {
	ir, f := of(t, schema.KindNode, "Thing")
	hostile := "x\" } delete Thing where slug != \"\n} // $slug \\"
	e := before(f)
	for _, name := range []string{"slug", "name"} {
		e[f.at(name)] = given(hostile)
	}
	m, err := f.Insert(e)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(m.Source, "delete") {
		t.Errorf("a value stands in the source:\n%s", m.Source)
	}
	b, err := run(ir, m)
	if err != nil || len(b.Statements) != 1 || b.Statements[0].Verb != query.Insert || b.Statements[0].Set[1].Value != hostile {
		t.Errorf("%+v %v", b, err)
	}
	if got := f.ID(e); got != hostile {
		t.Errorf("its id is %q", got)
	}
	b, err = run(ir, f.Delete(f.Addresses(e)[0]))
	if err != nil || b.Statements[0].Where != (query.Predicate{Column: "slug", Test: query.Equal, Value: hostile}) {
		t.Errorf("%+v %v", b, err)
	}
}

func TestSources(t *testing.T) {
	_, f := of(t, schema.KindNode, "Named")
	e := []Entry{given("a"), given("a@b"), {}}
	if f.Fields[1].Name != "mail" {
		t.Fatalf("%+v", f.Fields)
	}
	insert, err := f.Insert(e)
	if err != nil {
		t.Fatal(err)
	}
	now := []Entry{given("a"), given("c@d"), given("4")}
	update, err := f.Update(e, now, f.Addresses(e)[1])
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		insert.Source:                      "query insert_named($slug: String, $mail: String?) {\n  insert Named {\n    slug: $slug\n    mail: $mail\n  }\n}\n",
		update.Source:                      "query update_named($mail: String?, $n: I32?, $mail_now: String?) {\n  update Named set {\n    mail: $mail\n    n: $n\n  } where mail = $mail_now\n}\n",
		string(update.Params):              `{"mail":"c@d","n":4,"mail_now":"a@b"}`,
		f.Delete(f.Addresses(e)[0]).Source: "query delete_named($slug: String) {\n  delete Named where slug = $slug\n}\n",
	} {
		if got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	if _, err := f.Update(e, e, f.Addresses(e)[0]); !errors.Is(err, ErrUnchanged) {
		t.Errorf("nothing changed: %v", err)
	}
	if _, err := f.Update(e, []Entry{given("b"), e[1], e[2]}, f.Addresses(e)[0]); err == nil {
		t.Error("a key is changed")
	}
	e[1] = Entry{Given: true, Kept: true}
	if m, err := f.Insert(e); err == nil {
		t.Errorf("an insert keeps what is not there: %s", m.Source)
	}
}

func TestWhichAddressesMeanOneEntity(t *testing.T) {
	said := func(f *Form, e ...Entry) string {
		var out []string
		for _, a := range f.Addresses(e) {
			s := a.Where
			if a.Sure {
				s += " surely"
			}
			out = append(out, s)
		}
		return strings.Join(out, "; ")
	}
	_, named := of(t, schema.KindNode, "Named")
	_, pair := of(t, schema.KindNode, "Pair")
	_, loose := of(t, schema.KindNode, "Loose")
	_, ties := of(t, schema.KindEdge, "Ties")
	for _, c := range []struct{ got, want string }{
		{said(named, given("it's"), given("a@b"), given("1")), `slug = 'it\'s' surely; mail = 'a@b' surely; n = 1`},
		{said(named, given("a"), Entry{}, Entry{}), "slug = 'a' surely"},
		{said(pair, given("x"), given("2"), given("2026-11-29T14:02:11Z"), given("n")), "x = 'x'; y = 2; note = 'n'; at = '2026-11-29T14:02:11Z'"},
		{said(loose, Entry{}, Entry{}, Entry{}, given("[1,2]")), ""},
		{said(loose, Entry{}, Entry{}, given("true"), Entry{}), "ok = true"},
		{said(loose, given("4"), given("b\\c"), given("true"), Entry{}), `note = 'b\\c'; n = 4; ok = true`},
		{said(ties, given("t"), given(`["x","2"]`), given("0.5"), given("2026-11-29")), `src = 't'; dst = '["x","2"]'; since = '2026-11-29'`},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
	for f, want := range map[*Form]string{named: "", ties: "delete it and insert it anew"} {
		if got := f.NoUpdate(); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q", f.Type, got)
		}
	}
	if got := pair.ID([]Entry{given("north"), given("7"), {}, {}}); got != `["north","7"]` {
		t.Errorf("the id of a composite key is %q", got)
	}
}

func TestReadAndBack(t *testing.T) {
	_, f := of(t, schema.KindNode, "Thing")
	line := `{"type":"Thing","data":{"id":"s","slug":"s","name":"∅","tier":"gold","up":true,"a":-5,"b":null,"c":1,"d":18446744073709551615,"e":0.10000000149011612,"f":1.5,` +
		`"day":20786,"at":1795960931123,"vec":[1.0,0.5,-2.0],"tags":["a","b\n"],"days":[20786],"nums":[],"big":null,"logo":"12 bytes","code":"","__nanograph_now":null}}`
	e, err := f.Read([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Entry{
		"name": given("∅"), "up": given("true"), "a": given("-5"), "b": {}, "d": given("18446744073709551615"), "e": given("0.1"), "day": given("2026-11-29"),
		"at": given("2026-11-29T14:02:11.123Z"), "vec": given("[1,0.5,-2]"), "tags": given(`["a","b\n"]`), "days": given(`["2026-11-29"]`), "nums": given("[]"),
		"logo": {Given: true, Kept: true}, "code": given(""),
	} {
		if got := e[f.at(name)]; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if _, err := f.Read([]byte(`{"type":"Thing","data":{"slug":"s"}}`)); err == nil {
		t.Error("a row without the properties of the type is read")
	}
	long := strings.Replace(line, `"∅"`, `"`+strings.Repeat("x", TextMax+1)+`"`, 1)
	if e, err := f.Read([]byte(long)); err != nil || !e[f.at("name")].Kept {
		t.Errorf("a long text is not kept: %v", err)
	}
}

func TestFieldsSayWhatTheyAre(t *testing.T) {
	_, f := of(t, schema.KindNode, "Thing")
	var order []string
	for _, x := range f.Fields {
		order = append(order, x.Name)
	}
	if got := strings.Join(order[:4], " "); got != "slug name tier __nanograph_now" {
		t.Errorf("the order is %s", got)
	}
	if x := f.Fields[0]; !x.Key || x.Nullable || x.About != "what it is called" || len(x.Rules) != 0 {
		t.Errorf("%+v", x)
	}
	if x := f.Fields[f.at("a")]; fmt.Sprint(x.Rules)+x.Type != "[@range(a, -5..10)]I32?" {
		t.Errorf("%+v", x)
	}
	_, broken := typ(t, schema.KindNode, "Thing")
	for i := range broken.Constraints {
		if broken.Constraints[i].Kind == "check" {
			broken.Constraints[i].Pattern = "["
		}
	}
	if _, err := New(broken); err == nil || !strings.Contains(err.Error(), "invalid regex") {
		t.Errorf("a pattern that cannot be read: %v", err)
	}
}

// FuzzEntry: no text makes a panic, and what is accepted the engine takes.
func FuzzEntry(f *testing.F) {
	ir, form := of(f, schema.KindNode, "Thing")
	for _, seeds := range []map[string][]string{accepted, refused} {
		for name, texts := range seeds {
			for _, text := range texts {
				f.Add(uint8(form.at(name)), text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, field uint8, text string) {
		i := int(field) % len(form.Fields)
		e := given(text)
		if form.Check(i, e) != nil {
			return
		}
		now := before(form)
		now[i] = e
		insert, err := form.Insert(now)
		if err != nil {
			t.Fatalf("%s %q is accepted and cannot be inserted: %v", form.Fields[i].Name, text, err)
		}
		if _, err := run(ir, insert); err != nil {
			t.Fatalf("%s %q: %v\n%s%s", form.Fields[i].Name, text, err, insert.Source, insert.Params)
		}
		for _, a := range form.Addresses(now) {
			if _, err := run(ir, form.Delete(a)); err != nil {
				t.Fatalf("where %s: %v", a.Where, err)
			}
		}
	})
}
