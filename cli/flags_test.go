package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/internal/pace"
)

// samples are positionals with which each verb does its work on the embedded
// graph, the address excepted.
var samples = map[string][]string{
	"info": {}, "snapshot": {}, "branch list": {}, "commit list": {}, "commit show": {demoCommit}, "log": {}, "diff": {demoCommit, "main"}, "schema show": {},
	"versions": {"node:Port"}, "fragments": {"node:Port"}, "holds": {"node:Port", "2"}, "snap": {},
	"rows": {"Port"}, "find": {"NLRTM"}, "neighbors": {"Port", "NLRTM"}, "export": {},
	"blob get": {"node", "Inspection", demoBlob, "photo"}, "blob stat": {"node", "Inspection", demoBlob, "photo"},
	"verify": {}, "ops": {}, "version": {},
	"init": {"--schema", os.DevNull}, "load": {"--data", os.DevNull, "--mode", "append"}, "mutate": {"-e", flagTable["query-string"].try}, "recover": {},
	"lance info": {}, "lance versions": {}, "lance fragments": {}, "lance scan": {"--limit", "5"}, "lance take": {"--row", "0"}, "lance pages": {}, "lance verify": {},
}

// Things of the embedded graph.
const (
	demoCommit = "01M8KXG1ZMTC2FWG38CGYZB0DJ"
	demoBlob   = "insp-003"
)

// tries are values for flags whose table entry has none.
func tries(t *testing.T, id string) string {
	switch id {
	case "where":
		return `name != "x"`
	case "snapshot":
		return demoCommit
	case "out-file":
		return filepath.Join(t.TempDir(), "bytes")
	}
	return flagTable[id].try
}

// line is the command line of a verb on the embedded graph.
func line(v *verb, flags ...string) []string {
	args := strings.Fields(v.name)
	switch v.place {
	case onGraph:
		args = append(args, demoURI)
	case onDataset:
		args = append(args, demoURI+manifestTable)
	case onNothing:
	}
	return append(append(args, samples[v.name]...), flags...)
}

// TestNoDeadFlags: a flag that stands on a verb is looked at when it is given.
func TestNoDeadFlags(t *testing.T) {
	for _, v := range pace.Every(t, 6, verbs()) {
		if _, ok := samples[v.name]; !ok {
			t.Errorf("%s has no sample line here", v.name)
			continue
		}
		ids := v.allFlags()
		if dup := len(ids) - len(slices.Compact(slices.Sorted(slices.Values(ids)))); dup > 0 {
			t.Errorf("%s declares a flag twice: %v", v.name, ids)
		}
		for _, id := range ids {
			if !looksAt(t, v, id) {
				t.Errorf("%s never looks at --%s", v.name, nameOf(id))
			}
		}
	}
}

// without leaves flags of a command line out, with their values.
func without(args []string, flags ...string) (out []string) {
	for i := 0; i < len(args); i++ {
		if slices.Contains(flags, args[i]) {
			i++
			continue
		}
		out = append(out, args[i])
	}
	return out
}

func looksAt(t *testing.T, v *verb, id string) bool {
	t.Helper()
	flag := "--" + nameOf(id)
	if flagTable[id].kind != kindBool {
		value := tries(t, id)
		if value == "" {
			t.Fatalf("the flag %s has no value to try", id)
		}
		flag += "=" + value
	}
	args := append(without(line(v), map[string]string{"query-string": "-e"}[id], "--"+nameOf(id)), flag)
	if id == "store" || id == "profile" || id == "uri" {
		args = slices.DeleteFunc(args, func(a string) bool { return a == demoURI })
	}
	if strings.HasPrefix(id, "row") { // three ways to name rows, one at a time
		args = slices.DeleteFunc(args, func(a string) bool { return a == "--row" || a == "0" })
	}
	if id == "query-file" { // instead of the text
		args = without(args, "-e")
	}
	if i := slices.Index(args, demoURI); v.name == "init" && i >= 0 { // where a graph is not yet
		args[i] = t.TempDir()
	}
	switch v.name + " " + id { // flags that go together
	case "recover at-once", "recover moved":
		args = append(args, "--apply")
	case "recover set-aside":
		args = append(args, "--why=damaged")
	case "recover why":
		args = append(args, "--set-aside=__recovery/01ABC.json")
	}
	if id == "desc" { // says how --sort orders
		args = append(args, "--sort=id")
	}
	// A key that nobody reads makes every verb that opens a graph say something.
	dir := t.TempDir()
	config := "colour: red\nprofiles:\n  demo: {store: \"demo:\"}\n"
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	r := runEnv(t, Env{Args: args, Environ: []string{"OMNIGRAPH_HOME=" + dir}, onFlag: func(verb, flag string) { seen[verb+" "+flag] = true }})
	if r.code == exitUsage {
		t.Errorf("%v: %s", args, r.stderr)
	}
	return seen[v.name+" "+id]
}

// TestEveryFlagOfTheTableIsUsed: no entry is left behind when a verb goes.
func TestEveryFlagOfTheTableIsUsed(t *testing.T) {
	used := map[string]bool{}
	for _, v := range append(verbs(), openVerb()) {
		for _, id := range v.allFlags() {
			used[id] = true
		}
	}
	for id := range flagTable {
		if !used[id] {
			t.Errorf("no verb has the flag %s", id)
		}
	}
}

