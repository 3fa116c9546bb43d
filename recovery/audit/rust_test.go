package audit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob/localfs"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery/audit"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

const (
	rustSchema = "node Port {\n  code: String @key\n  name: String?\n}\n"
	rustNoop   = `query touch() { update Port set { name: "x" } where code = "nobody" }`
)

// idleOptimize is a record, as the Rust engine writes it, of an optimize that did
// nothing: its recovery books a roll-back without tables.
func idleOptimize(t *testing.T, root string, view *manifest.View, marker []byte) *sidecar.Record {
	t.Helper()
	mark, err := schema.ParseMarker(marker)
	if err != nil {
		t.Fatal(err)
	}
	port, ok := view.Table("node:Port")
	if !ok {
		t.Fatal("no table of ports")
	}
	folder, _ := manifest.Location(port.Alias, port.Identity)
	at := time.UnixMicro(1795965305034010).UTC()
	p, err := txn.New(txn.PublishPlan{
		ID: "01M8KXZG6JX0VA38C9QPJR000P", Kind: sidecar.Optimize, Class: txn.Maintenance, Pre: txn.Monotonic, Started: at, Rollback: "01M8KXZG6JX0VA38C9QPJR000R",
		Base:    txn.Base{Version: view.Version, IRHash: mark.IRHash, IdentityDomain: mark.IdentityDomain, IdentityVersion: mark.IdentityVersion},
		Lineage: txn.Lineage{CommitID: "01M8KXZG6JX0VA38C9QPJR000C", CreatedAt: at.UnixMicro()}, UUIDPrefix: "omnigraph-opt-01M8KXZG6JX0VA38C9QPJR000P-",
		Actions: []txn.TableAction{{Table: txn.Identity(port.Identity), Alias: port.Alias, Path: root + "/" + folder, Pin: port.Version}},
	})
	if err == nil {
		p, err = p.Arm()
	}
	if err != nil {
		t.Fatal(err)
	}
	rec, err := p.Record()
	if err != nil {
		t.Fatal(err)
	}
	rec.UUIDPrefix = "" // which is ours alone
	return rec
}

// rust runs the Rust CLI.
func rust(t *testing.T, args ...string) {
	t.Helper()
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("SKIPPED: OMNIGRAPH_BIN is not set; the Rust CLI would book a recovery after ours")
	}
	if out, err := exec.CommandContext(t.Context(), bin, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", args[0], err, out)
	}
}

func rustSchemaFile(t *testing.T) string {
	t.Helper()
	text := filepath.Join(t.TempDir(), "s.pg")
	if err := os.WriteFile(text, []byte(rustSchema), 0o600); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestTheRustEngineBooksAfterUs: the Rust CLI recovers an operation and appends
// its row to a book that we began; we read it, find its operation booked, and go
// on.
func TestTheRustEngineBooksAfterUs(t *testing.T) {
	root := filepath.Join(t.TempDir(), "g")
	rust(t, "init", "--schema", rustSchemaFile(t), root)
	s, err := localfs.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	view, err := manifest.Open(t.Context(), s, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	marker, err := os.ReadFile(filepath.Join(root, schema.StateKey))
	if err != nil {
		t.Fatal(err)
	}
	if err := audit.Write(t.Context(), s, row("ours", audit.RolledForward), audit.Options{}); err != nil {
		t.Fatal(err)
	}
	rec := idleOptimize(t, root, view, marker)
	body, err := rec.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), rec.Name(), body); err != nil {
		t.Fatal(err)
	}
	rust(t, "mutate", "touch", "-e", rustNoop, "--store", root)
	rows, err := read(s)
	if err != nil || len(rows) != 2 {
		t.Fatalf("%+v, %v", rows, err)
	}
	theirs := rows[1]
	if rows[0].Operation != "ours" {
		theirs = rows[0]
	}
	if theirs.Operation != rec.OperationID || theirs.Kind != audit.RolledBack || theirs.Writer != sidecar.Optimize || len(theirs.Outcomes) != 0 || theirs.Commit == "" {
		t.Errorf("the Rust engine booked %+v", theirs)
	}
	for _, r := range []audit.Row{theirs, row("after", audit.RolledBack)} {
		if err := audit.Write(t.Context(), s, r, audit.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if rows, err := read(s); err != nil || len(rows) != 3 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}
