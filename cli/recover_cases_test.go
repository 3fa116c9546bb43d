package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
)

// listening keeps every text of a recovery record that is written.
type listening struct {
	blob.Store
	mu  sync.Mutex
	key string
	was [][]byte
}

func (l *listening) Put(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	if strings.HasPrefix(key, "__recovery/") {
		l.mu.Lock()
		l.key, l.was = key, append(l.was, slices.Clone(data))
		l.mu.Unlock()
	}
	return l.Store.Put(ctx, key, data)
}

// finishedLoad is a graph of harbors in a folder after a load of two types, with
// what its recovery record was before and after the table commits.
func finishedLoad(t *testing.T) (dir string, l *listening) {
	t.Helper()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "harbor")
	if err := fixtures.Write(dir, files); err != nil {
		t.Fatal(err)
	}
	store, err := opener.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	l = &listening{Store: store}
	g, err := engine.Open(t.Context(), dir, engine.Options{Store: l, Write: true, NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	lines := `{"type":"Port","data":{"code":"ZZAAA","country":"ZZ","name":"Load","services":[]}}
{"type":"Company","data":{"slug":"load-line","name":"Load Line","listed":false}}
`
	if _, err := g.Load(t.Context(), engine.LoadOptions{Mode: engine.LoadMerge, Input: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(lines)), nil }}); err != nil {
		t.Fatal(err)
	}
	if len(l.was) != 2 || !bytes.Contains(l.was[0], []byte("Armed")) || !bytes.Contains(l.was[1], []byte("EffectsConfirmed")) {
		t.Fatalf("%d texts of %s", len(l.was), l.key)
	}
	return dir, l
}

// late is a run after the grace of every record of the test.
func late(t *testing.T, args ...string) result {
	t.Helper()
	return runEnv(t, Env{Args: args, Now: func() time.Time { return time.Now().Add(time.Hour) }})
}

// rowsIn are the lines of both branches that the cases write on.
func rowsIn(t *testing.T, dir string) string {
	t.Helper()
	return run(t, "export", dir).must(t) + run(t, "export", dir, "--branch", "fix/ports").must(t)
}

// image3 is one image of case 3 of ../shared/cases: a record beside the graph
// whose load is finished.
type image3 struct {
	name   string
	file   string // "" = its own
	phase  int    // text of the record: 0 before, 1 after the table commits
	edit   func(t *testing.T, b []byte) []byte
	goes   bool     // it is removed, and the data stay as they are
	status []string // what recover tells
	writes string   // what a refused write says; "" = it is not refused
}

func swap(old, new string) func(*testing.T, []byte) []byte {
	return func(t *testing.T, b []byte) []byte {
		t.Helper()
		if bytes.Count(b, []byte(old)) < 1 {
			t.Fatalf("the record has no %s", old)
		}
		return bytes.Replace(b, []byte(old), []byte(new), 1)
	}
}

func TestCase3RecordsOfAFinishedLoad(t *testing.T) {
	const other = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	for _, c := range []image3{
		{name: "B", phase: 1, goes: true, status: []string{"is published, only its recovery record was not removed", "of this operation"}},
		{name: "B, copied before it was confirmed", phase: 0, goes: true, status: []string{"is published, only its recovery record was not removed", "of this operation"}},
		{name: "C", phase: 1, file: "old-copy.json", goes: true, status: []string{"is published", "__recovery/old-copy.json, does not match", "removes  __recovery/old-copy.json"}},
		{name: "D", phase: 1, edit: func(_ *testing.T, b []byte) []byte { return b[:10] }, status: []string{"refused", "10 bytes, not JSON at byte ", "--set-aside"}, writes: "10 bytes, not JSON at byte "},
		{name: "E", phase: 1, edit: swap(`"schema_version": 9`, `"schema_version": 99`), status: []string{"refused", "version 99", "newer"}, writes: "it is of version 99, this program knows up to 9"},
		{name: "F", phase: 1, edit: func(t *testing.T, b []byte) []byte {
			var doc struct {
				Protocol struct {
					Lineage struct {
						ID string `json:"graph_commit_id"`
					}
				} `json:"protocol_v3"`
			}
			if err := json.Unmarshal(b, &doc); err != nil {
				t.Fatal(err)
			}
			return bytes.ReplaceAll(b, []byte(doc.Protocol.Lineage.ID), []byte(other))
		}, status: []string{"refused", "was carried out, and cannot be recovered by itself: what its record says", "the record says: ", other, "the graph shows: ", "--set-aside"}, writes: "the effect may be published under another commit"},
	} {
		t.Run(c.name, func(t *testing.T) { t.Parallel(); c.check(t) })
	}
}

