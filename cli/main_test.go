package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/omnideck/omnideck/internal/rivals"
)

func TestMain(m *testing.M) {
	rivals.Child(duelist)
	if os.Getenv("OMNIDECK_TEST_STATE") == "" && strings.HasSuffix(os.Args[0], ".test") {
		dir, err := os.MkdirTemp("", "omnideck-cli")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		os.Setenv("XDG_STATE_HOME", dir)
		os.Setenv("XDG_CACHE_HOME", dir)
	}
	testscript.Main(leakFree{m}, map[string]func(){"omnideck": func() { os.Exit(Main()) }})
}

// leakFree runs the tests and then looks for goroutines that they left.
type leakFree struct{ m *testing.M }

func (l leakFree) Run() int {
	code := l.m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			return 1
		}
	}
	return code
}

// answer is what one run printed and how it ended.
type result struct {
	stdout, stderr string
	code           int
}

// run runs one command line in this process, away from the operator's own
// files.
func run(t testing.TB, args ...string) result {
	t.Helper()
	return runEnv(t, Env{Args: args})
}

func runEnv(t testing.TB, e Env) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	e.Environ = append([]string{"OMNIGRAPH_HOME=" + t.TempDir()}, e.Environ...)
	e.Stdout, e.Stderr = &stdout, &stderr
	if e.Stdin == nil {
		e.Stdin = strings.NewReader("")
	}
	if e.Now == nil {
		e.Now = time.Now
	}
	code := Run(context.WithoutCancel(t.Context()), e)
	return result{stdout.String(), stderr.String(), code}
}

// must fails the test unless the run ended well.
func (r result) must(t testing.TB) string {
	t.Helper()
	if r.code != exitOK {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	return r.stdout
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("OMNIGRAPH_HOME", e.WorkDir+"/operator")
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			e.Setenv("XDG_CACHE_HOME", e.WorkDir+"/cache")
			e.Setenv("NO_COLOR", "")
			return nil
		},
	})
}
