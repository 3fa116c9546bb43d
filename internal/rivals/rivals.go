// Package rivals runs a test's own binary as processes that work against each
// other on one store, for tests of what only processes can show.
package rivals

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const variable = "OMNIDECK_RIVAL"

// Main is TestMain of a package whose binary is also the rival: a process that
// was started with a job does that instead of the tests.
func Main(m *testing.M, rival func(job []string) error) {
	job := os.Getenv(variable)
	if job == "" {
		os.Exit(m.Run())
	}
	if err := rival(strings.Fields(job)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Run starts a process for each job, words with spaces between, all before it
// waits for the first, and returns the lines that each printed. One that fails
// ends the test.
func Run(t testing.TB, jobs ...string) [][]string {
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
	told := make([][]string, len(jobs))
	for i, p := range procs {
		if err := p.Wait(); err != nil {
			t.Fatalf("process %d: %v", i, err)
		}
		for line := range strings.Lines(out[i].String()) {
			told[i] = append(told[i], strings.TrimSpace(line))
		}
	}
	return told
}