func (c *image3) check(t *testing.T) {
	dir, l := finishedLoad(t)
	key := l.key
	if c.file != "" {
		key = "__recovery/" + c.file
	}
	record := l.was[c.phase]
	if c.edit != nil {
		record = c.edit(t, record)
	}
	before := rowsIn(t, dir)
	file := filepath.Join(dir, filepath.FromSlash(key))
	if err := os.WriteFile(file, record, 0o644); err != nil {
		t.Fatal(err)
	}
	if rowsIn(t, dir) != before {
		t.Error("the record changes what is read")
	}
	untouched := fingerprint(t, dir)
	exit := exitRefused
	if c.goes {
		exit = exitOK
	}
	r := late(t, "recover", dir)
	if c.writes != "" && strings.Count(r.stdout, c.writes) != 1 {
		t.Errorf("%q is told more than once, or never:\n%s", c.writes, r.stdout)
	}
	for _, s := range append(c.status, key) {
		if !strings.Contains(r.stdout, s) {
			t.Errorf("%q is not told:\n%s", s, r.stdout)
		}
	}
	if r.code != exit || fingerprint(t, dir) != untouched {
		t.Errorf("recover: exit %d, %s", r.code, r.stderr)
	}
	if !c.goes {
		c.refused(t, dir, untouched)
		c.aside(t, dir, key)
		return
	}
	if r := late(t, "recover", dir, "--apply"); r.code != exitOK || !strings.Contains(r.stdout, "removed "+key) {
		t.Errorf("recover --apply: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) || rowsIn(t, dir) != before {
		t.Errorf("%s: %v, or rows changed", file, err)
	}
	if r := late(t, "recover", dir); r.code != exitOK || !strings.HasPrefix(r.stdout, "no operation is pending\n") {
		t.Errorf("recover again: exit %d\n%s", r.code, r.stdout)
	}
	for _, branch := range []string{"main", "fix/ports"} {
		late(t, "mutate", dir, "--branch", branch, "-e", `query q() { update Port set { name: "After" } where code = "NLRTM" }`).must(t)
	}
	run(t, "verify", dir).must(t)
}

// refused: neither recovery nor a write acts, and nothing is changed.
func (c *image3) refused(t *testing.T, dir, untouched string) {
	t.Helper()
	if r := late(t, "recover", dir, "--apply", "--json"); r.code != exitRefused || !strings.Contains(r.stdout, `"done": false`) {
		t.Errorf("recover --apply: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, branch := range []string{"main", "fix/ports"} {
		r := late(t, "mutate", dir, "--branch", branch, "-e", `query q() { update Port set { name: "After" } where code = "NLRTM" }`)
		if c.name == "F" && branch != "main" { // whose record is that of a load on main
			r.must(t)
			continue
		}
		if r.code != exitError || strings.Count(r.stderr, c.writes) != 1 || !strings.Contains(r.stderr, "`omnideck recover "+dir+"` shows") || !strings.Contains(r.stderr, "__recovery/") {
			t.Errorf("a write on %s: exit %d, %s", branch, r.code, r.stderr)
		}
		if fingerprint(t, dir) != untouched {
			t.Errorf("a write on %s changed something", branch)
		}
	}
}

// aside: the record is moved out of the way, byte for byte, and then everything
// may be written.
func (c *image3) aside(t *testing.T, dir, key string) {
	t.Helper()
	record, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(key)))
	if err != nil {
		t.Fatal(err)
	}
	untouched, rows := fingerprint(t, dir), rowsIn(t, dir)
	args := []string{"recover", dir, "--set-aside", key, "--why", "an operator looked at it"}
	if r := late(t, args...); r.code != exitOK || !strings.Contains(r.stdout, "nothing was changed; to move it: omnideck recover "+dir+" --set-aside "+key+" --why 'an operator looked at it' --apply\n") || fingerprint(t, dir) != untouched {
		t.Errorf("shown: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	var moved struct{ Objects []struct{ Key, To string } }
	if err := json.Unmarshal([]byte(late(t, append(args, "--apply", "--json")...).must(t)), &moved); err != nil || len(moved.Objects) != 1 || moved.Objects[0].Key != key {
		t.Fatalf("%+v: %v", moved, err)
	}
	if kept, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(moved.Objects[0].To))); err != nil || !bytes.Equal(kept, record) {
		t.Errorf("%s is not what was moved: %v", moved.Objects[0].To, err)
	}
	if r := late(t, "recover", dir); r.code != exitOK || rowsIn(t, dir) != rows {
		t.Errorf("afterwards: exit %d\n%s", r.code, r.stdout)
	}
	late(t, "mutate", dir, "-e", `query q() { update Port set { name: "After" } where code = "NLRTM" }`).must(t)
	run(t, "verify", dir).must(t)
}
