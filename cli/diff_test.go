package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine"
)

// What a line says of a change, and of a table's versions.
func TestDiffLines(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for want, ch := range map[string]engine.Change{
		"  a null → 1, b word → \"two words\", c (none) → [1,2]": {Op: "update", Before: raw(`{"type":"T","data":{"id":"x","a":null,"b":"word"}}`), After: raw(`{"type":"T","data":{"id":"x","a":1,"b":"two words","c":[1,2]}}`)},
		"  to b → c, n 1 → (none)":                               {Op: "update", Before: raw(`{"edge":"E","from":"a","to":"b","data":{"id":"x","n":1}}`), After: raw(`{"edge":"E","from":"a","to":"c","data":{"id":"x"}}`)},
		"  a \"null\" → \"\"":                                    {Op: "update", Before: raw(`{"type":"T","data":{"id":"x","a":"null"}}`), After: raw(`{"type":"T","data":{"id":"x","a":""}}`)},
		"  the bytes of a blob":                                  {Op: "update", Before: raw(`{"type":"T","data":{"id":"x","p":"3 bytes"}}`), After: raw(`{"type":"T","data":{"id":"x","p":"3 bytes"}}`)},
		"  a → b":                                                {Op: "delete", Before: raw(`{"edge":"E","from":"a","to":"b","data":{"id":"x"}}`)},
		"":                                                       {Op: "insert", After: raw(`{"type":"T","data":{"id":"x"}}`)},
	} {
		if got := changedText(ch); got != want {
			t.Errorf("%s → %s is told as %q, want %q", ch.Before, ch.After, got, want)
		}
	}
	long := engine.Change{Op: "update", Before: raw(`{"data":{"a":1}}`), After: raw(`{"data":{"a":"` + strings.Repeat("é", 100_000) + `"}}`)}
	if got := changedText(long); len([]rune(got)) > 60 || !strings.HasSuffix(got, "…") {
		t.Errorf("a long value is told as %q", got)
	}
	for want, x := range map[string]engine.DiffCount{
		"new at v2": {To: 2}, "dropped at v3": {From: 3}, "v1 → v2": {From: 1, To: 2}, "v3 → another v3": {From: 3, To: 3, Inserted: 1},
		"v1 → v2, only its files differ": {From: 1, To: 2, Physical: true},
	} {
		if got := movedText(x); got != want {
			t.Errorf("%+v is told as %q, want %q", x, got, want)
		}
	}
}

// A comparison with a part missing prints the rest, and ends with an error.
func TestDiffOfWhatACleanupTook(t *testing.T) {
	dir, _ := unpacked(t, "maintained")
	r := run(t, "diff", dir, "9", "10")
	if r.code != exitError || !strings.Contains(r.stdout, "- edge:Owns ") || strings.Contains(r.stdout, "node:Vessel") || strings.Count(r.stderr, "warning: not compared: ") != 3 {
		t.Errorf("exit %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	r = run(t, "diff", dir, "8", "9")
	if r.code != exitError || strings.Contains(r.stdout, "no table differs") || !strings.Contains(r.stderr, "version 8 of node:Port") {
		t.Errorf("what could not be compared is told as equal: exit %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
}
