package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
)

// told is what info says in JSON.
func told(t *testing.T, dir string) engine.Info {
	t.Helper()
	var i engine.Info
	if err := json.Unmarshal([]byte(run(t, "info", dir, "--json").must(t)), &i); err != nil {
		t.Fatal(err)
	}
	return i
}

func worst(i engine.Info) engine.Severity {
	if len(i.Findings) == 0 {
		return engine.SeverityOK
	}
	return i.Findings[0].Severity
}

// newest is the path of the newest manifest below a folder.
func newest(t *testing.T, dir, folder string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, folder, "_versions", "*.manifest"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no manifest below %s: %v", folder, err)
	}
	return slices.Min(names)
}

func TestDamagedNewestManifest(t *testing.T) {
	dir, _ := unpacked(t, "midlife")
	path := newest(t, dir, "__manifest")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if i := told(t, dir); worst(i) != engine.SeverityError {
		t.Errorf("findings: %+v", i.Findings)
	}
	if out := run(t, "info", dir, "--json").must(t); !strings.Contains(out, `"rows": null`) || !strings.Contains(out, `"graph_manifest_version": null`) {
		t.Errorf("what cannot be read is shown as if it were known:\n%s", out)
	}
	if out := run(t, "info", dir).must(t); strings.Contains(out, " 0 ") || !strings.Contains(out, "next: omnideck snapshot "+dir+" --at 14") {
		t.Errorf("info says\n%s", out)
	}
	r := run(t, "snapshot", dir)
	if r.code != exitError || r.stdout != "" || !strings.Contains(r.stderr, "newest readable version is 14") {
		t.Errorf("snapshot: exit %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
	if out := run(t, "snapshot", dir, "--at", "14").must(t); !strings.Contains(out, "graph_manifest_version: 14") {
		t.Errorf("version 14, asked for by number: %s", out)
	}
	if r := run(t, "verify", dir, "--json"); r.code == exitOK {
		t.Error("verify finds nothing")
	}
}

func TestMissingDataFile(t *testing.T) {
	dir, _ := unpacked(t, "midlife")
	files, err := filepath.Glob(filepath.Join(dir, "nodes", "*-000000000000002b", "data", "*.lance"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no data files: %v", err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	r := run(t, "rows", dir, "Vessel")
	if r.code != exitError || !strings.Contains(r.stderr, ".lance") {
		t.Errorf("rows of the damaged type: exit %d, stderr %q", r.code, r.stderr)
	}
	if out := run(t, "rows", dir, "Port", "--ndjson").must(t); strings.Count(out, "\n") != 12 {
		t.Errorf("rows of a sound type: %s", out)
	}
	r = run(t, "verify", dir, "--json")
	var v engine.Verification
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err)
	}
	missing := func(p engine.Problem) bool { return strings.HasSuffix(p.Key, ".lance") }
	if r.code != exitFindings || v.Clean || !slices.ContainsFunc(v.Problems, missing) || r.stderr != "" {
		t.Errorf("verify: exit %d, %+v, stderr %q", r.code, v.Problems, r.stderr)
	}
}

func TestMissingSchemaFile(t *testing.T) {
	dir, _ := unpacked(t, "midlife")
	if err := os.Remove(filepath.Join(dir, "_schema.pg")); err != nil {
		t.Fatal(err)
	}
	if i := told(t, dir); worst(i) != engine.SeverityError {
		t.Errorf("findings: %+v", i.Findings)
	}
	if out := run(t, "rows", dir, "Port", "--ndjson").must(t); strings.Count(out, "\n") != 12 {
		t.Errorf("rows without the schema's source: %s", out)
	}
	if r := run(t, "schema", "show", dir); r.code == exitOK && r.stderr == "" {
		t.Errorf("schema show says nothing: %q", r.stdout)
	}
}

// TestKilledWriters: states that killed writers left open for looking, show
// what is pending, and export rows. The engine's tests visit every state and
// compare the rows; this is every sixth.
func TestKilledWriters(t *testing.T) {
	base, err := fixtures.Shared("graphs", "stuck", "base.tar.gz")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	shared, _ := fixtures.SharedDir()
	states, err := filepath.Glob(filepath.Join(shared, "graphs", "stuck", "*", "[0-9]*.tar.gz"))
	if err != nil || len(states) == 0 {
		t.Fatalf("no states: %v", err)
	}
	pending := 0
	for n, state := range states {
		if n%6 != 0 || pace.Race && n%18 != 0 {
			continue
		}
		dir := stuck(t, base, state)
		i := told(t, dir)
		pending += len(i.PendingRecovery)
		if len(i.PendingRecovery) > 0 && worst(i) == engine.SeverityOK {
			t.Errorf("%s: a recovery is pending and no finding says so", state)
		}
		r := run(t, "export", dir)
		if r.code != exitOK || r.stdout == "" {
			t.Errorf("%s: export: exit %d, %s", state, r.code, r.stderr)
		}
	}
	if pending == 0 {
		t.Error("no state shows a pending recovery")
	}
	t.Logf("%d states, %d pending recoveries", len(states), pending)
}

// stuck unpacks one state over its base.
func stuck(t *testing.T, base []byte, state string) string {
	t.Helper()
	if own, err := os.ReadFile(filepath.Join(filepath.Dir(state), "base.tar.gz")); err == nil {
		base = own
	}
	over, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, archive := range [][]byte{base, over} {
		files, err := fixtures.Unpack(archive)
		if err != nil {
			t.Fatal(err)
		}
		writeFiles(t, dir, files)
	}
	for _, key := range removedBy(t, state) {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(key))); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return dir
}

// removedBy lists the objects that the killed run had removed.
func removedBy(t *testing.T, state string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(state), "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		States []struct {
			K       int      `json:"k"`
			Removed []string `json:"removed"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(state), ".tar.gz")
	for _, s := range cases.States {
		if name == twoDigits(s.K) {
			return s.Removed
		}
	}
	return nil
}

func twoDigits(n int) string {
	s := decimal(n)
	if len(s) < 2 {
		s = "0" + s
	}
	return s
}
