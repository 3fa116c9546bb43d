package gocloud

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
)

// halting is an answer that begins and then says nothing until it is given up.
type halting struct {
	ctx   context.Context
	begun bool
}

func (h *halting) Read(p []byte) (int, error) {
	if !h.begun {
		h.begun = true
		return copy(p, "begun"), nil
	}
	<-h.ctx.Done()
	return 0, h.ctx.Err()
}

func (h *halting) Close() error { return nil }

// late is an answer whose first part comes in the very moment in which it is given
// up.
type late struct {
	halting
}

func (l *late) Read(p []byte) (int, error) {
	if !l.begun {
		<-l.ctx.Done()
	}
	return l.halting.Read(p)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestStalledAnswer: an answer that stops coming ends after a minute as one that
// stopped, not as one that somebody cancelled, and each part that comes begins
// the minute anew.
func TestStalledAnswer(t *testing.T) {
	for name, answer := range map[string]func(context.Context) io.ReadCloser{
		"then nothing":   func(ctx context.Context) io.ReadCloser { return &halting{ctx: ctx} },
		"just then more": func(ctx context.Context) io.ReadCloser { return &late{halting{ctx: ctx}} },
	} {
		t.Run(name, func(t *testing.T) { stalls(t, answer) })
	}
}

func stalls(t *testing.T, answer func(context.Context) io.ReadCloser) {
	synctest.Test(t, func(t *testing.T) {
		tr := &Transport{
			Op: func(*http.Request) blob.Op { return blob.OpGet },
			Next: roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, ContentLength: 100, Body: answer(r.Context())}, nil
			}),
		}
		o := &operation{call: blob.Call{Op: blob.OpGet, Key: "k"}}
		m := blob.NewMeter(nil, blob.Keep(1))
		ctx := context.WithValue(blob.WithMeter(t.Context(), m), operationKey{}, o)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://store/k", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		data, err := io.ReadAll(resp.Body)
		if string(data) != "begun" || !errors.Is(err, errStalled) || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "for 1m0s") {
			t.Errorf("%q, %v; want what came, and that it stopped", data, err)
		}
		if d := time.Since(began); d != time.Minute {
			t.Errorf("given up after %v", d)
		}
		resp.Body.Close()
		if tot := m.Totals(); tot.Failed != 1 || tot.InFlight != 0 || tot.BytesRead != 5 {
			t.Errorf("counted %+v", tot)
		}
	})
}
