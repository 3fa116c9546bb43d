package cost_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/cost"
)

func TestClassify(t *testing.T) {
	const node = "nodes/0000000000000001-0000000000000006/"
	for key, want := range map[string]string{
		"__manifest/_versions/18446744073709551611.manifest":   cost.ManifestOpen,
		"__manifest/_versions/latest_version_hint.json":        cost.ManifestOpen,
		"__manifest/_versions/":                                cost.ManifestOpen,
		"__manifest/_versions":                                 cost.ManifestOpen,
		"__manifest/tree/b/_versions/1.manifest":               cost.ManifestOpen,
		"__manifest/tree/feature/x/_versions/":                 cost.ManifestOpen,
		"__manifest/tree/data/_versions/1.manifest":            cost.ManifestOpen,
		"__manifest/tree/_refs/data/0.lance":                   cost.ManifestScan,
		"__manifest/_refs/branches/f%2Fx.json":                 cost.ManifestRefs,
		"__manifest/_refs/tags/":                               cost.ManifestRefs,
		"__manifest/data/0011.lance":                           cost.ManifestScan,
		"__manifest/tree/b/data/0011.lance":                    cost.ManifestScan,
		"__manifest/_deletions/0-1-2.arrow":                    cost.ManifestScan,
		"__manifest/_transactions/1-uuid.txn":                  cost.ManifestTxn,
		"__manifest/tree/":                                     cost.Other,
		"__manifest":                                           cost.Other,
		node + "_versions/1.manifest":                          cost.DataOpen,
		node + "tree/b/_versions/":                             cost.DataOpen,
		node + "_refs/branches/b.json":                         cost.DataRefs,
		node + "data/x.lance":                                  cost.DataScan,
		node + "data/x/0001.blob":                              cost.DataScan,
		node + "_deletions/0-1-2.bin":                          cost.DataScan,
		node + "_indices/8b3f/page_data.lance":                 cost.DataIndex,
		node + "_transactions/1-uuid.txn":                      cost.DataTxn,
		"edges/0000000000000002-0000000000000007/data/x.lance": cost.DataScan,
		"nodes/data/x.lance":                                   cost.Other, // "data" is the table here
		"nodes/":                                               cost.Other,
		"__recovery/01ARZ3NDEKTSV4RRFFQ69G5FAV.json":           cost.Recovery,
		"__recovery/":                                          cost.Recovery,
		"__recovery":                                           cost.Recovery,
		"_schema.pg":                                           cost.Schema,
		"_schema.ir.json":                                      cost.Schema,
		"_schema.ir.json.staging":                              cost.Schema,
		"__schema_state.json":                                  cost.Schema,
		"__schema_state.json.staging":                          cost.Schema,
		"_graph_commit_recoveries.lance/_versions/1.manifest":  cost.Audit,
		"_graph_commit_recoveries.lance/data/x.lance":          cost.Audit,
		"__init_claim.json":                                    cost.Control,
		"__create_if_absent_probe_01ARZ3NDEKTSV4RRFFQ69G5FAV":  cost.Control,
		"":                       cost.Other,
		"unrelated/data/x.lance": cost.Other,
	} {
		if got := cost.Classify(key); got != want {
			t.Errorf("Classify(%q) = %s, want %s", key, got, want)
		}
	}
	for key, want := range map[string]string{
		"_versions/1.manifest": cost.DataOpen, "_versions/": cost.DataOpen, "data/x.lance": cost.DataScan, "tree/b/data/x.lance": cost.DataScan,
		"_indices/u/index.idx": cost.DataIndex, "_transactions/x.txn": cost.DataTxn, "_refs/tags/t.json": cost.DataRefs, "": cost.Other, "x": cost.Other,
	} {
		if got := cost.ClassifyDataset(key); got != want {
			t.Errorf("ClassifyDataset(%q) = %s, want %s", key, got, want)
		}
	}
}

