package azure

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
)

// wire answers like the one of Azure, the same every time, and keeps what it
// was asked: the method, the path, and what a listing or a condition asks.
type wire struct{ asked []string }

func (s *wire) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	s.asked = append(s.asked, r.Method+" "+r.URL.Path+" "+r.URL.Query().Get("comp")+r.Header.Get("If-None-Match"))
	w.Header().Set("ETag", `"0x8D"`)
	w.Header().Set("Last-Modified", "Mon, 02 Jan 2026 15:04:05 GMT")
	w.Header().Set("x-ms-creation-time", "Mon, 02 Jan 2026 15:04:05 GMT")
	switch {
	case strings.HasSuffix(r.URL.Path, "/taken"):
		w.Header().Set("x-ms-error-code", "BlobAlreadyExists")
		w.WriteHeader(http.StatusConflict)
	case strings.HasSuffix(r.URL.Path, "/none"):
		w.Header().Set("x-ms-error-code", "BlobNotFound")
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodPut:
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusAccepted)
	case r.URL.Query().Get("comp") == "list":
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprint(w, `<?xml version="1.0"?><EnumerationResults><Blobs><BlobPrefix><Name>root/t/d/</Name></BlobPrefix>`+
			`<Blob><Name>root/t/k</Name><Properties><Last-Modified>Mon, 02 Jan 2026 15:04:05 GMT</Last-Modified><Etag>0x8D</Etag>`+
			`<Content-Length>5</Content-Length></Properties></Blob></Blobs><NextMarker/></EnumerationResults>`)
	default:
		w.Header().Set("Content-Length", "5")
		_, _ = io.WriteString(w, "value")
	}
}

// TestWire checks our side of the wire against scripted answers: one request
// an operation, counted, with the ETag that a listing would spell. It is no
// substitute for a conformance run, for which no emulator could be had.
func TestWire(t *testing.T) {
	var sent wire
	srv := httptest.NewServer(&sent)
	defer srv.Close()
	t.Setenv("AZURE_STORAGE_ACCOUNT", "acc")
	t.Setenv("AZURE_STORAGE_KEY", base64.StdEncoding.EncodeToString([]byte("hush")))
	t.Setenv("AZURE_STORAGE_ENDPOINT", srv.URL)
	s, err := Open(t.Context(), "box", "root", Options{MaxBackoff: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := blob.NewMeter(nil, blob.Keep(20))
	ctx := blob.WithMeter(t.Context(), m)
	if a, err := s.PutIfAbsent(ctx, "t/k", []byte("value")); err != nil || a.ETag != "0x8D" {
		t.Errorf("create: %+v, %v", a, err)
	}
	if _, err := s.PutIfAbsent(ctx, "taken", nil); !errors.Is(err, blob.ErrExists) || errors.Is(err, blob.ErrAmbiguous) {
		t.Errorf("create over another: %v", err)
	}
	if o, err := s.Get(ctx, "t/k", blob.All); err != nil || string(o.Data) != "value" || o.ETag != "0x8D" || o.Size != 5 {
		t.Errorf("get: %+v, %v", o, err)
	}
	if _, err := s.Get(ctx, "none", blob.All); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("get of nothing: %v", err)
	}
	if a, err := s.Head(ctx, "t/k"); err != nil || a.ETag != "0x8D" {
		t.Errorf("head: %+v, %v", a, err)
	}
	listed := ""
	for e, err := range s.List(ctx, blob.ListOptions{Prefix: "t/"}) {
		listed += fmt.Sprint(e.Key, " ", e.ETag, " ", err, "; ")
	}
	if listed != "t/d  <nil>; t/k 0x8D <nil>; " {
		t.Errorf("listed %s", listed)
	}
	if err := s.Delete(ctx, "none"); err != nil {
		t.Errorf("delete of nothing: %v", err)
	}
	if _, err := s.Get(ctx, "_refs/f%2Fx.json", blob.All); !errors.Is(err, blob.ErrKey) {
		t.Errorf("a name that would be rewritten: %v", err)
	}
	want := "PUT /box/root/t/k *; PUT /box/root/taken *; GET /box/root/t/k ; GET /box/root/none ; HEAD /box/root/t/k ; GET /box list; DELETE /box/root/none "
	if got := strings.Join(sent.asked, "; "); got != want {
		t.Errorf("sent\n%s, want\n%s", got, want)
	}
	tot := m.Totals()
	if fmt.Sprint(tot.Ops) != "map[delete:1 get:2 head:1 list:1 put:2]" || tot.Retries != 0 || tot.Failed != 0 {
		t.Errorf("counted %+v", tot)
	}
	p := s.Properties()
	if p.ConditionalPut || p.URL != "azblob://box/root" || strings.Contains(fmt.Sprint(p.Facts), "hush") {
		t.Errorf("properties %+v", p)
	}
}

func TestWithoutAnAccount(t *testing.T) {
	for _, name := range []string{"AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_CONNECTION_STRING"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	if _, err := Open(t.Context(), "box", "", Options{}); err == nil || !strings.Contains(err.Error(), "AZURE_STORAGE_ACCOUNT") {
		t.Errorf("without an account: %v", err)
	}
}
