package gocloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"

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
type Transport struct {
	Next http.RoundTripper
	Op   func(*http.Request) blob.Op
}

type operationKey struct{}

// operation is what the transport tells the Store about the requests made for
// one call of the contract.
type operation struct {
	call blob.Call

	mu       sync.Mutex
	attempt  int
	again    bool // the last request failed: the next one is a retry
	cut      bool // the last answer stopped before its end
	status   int  // of the last answer, 0 when there was none
	header   http.Header
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
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		WroteHeaders: func() { o.mu.Lock(); o.sent = true; o.mu.Unlock() },
	}))
	resp, err := t.Next.RoundTrip(req)
	o.answered(resp, err)
	f.Sent(sent.Load())
	if err != nil {
		f.End(0, 0, fmt.Errorf("%w: %w", blob.ErrUnavailable, err))
		return nil, err
	}
	resp.Body = &body{ReadCloser: resp.Body, done: func(n int64, err error) { o.finish(f, op, resp, n, err) }}
	if req.Method == http.MethodHead || resp.ContentLength == 0 {
		resp.Body.(*body).end(nil)
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
	o.again, o.cut, o.sent = false, false, false
	c := o.call
	c.Op, c.Attempt, c.Written = op, o.attempt, max(req.ContentLength, 0)
	return blob.Begin(req.Context(), c)
}

func (o *operation) answered(resp *http.Response, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.status, o.header, o.again = 0, nil, true
		o.unknown = o.unknown || o.sent
		return
	}
	o.status, o.header = resp.StatusCode, resp.Header
	o.again = resp.StatusCode >= 300
	o.unknown = o.unknown || resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented
}

// finish is called once the body of an answer was read or given up.
func (o *operation) finish(f *blob.InFlightCall, op blob.Op, resp *http.Response, n int64, err error) {
	if err == nil {
		err = statusError(resp.StatusCode, resp.Header)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if op == blob.OpList && err == nil {
		o.pending, o.received = f, n
		return
	}
	f.End(n, 0, err)
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

// statusError is what an HTTP status means to the contract, nil for success.
func statusError(status int, h http.Header) error {
	var class error
	switch {
	case status < 300:
		return nil
	case status == http.StatusNotFound:
		class = blob.ErrNotExist
	case status == http.StatusPreconditionFailed, h.Get("X-Ms-Error-Code") == "BlobAlreadyExists":
		class = blob.ErrExists
	case status == http.StatusRequestedRangeNotSatisfiable:
		class = blob.ErrRange
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		class = blob.ErrPermission
	default:
		class = blob.ErrUnavailable
	}
	return fmt.Errorf("%w (HTTP status %d)", class, status)
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
	var code string
	if ae := interface{ ErrorCode() string }(nil); errors.As(err, &ae) {
		code = ae.ErrorCode()
	}
	switch {
	case o.status == 0:
		if ctx.Err() != nil || errors.Is(err, blob.ErrPermission) {
			return err // given up, or not sent for want of credentials
		}
		return fmt.Errorf("%w: %w", blob.ErrUnavailable, err)
	case o.status < 300:
		// The SDK could not use a good answer: damaged on the way.
		if gcerrors.Code(err) == gcerrors.NotFound {
			return fmt.Errorf("%w: %w", blob.ErrNotExist, err)
		}
		return fmt.Errorf("%w: %w", blob.ErrUnavailable, err)
	case o.status < 400:
		region := o.header.Get("X-Amz-Bucket-Region")
		if region == "" {
			region = "another region or at another endpoint"
		}
		return fmt.Errorf("%w: the bucket lives in %s (HTTP status %d); set AWS_REGION or the endpoint: %w",
			blob.ErrUnavailable, region, o.status, err)
	case code == "NoSuchBucket", code == "ContainerNotFound":
		return fmt.Errorf("%w: there is no such bucket: %w", blob.ErrUnavailable, err)
	case o.status == http.StatusConflict && o.call.IfAbsent && gcerrors.Code(err) != gcerrors.FailedPrecondition:
		return fmt.Errorf("%w: %w", errConflict, err)
	}
	return fmt.Errorf("%w: %w", statusError(o.status, o.header), err)
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

// body counts what is read of an answer and reports once.
type body struct {
	io.ReadCloser
	n    int64
	once sync.Once
	done func(n int64, err error)
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		b.end(nil)
	case err != nil:
		b.end(fmt.Errorf("%w: %w", blob.ErrUnavailable, err))
	}
	return n, err
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.end(nil)
	return err
}

func (b *body) end(err error) { b.once.Do(func() { b.done(b.n, err) }) }