// TestClassifyRealGraphs: no key of a real graph is of class other.
func TestClassifyRealGraphs(t *testing.T) {
	data, err := os.ReadFile("testdata/keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	keys := strings.Split(strings.TrimSpace(string(data)), "\n")[1:]
	if len(keys) < 20 {
		t.Fatalf("%d keys are too few to say anything", len(keys))
	}
	for _, key := range keys {
		if cost.Classify(key) == cost.Other {
			t.Errorf("%s is of class other", key)
		}
	}
}

func TestRPC(t *testing.T) {
	s := memstore.New(memstore.Options{})
	m := blob.NewMeter(cost.Classify)
	ctx := blob.WithMeter(t.Context(), m)
	if _, err := s.Put(ctx, "_schema.pg", []byte("12345")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.Get(ctx, "_schema.pg", blob.All); err != nil {
			t.Fatal(err)
		}
	}
	for range s.List(ctx, blob.ListOptions{Prefix: "__recovery/"}) {
		t.Error("an entry")
	}
	got, err := json.Marshal(cost.RPC(m))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"requests":4,"hops":4,"bytes_read":10,"bytes_written":5,"ops":{"get":2,"head":0,"list":1,"put":1,"delete":0,"copy":0},` +
		`"classes":{"recovery list":1,"schema get":2,"schema put":1},"retries":0}`
	if string(got) != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// What was missed is told in one order.
func TestBudgetsMissedInOrder(t *testing.T) {
	m := cost.Measured{Totals: blob.Totals{Classes: map[blob.ClassOp]int64{}}}
	for _, op := range []blob.Op{blob.OpPut, blob.OpList, blob.OpHead, blob.OpGet, blob.OpDelete} {
		m.Classes[blob.ClassOp{Class: cost.Other, Op: op}] = 1
	}
	err := cost.Budget{Requests: -1, Hops: -1}.Check(m)
	if err == nil {
		t.Fatal("nothing was missed")
	}
	missed, _, _ := strings.Cut(err.Error(), "\n")
	if list := strings.Split(missed, "; "); len(list) != 5 || !slices.IsSorted(list) {
		t.Errorf("not in order: %s", missed)
	}
}

func TestBudgets(t *testing.T) {
	s := memstore.New(memstore.Options{})
	m, err := cost.Measure(t.Context(), cost.Classify, func(ctx context.Context) error {
		if _, err := s.Head(ctx, "_schema.pg"); !errors.Is(err, blob.ErrNotExist) {
			return err
		}
		_, err := s.Put(ctx, "elsewhere", nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		b    cost.Budget
		want string
	}{
		{cost.Budget{Requests: 2, Hops: 2, Other: true}, ""},
		{cost.Budget{Requests: -1, Hops: -1, Other: true}, ""},
		{cost.Budget{Requests: 1, Hops: 2, Other: true}, "2 requests, at most 1"},
		{cost.Budget{Requests: 2, Hops: 1, Other: true}, "2 hops, at most 1"},
		{cost.Budget{Requests: 2, Hops: 2}, "1 × put of class other"},
	} {
		err := tt.b.Check(m)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "elsewhere")) {
			t.Errorf("%+v: %v, want %q", tt.b, err, tt.want)
		}
	}
	if err := cost.Flat(2, cost.Point{Depth: 10, Cost: 7}, cost.Point{Depth: 100, Cost: 9}, cost.Point{Depth: 1000, Cost: 8}); err != nil {
		t.Error(err)
	}
	if err := cost.Flat(1, cost.Point{Depth: 10, Cost: 7}, cost.Point{Depth: 100, Cost: 9}); err == nil {
		t.Error("7 and 9 are flat within 1")
	}
	if err := cost.Flat(100, cost.Point{Depth: 10, Cost: 7}); err == nil {
		t.Error("one depth was enough")
	}
	r := &recorder{}
	cost.RequireFlat(r, "opening", 0, cost.Point{Depth: 1, Cost: 1}, cost.Point{Depth: 2, Cost: 1})
	if r.failed != "" {
		t.Errorf("flat, but: %s", r.failed)
	}
	cost.RequireFlat(r, "opening", 0, cost.Point{Depth: 1, Cost: 1}, cost.Point{Depth: 2, Cost: 2})
	if !strings.HasPrefix(r.failed, "opening: not flat") {
		t.Errorf("not flat: %q", r.failed)
	}
}

type recorder struct{ failed string }

func (*recorder) Helper()                        {}
func (r *recorder) Fatalf(f string, args ...any) { r.failed = fmt.Sprintf(f, args...) }

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.FixedZone("", 3600))

func TestLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "ledger.ndjson")
	l := cost.OpenLedger(path)
	if got, err := l.Read(0, nil); err != nil || len(got) != 0 {
		t.Errorf("before the first line: %v, %v", got, err)
	}
	tot := blob.Totals{Requests: 3, Hops: 2, BytesRead: 10, BytesWritten: 1, Retries: 1}
	for _, e := range []cost.Entry{
		cost.NewEntry("info", "/g", "01C", noon, noon.Add(1500*time.Microsecond), tot, nil),
		cost.NewEntry("rows", "s3://b/<g>", "", noon, noon, blob.Totals{}, errors.New("found ü\nexpected u")),
	} {
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(data), "\n")
	want := `{"at":"2026-11-29T11:00:00Z","operation":"info","uri":"/g","commit":"01C","requests":3,"hops":2,"bytes_read":10,` +
		`"bytes_written":1,"retries":1,"ms":1.5,"outcome":"ok"}`
	if first != want {
		t.Errorf("line\n%s, want\n%s", first, want)
	}
	// A crash cut a line; another program wrote nonsense, and a very long line.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, "{}\nnull\n\n{\"at\":12}\n%s\n{\"at\":\"2026-11-29T11", strings.Repeat("x", 300_000))
	f.Close()
	got, err := l.Read(0, nil)
	if err != nil || len(got) != 2 || got[0].Operation != "info" || got[1].Outcome != "found ü\nexpected u" {
		t.Errorf("read %+v, %v", got, err)
	}
	got, err = l.Read(1, func(uri string) bool { return uri == "/g" })
	if err != nil || len(got) != 1 || got[0].Requests != 3 {
		t.Errorf("read %+v, %v", got, err)
	}
}

// TestLedgerNewestFirst: what is asked for is found from the end, and of other
// graphs' lines no more is looked at than their URI.
func TestLedgerNewestFirst(t *testing.T) {
	l := cost.OpenLedger(filepath.Join(t.TempDir(), "l"))
	for i := range 999 { // which ends with a line of the third
		uri := []string{"/g", "/other", `s3://b/<"uri":"g>`}[i%3]
		if err := l.Append(cost.NewEntry(`a "uri":"/g"`, uri, fmt.Sprint(i), noon, noon, blob.Totals{}, nil)); err != nil {
			t.Fatal(err)
		}
	}
	for uri, want := range map[string]string{"/g": "993 996", "/other": "994 997", `s3://b/<"uri":"g>`: "995 998", "/none": ""} {
		asked := 0
		got, err := l.Read(2, func(u string) bool { asked++; return u == uri })
		var commits []string
		for _, e := range got {
			commits = append(commits, e.Commit)
		}
		if strings.Join(commits, " ") != want || err != nil {
			t.Errorf("the last of %s are %v, %v, want %s", uri, commits, err, want)
		}
		if want != "" && asked > 12 {
			t.Errorf("%d lines were looked at for the last two of %s", asked, uri)
		}
	}
}

