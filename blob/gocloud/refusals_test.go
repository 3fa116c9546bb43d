package gocloud_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/gocloud"
	"github.com/omnideck/omnideck/blob/gocloud/azure"
	"github.com/omnideck/omnideck/blob/gocloud/gs"
	"github.com/omnideck/omnideck/blob/gocloud/s3"
)

// kinds opens each kind of store at an address, and spells a refusal as it does.
var kinds = []struct {
	name string
	open func(t *testing.T, url string) blob.Store
	body func(code, message string) string
	many int // requests for one that is tried again
}{
	{"s3", openS3, asXML, 2},
	{"gs", openGS, asXML, 6},
	{"azblob", openAzure, asXML, 6},
}

func asXML(code, message string) string {
	return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Error><Code>" + code + "</Code><Message>" + message + "\nRequestId:12345\nTime:2026</Message></Error>"
}

func openS3(t *testing.T, url string) blob.Store {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	for k, v := range map[string]string{
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "hush", "AWS_ENDPOINT_URL": url, "AWS_MAX_ATTEMPTS": "2",
	} {
		t.Setenv(k, v)
	}
	return opened(t)(s3.Open(t.Context(), "box", "g", s3.Options{MaxBackoff: time.Millisecond}))
}

func openGS(t *testing.T, url string) blob.Store {
	t.Setenv("STORAGE_EMULATOR_HOST", url)
	return opened(t)(gs.Open(t.Context(), "box", "g", gs.Options{MaxBackoff: time.Millisecond}))
}

func openAzure(t *testing.T, url string) blob.Store {
	t.Setenv("AZURE_STORAGE_ACCOUNT", "acc")
	t.Setenv("AZURE_STORAGE_KEY", "")
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "")
	t.Setenv("AZURE_STORAGE_SAS_TOKEN", "sv=2024&sig=hush")
	t.Setenv("AZURE_STORAGE_ENDPOINT", url)
	return opened(t)(azure.Open(t.Context(), "box", "g", azure.Options{MaxBackoff: time.Millisecond}))
}

// opened closes a store with its test.
func opened(t *testing.T) func(*gocloud.Store, error) blob.Store {
	return func(s *gocloud.Store, err error) blob.Store {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
}

// asked is what a reading of one object and a listing end in.
func asked(ctx context.Context, s blob.Store) map[blob.Op]error {
	_, get := s.Get(ctx, "t/k", blob.All)
	out := map[blob.Op]error{blob.OpGet: get}
	for _, err := range s.List(ctx, blob.ListOptions{Prefix: "t/"}) {
		out[blob.OpList] = err
	}
	return out
}

// TestRefusals: a refusal is one sentence of what was done, on what, and what
// the store said, whatever the store; the library's words are details.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		status     int
		code, said string
		class      error
		want, step string // of a Get
		again      bool   // it is asked more than once
		list       error  // class of a listing, where it differs
	}{
		{403, "AccessDenied", "Access Denied.", blob.ErrPermission, "permission denied (HTTP 403 AccessDenied): Access Denied.", "check what these credentials may do there", false, nil},
		{403, "SignatureDoesNotMatch", "No match.", blob.ErrPermission, "permission denied (HTTP 403 SignatureDoesNotMatch): No match.", "check the key and its secret", false, nil},
		{403, "RequestTimeTooSkewed", "Too late.", blob.ErrPermission, "permission denied (HTTP 403 RequestTimeTooSkewed): Too late.", "set the clock of this machine", false, nil},
		{401, "", "", blob.ErrPermission, "permission denied (HTTP 401)", "check the credentials", false, nil},
		{400, "ExpiredToken", "Expired.", blob.ErrPermission, "permission denied (HTTP 400 ExpiredToken): Expired.", "renew the credentials", false, nil},
		{404, "NoSuchKey", "No key.", blob.ErrNotExist, "file does not exist (HTTP 404 NoSuchKey)", "", false, blob.ErrUnavailable},
		{404, "NoSuchBucket", "No.", blob.ErrUnavailable, "store unavailable (HTTP 404 NoSuchBucket): there is no such bucket", "check the name of the bucket and the endpoint", false, nil},
		{404, "ContainerNotFound", "No.", blob.ErrUnavailable, "store unavailable (HTTP 404 ContainerNotFound): there is no such bucket", "check the name of the bucket and the endpoint", false, nil},
		{429, "SlowDown", "Slower.", blob.ErrUnavailable, "store unavailable (HTTP 429 SlowDown, asked N times): Slower.", "the store asks for patience: try again a little later", true, nil},
		{503, "SlowDown", "Slower.", blob.ErrUnavailable, "store unavailable (HTTP 503 SlowDown, asked N times): Slower.", "the store asks for patience: try again a little later", true, nil},
		{500, "InternalError", "Oh.", blob.ErrUnavailable, "store unavailable (HTTP 500 InternalError, asked N times): Oh.", "the failure is the store's: try again later", true, nil},
		{502, "", "", blob.ErrUnavailable, "store unavailable (HTTP 502, asked N times)", "the failure is the store's: try again later", true, nil},
	} {
		for _, k := range kinds {
			t.Run(fmt.Sprint(k.name, " ", tt.status, " ", tt.code), func(t *testing.T) {
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "application/xml")
					w.WriteHeader(tt.status)
					if tt.code != "" {
						_, _ = io.WriteString(w, k.body(tt.code, tt.said))
					} else {
						_, _ = io.WriteString(w, "<html><body>nginx</body></html>")
					}
				}))
				defer srv.Close()
				s := k.open(t, srv.URL)
				got := asked(t.Context(), s)
				want := strings.Replace(tt.want, "N times", fmt.Sprint(k.many, " times"), 1)
				if want = "get " + s.Properties().URL + "/t/k: " + want; got[blob.OpGet].Error() != want {
					t.Errorf("said\n%s, want\n%s", got[blob.OpGet], want)
				}
				checkRefusal(t, got[blob.OpGet], tt.class, tt.step)
				if tt.list == nil {
					tt.list = tt.class
				}
				if !errors.Is(got[blob.OpList], tt.list) || tt.list != blob.ErrNotExist && errors.Is(got[blob.OpList], blob.ErrNotExist) {
					t.Errorf("a listing ends in %v, want %v", got[blob.OpList], tt.list)
				}
			})
		}
	}
}

