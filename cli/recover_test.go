package cli

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	stuckgraphs "github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/tui/theme"
)

// What killed clients of the Rust CLI left at another address: shown as moved,
// left until that is confirmed, then brought to the recorded rows; a schema apply
// but for its lock, which is told and stays.
func TestRecoverMovedGraphs(t *testing.T) {
	for _, c := range []struct {
		op   string
		k    int
		will string
	}{
		{"update-node", 3, "remove the record; no row is touched"},
		{"load-merge", 8, "restore node:Vessel to what version 3 holds, as version 5"},
		{"load-merge", 12, "publish it as commit "},
		{"optimize", 70, "will     restore 7 tables to what is published, each as its next version, then publish that, then"},
		{"schema-apply", 16, "make the staged schema files the accepted ones"},
	} {
		s := stuckgraphs.One(t, c.op, c.k)
		dir := filepath.Join(t.TempDir(), "harbor")
		if err := fixtures.Write(dir, s.Files); err != nil {
			t.Fatal(err)
		}
		untouched := fingerprint(t, dir)
		for _, apply := range [][]string{nil, {"--apply"}, {"--apply", "--now", "--json"}} {
			r := run(t, append([]string{"recover", dir}, apply...)...)
			if want := map[bool]int{true: exitOK, false: exitRefused}[apply == nil]; r.code != want || !strings.Contains(r.stdout, "s3://lab/harbor") || fingerprint(t, dir) != untouched {
				t.Errorf("%s, %v: exit %d\n%s%s", s, apply, r.code, r.stdout, r.stderr)
			}
			if apply == nil && (!strings.Contains(r.stdout, c.will) || !strings.Contains(r.stdout, "--moved")) {
				t.Errorf("%s: %q is not told:\n%s", s, c.will, r.stdout)
			}
		}
		out := run(t, "recover", dir, "--apply", "--moved", "--operation", strings.TrimSuffix(filepath.Base(s.Pending[0]), ".json")).must(t)
		if !strings.Contains(out, "removed "+s.Pending[0]) || strings.Contains(out, "the lock of a schema apply is left") != s.Locked() {
			t.Errorf("%s: %s", s, out)
		}
		for branch, rows := range s.After {
			if got := stuckgraphs.HashLines(run(t, "export", dir, "--branch", branch).must(t)); got != rows {
				t.Errorf("%s: branch %s has %v, recorded is %v", s, branch, got, rows)
			}
		}
		if r := run(t, "recover", dir, "--apply"); r.code != exitOK || !strings.HasPrefix(r.stdout, "no operation ") {
			t.Errorf("%s: again: exit %d\n%s", s, r.code, r.stdout)
		}
	}
}

