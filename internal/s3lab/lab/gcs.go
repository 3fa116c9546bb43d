package lab

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// FakeGCS is the module of the emulator that TestGCS runs.
const FakeGCS = "github.com/fsouza/fake-gcs-server@v1.56.1"

// TestGCS runs an emulator of Google Cloud Storage with a bucket called "lab"
// for one test, in an environment that leads clients to it; skipped where the
// binary is missing.
func TestGCS(t testing.TB) {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(root, "bin", "fake-gcs-server")
	if _, err := os.Stat(bin); err != nil {
		t.Skipf("SKIPPED: no emulator of Google Cloud Storage; GOBIN=$PWD/bin go install %s", FakeGCS)
	}
	l := &Lab{}
	t.Cleanup(l.Stop)
	addr, err := l.run(t.Context(), func(addr string) *exec.Cmd {
		host, port, _ := strings.Cut(addr, ":")
		return exec.Command(bin, "-scheme", "http", "-host", host, "-port", port, "-public-host", addr,
			"-backend", "memory", "-log-level", "error")
	})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post("http://"+addr+"/storage/v1/b?project=lab", "application/json", strings.NewReader(`{"name":"lab"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("make a bucket: %s", resp.Status)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", addr)
}
