package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Versitygw is the module that the endpoint is built from.
const Versitygw = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"

// Root is the folder of go.mod, above the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, e := os.Stat(filepath.Join(dir, "go.mod")); e == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = up
	}
	return "", err
}

// BuildEndpoint puts versitygw into bin unless it is there.
func BuildEndpoint(ctx context.Context, bin string) error {
	if _, err := os.Stat(filepath.Join(bin, "versitygw")); err == nil {
		return nil
	}
	cmd := exec.CommandContext(ctx, "go", "install", Versitygw)
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go install %s: %w", Versitygw, err)
	}
	return nil
}

// BuildMeter puts s3meter into bin unless the one there is newer than its
// source, which is read only. fs.ErrNotExist: shared/ is not here.
func BuildMeter(ctx context.Context, root, bin string) error {
	src := filepath.Join(root, "..", "shared", "oracle", "s3meter")
	from, err := os.Stat(filepath.Join(src, "main.go"))
	if err != nil {
		return err
	}
	to := filepath.Join(bin, "s3meter")
	if have, err := os.Stat(to); err == nil && have.ModTime().After(from.ModTime()) {
		return nil
	}
	tmp, err := os.MkdirTemp("", "s3meter")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(tmp, "s3meter"), ".")
	cmd.Dir = src
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build s3meter: %w\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(tmp, "s3meter"))
	if err != nil {
		return err
	}
	// Several test processes may be here at once: rename, never write in place.
	part := fmt.Sprintf("%s.%d", to, os.Getpid())
	if err := os.WriteFile(part, data, 0o755); err != nil {
		return err
	}
	return os.Rename(part, to)
}

// Test runs the endpoint for one test, in an environment that leads clients to
// it. Where a binary is missing the test is skipped and says how to get it.
func Test(t testing.TB, opts Options) *Lab {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(root, "bin")
	if _, err := os.Stat(filepath.Join(bin, "versitygw")); err != nil {
		t.Skipf("SKIPPED: no S3 endpoint in %s; `make s3` builds it, or GOBIN=$PWD/bin go install %s", bin, Versitygw)
	}
	if opts.Meter {
		switch err := BuildMeter(t.Context(), root, bin); {
		case errors.Is(err, fs.ErrNotExist):
			t.Skipf("SKIPPED: the counting proxy's source is missing: %v", err)
		case err != nil:
			t.Fatal(err)
		}
	}
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	l, err := Start(t.Context(), bin, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Stop)
	for k, v := range l.Env() {
		t.Setenv(k, v)
	}
	for _, k := range []string{"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION", "AWS_SKIP_SIGNATURE", "AWS_CA_BUNDLE"} {
		t.Setenv(k, "") // and back again at the end of the test
		os.Unsetenv(k)
	}
	return l
}
