package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

//go:embed peer.py
var script string

// peer is a Python process with pylance.
type peer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// processors is the list of the first n processors, for taskset.
func processors(n int) string {
	var ids []string
	for i := range n {
		ids = append(ids, strconv.Itoa(i))
	}
	return strings.Join(ids, ",")
}

// bind binds this process, and those that it starts, to n processors. It
// tells whether it could.
func bind(n int) bool {
	tool, err := exec.LookPath("taskset")
	if err != nil || runtime.GOOS != "linux" {
		return false
	}
	return exec.Command(tool, "-a", "-p", "-c", processors(n), strconv.Itoa(os.Getpid())).Run() == nil
}

func startPeer(c config) (*peer, error) {
	python := os.Getenv("OMNIDECK_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return nil, err
	}
	cmd := exec.Command(python, "-c", script)
	threads := strconv.Itoa(c.threads)
	cmd.Env = append(os.Environ(), "LANCE_CPU_THREADS="+threads, "OMP_NUM_THREADS="+threads)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s, which OMNIDECK_PYTHON may name: %w", python, err)
	}
	return &peer{cmd, in, bufio.NewReader(out)}, nil
}

func (p *peer) stop() {
	p.in.Close()
	_ = p.cmd.Wait() // its answers were read; how it ends says nothing more
}

// ask sends a command and reads the answer.
func (p *peer) ask(args ...any) (map[string]any, error) {
	if _, err := fmt.Fprintln(p.in, args...); err != nil {
		return nil, fmt.Errorf("pylance is not there (is it installed in the interpreter?): %w", err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("pylance did not answer %v (is it installed in the interpreter?): %w", args, err)
	}
	var out map[string]any
	return out, json.Unmarshal(line, &out)
}

// time asks for the cost of something.
func (p *peer) time(args ...any) (cost, error) {
	out, err := p.ask(args...)
	if err != nil {
		return cost{}, err
	}
	return costOf(out)
}

// costOf is the cost in an answer.
func costOf(out map[string]any) (cost, error) {
	ms, ok := out["ms"].(float64)
	busy, ok2 := out["cpu"].(float64)
	if !ok || !ok2 {
		return cost{}, fmt.Errorf("no time in the answer %v", out)
	}
	return cost{wall: ms, cpu: busy}, nil
}
