package cli

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// BenchmarkVersion is what the command line itself costs: commands, flags,
// dispatch.
func BenchmarkVersion(b *testing.B) {
	for b.Loop() {
		if Run(context.Background(), quiet("version")) != exitOK {
			b.Fatal("failed")
		}
	}
}

// BenchmarkInfo is a whole verb on the embedded graph.
func BenchmarkInfo(b *testing.B) {
	for b.Loop() {
		if Run(context.Background(), quiet("info", demoURI, "--json")) != exitOK {
			b.Fatal("failed")
		}
	}
}

func quiet(args ...string) Env {
	return Env{Args: args, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now}
}
