package lab

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"time"
)

// gate stands in front of s3meter and knows what s3meter will have counted. That
// counts a request when it has closed the answer, which may be after the client has
// read all of it: who asks then, or makes it forget, misses a request or is given
// one of before.
type gate struct {
	server *httptest.Server
	on     *http.Transport

	mu     sync.Mutex
	inside int   // requests that are not answered
	passed int64 // requests whose answers came to their end, since the last forget
}

func newGate(to *url.URL) *gate {
	g := &gate{on: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 256}}
	pass := forward(to, g.on, func() { g.change(0, 1) })
	g.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.change(1, 0)
		defer g.change(-1, 0)
		pass.ServeHTTP(w, r)
	}))
	return g
}

func (g *gate) close() {
	g.server.Close()
	g.on.CloseIdleConnections()
}

func (g *gate) change(inside int, passed int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside += inside
	g.passed += passed
}

// settle waits until counted, what s3meter has counted, has all that passed. Clients
// are done, or killed.
func (g *gate) settle(counted func() (int64, error)) error {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		g.mu.Lock()
		inside, passed := g.inside, g.passed
		g.mu.Unlock()
		n, err := counted()
		switch {
		case err != nil:
			return err
		case inside == 0 && n >= passed:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("s3meter has counted %d of %d requests, and %d are under way, long after the clients were done", n, passed, inside)
		}
	}
}

func (g *gate) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passed = 0
}

// forward hands requests on unchanged, the Host included, because it is signed. whole
// is told of each answer that came to its end.
func forward(to *url.URL, on *http.Transport, whole func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host, out.RequestURI = to.Scheme, to.Host, ""
		resp, err := on.RoundTrip(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		for k, v := range resp.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(resp.StatusCode)
		if _, err := io.Copy(w, resp.Body); err == nil { // a client that is gone is no concern of ours
			whole()
		}
	})
}