// A lock that is left is told once, with the address of the object to remove.
func TestRecoverTellsTheLockOnce(t *testing.T) {
	s := stuckgraphs.One(t, "schema-apply", 3)
	dir := filepath.Join(t.TempDir(), "harbor")
	if err := fixtures.Write(dir, s.Files); err != nil {
		t.Fatal(err)
	}
	lock := dir + "/__manifest/_refs/branches/__schema_apply_lock__.json"
	for _, args := range [][]string{{"recover", dir}, {"recover", dir, "--apply"}} {
		out := run(t, args...).must(t)
		if strings.Count(out, "no operation") != 1 || !strings.Contains(out, "then remove the one object "+lock+";") {
			t.Errorf("%v:\n%s", args, out)
		}
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	run(t, "mutate", dir, "-e", `query q() { update Port set { name: "After" } where code = "NLRTM" }`).must(t)
}

// When a record was begun is told as people say it.
func TestRecordTellsItsAge(t *testing.T) {
	th, err := theme.New("mono", theme.Unknown, true)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for after, want := range map[time.Duration]string{0: "12:00:00Z, just now\n", 20 * time.Second: "12:00:00Z, < 1 m ago\n", 2 * time.Hour: "12:00:00Z, 2 h ago\n", -time.Hour: "12:00:00Z, by a clock that is ahead of this one\n"} {
		var b strings.Builder
		printRecord(out.NewText(&b, th), &engine.RecoveryRecord{Key: "k", StartedAt: began}, began.Add(after))
		if !strings.Contains(b.String(), want) || strings.Contains(b.String(), "--now") {
			t.Errorf("after %s: %s", after, b.String())
		}
	}
}

// Staged schema files are waited for by their name.
func TestRecoveryCountsDownForStagedFiles(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var said strings.Builder
	talk := &recoveryTalk{c: &call{verb: &verb{name: "recover", place: onNothing}, env: &Env{Stderr: &said, Now: func() time.Time { return now }}}, said: map[string]bool{}}
	for range 2 {
		talk.hear(engine.RecoveryEvent{Step: engine.RecoveryWaits, Key: "_schema.pg.staging", Until: now.Add(9 * time.Second)})
	}
	if want := "note: waiting for _schema.pg.staging, which a schema apply may be at work with, until 2026-11-30 12:00:09Z\n"; said.String() != want {
		t.Errorf("%q, want %q", said.String(), want)
	}
}

// What was written just now is not moved: its writer may be at work.
func TestSettingAsideWaits(t *testing.T) {
	s := stuckgraphs.One(t, "update-node", 5)
	dir, key, written := filepath.Join(t.TempDir(), "harbor"), "__recovery/cut.json", time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	files := maps.Clone(s.Files)
	delete(files, s.Pending[0])
	files[key] = []byte("{\"schema_")
	if err := fixtures.Write(dir, files); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, filepath.FromSlash(key))
	if err := os.Chtimes(path, written, written); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]string{
		10 * time.Second: "refused  it was written 10s ago, and its writer may be at work: wait 20s, then ask again\n",
		31 * time.Second: "nothing was changed; to move it: omnideck recover " + dir,
	} {
		r := runEnv(t, Env{Args: []string{"recover", dir, "--set-aside", key, "--why", "cut by a full disk"}, Now: func() time.Time { return written.Add(after) }})
		if !strings.Contains(r.stdout, want) {
			t.Errorf("after %v: %s%s", after, r.stdout, r.stderr)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// What is dangerous about a young record is not to wait for it.
func TestDangerOfAYoungRecord(t *testing.T) {
	th, err := theme.New("mono", theme.Unknown, true)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var b strings.Builder
	printRecord(out.NewText(&b, th), &engine.RecoveryRecord{Key: "k", StartedAt: now, WaitUntil: now.Add(time.Second), Danger: 4, Do: engine.RecoverBack}, now)
	if want := "  danger   4 with --now: it may lose a write when its writer still runs\n"; !strings.Contains(b.String(), want) {
		t.Error(b.String())
	}
}

// here is a folder with a state that is at home there, and its record.
func here(t *testing.T, op string, k int, edit ...string) (dir, record string) {
	t.Helper()
	s := stuckgraphs.One(t, op, k)
	dir = filepath.Join(t.TempDir(), "harbor")
	if err := fixtures.Write(dir, s.Files); err != nil {
		t.Fatal(err)
	}
	record = filepath.Join(dir, filepath.FromSlash(s.Pending[0]))
	text := strings.NewReplacer(append(edit, stuckgraphs.Root, dir)...).Replace(string(s.Files[s.Pending[0]]))
	if err := os.WriteFile(record, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, record
}

// The line that does what is shown does no more than that.
func TestRecoverShowsWhatIsAskedFor(t *testing.T) {
	dir, record := here(t, "update-node", 5)
	id := strings.TrimSuffix(filepath.Base(record), ".json")
	for line, args := range map[string][]string{
		"omnideck recover " + dir + " --apply":                   {"recover", dir},
		"omnideck recover " + dir + " --apply --operation " + id: {"recover", dir, "--operation", id},
	} {
		if out := run(t, args...).must(t); !strings.HasSuffix(out, "nothing was changed; to do it: "+line+"\n") {
			t.Errorf("%v: %s", args, out)
		}
	}
}

// What could not be looked at in the end is not passed over.
func TestRecoveredWithoutALastLook(t *testing.T) {
	th, err := theme.New("mono", theme.Unknown, true)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	printRecovered(out.NewText(&b, th), &engine.RecoveryReceipt{Settled: []engine.SettledRecord{{Key: "k", Done: true, Said: "published"}}})
	if want := "recovered  k\n  published\nwhat remains is not known, the last look failed: look again\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// Of a record whose branch is gone no table is looked at, and none is said to be gone.
func TestRecoverOfABranchThatIsGone(t *testing.T) {
	dir, _ := here(t, "update-node", 5, `"branch": null`, `"branch": "gone"`)
	if out := run(t, "recover", dir).must(t); !strings.Contains(out, "\norphan discard  ") || strings.Contains(out, "no dataset") || strings.Contains(out, "v0") {
		t.Error(out)
	}
	run(t, "recover", dir, "--apply").must(t)
	run(t, "recover", dir).must(t)
}

// At a terminal the name of a graph that was moved is asked for; without it, or with
// another, nothing is touched.
func TestRecoverMovedIsConfirmed(t *testing.T) {
	at := terminal(t)
	s := stuckgraphs.One(t, "load-merge", 8)
	dir := filepath.Join(t.TempDir(), "harbor")
	if err := fixtures.Write(dir, s.Files); err != nil {
		t.Fatal(err)
	}
	untouched := fingerprint(t, dir)
	recover := func(answer string) result {
		return runEnv(t, Env{Args: []string{"recover", dir, "--apply"}, Stdin: typed{strings.NewReader(answer), at}})
	}
	for _, answer := range []string{"", "\n", "yes\n", "harbor.omni\n"} {
		r := recover(answer)
		if r.code != exitError || !strings.Contains(r.stderr, "lay at s3://lab/harbor") || !strings.Contains(r.stderr, "Type 'harbor' to go on: ") || fingerprint(t, dir) != untouched {
			t.Errorf("%q: exit %d: %s", answer, r.code, r.stderr)
		}
	}
	if out := recover("harbor\n").must(t); !strings.Contains(out, "removed "+s.Pending[0]) {
		t.Error(out)
	}
	if r := recover(""); r.code != exitOK || strings.Contains(r.stderr, "Type") {
		t.Errorf("nothing is pending, and it asks: exit %d: %s", r.code, r.stderr)
	}
}

// What is waited for is counted down in one line of a terminal, and said once
// anywhere else; what is done then begins a line of its own.
func TestRecoveryCountsDown(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	wait := engine.RecoveryEvent{Step: engine.RecoveryWaits, Key: "k", Operation: "A", Until: now.Add(30 * time.Second), N: 1, Of: 1}
	for live, want := range map[bool]string{
		true:  "\r\x1b[Kwaiting for operation A, whose writer may be at work: 30s\r\x1b[Kwaiting for operation A, whose writer may be at work: 1s\nnote: 1 of 1, operation A: its record is gone\n",
		false: "note: waiting for operation A, whose writer may be at work, until 2026-11-30 12:00:30Z\nnote: 1 of 1, operation A: its record is gone\n",
	} {
		var said strings.Builder
		at := now
		talk := &recoveryTalk{c: &call{verb: &verb{name: "recover", place: onNothing}, env: &Env{Stderr: &said, Now: func() time.Time { return at }}}, live: live, said: map[string]bool{}}
		talk.hear(wait)
		at = now.Add(29 * time.Second)
		talk.hear(wait)
		talk.hear(engine.RecoveryEvent{Step: engine.RecoverySettles, Operation: "A", N: 1, Of: 1})
		talk.end()
		if said.String() != want {
			t.Errorf("live %v: %q, want %q", live, said.String(), want)
		}
	}
}
