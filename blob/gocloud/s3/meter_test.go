package s3_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/gocloud/s3"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// faults stands between the client and the endpoint and answers in its stead
// as scripted.
type faults struct {
	mu     sync.Mutex
	script []fault
}

type fault struct {
	method string
	times  int // -1: always
	answer func(w http.ResponseWriter, r *http.Request, real http.Handler)
}

func (f *faults) set(script ...fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = script
}

func (f *faults) between(real http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		answer := real.ServeHTTP
		for i := range f.script {
			if s := &f.script[i]; s.method == r.Method && s.times != 0 {
				s.times--
				answer = func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, real) }
				break
			}
		}
		f.mu.Unlock()
		answer(w, r)
	})
}

// status answers with an S3 error.
func status(code int, name string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		body := fmt.Sprintf("<Error><Code>%s</Code><Message>scripted</Message></Error>", name)
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(code)
		if r.Method != http.MethodHead {
			fmt.Fprint(w, body)
		}
	}
}

// together answers no request before n are there.
func together(n int) func(http.ResponseWriter, *http.Request, http.Handler) {
	var there atomic.Int64
	all := make(chan struct{})
	return func(w http.ResponseWriter, r *http.Request, real http.Handler) {
		if there.Add(1) == int64(n) {
			close(all)
		}
		select {
		case <-all:
			real.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}
}

// TestCountsEqualTheProxy: what the meter says, request for request, is what an
// independent proxy saw: operations, keys, bytes, retries. So is the longest
// chain: every request of mix waits for the one before, but for the last ones,
// which are under way together. s3meter notes the end of a request after the client
// may have begun the next, so that only calls between which it is asked are sure
// to count there.
func TestCountsEqualTheProxy(t *testing.T) {
	f := &faults{}
	l := lab.Test(t, lab.Options{Meter: true, Between: f.between})
	s, err := s3.Open(t.Context(), lab.Bucket, "g", s3.Options{MaxBackoff: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if st := stats(t, l); st.Requests != 0 {
		t.Fatalf("opening sent %d requests", st.Requests)
	}
	m := blob.NewMeter(nil, blob.Keep(1000))
	calls := 0
	mix(caller{t, s, blob.WithMeter(t.Context(), m), func() {
		calls++
		stats(t, l)
	}}, f)
	compare(t, l, m)
	hops, st := m.Totals().Hops, stats(t, l)
	if want := int(st.Requests) - beside + 1; hops != want || st.SerialDepth > want || st.SerialDepth < calls+1 {
		t.Errorf("the longest chain is %d to the meter and %d to the proxy, want %d, and to the proxy at least %d", hops, st.SerialDepth, want, calls+1)
	}
}

// beside is how many requests mix has under way at once in the end.
const beside = 30

// mix is a mixture of everything, with faults.
func mix(s caller, f *faults) {
	for i := range 12 {
		s.put(fmt.Sprintf("t/_versions/%02d.manifest", i), strings.Repeat("m", 100*i))
	}
	s.putIfAbsent("t/data/a b%41ü.lance", strings.Repeat("d", 70_000), nil)
	s.putIfAbsent("t/data/a b%41ü.lance", "again", blob.ErrExists)
	s.get("t/data/a b%41ü.lance", blob.All, nil)
	s.get("t/data/a b%41ü.lance", blob.Range{Off: 60_000, Len: 20_000}, nil)
	s.get("t/data/a b%41ü.lance", blob.Range{Off: 70_000, Len: 1}, blob.ErrRange)
	s.get("t/none", blob.All, blob.ErrNotExist)
	s.head("t/_versions/03.manifest", nil)
	s.head("t/none", blob.ErrNotExist)
	s.list(blob.ListOptions{Prefix: "t/_versions/", PageSize: 5}, 12)
	s.list(blob.ListOptions{Prefix: "t/"}, 2)
	s.list(blob.ListOptions{Prefix: "t/", Recursive: true, PageSize: 100}, 13)
	s.list(blob.ListOptions{Prefix: "none/"}, 0)
	s.delete("t/_versions/00.manifest")
	s.delete("t/none")

	busy := status(http.StatusServiceUnavailable, "SlowDown")
	f.set(fault{http.MethodGet, 3, busy})
	s.get("t/_versions/03.manifest", blob.All, nil)
	f.set(fault{http.MethodGet, 2, busy})
	s.list(blob.ListOptions{Prefix: "t/", PageSize: 1}, 2)
	f.set(fault{http.MethodHead, 1, busy})
	s.head("t/_versions/03.manifest", nil)
	f.set(fault{http.MethodPut, 2, status(http.StatusInternalServerError, "InternalError")})
	s.put("t/retried", "x")
	f.set(fault{http.MethodPut, 2, status(http.StatusConflict, "ConditionalRequestConflict")})
	s.putIfAbsent("t/conflict", "x", nil)
	f.set(fault{http.MethodDelete, 1, busy})
	s.delete("t/retried")
	f.set(fault{http.MethodGet, -1, together(beside)})
	s.after = func() {}
	var wg sync.WaitGroup
	for i := range beside {
		wg.Go(func() { s.get(fmt.Sprintf("t/_versions/%02d.manifest", 1+i%11), blob.All, nil) })
	}
	wg.Wait()
}

// compare is what the proxy saw and what the meter says.
func compare(t *testing.T, l *lab.Lab, m *blob.Meter) {
	t.Helper()
	tot, st := m.Totals(), stats(t, l)
	if st.Requests != tot.Requests || st.BytesRead != tot.BytesRead || st.BytesWritten != tot.BytesWritten {
		t.Errorf("the proxy saw %d requests, %d bytes down, %d up; the meter says %d, %d, %d",
			st.Requests, st.BytesRead, st.BytesWritten, tot.Requests, tot.BytesRead, tot.BytesWritten)
	}
	for _, op := range blob.Ops {
		if st.Ops[string(op)] != tot.Ops[op] {
			t.Errorf("%s: the proxy saw %d, the meter says %d", op, st.Ops[string(op)], tot.Ops[op])
		}
	}
	log, err := l.Log()
	if err != nil {
		t.Fatal(err)
	}
	var theirs, ours []string
	for _, r := range log {
		key := strings.TrimPrefix(strings.TrimPrefix(r.Key, "lab/?g/"), "lab/g/")
		theirs = append(theirs, fmt.Sprintf("%s %s %s up %d down %d", r.Op, key, r.Range, r.ReqBytes, r.ResBytes))
	}
	retries := 0
	for _, c := range m.Calls() {
		rng := ""
		if c.Op == blob.OpGet && c.Range != blob.All {
			rng = fmt.Sprintf("bytes=%d-%d", c.Range.Off, c.Range.Off+c.Range.Len-1)
		}
		ours = append(ours, fmt.Sprintf("%s %s %s up %d down %d", c.Op, c.Key, rng, c.Written, c.Read))
		if c.Attempt > 1 {
			retries++
		}
	}
	slices.Sort(theirs)
	slices.Sort(ours)
	if !slices.Equal(theirs, ours) {
		t.Errorf("the proxy's log and the meter's differ:\n%s\n---\n%s", strings.Join(theirs, "\n"), strings.Join(ours, "\n"))
	}
	if retries != 11 || tot.Retries != 11 {
		t.Errorf("%d retries, %d in the totals, want 3+2+1+2+2+1", retries, tot.Retries)
	}
	t.Logf("%d requests, %d retries, %d bytes down, %d up, hops %d (proxy: %d)",
		tot.Requests, tot.Retries, tot.BytesRead, tot.BytesWritten, tot.Hops, st.SerialDepth)
}

func stats(t *testing.T, l *lab.Lab) lab.Stats {
	t.Helper()
	st, err := l.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// caller calls a store and demands an outcome.
type caller struct {
	t     *testing.T
	s     blob.Store
	ctx   context.Context
	after func() // each call
}

func (c caller) want(what string, err, want error) {
	c.t.Helper()
	c.after()
	if !errors.Is(err, want) || want == nil && err != nil {
		c.t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func (c caller) put(key, data string) {
	c.t.Helper()
	_, err := c.s.Put(c.ctx, key, []byte(data))
	c.want("put "+key, err, nil)
}

func (c caller) putIfAbsent(key, data string, want error) {
	c.t.Helper()
	_, err := c.s.PutIfAbsent(c.ctx, key, []byte(data))
	c.want("create "+key, err, want)
}

func (c caller) get(key string, r blob.Range, want error) {
	c.t.Helper()
	_, err := c.s.Get(c.ctx, key, r)
	c.want("get "+key, err, want)
}

func (c caller) head(key string, want error) {
	c.t.Helper()
	_, err := c.s.Head(c.ctx, key)
	c.want("head "+key, err, want)
}

func (c caller) delete(key string) {
	c.t.Helper()
	c.want("delete "+key, c.s.Delete(c.ctx, key), nil)
}

func (c caller) list(opts blob.ListOptions, want int) {
	c.t.Helper()
	n := 0
	var bad error
	for _, err := range c.s.List(c.ctx, opts) {
		bad = errors.Join(bad, err)
		n++
	}
	c.want("list "+opts.Prefix, bad, nil)
	if n != want {
		c.t.Errorf("list %+v: %d entries, want %d", opts, n, want)
	}
}
