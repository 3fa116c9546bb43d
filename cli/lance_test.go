package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
)

// fixture is one dataset or data file that pylance wrote.
type fixture struct {
	Case    string
	Version string
	Kind    string
	Rows    int
	Dataset string                  // path of the dataset or file
	Files   []struct{ Path string } `json:"data_files"`
}

// lanceFixtures unpacks all cases into a folder.
func lanceFixtures(t *testing.T) (dir string, cases []fixture) {
	t.Helper()
	archive, err := fixtures.Shared("lance", "fixtures.tar.gz")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	files, err := fixtures.Unpack(archive)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	writeFiles(t, dir, files)
	paths, err := filepath.Glob(filepath.Join(dir, "*", "index.json"))
	if err != nil || len(paths) != 1 {
		paths = []string{filepath.Join(dir, "index.json")}
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Cases []fixture }
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(paths[0]), index.Cases
}

// TestLanceVerbsOnEveryFixture: whatever pylance wrote can be looked at, as a
// dataset and as loose data files, and scan and take spell rows alike.
func TestLanceVerbsOnEveryFixture(t *testing.T) {
	dir, cases := lanceFixtures(t)
	if len(cases) < 100 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, f := range pace.Every(t, 12, cases) {
		paths := map[string]int{filepath.Join(dir, f.Dataset): f.Rows}
		for _, file := range f.Files {
			paths[filepath.Join(dir, file.Path)] = -1
		}
		for path, rows := range paths {
			lanceVerbsOn(t, f.Case+"@"+f.Version, path, rows)
		}
	}
}

func lanceVerbsOn(t *testing.T, name, path string, rows int) {
	t.Helper()
	for _, verb := range []string{"info", "pages"} {
		if r := run(t, "lance", verb, path, "--json"); r.code != exitOK || !json.Valid([]byte(r.stdout)) {
			t.Errorf("%s: %s %s: exit %d, %s", name, verb, filepath.Base(path), r.code, r.stderr)
		}
	}
	r := run(t, "lance", "scan", path, "--ndjson", "--limit", "0")
	if r.code != exitOK {
		t.Errorf("%s: scan %s: %s", name, filepath.Base(path), r.stderr)
		return
	}
	lines := strings.SplitAfter(r.stdout, "\n")
	lines = lines[:len(lines)-1]
	if rows >= 0 && len(lines) != rows {
		t.Errorf("%s: scan printed %d rows, expected %d", name, len(lines), rows)
	}
	for _, l := range lines {
		if !json.Valid([]byte(l)) {
			t.Errorf("%s: scan printed what is no JSON: %s", name, excerpt(l))
			return
		}
	}
	if len(lines) == 0 {
		return
	}
	last := len(lines) - 1
	r = run(t, "lance", "take", path, "--ndjson", "--row", strconv.Itoa(last)+",0,"+strconv.Itoa(last))
	if want := lines[last] + lines[0] + lines[last]; r.code != exitOK || r.stdout != want {
		t.Errorf("%s: take %s: exit %d, %s\n%s\nscan said\n%s", name, filepath.Base(path), r.code, r.stderr, excerpt(r.stdout), excerpt(want))
	}
}

// TestInfoOfADataset: info tells of a plain dataset that it is one.
func TestInfoOfADataset(t *testing.T) {
	want := run(t, "lance", "info", demoURI+manifestTable, "--json").must(t)
	dir, _ := unpacked(t, "midlife")
	got := run(t, "info", filepath.Join(dir, manifestTable), "--json").must(t)
	if !strings.Contains(got, `"kind": "lance"`) || len(strings.Split(got, "\n")) != len(strings.Split(want, "\n")) {
		t.Errorf("info of a dataset says\n%s\nlance info says\n%s", got, want)
	}
}

// TestDatasetWhereOneStands: a dataset is found under every name of its folder.
func TestDatasetWhereOneStands(t *testing.T) {
	dir := t.TempDir()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, files)
	table := filepath.Join(dir, "nodes", "0000000000000004-000000000000002a")
	want := run(t, "lance", "scan", table, "--json").must(t)
	t.Chdir(filepath.Join(table, "data"))
	for _, path := range []string{"..", "../", "../data/.."} {
		if got := run(t, "lance", "scan", path, "--json").must(t); !strings.Contains(got, `"rows"`) || len(got) < len(want)/2 {
			t.Errorf("scan %s: %s", path, got)
		}
	}
}

