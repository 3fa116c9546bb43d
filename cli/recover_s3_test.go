package cli

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/internal/s3lab/lab"
	killed "github.com/omnideck/omnideck/internal/stuck"
)

// program runs the test binary as omnideck, as a process of its own.
func program(t *testing.T, args ...string) result {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Args[0] = "omnideck"
	cmd.Env = append(os.Environ(), "OMNIGRAPH_HOME="+t.TempDir())
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", args, err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// Show 2 of issue 6 with the program itself: the states that killed clients left,
// in a real bucket under the address at which they were written, recovered by
// `recover --apply --now`. OMNIDECK_FULL=1 takes all of them.
func TestRecoverOnS3(t *testing.T) {
	l := lab.Test(t, lab.Options{})
	did := map[string]int{}
	for _, s := range killed.Spread(t, 2, killed.States(t)) {
		killed.WriteDir(t, l.Path("harbor"), s.Files)
		shown := program(t, "recover", l.URI("harbor"), "--json", "--no-cache")
		if d := killed.Differ(s.Files, killed.ReadDir(t, l.Path("harbor"))); d != "" {
			t.Errorf("%s: showing the plan changed %s", s, d)
		}
		keys := recordsOf(t, shown.stdout)
		if !slices.Equal(keys, s.Pending) {
			t.Errorf("%s: exit %d, records %v are shown: %s", s, shown.code, keys, shown.stderr)
		}
		if r := program(t, "recover", l.URI("harbor"), "--apply", "--now", "--json", "--no-cache"); r.code != exitOK {
			t.Errorf("%s: exit %d: %s%s", s, r.code, r.stdout, r.stderr)
		}
		files := killed.ReadDir(t, l.Path("harbor"))
		s.Recovered(t, killed.StoreOf(t, killed.Root, files))
		if r := program(t, "recover", l.URI("harbor"), "--apply", "--now", "--no-cache"); r.code != exitOK {
			t.Errorf("%s: a second time exit %d: %s%s", s, r.code, r.stdout, r.stderr)
		}
		if d := killed.Differ(files, killed.ReadDir(t, l.Path("harbor"))); d != "" {
			t.Errorf("%s: a second recovery changed %s", s, d)
		}
		did[s.Op]++
	}
	t.Logf("%v", did)
}

// recordsOf are the keys of the records of a plan.
func recordsOf(t *testing.T, stdout string) (keys []string) {
	t.Helper()
	var doc struct {
		Records []struct{ Key string }
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Errorf("no plan: %v: %s", err, stdout)
	}
	for _, r := range doc.Records {
		keys = append(keys, r.Key)
	}
	return keys
}

// The same states unpacked in a folder: a moved graph, whose records are left
// until that is confirmed (decisions 41).
func TestRecoverMovedOnDisk(t *testing.T) {
	for _, s := range killed.Spread(t, 2, killed.States(t, "load-merge", "merge", "schema-apply", "optimize")) {
		if len(s.Pending) == 0 {
			continue
		}
		dir := filepath.Join(t.TempDir(), "copy")
		killed.WriteDir(t, dir, s.Files)
		if r := run(t, "recover", dir, "--apply", "--now"); r.code != exitRefused || !strings.Contains(r.stdout, killed.Root) {
			t.Errorf("%s: nobody confirmed that the graph was moved: exit %d: %s%s", s, r.code, r.stdout, r.stderr)
		}
		if d := killed.Differ(s.Files, killed.ReadDir(t, dir)); d != "" {
			t.Errorf("%s: nobody confirmed that the graph was moved, and %s", s, d)
		}
		run(t, "recover", dir, "--apply", "--moved").must(t)
		s.Recovered(t, killed.StoreOf(t, "mem://copy", killed.ReadDir(t, dir)))
	}
}
