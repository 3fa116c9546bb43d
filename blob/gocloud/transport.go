package gocloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"gocloud.dev/gcerrors"

	"github.com/omnideck/omnideck/blob"
)

// Pool sizes an HTTP transport for n requests in flight at one host, so that
// connections are kept rather than made again.
func Pool(t *http.Transport, n int) {
	t.MaxIdleConns = max(t.MaxIdleConns, 2*n)
	t.MaxIdleConnsPerHost = max(t.MaxIdleConnsPerHost, n)
	t.DisableCompression = true // bytes are counted as they come
}

// Transport counts every request that passes through it. Op names the kind of
// a request; one that belongs to no operation of a Store (Op gives "") passes
// uncounted.
//
// An answer whose bytes stop coming for Idle is given up: the header's own
// limit ends with the header.
type Transport struct {
	Next http.RoundTripper
	Op   func(*http.Request) blob.Op
	Idle time.Duration // 0 = a minute
}

// idle is how long an answer may pause.
const idle = time.Minute

// errStalled: an answer began and did not go on.
var errStalled = errors.New("the answer stopped coming")

type operationKey struct{}

// operation is what the transport tells the Store about the requests made for
// one call of the contract.
type operation struct {
	call blob.Call

	mu       sync.Mutex
	attempt  int
	again    bool // the last request failed: the next one is a retry
	cut      bool // the last answer stopped before its end, and is asked for again
	broken   bool // the last answer stopped before its end
	status   int  // of the last answer, 0 when there was none
	header   http.Header
	said     refusal            // what the last answer said, where it is a refusal
	failure  *blob.StoreError   // why there was no answer to the last request
	sent     bool               // the last request left
	unknown  bool               // some request may have taken effect unseen
	pending  *blob.InFlightCall // a listing whose entries are not counted yet
	received int64
}

// RoundTrip sends one request and counts it.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	o, _ := req.Context().Value(operationKey{}).(*operation)
	op := t.Op(req)
	if o == nil || op == "" {
		return t.Next.RoundTrip(req)
	}
	sent := new(atomic.Int64)
	if req.ContentLength <= 0 && req.Body != nil && req.Body != http.NoBody { // length unknown beforehand
		req = req.Clone(req.Context())
		req.Body = &sending{req.Body, sent}
	}
	f := o.start(req, op)
	ctx, cancel := context.WithCancel(req.Context())
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { o.mu.Lock(); o.sent = true; o.mu.Unlock() },
	}))
	resp, err := t.Next.RoundTrip(req)
	o.answered(req, resp, err)
	f.Sent(sent.Load())
	if err != nil {
		cancel()
		f.End(0, 0, noAnswer(req.URL.Host, err))
		return nil, err
	}
	b := &body{ReadCloser: resp.Body, idle: cmp.Or(t.Idle, idle), cancel: cancel, keeps: resp.StatusCode >= 300}
	b.done = func(err error) { o.finish(f, op, resp, b, err) }
	resp.Body = b
	if req.Method == http.MethodHead || resp.ContentLength == 0 {
		b.end(nil)
	}
	return resp, nil
}

func (o *operation) start(req *http.Request, op blob.Op) *blob.InFlightCall {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.endPending(0)
	if o.again || o.cut {
		o.attempt++
	} else {
		o.attempt = 1
	}
	o.again, o.cut, o.broken, o.sent = false, false, false, false
	c := o.call
	c.Op, c.Attempt, c.Written = op, o.attempt, max(req.ContentLength, 0)
	return blob.Begin(req.Context(), c)
}

func (o *operation) answered(req *http.Request, resp *http.Response, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said, o.failure = refusal{}, nil
	if err != nil {
		o.status, o.header, o.again, o.failure = 0, nil, true, noAnswer(req.URL.Host, err)
		o.unknown = o.unknown || o.sent
		return
	}
	o.status, o.header = resp.StatusCode, resp.Header
	o.again = resp.StatusCode >= 300
	o.unknown = o.unknown || resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented
}

// finish is called once the body of an answer was read or given up.
func (o *operation) finish(f *blob.InFlightCall, op blob.Op, resp *http.Response, b *body, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said, o.broken = readRefusal(resp.StatusCode, resp.Header, b.head), err != nil
	if e := o.said.explain(op); e != nil && err == nil {
		err = e
	}
	if op == blob.OpList && err == nil {
		o.pending, o.received = f, b.n
		return
	}
	f.End(b.n, 0, err)
}

