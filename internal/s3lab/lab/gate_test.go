package lab

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// A request is counted after its answer was read: who settles waits for that, and
// for no request whose answer was cut.
func TestSettledIsWhatPassed(t *testing.T) {
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		if r.URL.Path == "/cut" {
			panic(http.ErrAbortHandler)
		}
	}))
	defer store.Close()
	to, err := url.Parse(store.URL)
	if err != nil {
		t.Fatal(err)
	}
	g := newGate(to)
	defer g.close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for _, path := range []string{"/one", "/two", "/cut"} {
		resp, err := client.Get(g.server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil && path != "/cut" {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	var counted int64
	late := func() (int64, error) { counted++; return counted - 1, nil } // 0, 1, 2 …
	if err := g.settle(late); err != nil || counted != 3 {
		t.Errorf("settled when %d requests were counted, of 2 that passed: %v", counted-1, err)
	}
	g.forget()
	if err := g.settle(func() (int64, error) { return 0, nil }); err != nil {
		t.Errorf("nothing passed since: %v", err)
	}
}
