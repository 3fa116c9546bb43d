package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
)

// damages are what can happen to an object.
var damages = []struct {
	name string
	do   func(data []byte) []byte // nil: the object is gone
}{
	{"gone", nil},
	{"empty", func([]byte) []byte { return nil }},
	{"cut", func(b []byte) []byte { return b[:len(b)/2] }},
	{"flipped", func(b []byte) []byte {
		for i := 0; i < len(b); i += 37 {
			b[i] ^= 0xff
		}
		return b
	}},
	{"noise", func([]byte) []byte { return []byte(strings.Repeat("\x00\xff\x1b[31m{not json\u202e", 50)) }},
}

const (
	allTables = "tables node:Port node:Port/versions node:Port/indexes node:Port/rows edge:CallsAt/rows node:Port/rows/NLRTM find/NLRTM diff/review..main"
	ofPort    = "node:Port/rows node:Port/rows/NLRTM find/NLRTM diff/review..main"
)

// damaged are objects, and the screens that say when one is damaged; gone are
// those that say when it is not there, where that differs: an object that
// nothing names leaves no trace.
var damaged = []struct {
	what, glob, damaged, gone string
}{
	{"newest manifest of __manifest", "__manifest/_versions/*1610.manifest", "overview branches commits versions " + allTables, "-"},
	{"data of __manifest", "__manifest/data/*", "overview branches commits versions " + allTables, ""},
	{"published manifest of Port", "nodes/*-000000000000002a/_versions/*1611.manifest", "node:Port node:Port/versions node:Port/indexes " + ofPort, "node:Port node:Port/indexes " + ofPort},
	{"data of Port", "nodes/*-000000000000002a/data/*", ofPort, ""},
	{"deletions of Port", "nodes/*-000000000000002a/_deletions/*", ofPort, ""},
	{"ref of review", "__manifest/_refs/branches/review.json", "branches versions", "diff/review..main"},
	{"manifests of review", "__manifest/tree/review/_versions/*", "branches commits versions node:Port/versions diff/review..main", "branches commits versions node:Port/versions diff/review..main"},
	{"recovery record", "__recovery/*.json", "everywhere", "-"}, // the header tells it
	{"schema text", "_schema.pg", "overview node:Port/schema", ""},
	{"schema", "_schema.ir.json", "overview node:Port/schema", ""},
	{"schema state", "__schema_state.json", "overview node:Port/schema", ""},
	{"all manifests", "__manifest/_versions/*", "overview branches commits versions " + allTables, "overview branches commits versions node:Port/schema " + allTables},
}

// TestDamageOnScreen damages one object after the other: the screens that need
// it say so, those that do not are as they were, and nothing is written.
func TestDamageOnScreen(t *testing.T) {
	base, err := fixtures.Shared("graphs", "stuck", "base.tar.gz")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	shared, _ := fixtures.SharedDir()
	state := filepath.Join(shared, "graphs", "stuck", "load-merge", "07.tar.gz")
	for n, object := range damaged {
		for m, damage := range damages {
			if pace.Race && m != n%len(damages) { // each object and each damage, not with each other
				continue
			}
			want := object.damaged
			if damage.do == nil && object.gone != "" {
				want = object.gone
			}
			places := append(strings.Fields(want), "overview", stuckPlaces[(n+m)%len(stuckPlaces)], stuckPlaces[(n+m+7)%len(stuckPlaces)])
			what := object.what + " " + damage.name
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				dir := stuck(t, base, state)
				files, err := filepath.Glob(filepath.Join(dir, object.glob))
				if err != nil || len(files) == 0 {
					t.Fatalf("no object is named %s: %v", object.glob, err)
				}
				for _, f := range files {
					ruin(t, f, damage.do)
				}
				before := fingerprint(t, dir)
				slices.Sort(places)
				for _, place := range slices.Compact(places) {
					if place == "-" || place == "everywhere" || place == "diff/2..main" { // which needs what other comparisons need
						continue
					}
					r := snapOf(t, what, dir, place)
					if said := strings.Contains(r.stdout, "✗"); said != (want == "everywhere" || slices.Contains(strings.Fields(want), place)) {
						t.Errorf("%s, %s: something is said to be damaged: %v, want %v\n%s", what, place, said, !said, r.stdout)
					}
					if place == "overview" && r.code == exitOK {
						warned(t, what, dir, r.stdout)
					}
				}
				if fingerprint(t, dir) != before {
					t.Errorf("%s: looking changed the graph", what)
				}
			})
		}
	}
}

// ruin damages a file; do may be nil, which removes it.
func ruin(t *testing.T, path string, do func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil && do == nil {
		err = os.Remove(path)
	} else if err == nil {
		err = os.WriteFile(path, do(data), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
