package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// program is one of the two command lines that write.
type program struct {
	name, path string
	home       string // where it may keep what it likes
}

// programs are ours and the Rust CLI.
func programs(c config) ([2]program, error) {
	var out [2]program
	rust := os.Getenv("OMNIGRAPH_BIN")
	if rust == "" {
		return out, errors.New("OMNIGRAPH_BIN names no Rust CLI to run beside ours")
	}
	ours, err := filepath.Abs(c.binary)
	if err == nil {
		_, err = os.Stat(ours)
	}
	if err != nil {
		return out, fmt.Errorf("find our binary (make build makes it, -binary names it): %w", err)
	}
	for i, p := range []program{{name: "ours", path: ours}, {name: "the Rust CLI", path: rust}} {
		p.home = filepath.Join(c.dir, fmt.Sprintf("home-%d", i))
		if err := os.MkdirAll(p.home, 0o755); err != nil {
			return out, err
		}
		out[i] = p
	}
	return out, nil
}

// run runs a program once, from its start to its end.
func (p program) run(args ...string) (cost, error) {
	cmd := exec.Command(p.path, args...)
	cmd.Env = append(os.Environ(), "OMNIGRAPH_HOME="+p.home, "XDG_STATE_HOME="+p.home, "XDG_CACHE_HOME="+p.home)
	var said bytes.Buffer
	cmd.Stderr = &said
	start := time.Now()
	err := cmd.Run()
	took := cost{wall: float64(time.Since(start).Microseconds()) / 1e3}
	if err != nil {
		return took, fmt.Errorf("%s %s: %w: %s", p.path, strings.Join(args, " "), err, last(said.String()))
	}
	took.cpu = float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds()) / 1e3
	took.peak = peak(cmd.ProcessState)
	return took, nil
}

// last is the end of what a program said.
func last(s string) string {
	const most = 400
	if s = strings.TrimSpace(s); len(s) > most {
		s = "…" + s[len(s)-most:]
	}
	return s
}

// disk says what folder lies on, where the system tells.
func disk(folder string) string {
	out, err := exec.Command("df", "-T", folder).Output()
	rows := strings.Split(strings.TrimSpace(string(out)), "\n")
	if f := strings.Fields(rows[len(rows)-1]); err == nil && runtime.GOOS == "linux" && len(f) > 2 {
		return f[1] + " on " + f[0]
	}
	return "a disk that is not known"
}