// TestLedgerIsBounded: long texts are cut, and two full files are the most.
func TestLedgerIsBounded(t *testing.T) {
	dir := t.TempDir()
	l := cost.OpenLedger(filepath.Join(dir, "l"))
	long := cost.NewEntry("info", "/g", "", noon, noon, blob.Totals{}, errors.New(strings.Repeat("ü\x01", 10_000)))
	for range 2000 {
		if err := l.Append(long); err != nil {
			t.Fatal(err)
		}
	}
	var total int64
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += fi.Size()
	}
	if len(entries) != 2 || total > 9<<20 {
		t.Errorf("%d files, %d bytes", len(entries), total)
	}
	got, err := l.Read(5, nil)
	if err != nil || len(got) != 5 || !strings.HasSuffix(got[0].Outcome, "…") || len(got[0].Outcome) > 1100 {
		t.Errorf("read %d, %v", len(got), err)
	}
}

// TestLedgerBySeveral: lines of several writers are never torn.
func TestLedgerBySeveral(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	const writers, lines = 8, 200
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			l := cost.OpenLedger(path)
			for i := range lines {
				e := cost.NewEntry(fmt.Sprint(w), strings.Repeat("u", 500), fmt.Sprint(i), noon, noon, blob.Totals{}, nil)
				if err := l.Append(e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got, err := cost.OpenLedger(path).Read(0, nil)
	if err != nil || len(got) != writers*lines {
		t.Errorf("%d lines of %d, %v", len(got), writers*lines, err)
	}
}

// TestLedgerThatCannotBeWritten says so and does nothing else.
func TestLedgerThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cost.OpenLedger(filepath.Join(file, "l")).Append(cost.Entry{}); err == nil {
		t.Error("a line was written below a file")
	}
}

func TestDefaultLedgerPath(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/state")
	if p, err := cost.DefaultLedgerPath(); err != nil || p != filepath.FromSlash("/state/omnideck/ledger.ndjson") {
		t.Errorf("%s, %v", p, err)
	}
	t.Setenv("XDG_STATE_HOME", "relative is ignored")
	t.Setenv("XDG_CACHE_HOME", "/cache")
	if p, err := cost.DefaultLedgerPath(); err != nil || strings.Contains(p, "relative") || !strings.HasSuffix(p, filepath.FromSlash("omnideck/ledger.ndjson")) {
		t.Errorf("%s, %v", p, err)
	}
}
