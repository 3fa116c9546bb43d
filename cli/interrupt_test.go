package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/internal/pace"
)

// TestInterrupted: a run whose context ends says so in a word and exits with
// 130, whichever verb it was.
func TestInterrupted(t *testing.T) {
	for _, v := range pace.Every(t, 8, verbs()) {
		if v.place == onNothing {
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var stdout, stderr bytes.Buffer
		e := Env{Args: line(v), Environ: []string{"OMNIGRAPH_HOME=" + t.TempDir()}, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now}
		code := Run(ctx, e)
		if code != exitInterrupted || !strings.Contains(stderr.String(), "error: interrupted; nothing was written") {
			t.Errorf("%s: exit %d, stderr %q", v.name, code, stderr.String())
		}
	}
}

// TestTimeout: --timeout is an error of its own, not an interruption.
func TestTimeout(t *testing.T) {
	for _, v := range pace.Every(t, 8, verbs()) {
		if v.place == onNothing {
			continue
		}
		r := run(t, line(v, "--timeout", "1ns")...)
		if r.code != exitError || !strings.Contains(r.stderr, "error: gave up after 1ns, as --timeout says") {
			t.Errorf("%s: exit %d, stderr %q", v.name, r.code, r.stderr)
		}
	}
}