// TestBranchWithoutRef: the folder that a deleted branch leaves behind is not
// passed off as the branch.
func TestBranchWithoutRef(t *testing.T) {
	dir := t.TempDir()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, files)
	table := filepath.Join(dir, "nodes", "0000000000000004-000000000000002a")
	run(t, "lance", "scan", table, "--branch", "fix/ports").must(t)
	if err := os.Remove(filepath.Join(table, "_refs", "branches", "fix%2Fports.json")); err != nil {
		t.Fatal(err)
	}
	r := run(t, "lance", "scan", table, "--branch", "fix/ports")
	if r.code != exitError || r.stdout != "" || !strings.Contains(r.stderr, "no ref names the branch") || !strings.Contains(r.stderr, "tree/fix/ports") {
		t.Errorf("exit %d, %s%s", r.code, r.stdout, r.stderr)
	}
}

// TestLanceVerifyOfADamagedManifest: a newest manifest that cannot be read is
// a finding, and refs are judged all the same.
func TestLanceVerifyOfADamagedManifest(t *testing.T) {
	for _, deep := range []bool{false, true} {
		dir := t.TempDir()
		files, err := fixtures.Graph(fixtures.Demo)
		if err != nil {
			t.Fatal(err)
		}
		writeFiles(t, dir, files)
		table := filepath.Join(dir, "nodes", "0000000000000004-000000000000002a")
		path := newest(t, table, "")
		if err := os.WriteFile(path, []byte("no manifest"), 0o644); err != nil {
			t.Fatal(err)
		}
		writeFiles(t, table, map[string][]byte{"_refs/tags/broken.json": []byte("{")})
		args := []string{"lance", "verify", table, "--json"}
		if deep {
			args = append(args, "--deep")
		}
		r := run(t, args...)
		var doc datasetReport
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
			t.Fatalf("%v: %s", err, r.stderr)
		}
		unreadable, refs := 0, 0
		for _, p := range doc.Problems {
			if p.ID == "version-unreadable" && strings.HasSuffix(p.Key, filepath.Base(path)) && p.Severity == "error" {
				unreadable++
			}
			if strings.HasSuffix(p.Key, "_refs/tags/broken.json") {
				refs++
			}
		}
		if r.code != exitFindings || doc.Clean || unreadable != 1 || refs == 0 || doc.Checked.Versions < 2 || doc.Checked.Refs < 1 || r.stderr != "" {
			t.Errorf("deep %v: exit %d, %s%s", deep, r.code, r.stdout, r.stderr)
		}
	}
}

// TestLanceCountsAreRecorded: with every data file gone the counts of the
// manifest are still told, and called what they are.
func TestLanceCountsAreRecorded(t *testing.T) {
	dir := t.TempDir()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, files)
	table := filepath.Join(dir, "nodes", "0000000000000004-000000000000002a")
	if err := os.RemoveAll(filepath.Join(table, "data")); err != nil {
		t.Fatal(err)
	}
	for verb, want := range map[string]string{"info": "12 recorded", "fragments": "12 rows recorded", "versions": "rows recorded"} {
		if got := run(t, "lance", verb, table).must(t); !strings.Contains(got, want) {
			t.Errorf("lance %s does not say %q:\n%s", verb, want, got)
		}
	}
}

// TestFileURLs: every spelling of a file URL leads to a dataset, to a graph
// and to a loose file whose name is escaped in it.
func TestFileURLs(t *testing.T) {
	dir := t.TempDir()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, files)
	data, err := filepath.Glob(filepath.Join(dir, manifestTable, "data", "*.lance"))
	if err != nil || len(data) == 0 {
		t.Fatalf("no data files: %v", err)
	}
	bytes, err := os.ReadFile(data[0])
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string][]byte{"my file.lance": bytes})
	loose := run(t, "lance", "scan", filepath.Join(dir, "my file.lance"), "--ndjson").must(t)
	table := run(t, "lance", "scan", filepath.Join(dir, manifestTable), "--ndjson").must(t)
	rows := run(t, "rows", dir, "Port", "--ndjson").must(t)
	for _, scheme := range []string{"file://", "FILE://", "file:"} {
		if got := run(t, "lance", "scan", scheme+dir+"/my%20file.lance", "--ndjson").must(t); got != loose {
			t.Errorf("%s: the loose file says\n%s", scheme, excerpt(got))
		}
		if got := run(t, "lance", "scan", scheme+dir+"/"+manifestTable, "--ndjson").must(t); got != table {
			t.Errorf("%s: the dataset says\n%s", scheme, excerpt(got))
		}
		if got := run(t, "rows", scheme+dir, "Port", "--ndjson").must(t); got != rows {
			t.Errorf("%s: the graph says\n%s", scheme, excerpt(got))
		}
	}
}
