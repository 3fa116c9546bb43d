package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
)

// Env is what a run can see of the world.
type Env struct {
	Args    []string // without the program's name
	Environ []string // KEY=value
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Now     func() time.Time

	// onFlag, when not nil, is told of every flag that a verb reads.
	onFlag func(verb, flag string)
}

// Main runs the process's command line and returns its exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	return Run(ctx, Env{
		Args: os.Args[1:], Environ: os.Environ(),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now,
	})
}

// Getenv is the value of an environment variable, "" when it is not set.
func (e Env) Getenv(key string) string {
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if kv := e.Environ[i]; len(kv) > len(key) && kv[len(key)] == '=' && kv[:len(key)] == key {
			return kv[len(key)+1:]
		}
	}
	return ""
}

// draws: the stream is a terminal that understands control sequences, which one
// of the kind dumb does not.
func (e Env) draws(stream any) bool { return e.Getenv("TERM") != "dumb" && isTerminal(stream) }

// isTerminal: the stream is a terminal, and not only said to be one.
func isTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(f.Fd())
}