// TestOnlyTheTableMakesFlags: cobra knows no flag that the table does not,
// those for help excepted.
func TestOnlyTheTableMakesFlags(t *testing.T) {
	var walk func(*cobra.Command)
	names := map[string]bool{"help": true}
	for id := range flagTable {
		names[nameOf(id)] = true
	}
	walk = func(c *cobra.Command) {
		if c.Name() == "completion" {
			return
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !names[f.Name] {
				t.Errorf("%s has the flag --%s from elsewhere", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&Env{}))
}

// TestForeignFlagsAreExplained: flags of the Rust CLI that nothing here can use
// are errors that say why.
func TestForeignFlagsAreExplained(t *testing.T) {
	for flag, why := range foreign {
		if _, ours := flagTable[flag]; ours && flag != "graph" && flag != "as" && flag != "yes" {
			t.Errorf("--%s is both foreign and ours", flag)
		}
		r := run(t, "snapshot", demoURI, "--"+flag, "x")
		if r.code != exitUsage || !strings.Contains(r.stderr, why) || r.stdout != "" {
			t.Errorf("--%s: exit %d, stdout %q, stderr %q", flag, r.code, r.stdout, r.stderr)
		}
	}
}

// TestFlagsMayStandBeforeTheVerb: the global flags of the Rust CLI may.
func TestFlagsMayStandBeforeTheVerb(t *testing.T) {
	want := run(t, "schema", "show", demoURI, "--json").must(t)
	for _, args := range [][]string{
		{"--store", demoURI, "--json", "schema", "show"}, {"--json", "schema", "show", demoURI}, {"schema", "--json", "--store=" + demoURI, "show"},
		{"--quiet", "--store", demoURI, "schema", "show", "--json"},
	} {
		if got := run(t, args...); got.code != exitOK || got.stdout != want {
			t.Errorf("%v: exit %d, %s", args, got.code, got.stderr)
		}
	}
}

// words are what random command lines are made of.
func words() []string {
	out := []string{"", "-", "--", "---", "-x", "-v", "--=", "--json=", "--json=maybe", "0", "-1", "18446744073709551616", "node:", "node:Port", "edge:", "__manifest",
		"Port", "NLRTM", demoURI, demoURI + manifestTable, "demo:nodes", "mem://x", "http://h", "file://%zz", "/nowhere/at/all", "é", "\x1b[31m", "\xff", "a\x00b", "snapsot",
		"branch", "commit", "schema", "blob", "lance", "help", "completion", "__complete", "bash"}
	for _, v := range verbs() {
		out = append(out, strings.Fields(v.name)...)
	}
	for id, f := range flagTable {
		out = append(out, "--"+nameOf(id), fmt.Sprintf("--%s=%s", nameOf(id), f.try))
	}
	return out
}

// TestRandomCommandLines: whatever is typed, the run ends with one of the exit
// codes, and says something on stderr when that is not 0.
func TestRandomCommandLines(t *testing.T) {
	t.Chdir(t.TempDir()) // --out writes here
	vocabulary := slices.Sorted(slices.Values(words()))
	rapid.Check(t, func(rt *rapid.T) {
		args := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(vocabulary), rapid.String()), 0, 8).Draw(rt, "args")
		checkEnds(rt, t, args)
	})
}

func FuzzCommandLine(f *testing.F) {
	for _, v := range verbs() {
		f.Add(strings.Join(line(v, "--json", "--rpc"), "\x00"))
	}
	f.Add("--store\x00demo:\x00rows\x00Port\x00--where\x00a = 1 and (")
	f.Fuzz(func(t *testing.T, s string) {
		t.Chdir(t.TempDir())
		checkEnds(t, t, strings.Split(s, "\x00"))
	})
}

func checkEnds(fail interface{ Fatalf(string, ...any) }, t testing.TB, args []string) {
	r := runEnv(t, Env{Args: args})
	codes := []int{exitOK, exitError, exitUsage, exitFindings, exitRefused}
	if !slices.Contains(codes, r.code) {
		fail.Fatalf("%q: exit %d", args, r.code)
	}
	if r.code != exitOK && r.code != exitFindings && r.stderr == "" {
		fail.Fatalf("%q: exit %d and not a word why", args, r.code)
	}
	if strings.ContainsAny(r.stderr, "\x1b\x00") {
		fail.Fatalf("%q: stderr %q", args, r.stderr)
	}
}

// TestDumbTerminal: a terminal that knows no control sequences gets none.
func TestDumbTerminal(t *testing.T) {
	f := terminal(t)
	for kind, want := range map[string]bool{"xterm-256color": true, "": true, "dumb": false} {
		if got := (Env{Environ: []string{"TERM=" + kind}}).draws(f); got != want {
			t.Errorf("TERM=%s: draws is %v", kind, got)
		}
	}
}

// terminal is one, which nobody reads.
func terminal(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("SKIPPED: no terminal can be had here: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// typed is a terminal at which somebody types.
type typed struct {
	io.Reader
	at *os.File
}

func (t typed) Fd() uintptr { return t.at.Fd() }

// At a terminal what destroys is asked about before anything else is done to a graph
// that is not local; whoever does not say yes in full has not confirmed it.
func TestDestructionIsConfirmed(t *testing.T) {
	at := terminal(t)
	for _, answer := range []string{"", "\n", "y\n", "no\n", "yes please\n"} {
		r := runEnv(t, Env{Args: []string{"load", "--mode", "overwrite", "--data", "/dev/null", "s3://bucket/graph"}, Stdin: typed{strings.NewReader(answer), at}})
		if r.code != exitError || !strings.Contains(r.stderr, "Type 'yes' to continue: ") || !strings.Contains(r.stderr, "not confirmed") && answer != "" {
			t.Errorf("%q: exit %d: %s", answer, r.code, r.stderr)
		}
	}
}
