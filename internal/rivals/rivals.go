// Package rivals runs a test's own binary as processes that work against each
// other on one store, for tests of what only processes can show.
package rivals

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

const variable = "OMNIDECK_RIVAL"

// Main is TestMain of a package whose binary is also the rival.
func Main(m *testing.M, rival func(job []string) error) {
	Child(rival)
	os.Exit(m.Run())
}

// Child does, in a process that was started with a job, that job, and ends the
// process; in any other it does nothing. It stands first in a TestMain. Processes
// that the rival starts have no job.
func Child(rival func(job []string) error) {
	job := os.Getenv(variable)
	if job == "" {
		return
	}
	os.Unsetenv(variable)
	if err := rival(strings.Fields(job)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Run starts a process for each job, words with spaces between, all before it
// waits for the first, and returns the lines that each printed. One that fails
// ends the test.
func Run(t testing.TB, jobs ...string) [][]string {
	t.Helper()
	told, killed := RunKilled(t, jobs...)
	if killed > 0 {
		t.Fatalf("%d of %d processes were killed", killed, len(jobs))
	}
	return told
}

// RunKilled is Run of processes that may kill themselves (Die), and says how many
// did: the last line of one that did may be broken off.
func RunKilled(t testing.TB, jobs ...string) (told [][]string, killed int) {
	t.Helper()
	out, procs := make([]bytes.Buffer, len(jobs)), make([]*exec.Cmd, len(jobs))
	for i, job := range jobs {
		procs[i] = exec.CommandContext(t.Context(), os.Args[0])
		procs[i].Env = append(os.Environ(), variable+"="+job)
		procs[i].Stdout, procs[i].Stderr = &out[i], os.Stderr
		if err := procs[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	told = make([][]string, len(jobs))
	for i, p := range procs {
		switch err := p.Wait(); {
		case err != nil && p.ProcessState != nil && !p.ProcessState.Exited():
			killed++
		case err != nil:
			t.Fatalf("process %d: %v", i, err)
		}
		for line := range strings.Lines(out[i].String()) {
			told[i] = append(told[i], strings.TrimSpace(line))
		}
	}
	return told, killed
}

// Life runs one process for a job, and kills it without a word when it is still
// there a time after the first thing that it printed (0 = it is let live). It
// returns the lines: the last of one that was killed may be broken off.
func Life(ctx context.Context, job string, life time.Duration) (lines []string, killed bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &living{begins: func() {
		if life > 0 {
			time.AfterFunc(life, cancel)
		}
	}}
	var said bytes.Buffer
	p := exec.CommandContext(ctx, os.Args[0])
	p.Env = append(os.Environ(), variable+"="+job)
	p.Stdout, p.Stderr = out, &said
	err = p.Run()
	for line := range strings.Lines(out.buf.String()) {
		lines = append(lines, strings.TrimSpace(line))
	}
	switch p := p.ProcessState; {
	case p == nil && ctx.Err() != nil: // before it had begun
		return lines, true, nil
	case p != nil && !p.Exited():
		return lines, true, nil
	case p == nil || !p.Success(): // by itself, even if its time was over then
		return lines, false, fmt.Errorf("%s: %w: %s", job, err, &said)
	}
	return lines, false, nil
}

// living is what a process prints.
type living struct {
	buf    bytes.Buffer
	once   sync.Once
	begins func()
}

func (l *living) Write(p []byte) (int, error) {
	l.once.Do(l.begins)
	return l.buf.Write(p)
}

// Die kills this process, without a word, after a time.
func Die(after time.Duration) {
	time.AfterFunc(after, func() {
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill()
		}
	})
}
