package s3_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/gocloud/s3"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// scripted is a store behind faults, and a meter on it.
func scripted(t *testing.T) (*faults, caller, *blob.Meter) {
	t.Helper()
	f := &faults{}
	lab.Test(t, lab.Options{Between: f.between})
	s, err := s3.Open(t.Context(), lab.Bucket, "g", s3.Options{MaxBackoff: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	m := blob.NewMeter(nil, blob.Keep(100))
	return f, caller{t, s, blob.WithMeter(t.Context(), m), func() {}}, m
}

// lose carries a request out and drops the connection instead of answering.
func lose(_ http.ResponseWriter, r *http.Request, real http.Handler) {
	real.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// drop does neither.
func drop(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body)
	panic(http.ErrAbortHandler)
}

var conflict = status(http.StatusConflict, "ConditionalRequestConflict")

// TestAnswersToACreate is case 11 of the cases from the field.
func TestAnswersToACreate(t *testing.T) {
	f, c, m := scripted(t)
	busy := status(http.StatusServiceUnavailable, "SlowDown")
	stored := func(key, want string) {
		t.Helper()
		f.set()
		o, err := c.s.Get(t.Context(), key, blob.All)
		if want == "" {
			if !errors.Is(err, blob.ErrNotExist) {
				t.Errorf("%s: %q, %v; want nothing stored", key, o.Data, err)
			}
		} else if string(o.Data) != want {
			t.Errorf("%s holds %q, %v; want %q", key, o.Data, err, want)
		}
	}
	for _, tt := range []struct {
		name     string
		script   []fault
		want     error // nil: success
		unknown  bool
		stored   string
		requests int64
	}{
		{"one conflict", []fault{{http.MethodPut, 1, conflict}}, nil, false, "new", 2},
		{"conflicts for ever", []fault{{http.MethodPut, -1, conflict}}, blob.ErrUnavailable, false, "", 5},
		{"busy three times", []fault{{http.MethodPut, 3, busy}}, nil, false, "new", 4},
		{"busy for ever", []fault{{http.MethodPut, -1, busy}}, blob.ErrUnavailable, true, "", 6},
		{"taken", []fault{{http.MethodPut, 1, status(http.StatusPreconditionFailed, "PreconditionFailed")}}, blob.ErrExists, false, "", 1},
		{"refused", []fault{{http.MethodPut, 1, status(http.StatusForbidden, "AccessDenied")}}, blob.ErrPermission, false, "", 1},
		{"never heard of", []fault{{http.MethodPut, -1, status(http.StatusNotImplemented, "NotImplemented")}}, blob.ErrUnavailable, false, "", 1},
		{"one answer lost", []fault{{http.MethodPut, 1, lose}}, blob.ErrExists, false, "new", 2}, // ours, to be read back
		{"all answers lost", []fault{{http.MethodPut, -1, lose}}, blob.ErrAmbiguous, true, "new", 6},
		{"lost, then refused", []fault{{http.MethodPut, 1, lose}, {http.MethodPut, 1, status(http.StatusForbidden, "AccessDenied")}},
			blob.ErrPermission, true, "new", 2},
		{"never arrived", []fault{{http.MethodPut, -1, drop}}, blob.ErrAmbiguous, true, "", 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			key := "t/" + tt.name
			before := m.Totals().Requests
			f.set(tt.script...)
			_, err := c.s.PutIfAbsent(c.ctx, key, []byte("new"))
			if tt.want == nil && err != nil || !errors.Is(err, tt.want) || errors.Is(err, blob.ErrAmbiguous) != tt.unknown {
				t.Errorf("%v; want %v, outcome unknown: %v", err, tt.want, tt.unknown)
			}
			if n := m.Totals().Requests - before; n != tt.requests {
				t.Errorf("%d requests, want %d", n, tt.requests)
			}
			stored(key, tt.stored)
		})
	}
	if _, err := c.s.PutIfAbsent(c.ctx, "t/taken", []byte("a")); err != nil {
		t.Fatal(err)
	}
	f.set(fault{http.MethodPut, -1, conflict})
	if _, err := c.s.PutIfAbsent(c.ctx, "t/x", nil); !strings.Contains(err.Error(), "asked 5 times to try again") {
		t.Errorf("the sentence: %v", err)
	}
}

// TestCancelledWhileWriting: the request is out, so nobody knows.
func TestCancelledWhileWriting(t *testing.T) {
	f, c, _ := scripted(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.set(fault{http.MethodPut, 1, func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}})
	_, err := c.s.PutIfAbsent(ctx, "k", []byte("x"))
	if !errors.Is(err, context.Canceled) || !errors.Is(err, blob.ErrAmbiguous) {
		t.Errorf("%v; want cancelled and unknown", err)
	}
}

// TestUnreachable: nothing was sent, so nothing happened.
func TestUnreachable(t *testing.T) {
	s := openAt(t, map[string]string{"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_MAX_ATTEMPTS": "2"})
	_, err := s.PutIfAbsent(t.Context(), "k", nil)
	if !errors.Is(err, blob.ErrUnavailable) || errors.Is(err, blob.ErrAmbiguous) {
		t.Errorf("%v; want unavailable and not unknown", err)
	}
	if _, err = s.Get(t.Context(), "k", blob.All); !errors.Is(err, blob.ErrUnavailable) {
		t.Errorf("Get: %v", err)
	}
}

// TestAnswersToAGet: what was cut is asked for again; a refusal is one, and a
// missing bucket is never a missing object.
func TestAnswersToAGet(t *testing.T) {
	f, c, m := scripted(t)
	body := strings.Repeat("0123456789", 1000)
	c.put("k", body)
	cut := func(w http.ResponseWriter, r *http.Request, real http.Handler) {
		rec := httptest.NewRecorder()
		real.ServeHTTP(rec, r)
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
		panic(http.ErrAbortHandler)
	}
	f.set(fault{http.MethodGet, 2, cut})
	before := m.Totals()
	o, err := c.s.Get(c.ctx, "k", blob.All)
	if err != nil || string(o.Data) != body {
		t.Errorf("after two cut answers: %d bytes, %v", len(o.Data), err)
	}
	if tot := m.Totals(); tot.Requests-before.Requests != 3 || tot.Retries-before.Retries != 2 || tot.BytesRead-before.BytesRead != 20_000 {
		t.Errorf("two cut answers and a whole one: %+v", tot)
	}
	f.set(fault{http.MethodGet, -1, cut})
	if _, err := c.s.Get(c.ctx, "k", blob.All); !errors.Is(err, blob.ErrUnavailable) || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("cut for ever: %v", err)
	}
	f.set(fault{http.MethodGet, -1, status(http.StatusForbidden, "AccessDenied")})
	c.get("k", blob.All, blob.ErrPermission)
	f.set(fault{http.MethodGet, -1, status(http.StatusNotFound, "NoSuchBucket")})
	if _, err := c.s.Get(c.ctx, "k", blob.All); errors.Is(err, blob.ErrNotExist) || !errors.Is(err, blob.ErrUnavailable) {
		t.Errorf("no such bucket: %v", err)
	}
	f.set(fault{http.MethodGet, -1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("X-Amz-Bucket-Region", "eu-central-1")
		w.Header().Set("Location", "http://127.0.0.1:1/")
		w.WriteHeader(http.StatusMovedPermanently)
	}})
	if _, err := c.s.Get(c.ctx, "k", blob.All); errors.Is(err, blob.ErrNotExist) || !strings.Contains(err.Error(), "eu-central-1") {
		t.Errorf("another region: %v", err)
	}
	// A header that promises what cannot be is not believed.
	f.set(fault{http.MethodGet, -1, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Length", strconv.FormatInt(1<<50, 10))
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2026 15:04:05 GMT")
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, "little")
		panic(http.ErrAbortHandler)
	}})
	c.get("k", blob.All, blob.ErrUnavailable)
}

