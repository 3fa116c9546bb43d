package audit_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/localfs"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/golden"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/recovery/audit"
	"github.com/omnideck/omnideck/txn/sidecar"
)

func book(t *testing.T, args ...string) []byte {
	t.Helper()
	py := os.Getenv("OMNIDECK_PYTHON")
	if py == "" || exec.Command(py, "-c", "import lance").Run() != nil {
		t.Skip("SKIPPED: no Python with pylance; set OMNIDECK_PYTHON to one (pip install pylance==10.0.0)")
	}
	out, err := exec.Command(py, append([]string{"testdata/book.py"}, args...)...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		t.Fatalf("%v: %v\n%s", args, err, failed.Stderr)
	}
	return out
}

// theirs is the row that book.py writes.
func theirs() audit.Row {
	return audit.Row{Commit: "01C", Kind: audit.RolledBack, Operation: "01P", Writer: sidecar.Mutation,
		Outcomes: []sidecar.Outcome{{Alias: "node:A", From: 3, To: 2}}, At: time.Date(2026, 11, 30, 1, 2, 3, 456789000, time.UTC)}
}

// plain is a manifest and its transaction without what differs from writer to
// writer: times, names, sizes of files.
func plain(t *testing.T, store blob.Store, root string, version uint64) (*tablepb.Manifest, *tablepb.Transaction) {
	t.Helper()
	s, err := lance.Open(t.Context(), store, root, lance.OpenOptions{Version: version})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := s.Transaction(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, p := proto.CloneOf(s.Manifest().Proto), proto.CloneOf(tx.Proto)
	m.Timestamp, m.TransactionFile, m.TransactionSection, m.WriterVersion, m.VersionAuxData = nil, "", nil, nil, 0
	p.Uuid = ""
	for _, f := range slices.Concat(m.Fragments, p.GetAppend().GetFragments()) {
		for _, d := range f.GetFiles() {
			d.Path, d.FileSizeBytes = "", 0
		}
	}
	return m, p
}

// TestAsLance: the versions are those that Lance makes of the same calls; each
// program reads, validates and goes on with the book of the other.
func TestAsLance(t *testing.T) {
	dir := t.TempDir()
	book(t, "make", dir)
	s, err := localfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := audit.Write(t.Context(), s, theirs(), audit.Options{}); err != nil {
		t.Fatal(err)
	}
	for v := uint64(1); v <= 2; v++ {
		m, tx := plain(t, s, audit.Folder, v)
		wantM, wantTx := plain(t, s, "theirs", v)
		if d := gocmp.Diff(wantM, m, protocmp.Transform()); d != "" {
			t.Errorf("version %d:\n%s", v, d)
		}
		if d := gocmp.Diff(wantTx, tx, protocmp.Transform()); d != "" {
			t.Errorf("transaction of version %d:\n%s", v, d)
		}
	}
	if err := audit.Write(t.Context(), s, row("ours", audit.OrphanedBranchDiscarded), audit.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, audit.Folder), filepath.Join(dir, "ours")); err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Commit   string  `json:"graph_commit_id"`
		Actor    *string `json:"recovery_for_actor"`
		Outcomes string  `json:"per_table_outcomes_json"`
		At       int64   `json:"created_at"`
	}
	if err := json.Unmarshal(book(t, "read", filepath.Join(dir, "ours")), &rows); err != nil {
		t.Fatal(err)
	}
	want := row("ours", audit.OrphanedBranchDiscarded)
	if len(rows) != 2 || rows[0].Actor != nil || rows[0].Outcomes != `[{"table_key":"node:A","from_version":3,"to_version":2}]` || rows[1].Commit != want.Commit ||
		*rows[1].Actor != "ann" || rows[1].At != want.At.UnixMicro() || rows[1].Outcomes != `[{"table_key":"node:Ünï <&>","from_version":7,"to_version":5},{"table_key":"edge:B","from_version":9223372036854775809,"to_version":0}]` {
		t.Errorf("pylance reads %+v", rows)
	}
	// And the other way: a book that Lance began, and both went on with.
	if err := os.Rename(filepath.Join(dir, "theirs"), filepath.Join(dir, audit.Folder)); err != nil {
		t.Fatal(err)
	}
	for _, r := range []audit.Row{theirs(), want} {
		if err := audit.Write(t.Context(), s, r, audit.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := read(s)
	if d := gocmp.Diff([]audit.Row{theirs(), want}, got); d != "" || err != nil {
		t.Error(err, d)
	}
	book(t, "append", filepath.Join(dir, audit.Folder))
	book(t, "read", filepath.Join(dir, audit.Folder))
	if rows, err := audit.Read(t.Context(), s, audit.Options{}); err != nil || len(rows) != 3 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// TestHostile: a book that is none is damage, for reading and for writing, and is
// left alone.
func TestHostile(t *testing.T) {
	text := func(names ...string) *arrow.Schema {
		var fields []arrow.Field
		for _, n := range names {
			fields = append(fields, arrow.Field{Name: n, Type: arrow.BinaryTypes.String, Nullable: true})
		}
		return arrow.NewSchema(fields, nil)
	}
	for name, schema := range map[string]*arrow.Schema{
		"other columns": text("id"), "no time": text("graph_commit_id", "recovery_kind", "recovery_for_actor", "operation_id", "sidecar_writer_kind", "per_table_outcomes_json"),
		"time as text": text("graph_commit_id", "recovery_kind", "recovery_for_actor", "operation_id", "sidecar_writer_kind", "per_table_outcomes_json", "created_at"),
	} {
		s := memstore.New(memstore.Options{Name: "g"})
		if _, _, err := lance.Create(t.Context(), s, audit.Folder, lance.CreateOptions{Schema: format.SchemaOf(schema), UUID: "x"}); err != nil {
			t.Fatal(err)
		}
		_, readErr := audit.Read(t.Context(), s, audit.Options{})
		if err := audit.Write(t.Context(), s, theirs(), audit.Options{}); !errors.Is(err, format.ErrCorrupt) || !errors.Is(readErr, format.ErrCorrupt) {
			t.Errorf("%s: %v, %v", name, err, readErr)
		}
	}
	nullable := text("graph_commit_id", "recovery_kind", "recovery_for_actor", "operation_id", "sidecar_writer_kind", "per_table_outcomes_json")
	nullable = arrow.NewSchema(append(nullable.Fields(), arrow.Field{Name: "created_at", Type: &arrow.TimestampType{Unit: arrow.Microsecond}, Nullable: true}), nil)
	for i, values := range [][]string{
		{"c", "RolledBack", "", "", "Load", "[]"}, {"c", "Rolled", "", "op", "Load", "[]"}, {"c", "RolledBack", "", "op", "Load", "{}"},
		{"c", "RolledBack", "", "op", "Load", `[{"table_key":"x"}]`}, {"c", "RolledBack", "", "op", "Load", strings.Repeat("[", 100000)},
	} {
		s := memstore.New(memstore.Options{Name: "g"})
		b := array.NewRecordBuilder(memory.DefaultAllocator, nullable)
		for k, v := range values {
			if col := b.Field(k).(*array.StringBuilder); v == "" {
				col.AppendNull()
			} else {
				col.Append(v)
			}
		}
		b.Field(6).(*array.TimestampBuilder).Append(1)
		if _, _, err := lance.Create(t.Context(), s, audit.Folder, lance.CreateOptions{Schema: format.SchemaOf(nullable), Rows: lance.RowsOf(b.NewRecordBatch()), UUID: "x"}); err != nil {
			t.Fatal(err)
		}
		if rows, err := audit.Read(t.Context(), s, audit.Options{}); err == nil || rows != nil {
			t.Errorf("row %d: %v", i, rows)
		}
	}
	s := memstore.New(memstore.Options{Name: "g"})
	if _, err := s.Put(t.Context(), audit.Folder+"/_versions/"+format.ManifestName(1), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Read(t.Context(), s, audit.Options{}); !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("a damaged manifest: %v", err)
	}
	if err := audit.Write(t.Context(), s, theirs(), audit.Options{}); !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("a damaged manifest: %v", err)
	}
}

var random = regexp.MustCompile(`[01]{24}[0-9a-f]{26}|[0-9a-f]{8}-[0-9a-f-]{27}`)

// TestTrace: what booking asks of a store: the first row, another one, one that
// is there.
func TestTrace(t *testing.T) {
	s := memstore.New(memstore.Options{Name: "g"})
	var b bytes.Buffer
	for _, what := range []struct {
		name string
		most cost.Budget
	}{{"the first row", cost.Budget{Requests: 8, Hops: 6}}, {"another row", cost.Budget{Requests: 7, Hops: 6}}, {"a row that is there", cost.Budget{Requests: 4, Hops: 3}}} {
		op := what.name
		if strings.HasPrefix(op, "a row") {
			op = "another row"
		}
		synctest.Test(t, func(t *testing.T) {
			slow := s.CloneWith(memstore.Options{Name: "slow", MaxPage: 100, Latency: func(blob.Op, string) time.Duration { return 10 * time.Millisecond }})
			m, err := cost.Measure(context.Background(), cost.Classify, func(ctx context.Context) error {
				return audit.Write(ctx, slow, row(op, audit.RolledBack), audit.Options{Rand: bytes.NewReader(bytes.Repeat([]byte(op), 40)), Clock: func() time.Time { return time.Unix(1796000000, 0) }})
			})
			if err == nil {
				err = what.most.Check(m)
			}
			if err != nil {
				t.Errorf("%s: %v", what.name, err)
			}
			slices.SortFunc(m.Calls, func(x, y blob.Call) int { return cmp.Or(cmp.Compare(x.Hop, y.Hop), strings.Compare(x.Key, y.Key)) })
			fmt.Fprintf(&b, "%s: requests %d  hops %d\n", what.name, m.Requests, m.Hops)
			for _, c := range m.Calls {
				fmt.Fprintf(&b, "%d  %-6s %s\n", c.Hop, c.Op, random.ReplaceAllString(c.Key, "RANDOM"))
			}
			s = slow.CloneWith(memstore.Options{Name: "g"})
		})
	}
	golden.Equal(t, "trace/audit.golden", b.Bytes())
}
