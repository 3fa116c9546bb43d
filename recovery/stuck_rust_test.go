package recovery_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/omnideck/omnideck/internal/s3lab/lab"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// reference is the Rust CLI with a bucket of its own.
type reference struct {
	t   *testing.T
	bin string
	lab *lab.Lab
}

func newReference(t *testing.T, o lab.Options) reference {
	t.Helper()
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("SKIPPED: OMNIGRAPH_BIN is not set; the Rust CLI would recover the same states")
	}
	return reference{t, bin, lab.Test(t, o)}
}

func (r reference) dir() string { return r.lab.Path(path.Base(stuck.Root)) }

func (r reference) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(r.t.Context(), r.bin, args...)
	cmd.Env = append(os.Environ(), "OMNIGRAPH_HOME="+r.t.TempDir())
	for k, v := range r.lab.Env() {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	return cmd
}

// run runs it on the graph; what it says is told when it fails.
func (r reference) run(args ...string) (string, error) {
	r.t.Helper()
	out, err := r.command(args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("omnigraph %s: %w: %s", args[0], err, out)
	}
	return string(out), err
}

// mutate runs one statement on main.
func (r reference) mutate(statement string) error {
	_, err := r.run("mutate", "-e", "query q() { "+statement+" }", "--store", stuck.Root)
	return err
}

const nobody = `update Vessel set { name: "Nobody" } where imo = 1`

// The Rust engine recovers the same states to the same rows, published versions
// and audit rows as is written down, and as ours does.
func TestStuckStatesLikeTheRustEngine(t *testing.T) {
	r := newReference(t, lab.Options{})
	for _, s := range stuck.Spread(t, 2, stuck.States(t)) {
		if len(s.Pending) == 0 {
			continue
		}
		stuck.WriteDir(t, r.dir(), s.Files)
		if err := r.mutate(nobody); (err != nil) != s.Locked() {
			t.Errorf("%s: the Rust CLI: %v", s, err)
		}
		theirs := stuck.StoreOf(t, stuck.Root, stuck.ReadDir(t, r.dir()))
		ours := s.Store(t, stuck.Root)
		stuckRecover(t, s.String(), ours, recovery.Options{})
		s.Recovered(t, ours)
		mine, other := stuck.Audits(t, ours), stuck.Audits(t, theirs)
		for i := range mine {
			if s.Op == "optimize" && i < len(other) {
				mine[i].Commit, other[i].Commit = "minted", "minted"
			}
		}
		if fmt.Sprint(mine) != fmt.Sprint(other) {
			t.Errorf("%s: audit rows, ours and theirs\n%v\n%v", s, mine, other)
		}
		if a, b := stuck.RowsOf(t, stuck.Graph(t, ours)), stuck.RowsOf(t, stuck.Graph(t, theirs)); !maps.Equal(a, b) {
			t.Errorf("%s: rows, ours and theirs\n%v\n%v", s, a, b)
		}
		if a, b := stuck.View(t, ours, ""), stuck.View(t, theirs, ""); a.Version != b.Version || fmt.Sprint(versionsOf(a)) != fmt.Sprint(versionsOf(b)) {
			t.Errorf("%s: published, ours and theirs\n%v\n%v", s, versionsOf(a), versionsOf(b))
		}
	}
}