func checkRefusal(t *testing.T, err, class error, step string) {
	t.Helper()
	var e *blob.StoreError
	if !errors.Is(err, class) || !errors.As(err, &e) {
		t.Fatalf("%v: want class %v and a StoreError", err, class)
	}
	if e.Step != step {
		t.Errorf("next step %q, want %q", e.Step, step)
	}
	if d := e.Details(); !strings.Contains(d, "credentials ") || strings.Contains(d, "\n") || strings.Contains(d+err.Error(), "hush") {
		t.Errorf("details %q", d)
	}
}

// TestGoogleJSON: the newer interface of Google says it in JSON.
func TestGoogleJSON(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"error":{"code":403,"message":"me@x does not have storage.objects.list access","errors":[{"reason":"forbidden"}]}}`)
	}))
	defer srv.Close()
	got := asked(t.Context(), openGS(t, srv.URL))[blob.OpList]
	want := "list gs://box/g/t/: permission denied (HTTP 403 forbidden): me@x does not have storage.objects.list access"
	if got.Error() != want {
		t.Errorf("said %v, want %s", got, want)
	}
}

// TestNoAnswer: what keeps an answer from coming is said by the host's name, and
// no signature in an address comes to light.
func TestNoAnswer(t *testing.T) {
	const closed = "127.0.0.1:1" // not one that was free a moment ago, which another test may have by now
	drops := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer drops.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	bare := drops.Listener.Addr().String()
	for _, tt := range []struct{ name, url, want, step string }{
		{"refused", "http://" + closed, closed + " refuses the connection", "check the endpoint and the network"},
		{"dropped", drops.URL, bare + " closed the connection without an answer", "check the endpoint and the network"},
		{"no TLS", "https://" + bare, bare + " does not speak TLS", "check whether the endpoint begins with http:// or https://"},
		{"not trusted", secure.URL, "the certificate of " + secure.Listener.Addr().String() + " is not trusted", "check the endpoint and who vouches for its certificate"},
	} {
		for _, k := range kinds {
			t.Run(k.name+" "+tt.name, func(t *testing.T) {
				for op, err := range asked(t.Context(), k.open(t, tt.url)) {
					if !strings.HasSuffix(err.Error(), ": "+tt.want) || !strings.Contains(err.Error(), "store unavailable") {
						t.Errorf("%s: %v, want %s", op, err, tt.want)
					}
					checkRefusal(t, err, blob.ErrUnavailable, tt.step)
				}
			})
		}
	}
}

// TestListingCutShort: a page that breaks off is asked for again, as an object is.
func TestListingCutShort(t *testing.T) {
	var n atomic.Int32
	page := `<?xml version="1.0"?><ListBucketResult><Contents><Key>g/t/k</Key><Size>5</Size><LastModified>2026-01-02T15:04:05Z</LastModified><ETag>"x"</ETag></Contents></ListBucketResult>`
	cutFor := int32(2)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.Header().Set("Content-Length", fmt.Sprint(len(page)))
		if n.Add(1) <= cutFor {
			_, _ = io.WriteString(w, page[:60])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, page)
	}))
	defer srv.Close()
	s := openS3(t, srv.URL)
	m := blob.NewMeter(nil)
	list := func() (keys string, err error) {
		for e, err := range s.List(blob.WithMeter(t.Context(), m), blob.ListOptions{Prefix: "t/"}) {
			if err != nil {
				return keys, err
			}
			keys += e.Key
		}
		return keys, nil
	}
	if keys, err := list(); keys != "t/k" || err != nil {
		t.Errorf("after two cut pages: %q, %v", keys, err)
	}
	if tot := m.Totals(); tot.Requests != 3 || tot.Retries != 2 {
		t.Errorf("two cut pages and a whole one: %+v", tot)
	}
	cutFor = 1 << 30
	if _, err := list(); !errors.Is(err, blob.ErrUnavailable) || !strings.HasSuffix(err.Error(), "store unavailable (asked 3 times): the answer was cut short") {
		t.Errorf("cut for ever: %v", err)
	}
}