// wasCut says that the last answer stopped before its end; the next request
// then counts as another attempt.
func (o *operation) wasCut() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cut = o.broken
	return o.cut
}

// listed ends the call of a listing, of which the entries are now known.
func (o *operation) listed(entries int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.endPending(entries)
}

func (o *operation) endPending(entries int) {
	if o.pending != nil {
		o.pending.End(o.received, entries, nil)
		o.pending = nil
	}
}

// errConflict: a create-only write met another one under way; nothing was
// stored.
var errConflict = errors.New("conditional conflict")

// explain turns an SDK's error into one of the contract, by the status of the
// last answer rather than by the SDK's opinion of it.
func (o *operation) explain(ctx context.Context, err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.explained(ctx, err)
}

func (o *operation) explained(ctx context.Context, err error) error {
	if e := ctx.Err(); e != nil && !errors.Is(err, e) {
		err = fmt.Errorf("%w: %w", e, err)
	}
	e := &blob.StoreError{Class: blob.ErrUnavailable, Message: oneLine(err.Error(), 200), Step: "check the settings of this store"}
	switch {
	case o.status == 0 && ctx.Err() != nil:
		return err // given up
	case o.status == 0 && o.failure != nil:
		e = o.failure
	case o.status == 0: // not sent, as for want of credentials
		var want *blob.StoreError
		if errors.As(err, &want) {
			e, err = want, fmt.Errorf("%w: %w", err, want.Err)
		}
	case o.status < 300:
		// The SDK could not use a good answer: damaged on the way.
		if gcerrors.Code(err) == gcerrors.NotFound {
			return fmt.Errorf("%w: %w", blob.ErrNotExist, err)
		}
		e = badAnswer(o.broken)
	default:
		e = o.said.explain(o.call.Op)
		if o.status == http.StatusConflict && o.call.IfAbsent && gcerrors.Code(err) != gcerrors.FailedPrecondition && e.Class != blob.ErrExists {
			return fmt.Errorf("%w: %w", errConflict, err)
		}
	}
	out := *e
	out.Tries, out.Err = o.attempt, err
	return &out
}

// explainWrite is explain for a call that may have changed the store.
func (o *operation) explainWrite(ctx context.Context, err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	err = o.explained(ctx, err)
	if o.unknown && !errors.Is(err, blob.ErrExists) {
		return fmt.Errorf("%w: %w", blob.ErrAmbiguous, err)
	}
	return err
}

// sending counts what is sent of a body.
type sending struct {
	io.ReadCloser
	n *atomic.Int64
}

func (s *sending) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.n.Add(int64(n))
	return n, err
}

// body counts what is read of an answer, keeps the beginning of a refusal, gives
// up what stops coming, and reports once.
type body struct {
	io.ReadCloser
	n      int64
	head   []byte // of a refusal
	keeps  bool
	idle   time.Duration
	cancel func()
	once   sync.Once
	done   func(error)

	stalled atomic.Bool // it was given up; what came in the same moment is read all the same
}

func (b *body) Read(p []byte) (int, error) {
	t := time.AfterFunc(b.idle, func() { b.stalled.Store(true); b.cancel() })
	n, err := b.ReadCloser.Read(p)
	t.Stop()
	b.n += int64(n)
	if b.keeps {
		b.head = append(b.head, p[:min(n, refusalMax-len(b.head))]...)
	}
	switch {
	case errors.Is(err, io.EOF):
		b.end(nil)
	case err != nil:
		if b.stalled.Load() {
			err = fmt.Errorf("%w for %s (%v)", errStalled, b.idle, err)
		}
		b.end(fmt.Errorf("%w: %w", blob.ErrUnavailable, err))
	}
	return n, err
}

// Close first reads the words of a refusal that the library left.
func (b *body) Close() error {
	for rest := make([]byte, 1024); b.keeps && len(b.head) < refusalMax; {
		if _, err := b.Read(rest); err != nil {
			break
		}
	}
	err := b.ReadCloser.Close()
	b.end(nil)
	return err
}

func (b *body) end(err error) { b.once.Do(func() { b.done(err); b.cancel() }) }
