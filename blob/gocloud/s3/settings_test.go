package s3_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/gocloud/s3"
)

func facts(s blob.Store) string {
	var b strings.Builder
	for _, f := range s.Properties().Facts {
		fmt.Fprintf(&b, "%s: %s; ", f.Name, f.Value)
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func TestSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	config := "[profile lab]\nregion = eu-west-3\nendpoint_url = https://lab.example\n" +
		"[profile svc]\nservices = s\n[services s]\ns3 =\n  endpoint_url = https://svc.example\n"
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "endpoint: AWS; region: us-east-1 (default); path style: false (default)"},
		{map[string]string{"AWS_DEFAULT_REGION": "eu-west-1"},
			"endpoint: AWS; region: eu-west-1 (AWS_DEFAULT_REGION); path style: false (default)"},
		{map[string]string{"AWS_DEFAULT_REGION": "eu-west-1", "AWS_REGION": "eu-west-2"},
			"endpoint: AWS; region: eu-west-2 (AWS_REGION); path style: false (default)"},
		{map[string]string{"AWS_ENDPOINT": "http://127.0.0.1:9/"},
			"endpoint: http://127.0.0.1:9 (AWS_ENDPOINT); region: us-east-1 (default); path style: true (default)"},
		{map[string]string{"AWS_ENDPOINT": "http://a", "AWS_ENDPOINT_URL": "http://b"},
			"endpoint: http://b (AWS_ENDPOINT_URL); region: us-east-1 (default); path style: true (default)"},
		{map[string]string{"AWS_ENDPOINT_URL_S3": "http://user:hush@c/?x=hush", "AWS_ENDPOINT_URL": "http://b"},
			"endpoint: http://c/ (AWS_ENDPOINT_URL_S3); region: us-east-1 (default); path style: true (default)"},
		{map[string]string{"AWS_ENDPOINT_URL": "http://b", "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true"},
			"endpoint: http://b (AWS_ENDPOINT_URL); region: us-east-1 (default); path style: false (AWS_VIRTUAL_HOSTED_STYLE_REQUEST)"},
		{map[string]string{"AWS_S3_FORCE_PATH_STYLE": "1"},
			"endpoint: AWS; region: us-east-1 (default); path style: true (AWS_S3_FORCE_PATH_STYLE)"},
		{map[string]string{"AWS_PROFILE": "lab", "AWS_CONFIG_FILE": file},
			"endpoint: https://lab.example (profile); region: eu-west-3 (profile); path style: true (default); profile: lab (AWS_PROFILE)"},
		{map[string]string{"AWS_PROFILE": "svc", "AWS_CONFIG_FILE": file},
			"endpoint: https://svc.example (profile); region: us-east-1 (default); path style: true (default); profile: svc (AWS_PROFILE)"},
	} {
		t.Run(fmt.Sprint(tt.env), func(t *testing.T) {
			got := facts(openAt(t, tt.env))
			if want := tt.want + "; credentials: not asked for yet"; got != want {
				t.Errorf("facts\n%s, want\n%s", got, want)
			}
			if strings.Contains(got, "hush") {
				t.Errorf("a secret among the facts: %s", got)
			}
		})
	}
}

func TestSettingsRefused(t *testing.T) {
	clean(t)
	t.Setenv("AWS_ENDPOINT", "http://127.0.0.1:9")
	t.Setenv("AWS_ALLOW_HTTP", "false")
	if _, err := s3.Open(t.Context(), "b", "", s3.Options{}); err == nil || !strings.Contains(err.Error(), "AWS_ALLOW_HTTP") {
		t.Errorf("plain http although forbidden: %v", err)
	}
	clean(t)
	t.Setenv("AWS_PROFILE", "missing")
	if _, err := s3.Open(t.Context(), "b", "", s3.Options{}); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a profile that is not there: %v", err)
	}
	if _, err := s3.Open(t.Context(), "", "", s3.Options{}); err == nil {
		t.Error("a bucket without a name was opened")
	}
}

// TestCredentials: where they came from is a fact once they were needed; their
// absence is said at once and is a lack of rights.
func TestCredentials(t *testing.T) {
	var auth []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth = append(auth, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusNotFound)
	}))
	defer srv.Close()
	s := openAt(t, map[string]string{"AWS_ENDPOINT": srv.URL})
	if _, err := s.Head(t.Context(), "k"); !errors.Is(err, blob.ErrNotExist) {
		t.Fatal(err)
	}
	if f := facts(s); !strings.HasSuffix(f, "credentials: EnvConfigCredentials") {
		t.Errorf("facts %s", f)
	}
	s = openAt(t, map[string]string{"AWS_ENDPOINT": srv.URL, "AWS_SKIP_SIGNATURE": "true"})
	if _, err := s.Head(t.Context(), "k"); !errors.Is(err, blob.ErrNotExist) {
		t.Fatal(err)
	}
	if len(auth) != 2 || auth[0] == "" || auth[1] != "" {
		t.Errorf("Authorization %q; want one signed, one not", auth)
	}
	clean(t)
	os.Unsetenv("AWS_ACCESS_KEY_ID")
	os.Unsetenv("AWS_SECRET_ACCESS_KEY")
	t.Setenv("AWS_ENDPOINT", srv.URL)
	none, err := s3.Open(t.Context(), "b", "", s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	m := blob.NewMeter(nil)
	_, err = none.PutIfAbsent(blob.WithMeter(t.Context(), m), "k", nil)
	if !errors.Is(err, blob.ErrPermission) || errors.Is(err, blob.ErrAmbiguous) || !strings.Contains(err.Error(), "no usable AWS credentials") {
		t.Errorf("without credentials: %v", err)
	}
	if m.Totals().Requests != 0 {
		t.Errorf("requests without credentials: %+v", m.Totals())
	}
}

// TestCABundle: a bundle from the environment is trusted through the counting
// transport (decisions 48: the configuration is loaded before its HTTP client
// is wrapped).
func TestCABundle(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
	}))
	defer srv.Close()
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(bundle, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	m := blob.NewMeter(nil)
	ctx := blob.WithMeter(t.Context(), m)
	s := openAt(t, map[string]string{"AWS_ENDPOINT_URL": srv.URL, "AWS_CA_BUNDLE": bundle})
	if _, err := s.Head(ctx, "k"); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("with the bundle: %v", err)
	}
	if n := m.Totals().Requests; n != 1 {
		t.Errorf("%d requests were counted", n)
	}
	s = openAt(t, map[string]string{"AWS_ENDPOINT_URL": srv.URL, "AWS_MAX_ATTEMPTS": "1"})
	if _, err := s.Head(ctx, "k"); !errors.Is(err, blob.ErrUnavailable) {
		t.Errorf("without the bundle: %v", err)
	}
}
