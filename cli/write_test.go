package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What destroys is not done to a graph that is not local unless --yes says so.
func TestConfirmation(t *testing.T) {
	for uri, local := range map[string]bool{
		"g": true, "/g": true, "file:///g": true, "file:/g": true, "demo:": true, "s3://b/g": false, "S3://b/g": false, "gs://b/g": false, "azblob://c/g": false,
	} {
		if isLocal(uri) != local {
			t.Errorf("%s: local is %v", uri, !local)
		}
	}
	lines := filepath.Join(t.TempDir(), "l.jsonl")
	if err := os.WriteFile(lines, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, "load", "s3://omnideck-nowhere/g", "--data", lines, "--mode", "overwrite", "--timeout", "5s")
	if r.code != exitError || !strings.Contains(r.stderr, "pass --yes") {
		t.Errorf("%d: %s", r.code, r.stderr)
	}
}

var (
	drawnID   = regexp.MustCompile(`01[0-9A-HJKMNP-TV-Z]{24}`)
	drawnTime = regexp.MustCompile(`"created_at": [0-9]+`)
)

// twins are two graphs in one folder: ours, written by this program, and theirs,
// written by the Rust CLI.
type twins struct{ bin, dir string }

// newTwins makes the folder with the files that twinRuns read, or skips the test
// where there is no Rust CLI.
func newTwins(t *testing.T) twins {
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("SKIPPED: OMNIGRAPH_BIN is not set; the Rust CLI would write beside us")
	}
	w := twins{bin, t.TempDir()}
	for name, text := range map[string]string{
		"s.pg": "node Port { code: String @key\n name: String\n n: I32? }\nedge Route: Port -> Port\n", "empty": "",
		"d.jsonl": `{"type":"Port","data":{"code":"a","name":"A","n":1}}` + "\n" + `{"type":"Port","data":{"code":"b","name":"B"}}` + "\n" + `{"edge":"Route","from":"a","to":"b","data":{"id":"r"}}` + "\n",
		"m.jsonl": `{"type":"Port","data":{"code":"b","name":"B2"}}` + "\n" + `{"type":"Port","data":{"code":"c","name":"C"}}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// twinRuns are command lines, one after the other; D/ stands for the folder and G
// for the graph.
func twinRuns() [][]string {
	mutate := func(gq string, more ...string) []string {
		return append([]string{"mutate", "--store", "G", "-e", gq}, more...)
	}
	load := func(file, mode string, more ...string) []string {
		return append([]string{"load", "--data", "D/" + file, "--mode", mode, "G"}, more...)
	}
	return [][]string{
		{"init", "--schema", "D/s.pg", "G"}, {"init", "--schema", "D/s.pg", "G"}, {"init", "--schema", "D/s.pg", "--force", "G"}, {"init", "G"}, {"init", "--schema", "D/s.pg"}, {"load"},
		load("d.jsonl", "append", "--json", "--as", "al"), load("empty", "merge", "--json", "--from", "main"), load("empty", "merge", "--data", "D/m.jsonl"), load("d.jsonl", "append"), load("m.jsonl", "merge"), load("empty", "merge", "--json"),
		load("m.jsonl", "overwrite"), load("nothing", "merge"), load("m.jsonl", "replace"), load("m.jsonl", "merge", "--branch", "nope"),
		mutate(`query q() { insert Port { code: "d", name: "D" } insert Route { from: "d", to: "a" } }`, "--json", "--as", "bob"),
		mutate(`query q() { update Port set { n: 5 } where name >= "B" }`, "--json"), mutate(`query q() { delete Port where code = "a" }`),
		mutate(`query q() { delete Port where code = "nobody" }`, "--json"), mutate(`query q() { delete Port where code = "d" }`, "--if-commit", "01ABC", "--json"),
		mutate(`query q($n: I32) { update Port set { n: $n } where code = "d" }`, "--params", `{"n":7}`, "--json"),
		mutate(`query q($n: I32) { update Port set { n: $n } where code = "d" }`), mutate(`query q() { insert Route { from: "x", to: "y" } }`),
		mutate(`query q() {`), mutate("x", "--query", "y"), {"mutate", "--store", "G"}, mutate(`query q() { delete Port where code = "d" }`, "--branch", "nope"),
	}
}

// at is a command line on one of the graphs.
func (w twins) at(graph string, args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if out[i] = strings.Replace(a, "D/", w.dir+"/", 1); a == "G" {
			out[i] = filepath.Join(w.dir, graph)
		}
	}
	return out
}

// rust runs the Rust CLI on its graph. code is its exit code.
func (w twins) rust(t *testing.T, args []string) (stdout string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), w.bin, w.at("theirs", args)...)
	cmd.Env = append(os.Environ(), "OMNIGRAPH_HOME="+w.dir)
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		return string(out), exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}

// mask takes the drawn ids, the times and the place of a graph out of what was printed.
func (w twins) mask(graph, s string) string {
	s = drawnTime.ReplaceAllString(drawnID.ReplaceAllString(s, "ID"), "T")
	return strings.ReplaceAll(s, filepath.Join(w.dir, graph), "G")
}

// rows are the rows of a graph, as the Rust CLI exports them.
func (w twins) rows(t *testing.T, graph string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), w.bin, "export", filepath.Join(w.dir, graph)).Output()
	if err != nil {
		t.Fatal(err)
	}
	return drawnID.ReplaceAllString(string(out), "ID")
}

// noDrift: the Rust CLI finds nothing to repair in our graph.
func (w twins) noDrift(t *testing.T) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), w.bin, "repair", "--json", filepath.Join(w.dir, "ours")).Output()
	var doc struct {
		Datasets []struct{ Classification string }
	}
	if err == nil {
		err = json.Unmarshal(out, &doc)
	}
	if err != nil || len(doc.Datasets) != 2 {
		t.Fatalf("repair: %v: %s", err, out)
	}
	for _, d := range doc.Datasets {
		if d.Classification != "no_drift" {
			t.Errorf("repair: %s", out)
		}
	}
}

// Both programs, given the same arguments on two copies of one graph, print the
// same, end alike, and leave the same rows.
func TestWritesLikeTheRustCLI(t *testing.T) {
	w := newTwins(t)
	for _, args := range twinRuns() {
		printed, code := w.rust(t, args)
		ours := run(t, w.at("ours", args)...)
		if got, want := w.mask("ours", ours.stdout), w.mask("theirs", printed); ours.code != code || got != want {
			t.Errorf("%v: exit %d and\n%s\nthe Rust CLI exits %d and prints\n%s\n(%s)", args, ours.code, got, code, want, ours.stderr)
		}
	}
	if got, want := w.rows(t, "ours"), w.rows(t, "theirs"); got != want || !strings.Contains(got, `"code":"d"`) {
		t.Errorf("ours\n%s\ntheirs\n%s", got, want)
	}
	w.noDrift(t)
	run(t, "verify", "--deep", filepath.Join(w.dir, "ours")).must(t)
}

// A recovery record that cannot be understood stops a write by its name, whatever
// is wrong with it, and the graph stays as it was.
func TestWritesBesideStrangeRecords(t *testing.T) {
	dir := t.TempDir()
	pg, graph := filepath.Join(dir, "s.pg"), filepath.Join(dir, "g")
	if err := os.WriteFile(pg, []byte("node Q { x: String? }"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "init", "--schema", pg, graph).must(t)
	record := filepath.Join(graph, "__recovery", "01M8N9G3KFBF79VJZX9B36D8TJ.json")
	for _, text := range []string{`{"schema_version":10}`, `{"schema_version":8}`, `{"schema_version":9}`, `{`, ``} {
		writeFiles(t, graph, map[string][]byte{"__recovery/" + filepath.Base(record): []byte(text)})
		r := run(t, "mutate", "--store", graph, "-e", `query q() { insert Q { x: "1" } }`)
		if r.code != exitError || !strings.Contains(r.stderr, "__recovery/01M8N9G3KFBF79VJZX9B36D8TJ.json") {
			t.Errorf("%q: exit %d, %s", text, r.code, r.stderr)
		}
	}
	if err := os.Remove(record); err != nil {
		t.Fatal(err)
	}
	if got := run(t, "export", graph).must(t); got != "" {
		t.Errorf("found %q", got)
	}
}
