package query

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/golden"
	"github.com/omnideck/omnideck/internal/pgtest"
)

const wide = `interface Named { name: String }
node Service implements Named { slug: String @key name: String tier: enum(gold, silver) tags: [String]? marks: [I32]? replicas: I32? small: U32? big: U64? cost: F64? rate: F32? launched: Date? checked: DateTime? up: Bool? logo: Blob? vec: Vector(3)? made: Vector(2) @embed(name) }
node Box { a: String b: I32 note: String? @key(b, a) }
edge DependsOn: Service -> Service { weight: F32? kind: String? }
edge Holds: Box -> Service { since: Date }`

// wrong are queries in which something is. A text before the first space that
// is a JSON object is the parameters.
var wrong = []string{
	// grammar
	"", "quer q() {}", "query Q() { }", "query q( { }", "query q($a) { }", "query q($a: Text) { }", "query q($a: [Vector(2)]) { }", "query q($a: String,) { }", "query q() @about(\"x\") { }", "query q() { }",
	"query q() @description(\"a\") @description(\"b\") { match { $s: Service } return { $s } }", "query q() { match { } return { $s } }", "query q() { match { $s: Service } }", "query q() { match { $s: Service } return { } }", "query q() { match { $s: Service } return { $s } limit $n }",
	"query q() { match { $s: Service } return { $s } order { $s.slug, } }", "query q() { match { $s: Service } return { $s } order { nearest($s.vec, [1]) desc } limit 1 }", "query q() { match { $s: Service } return { $s } limit 1 order { $s } }", "query q() { match { $s: service } return { $s } }",
	"query q() { match { $s: Service { slug = \"x\" } } return { $s } }", "query q() { match { $s: Service $s.cost > -1 } return { $s } }", "query q() { match { $s: Service $s.cost > 1e3 } return { $s } }", "query q() { match { $s: Service not $s dependsOn $t } return { $s } }", "query q() { match { $s: Service $s not_this $t } return { $s } }",
	"query q() { match { $s: Service $s dependsOn{1} $t } return { $s } }", "query q() { match { $s: Service $s dependsOn{99999999999,} $t } return { $s } }", "query q() { match { $s: Service { slug: \"a\\d\" } } return { $s } }", "query q() { match { $s: Service { slug: \"a } } return { $s } }", "query q() { match { $s: Service } return { 99999999999999999999 } }",
	"query q() { match { $s: Service } return { $s } limit 99999999999999999999 }", "query q() { match { $s: Service } return { date(2024) } }", "query q() { insert Service { } }", "query q() { update Service { slug: \"a\" } where slug = \"b\" }", "query q() { update Service set { cost: 1.0 } }",
	"query q() { delete Service where tags contains \"a\" }", "query q() { delete Service where slug = null }", "query q() { delete Service where slug = $_x.y }", "query q() { match { $s: Service } return { $s } } # no comment", "query q() { /* open", "query q() {\n  match {\n    $s: Service {\n      slug: é\n    } } return { $s } }",
	"query q() { match { " + strings.Repeat("not { ", 200) + "} return { $s } }",
	// types of reading queries
	"query q($__nanograph_now: DateTime) { match { $s: Service } return { $s } }", "query q($v: Vector(0)) { match { $s: Service } return { $s } }", "query q($v: Vector(4294967296)) { match { $s: Service } return { $s } }",
	"query q() { match { $s: Named } return { $s } }", "query q() { match { $s: Service { nope: 1 } } return { $s } }", "query q() { match { $s: Service { replicas: \"1\" } } return { $s } }", "query q() { match { $s: Service { tier: \"iron\" } } return { $s } }", "query q() { match { $s: Service { logo: \"x\" } } return { $s } }",
	"query q() { match { $s: Service { tags: [\"a\"] } } return { $s } }", "query q() { match { $s: Service { tags: 1 } } return { $s } }", "query q() { match { $s: Service { vec: [1, 2] } } return { $s } }", "query q($t: [String]) { match { $s: Service { tags: $t } } return { $s } }", "query q($t: I32) { match { $s: Service { tags: $t } } return { $s } }",
	"query q($t: I32) { match { $s: Service { slug: $t } } return { $s } }", "query q() { match { $s: Service { launched: now() } } return { $s } }", "query q() { match { $s: Service $s: Box } return { $s } }", "query q() { match { $s: Service $s $e:dependsOn $t $e: Service } return { $s } }",
	"query q() { match { $s: Service $s owns $t } return { $s } }", "query q() { match { $b: Box $b dependsOn $t } return { $b } }", "query q() { match { $b: Box $s: Service $s dependsOn $b } return { $b } }", "query q() { match { $b: Box $s dependsOn $b } return { $b } }",
	"query q() { match { $s: Service $s dependsOn{0,2} $t } return { $s } }", "query q() { match { $s: Service $s dependsOn{2,1} $t } return { $s } }", "query q() { match { $s: Service $s dependsOn{2,} $t } return { $s } }", "query q() { match { $b: Box $b <holds> $s } return { $s } }",
	"query q() { match { $s: Service $s $e:dependsOn{1,2} $t } return { $s } }", "query q() { match { $s: Service $s $s:dependsOn $t } return { $s } }", "query q() { match { $s: Service $s $e:dependsOn $t $t $e:dependsOn $u } return { $s } }", "query q() { match { $s: Service $s $e:dependsOn $t $e dependsOn $u } return { $s } }", "query q() { match { $s: Service $s $e:dependsOn $t $s dependsOn $e } return { $s } }",
	"query q() { match { $s: Service $s $e:dependsOn $t } return { $e } }", "query q() { match { $s: Service $s $e:dependsOn $t } return { $e.nope } }", "query q() { match { $s: Service $s $e:dependsOn $t search($e.kind, \"x\") } return { $s } }", "query q() { match { $s: Service $s $e:dependsOn $t } return { $s } order { nearest($e.kind, \"x\") } limit 1 }",
	"query q() { match { $s: Service } return { $t } }", "query q() { match { $s: Service } return { $t.slug } }", "query q() { match { $s: Service } return { $s.id } }", "query q() { match { $s: Service } return { $s.logo } }", "query q($b: Blob) { match { $s: Service } return { $b } }", "query q($b: Blob) { match { $s: Service } return { count($b) } }",
	"query q($b: Blob) { match { $s: Service $s.slug = $b } return { $s } }", "query q() { match { $s: Service $s = $s } return { $s } }", "query q() { match { $s: Service $s.launched >= \"2021-01-01\" } return { $s } }", "query q() { match { $s: Service $s.tags = $s.tags } return { $s } }", "query q() { match { $s: Service $s.vec = $s.vec } return { $s } }",
	"query q() { match { $s: Service $s.replicas contains 1 } return { $s } }", "query q() { match { $s: Service $s.slug contains 1 } return { $s } }", "query q() { match { $s: Service $s.tags contains $s.tags } return { $s } }", "query q() { match { $s: Service $s.tags contains 1 } return { $s } }", "query q() { match { $s: Service $s.replicas starts_with \"a\" } return { $s } }",
	"query q() { match { $s: Service not { $x: Box } } return { $s } }", "query q() { match { $s: Service } return { count($s) as n, 1 } }", "query q() { match { $s: Service } return { sum($s.slug) } }", "query q() { match { $s: Service } return { avg($s.marks) } }", "query q() { match { $s: Service } return { min($s.launched) } }",
	"query q() { match { $s: Service } return { [1, [2]] } }", "query q() { match { $s: Service } return { [1, \"a\"] } }", "query q() { match { $s: Service search($s.replicas, \"x\") } return { $s } }", "query q() { match { $s: Service search($s, \"x\") } return { $s } }", "query q() { match { $s: Service fuzzy($s.slug, 1) } return { $s } }", "query q() { match { $s: Service fuzzy($s.slug, \"a\", 1.5) } return { $s } }",
	"query q() { match { $s: Service match_text($s.tags, \"x\") } return { $s } }", "query q() { match { $s: Service } return { $s } order { bm25($s.slug, $s.cost) } }", "query q() { match { $s: Service } return { $s } order { nearest($s.vec, [1.0, 2.0, 3.0]) } }", "query q() { match { $s: Service } return { nearest($s.vec, [1, 2, 3]) as d } order { d } }",
	"query q() { match { $s: Service } return { $s.slug as a } order { a, nearest($s.vec, [1, 2, 3]) } limit 3 }", "query q() { match { $s: Service } return { $s } order { rrf(nearest($s.vec, [1, 2, 3]), bm25($s.slug, \"a\")) } }", "query q() { match { $s: Service } return { $s } order { rrf(bm25($s.slug, \"b\"), bm25($s.slug, \"a\"), 0) } limit 1 }", "query q() { match { $s: Service } return { $s } order { rrf(bm25($s.slug, \"b\"), bm25($s.slug, \"a\"), 1.5) } limit 1 }",
	"query q() { match { $s: Service } return { $s } order { nearest($t.vec, [1, 2, 3]) } limit 1 }", "query q() { match { $s: Service } return { $s } order { nearest($s.nope, [1, 2, 3]) } limit 1 }", "query q() { match { $s: Service } return { $s } order { nearest($s.slug, [1, 2, 3]) } limit 1 }", "query q() { match { $s: Service } return { $s } order { nearest($s.vec, [1, 2]) } limit 1 }", "query q($v: Vector(2)) { match { $s: Service } return { $s } order { nearest($s.vec, $v) } limit 1 }",
	"query q() { match { $s: Service } return { $s } order { nearest($s.vec, 1) } limit 1 }", "query q() { match { $s: Service } return { $s } order { nearest($s.vec, $s) } limit 1 }",
	// types of mutations
	"query q() { insert Named { name: \"a\" } }", "query q() { update DependsOn set { kind: \"a\" } where from = \"b\" }", "query q() { update dependsOn set { kind: \"a\" } where from = \"b\" }", "query q() { insert Service { nope: 1 } }", "query q() { insert Service { slug: \"a\", slug: \"b\" } }", "query q() { insert Service { slug: 1 } }", "query q() { insert Service { tier: \"iron\" } }",
	"query q() { insert Service { logo: \"base64:\" } }", "query q() { insert Service { slug: $s } }", "query q($s: Date) { insert Service { slug: $s } }", "query q($s: [F64]) { insert Service { vec: $s } }", "query q() { insert Service { launched: now() } }", "query q() { insert Service { slug: \"a\", tier: \"gold\" } }", "query q() { insert Service { slug: \"a\", name: \"b\" } }",
	"query q() { insert Box { a: \"x\" } }", "query q() { insert Holds { to: \"x\", since: date(\"2024-01-01\") } }", "query q() { insert Holds { from: \"x\", since: date(\"2024-01-01\") } }", "query q() { insert Holds { from: \"x\", to: \"x\" } }", "query q() { insert Holds { from: 1, to: \"x\" } }", "query q() { insert DependsOn { from: \"a\", to: \"b\", src: \"c\" } }",
	"query q() { update Service set { vec: [] } where slug = \"b\" }", "query q() { update Service set { vec: [1, \"a\", 3] } where slug = \"b\" }", "query q() { update Service set { cost: 1.0 } where nope = \"b\" }", "query q() { update Service set { cost: 1.0 } where logo = \"b\" }", "query q() { delete Service where tags = \"a\" }", "query q() { delete DependsOn where src = \"a\" }", "query q() { delete Service where tier = \"iron\" }",
	// what fits and is not run
	"query q() { delete Box where b = 1 insert Box { a: \"x\", b: 1 } }", "query q() { update Box set { a: \"x\" } where b = 1 }", "query q() { insert Service { slug: \"a\", name: \"b\", tier: \"gold\" } }", "query q() { match { $s: Service { slug: $t } } return { $s } }", "query q() { match { $s: Service $s: Service } return { $s } }", "query q() { match { $b: Box $a dependsOn $c } return { $b } }",
	"query q() { match { $s: Service not { $s dependsOn $t $u dependsOn $w } } return { $s } }", "query q() { delete Service where tags = [\"a\"] }", "query q() { delete Service where vec = [1, 2, 3] }",
	// values
	`{"n":null} query q($n: String?) { update Service set { name: $n } where slug = "a" }`, `{"n":null} query q($n: String?) { insert Holds { from: $n, to: "b", since: date("2024-01-01") } }`, "query q() { insert Holds { from: \"a\", to: \"b\", since: date(\"soon\") } }", "query q() { update Service set { checked: datetime(\"2024-02-30T00:00:00Z\") } where slug = \"a\" }",
	"query q() { update Service set { replicas: 2147483648 } where slug = \"a\" }", "query q() { update Service set { replicas: 5.0 } where slug = \"a\" }", "query q() { update Service set { marks: [1, 2.5] } where slug = \"a\" }", "query q() { update Service set { cost: 9007199254740993 } where slug = \"a\" }", "query q() { update Service set { rate: 16777217 } where slug = \"a\" }",
	`{"n":-1} query q($n: I64) { update Service set { small: $n } where slug = "a" }`, `{"n":-1} query q($n: I64) { update Service set { big: $n } where slug = "a" }`, `{"n":1e39} query q($n: F64) { update Service set { rate: $n } where slug = "a" }`, `{"n":[1,2,1e39]} query q($n: Vector(3)) { update Service set { vec: $n } where slug = "a" }`, "query q() { delete Service where launched < date(\"soon\") }",
	// parameters
	"query q($n: I32) { delete Service where replicas = $n }", "query q($n: I32) { match { $s: Service not { $s dependsOn $t $t.replicas = $n } } return { $s } }", "[1] query q() { delete Box where b = 1 }", "{\"n\" query q() { delete Box where b = 1 }", `{"m":{}} query q() { delete Box where b = 1 }`, `{"m":[[{}]]} query q() { delete Box where b = 1 }`, `{"__nanograph_now":"x"} query q() { delete Box where b = 1 }`,
	`{"n":null} query q($n: I32) { delete Box where b = $n }`, `{"n":"1.0"} query q($n: I32) { delete Box where b = $n }`, `{"n":true} query q($n: U32) { delete Box where b = $n }`, `{"n":1.0} query q($n: I64) { delete Box where b = $n }`, `{"n":-0} query q($n: I64) { delete Box where b = $n }`, `{"n":-1} query q($n: U64) { delete Box where b = $n }`, `{"n":"-1"} query q($n: U64) { delete Box where b = $n }`,
	`{"n":2147483648} query q($n: I32) { delete Box where b = $n }`, `{"n":4294967296} query q($n: U32) { delete Box where b = $n }`, `{"n":9223372036854775808} query q($n: I64) { delete Box where b = $n }`, `{"n":9223372036854775808} query q($n: U64) { delete Box where b = $n }`, `{"n":"x"} query q($n: F64) { delete Box where b = $n }`, `{"n":1} query q($n: String) { delete Box where a = $n }`,
	`{"n":1} query q($n: Bool) { delete Service where up = $n }`, `{"n":1} query q($n: Date) { delete Service where launched = $n }`, `{"n":1} query q($n: DateTime) { delete Service where checked = $n }`, `{"n":1} query q($n: Blob) { update Service set { logo: $n } where slug = "a" }`, `{"n":1} query q($n: [String]) { update Service set { tags: $n } where slug = "a" }`, `{"n":["a",null]} query q($n: [String]) { update Service set { tags: $n } where slug = "a" }`,
	`{"n":[1]} query q($n: Vector(3)) { update Service set { vec: $n } where slug = "a" }`, `{"n":[1,2,"3"]} query q($n: Vector(3)) { update Service set { vec: $n } where slug = "a" }`,
}

// split takes the parameters off a text.
func split(text string) (params, source string) {
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		params, source, _ = strings.Cut(text, " ")
		return params, source
	}
	return "", text
}

func TestErrorsAreSentences(t *testing.T) {
	ir := pgtest.IR(t, wide)
	var out strings.Builder
	seen := map[string]bool{}
	for _, text := range wrong {
		params, source := split(text)
		err := run(source, "", ir, []byte(params), time.Unix(0, 0))
		if err == nil {
			t.Errorf("%s: nothing is wrong", text)
			continue
		}
		if len(text) > 400 {
			text = text[:60] + " …"
		}
		fmt.Fprintf(&out, "%s\n    %v\n\n", text, err)
		for _, code := range regexp.MustCompile(`\bT\d+`).FindAllString(err.Error(), -1) {
			seen[code] = true
		}
	}
	for n := 1; n <= 24; n++ {
		if code := fmt.Sprintf("T%d", n); !seen[code] {
			t.Errorf("no text breaks %s", code)
		}
	}
	golden.Equal(t, "query/errors.txt", []byte(out.String()))
}