// What we recovered the Rust CLI opens for writing and finds nothing to do; it
// writes, and its repair finds nothing. Where a schema apply left its lock it first
// refuses, as is written down, and then does so, too.
func TestStuckStatesGoOnInTheRustEngine(t *testing.T) {
	r := newReference(t, lab.Options{})
	for _, s := range stuck.Spread(t, 2, stuck.States(t)) {
		if len(s.Pending) == 0 {
			continue
		}
		store := s.Store(t, stuck.Root)
		stuckRecover(t, s.String(), store, recovery.Options{})
		ours := stuck.Objects(t, store)
		stuck.WriteDir(t, r.dir(), ours)
		if err := r.mutate(nobody); (err != nil) != s.Locked() {
			t.Errorf("%s: the Rust CLI opens what we recovered: %v", s, err)
		}
		if d := stuck.Differ(ours, stuck.ReadDir(t, r.dir())); d != "" {
			t.Errorf("%s: the Rust CLI had something to do: %s", s, d)
		}
		if s.Locked() { // until somebody who knows that no apply runs removes it
			if err := os.Remove(path.Join(r.dir(), txn.LockKey)); err != nil {
				t.Error(err)
			}
		}
		if err := r.mutate(`update Vessel set { name: "Written After" } where imo = 9000017`); err != nil {
			t.Errorf("%s: %v", s, err)
		}
		stuck.AtRest(t, stuck.StoreOf(t, stuck.Root, stuck.ReadDir(t, r.dir())), "main")
		out, err := r.run("repair", "--json", stuck.Root)
		if err != nil || strings.Count(out, `"classification"`) == 0 || strings.Count(out, `"no_drift"`) != strings.Count(out, `"classification"`) {
			t.Errorf("%s: repair: %v: %s", s, err, out)
		}
		stuck.Clean(t, s.String(), stuck.Graph(t, stuck.StoreOf(t, stuck.Root, stuck.ReadDir(t, r.dir()))))
	}
}

// The Rust CLI's own long load (case 3 of the field), stopped whenever something
// has changed: images of its graph, recovered by us.
func TestStuckLoadOfTheRustEngine(t *testing.T) {
	r := newReference(t, lab.Options{Meter: true, RTT: 10 * time.Millisecond})
	start := stuck.One(t, "load-merge", 0).Base
	stuck.WriteDir(t, r.dir(), start)
	input := t.TempDir() + "/d.jsonl"
	if err := os.WriteFile(input, stuckText(1500), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := r.command("load", "--data", input, "--mode", "append", "--yes", stuck.Root)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	images := r.stopped(cmd.Process, ended)
	finished := stuck.StoreOf(t, stuck.Root, stuck.ReadDir(t, r.dir()))
	old, whole := stuck.RowsOf(t, stuck.Graph(t, stuck.StoreOf(t, stuck.Root, start))), stuck.RowsOf(t, stuck.Graph(t, finished))
	if whole["main"].Rows != old["main"].Rows+3000 {
		t.Fatalf("the load of the Rust CLI: %v", whole)
	}
	seen := map[string]int{}
	for _, image := range images {
		seen[stuckPaused(t, image, old, whole)]++
	}
	if len(images) == 0 || seen["no record"] == len(images) {
		t.Errorf("%d images, none with a record: %v", len(images), seen)
	}
	t.Logf("%d images: %v", len(images), seen)
}

// stopped watches the graph's folder while a process writes, and stops it for a
// copy of the graph whenever its records or the number of its versions changed.
func (r reference) stopped(p *os.Process, ended <-chan error) (images []stuckImage) {
	last := ""
	for {
		select {
		case err := <-ended:
			if err != nil {
				r.t.Errorf("the load of the Rust CLI: %v", err)
			}
			return images
		default:
		}
		files := stuck.ReadDir(r.t, r.dir())
		now := ""
		for _, k := range stuck.SortedKeys(files) {
			if strings.HasPrefix(k, sidecar.Folder) {
				now += fmt.Sprintf("%s %d ", k, len(files[k]))
			} else if strings.HasSuffix(k, ".manifest") {
				now += "."
			}
		}
		if now == last {
			continue
		}
		if err := p.Signal(syscall.SIGSTOP); err != nil {
			continue // it has ended
		}
		last = now
		if image := stuck.ReadDir(r.t, r.dir()); strings.Contains(now, sidecar.Folder) {
			images = append(images, stuckImage{fmt.Sprintf("image %d", len(images)), stuck.StoreOf(r.t, stuck.Root, image), time.Now()})
		}
		if err := p.Signal(syscall.SIGCONT); err != nil {
			continue
		}
	}
}
