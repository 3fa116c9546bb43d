package cli

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/fixtures"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// rebase rewrites the base paths of a manifest in place.
func rebase(t *testing.T, path, base string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := binary.LittleEndian.Uint64(data[len(data)-16:])
	n := uint64(binary.LittleEndian.Uint32(data[at:]))
	var m tablepb.Manifest
	if err := proto.Unmarshal(data[at+4:at+4+n], &m); err != nil {
		t.Fatal(err)
	}
	if len(m.BasePaths) == 0 {
		t.Fatalf("%s records no base path", path)
	}
	for _, b := range m.BasePaths {
		b.Path = base
	}
	body, err := proto.Marshal(&m)
	if err != nil {
		t.Fatal(err)
	}
	out := binary.LittleEndian.AppendUint32(append([]byte{}, data[:at]...), uint32(len(body)))
	out = append(append(out, body...), data[len(data)-16:]...)
	if err := os.WriteFile(path, out, 0o644); err != nil {
		t.Fatal(err)
	}
}

// cutFromBase is a graph whose branch fix/ports of the ports' table finds the
// files that it took over only where its manifests record them, in away.
func cutFromBase(t *testing.T) (dir, table, away string) {
	t.Helper()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	const ports = "0000000000000004-000000000000002a"
	dir, away = t.TempDir(), filepath.Join(t.TempDir(), "elsewhere", ports)
	writeFiles(t, dir, files)
	table = filepath.Join(dir, "nodes", ports)
	if err := os.MkdirAll(away, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(table, "data"), filepath.Join(away, "data")); err != nil {
		t.Fatal(err)
	}
	manifests, err := filepath.Glob(filepath.Join(table, "tree", "fix", "ports", "_versions", "*.manifest"))
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	for _, m := range manifests {
		rebase(t, m, away)
	}
	return dir, table, away
}

// TestExternal: files at a recorded base path are read with --external and
// only then; without it the error says where they were expected.
func TestExternal(t *testing.T) {
	demo := t.TempDir()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, demo, files)
	dir, table, away := cutFromBase(t)
	rel, err := filepath.Rel(dir, table)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2][]string{
		{{"rows", dir, "Port", "--branch", "fix/ports", "--ndjson"}, {"rows", demo, "Port", "--branch", "fix/ports", "--ndjson"}},
		{{"lance", "scan", table, "--branch", "fix/ports", "--ndjson"}, {"lance", "scan", filepath.Join(demo, rel), "--branch", "fix/ports", "--ndjson"}},
		{{"lance", "take", table, "--branch", "fix/ports", "--ndjson", "--row", "0"}, {"lance", "take", filepath.Join(demo, rel), "--branch", "fix/ports", "--ndjson", "--row", "0"}},
	} {
		r := run(t, c[0]...)
		if r.code != exitError || !strings.Contains(r.stderr, away) || !strings.Contains(r.stderr, "--external") {
			t.Errorf("%v: exit %d, %s", c[0], r.code, r.stderr)
		}
		want := run(t, c[1]...).must(t)
		if got := run(t, append(c[0], "--external")...).must(t); got != want || want == "" {
			t.Errorf("%v --external says\n%s\nexpected\n%s", c[0], got, want)
		}
	}
	if r := run(t, "lance", "verify", table, "--branch", "fix/ports"); r.code != exitFindings || !strings.Contains(r.stdout, "--external") {
		t.Errorf("verify: exit %d, %s%s", r.code, r.stdout, r.stderr)
	}
	if r := run(t, "lance", "verify", table, "--branch", "fix/ports", "--external"); strings.Contains(r.stdout, "file-missing") {
		t.Errorf("verify --external: exit %d, %s%s", r.code, r.stdout, r.stderr)
	}
}

// TestExternalOwnFirst: a file that is here is read here, whatever lies at
// the recorded place.
func TestExternalOwnFirst(t *testing.T) {
	_, table, away := cutFromBase(t)
	want := run(t, "lance", "scan", table, "--branch", "fix/ports", "--ndjson", "--external").must(t)
	if err := os.Rename(filepath.Join(away, "data"), filepath.Join(table, "data")); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(filepath.Join(table, "data"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no data files: %v", err)
	}
	for _, n := range names {
		writeFiles(t, away, map[string][]byte{"data/" + n.Name(): []byte("no data file")})
	}
	if got := run(t, "lance", "scan", table, "--branch", "fix/ports", "--ndjson", "--external").must(t); got != want {
		t.Errorf("read\n%s\nexpected\n%s", got, want)
	}
}