// TestSmallPagesOnly: a store that fails every page of more than 100 keys is
// listed by default, and the failure is an error, not an empty folder.
func TestSmallPagesOnly(t *testing.T) {
	f, c, _ := scripted(t)
	for i := range 5 {
		c.put("t/"+strconv.Itoa(i), "x")
	}
	f.set(fault{http.MethodGet, -1, func(w http.ResponseWriter, r *http.Request, real http.Handler) {
		if n, _ := strconv.Atoi(r.URL.Query().Get("max-keys")); n == 0 || n > 100 {
			status(http.StatusInternalServerError, "InternalError")(w, r, real)
			return
		}
		real.ServeHTTP(w, r)
	}})
	c.list(blob.ListOptions{Prefix: "t/"}, 5)
	for _, err := range c.s.List(c.ctx, blob.ListOptions{Prefix: "t/", PageSize: 101}) {
		c.want("a page of 101", err, blob.ErrUnavailable)
	}
}

// openAt opens a bucket under exactly these settings.
func openAt(t *testing.T, env map[string]string) blob.Store {
	t.Helper()
	clean(t)
	for k, v := range env {
		t.Setenv(k, v)
	}
	s, err := s3.Open(t.Context(), "bucket", "", s3.Options{MaxBackoff: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// clean takes the user's own settings away for one test.
func clean(t *testing.T) {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hush")
}
