package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// What a writer of ours leaves that dies, in a folder and in a bucket, the Rust CLI
// recovers to the rows that our recovery leads to, and it finds nothing to repair
// after ours. OMNIDECK_FULL=1 takes every place of each writer.
func TestSweepRecoveredByTheRustEngine(t *testing.T) {
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("SKIPPED: OMNIGRAPH_BIN is not set; the Rust CLI would recover what our writers leave")
	}
	for _, where := range []string{"local", "s3"} {
		t.Run(where, func(t *testing.T) {
			uri, path, env := "", filepath.Join(t.TempDir(), "g"), os.Environ()
			if uri = path; where == "s3" {
				l := lab.Test(t, lab.Options{})
				uri, path = l.URI("library"), l.Path("library")
				for k, v := range l.Env() {
					env = append(env, k+"="+v)
				}
			}
			at := libraryAt(t, uri, path)
			rust := func(args ...string) (string, error) {
				var said strings.Builder
				cmd := exec.CommandContext(t.Context(), bin, args...)
				cmd.Env, cmd.Stderr = env, &said
				out, err := cmd.Output()
				if err != nil {
					err = fmt.Errorf("omnigraph %s: %w: %s", args[0], err, said.String())
				}
				return string(out), err
			}
			for i, w := range append(writers, inTurn) {
				sweptByRust(t, w, at, rust, uint64(i*11+9))
			}
		})
	}
}

// sweptByRust kills one writer at every place that is sampled.
func sweptByRust(t *testing.T, w *writer, at *onDisk, rust func(...string) (string, error), seed uint64) {
	t.Helper()
	one := &sweep{T: t, writer: w, place: at, grace: soon}
	if err := one.begin(); err != nil {
		t.Fatal(err)
	}
	sc := one.scenario()
	sc.Check = func(ctx context.Context, s blob.Store, o *fault.Outcome) error {
		left, err := at.read()
		if err != nil {
			return err
		}
		theirs, err := recoveredByRust(rust, at.uri)
		if err = errors.Join(err, at.put(left)); err != nil {
			return err
		}
		if err := one.check(ctx, s, o); err != nil {
			return err
		}
		ours, _, err := one.rows(s)
		if err != nil {
			return err
		}
		if !slices.Equal(ours, theirs) {
			return fmt.Errorf("the Rust CLI comes to\n%s\nand ours to\n%s", strings.Join(theirs, "\n"), strings.Join(ours, "\n"))
		}
		rep, err := rust("repair", "--json", at.uri)
		if err == nil && strings.Count(rep, `"no_drift"`) != strings.Count(rep, `"classification"`) {
			err = fmt.Errorf("after our recovery the Rust CLI would repair: %s", rep)
		}
		return err
	}
	r, err := sc.Sweep(context.Background(), fault.Plan{Faults: fault.Faults()[:2], Places: sample(2), Seed: seed})
	if err != nil {
		t.Errorf("%s: %v", w.name, err)
	}
	t.Logf("%s\n%s", w.name, r)
}

// recoveredByRust are the rows after the Rust CLI opened the graph for writing, by an
// update that matches nothing.
func recoveredByRust(rust func(...string) (string, error), uri string) ([]string, error) {
	if _, err := rust("mutate", "touch", "-e", `query touch() { update Note set { text: "x" } where text = "nobody" }`, "--store", uri); err != nil {
		return nil, err
	}
	text, err := rust("export", uri)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(mintedID.ReplaceAllString(text, "…"), "\n"), "\n")
	slices.Sort(lines)
	return lines, nil
}
