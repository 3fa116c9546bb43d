package exec_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/validate"
)

const docs = `node Doc { k: String @key
 title: String?
 body: Blob? }`

func doc(key, title, body string) string {
	return fmt.Sprintf(`{"type":"Doc","data":{"id":%q,"body":%s,"k":%q,"title":%s}}`, key, body, key, title)
}

// Blobs that no statement sets stay, beside such as one sets; an insert that takes
// the place of a row brings its own, or none.
func TestBlobs(t *testing.T) {
	base := newGraph(t, docs, doc("a", `"A"`, `"base64:AQID"`), doc("b", `"B"`, `"base64:BAUG"`), doc("c", `"C"`, "null"))
	for name, c := range map[string]struct {
		statements string
		want       []string
	}{
		"kept by all": {`update Doc set { title: "T" } where title >= "A"`,
			[]string{doc("a", `"T"`, `"base64:AQID"`), doc("b", `"T"`, `"base64:BAUG"`), doc("c", `"T"`, "null")}},
		"set by all": {`update Doc set { body: $x } where title >= "A"`,
			[]string{doc("a", `"A"`, `"base64:BwgJ"`), doc("b", `"B"`, `"base64:BwgJ"`), doc("c", `"C"`, `"base64:BwgJ"`)}},
		"set by one, kept by others": {`update Doc set { title: "T" } where title >= "A" update Doc set { body: $x } where k = "b"`,
			[]string{doc("a", `"T"`, `"base64:AQID"`), doc("b", `"T"`, `"base64:BwgJ"`), doc("c", `"T"`, "null")}},
		"set, then updated otherwise": {`update Doc set { body: $x } where k = "b" update Doc set { title: "T" } where k = "b"`,
			[]string{doc("a", `"A"`, `"base64:AQID"`), doc("b", `"T"`, `"base64:BwgJ"`), doc("c", `"C"`, "null")}},
		"set to null": {`update Doc set { body: $null } where k = "b" update Doc set { title: "T" } where k = "a"`,
			[]string{doc("a", `"T"`, `"base64:AQID"`), doc("b", `"B"`, "null"), doc("c", `"C"`, "null")}},
		"set to nothing": {`update Doc set { body: $empty } where k = "b"`,
			[]string{doc("a", `"A"`, `"base64:AQID"`), doc("b", `"B"`, `"base64:"`), doc("c", `"C"`, "null")}},
		"kept beside a new one": {`update Doc set { title: "T" } where k = "a" insert Doc { k: "d", body: $x }`,
			[]string{doc("a", `"T"`, `"base64:AQID"`), doc("b", `"B"`, `"base64:BAUG"`), doc("c", `"C"`, "null"), doc("d", "null", `"base64:BwgJ"`)}},
		"replaced by a row without": {`insert Doc { k: "a", title: "N" } update Doc set { title: "T" } where k = "b"`,
			[]string{doc("a", `"N"`, "null"), doc("b", `"T"`, `"base64:BAUG"`), doc("c", `"C"`, "null")}},
	} {
		t.Run(name, func(t *testing.T) {
			g := base.clone()
			g.t = t
			_, _, err := g.mutateWith("$x: Blob, $null: Blob?, $empty: Blob", `{"x":"base64:BwgJ","null":null,"empty":"base64:"}`, c.statements)
			if err != nil {
				t.Fatal(err)
			}
			g.wantRows(c.want...)
		})
	}
}

// What an update keeps of blobs is bounded as what it writes: as much as one write
// may bring goes through, and one byte more is refused before anything is written.
func TestBlobsAtTheLimit(t *testing.T) {
	for _, over := range []int{0, 1} {
		g := newGraph(t, docs, doc("c", `"C"`, "null"))
		for key, n := range map[string]int{"a": validate.MaxBytes/2 + over, "b": validate.MaxBytes / 2} {
			text := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, n))
			if _, err := g.load(load.Append, doc(key, `"`+key+`"`, `"base64:`+text+`"`)); err != nil {
				t.Fatal(err)
			}
		}
		kept := func(g *graph) error {
			_, _, err := g.mutate(`update Doc set { title: "T" } where title != "C"`)
			return err
		}
		beside := func(g *graph) error { // of what is read to be written again, rows count too
			_, _, err := g.mutateWith("$x: Blob", `{"x":"base64:BwgJ"}`, `update Doc set { title: "T" } where title != "C" update Doc set { body: $x } where k = "c"`)
			return err
		}
		wantLimit(t, g.untouched(beside), validate.ResourceBytes)
		if over > 0 {
			wantLimit(t, g.untouched(kept), validate.ResourceBytes)
			continue
		}
		if err := kept(g); err != nil {
			t.Errorf("at the limit: %v", err)
		}
		if n := strings.Count(strings.Join(g.lines(), "\n"), `"title":"T"`); n != 2 {
			t.Errorf("%d rows were updated", n)
		}
	}
}

// wantLimit checks that a limit is told, with what to do about it.
func wantLimit(t *testing.T, err error, resource string) {
	t.Helper()
	e := wantErr[*txn.ResourceLimitError](t, err, "limit", "nothing was written: split it")
	if l := e.Limit; l.Resource != resource || l.Actual <= l.Limit || l.Of == "" {
		t.Errorf("%+v", l)
	}
}
