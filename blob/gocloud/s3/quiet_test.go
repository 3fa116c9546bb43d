package s3_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob/gocloud/s3"
)

// machine answers like a cloud machine that has no role to give, which is what
// the SDK warns about.
func machine(t *testing.T) string {
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	return s.URL
}

// TestNothingOnTheTerminal: the SDK warns on stderr when it looks for
// credentials on a machine that has none; in the workstation that would be
// garbage on the screen. The error says it.
func TestNothingOnTheTerminal(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_EC2_METADATA_DISABLED"} {
		t.Setenv(name, "")
	}
	none := t.TempDir() + "/none"
	t.Setenv("AWS_CONFIG_FILE", none)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", none)
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", machine(t))
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stderr
	os.Stderr = w
	s, err := s3.Open(t.Context(), "bucket", "", s3.Options{MaxBackoff: time.Millisecond})
	if err == nil {
		_, err = s.Head(t.Context(), "key")
		_ = s.Close()
	}
	os.Stderr = old
	if err == nil {
		t.Error("a store without credentials answered")
	}
	_ = w.Close()
	said, readErr := io.ReadAll(r)
	if readErr != nil || len(said) != 0 {
		t.Errorf("on stderr stood %q (%v)", said, readErr)
	}
}
