// Package gocloud puts buckets behind the blob contract: what the stores of
// gocloud.dev/blob have in common. The packages s3, gs and azure below it open
// one kind each.
//
// # Requests
//
// Get, Head, Put, PutIfAbsent and Delete are one request each when nothing goes
// wrong; a listing is one request a page. They are counted in the transport of
// the HTTP client (Transport), so every attempt of the SDK's own retries is a
// blob.Call of its own, with Attempt 2, 3 …, and the numbers are those of a
// proxy in front of the store. Requests for credentials go another way and are
// not counted. ETag, size and time of an object come from the headers of the
// answer that brought its bytes.
//
// # Names
//
// A key is appended to the root's prefix and is the object's name, literally.
// Names that gocloud would rewrite are listed as they are, but refused when
// asked for: control characters, "../" also as the end of a longer segment,
// "__0x", bytes that are not UTF-8, and on azblob also \ " # % ?. Objects whose
// names are no keys (empty segments; the markers that consoles make for
// folders) are passed over in listings.
//
// # Outcome of a write
//
// A write whose last answer is a refusal has not happened. One that was sent
// and got no answer, or an answer in the 500s (but "not implemented"), ends in blob.ErrAmbiguous, also
// when a later attempt failed in another way. A create-only write that meets a
// conditional conflict (409: another one is under way, nothing was stored) is
// tried again a bounded number of times.
//
// # Reading
//
// An answer cut short is asked for again, a bounded number of times. Opening
// sends nothing: read-only credentials are enough for looking.
package gocloud

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	cloud "gocloud.dev/blob"

	"github.com/omnideck/omnideck/blob"
)

// Driver is one kind of bucket: gocloud's, and what gocloud leaves out.
type Driver struct {
	Bucket *cloud.Bucket
	// Prefix is the root inside the bucket: "" or ending in '/'.
	Prefix string
	// Delete sends one DELETE for an object's full name.
	Delete func(ctx context.Context, name string) error
	// Listed gives the name as the store spells it and the ETag of an entry.
	Listed func(o *cloud.ListObject) (name, etag string)
	// ETag finds the ETag in the header of an answer to GET, HEAD or PUT.
	ETag func(h http.Header) string
	// Head finds it in the attributes where the header has another; may be nil.
	Head func(a *cloud.Attributes) string
	// Writing prepares a write where the header has another, and returns what
	// finds the ETag afterwards; may be nil.
	Writing func(opts *cloud.WriterOptions) (written func() string)
	// Facts are asked for each time Properties is: some are known only after
	// the first request.
	Facts func() []blob.Fact
	// Close releases connections.
	Close func()
	// MaxBackoff bounds the wait before a create-only write is sent again.
	MaxBackoff time.Duration

	// Rewritten lists characters that gocloud escapes on this kind of store.
	Rewritten string

	URL            string // of the root, without '/' at its end
	Scheme         string
	Ordered        bool
	ConditionalPut bool
}

// Store is a bucket, or a part of one, behind the contract.
type Store struct{ d Driver }

// New wraps a driver whose HTTP client uses a Transport.
func New(d Driver) *Store { return &Store{d} }

// Properties of the bucket.
func (s *Store) Properties() blob.Properties {
	return blob.Properties{
		URL: s.d.URL, Scheme: s.d.Scheme, Ordered: s.d.Ordered, Remote: true,
		ConditionalPut: s.d.ConditionalPut, Facts: s.d.Facts(),
	}
}

// Close releases the connections.
func (s *Store) Close() error {
	err := s.d.Bucket.Close()
	s.d.Close()
	return err
}

// name is the object's full name of a key.
func (s *Store) name(key string) (string, error) {
	if err := blob.CheckKey(key); err != nil {
		return "", err
	}
	return s.d.Prefix + key, s.literal(s.d.Prefix + key)
}

// literal refuses a name that gocloud would send in other letters.
func (s *Store) literal(name string) error {
	bad := func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(s.d.Rewritten, r) }
	if !utf8.ValidString(name) || strings.ContainsFunc(name, bad) || strings.Contains(name, "../") || strings.Contains(name, "__0x") {
		return fmt.Errorf("%w: %s stores are not asked for %q, because the name would be sent in other letters",
			blob.ErrKey, s.d.Scheme, name)
	}
	return nil
}

func (s *Store) fail(op blob.Op, key string, err error) error {
	if err == nil {
		return nil
	}
	var e *blob.StoreError
	if errors.As(err, &e) {
		e.Facts = s.d.Facts()
	}
	return &blob.OpError{Op: op, Key: key, URL: s.d.URL, Err: err}
}

// begin checks a key and prepares the context of an operation.
func (s *Store) begin(ctx context.Context, c blob.Call) (context.Context, *operation, string, error) {
	name, err := s.name(c.Key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return ctx, nil, "", err
	}
	o := &operation{call: c}
	return context.WithValue(ctx, operationKey{}, o), o, name, nil
}

// Head returns the attributes of an object.
func (s *Store) Head(ctx context.Context, key string) (blob.Attrs, error) {
	ctx, o, name, err := s.begin(ctx, blob.Call{Op: blob.OpHead, Key: key})
	if err != nil {
		return blob.Attrs{}, s.fail(blob.OpHead, key, err)
	}
	a, err := s.d.Bucket.Attributes(ctx, name)
	if err != nil {
		return blob.Attrs{}, s.fail(blob.OpHead, key, o.explain(ctx, err))
	}
	etag := s.d.ETag(o.header)
	if s.d.Head != nil {
		etag = s.d.Head(a)
	}
	return attrs(a.Size, etag, a.ModTime), nil
}

// attrs makes an ETag where the store gave none, as gateways do for files that
// were not put through them: weak, from time and size.
func attrs(size int64, etag string, t time.Time) blob.Attrs {
	if strings.Trim(etag, `"`) == "" {
		etag = fmt.Sprintf(`W/"%x-%x"`, t.Unix(), size)
	}
	return blob.Attrs{Size: size, ETag: etag, ModTime: t}
}

// Delete removes an object; a key that does not exist is success.
func (s *Store) Delete(ctx context.Context, key string) error {
	ctx, o, name, err := s.begin(ctx, blob.Call{Op: blob.OpDelete, Key: key})
	if err != nil {
		return s.fail(blob.OpDelete, key, err)
	}
	err = s.d.Delete(ctx, name)
	if err != nil {
		err = o.explainWrite(ctx, err)
	}
	if errors.Is(err, blob.ErrNotExist) {
		err = nil
	}
	return s.fail(blob.OpDelete, key, err)
}

// Put writes an object.
func (s *Store) Put(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	ctx, o, name, err := s.begin(ctx, blob.Call{Op: blob.OpPut, Key: key})
	var a blob.Attrs
	if err == nil {
		a, err = s.put(ctx, o, name, data)
	}
	return a, s.fail(blob.OpPut, key, err)
}

// conflicts is how often a create-only write that met another one under way is
// sent before the caller is told.
const conflicts = 5

// PutIfAbsent writes an object unless the key is taken.
func (s *Store) PutIfAbsent(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	ctx, o, name, err := s.begin(ctx, blob.Call{Op: blob.OpPut, Key: key, IfAbsent: true})
	var a blob.Attrs
	for attempt := 1; err == nil; attempt++ {
		a, err = s.put(ctx, o, name, data)
		if !errors.Is(err, errConflict) {
			break
		}
		if attempt == conflicts {
			err = fmt.Errorf("%w: the store asked %d times to try again because another create of this key was under way; "+
				"nothing was stored", blob.ErrUnavailable, conflicts)
			break
		}
		// 50, 100, 200, 400 ms, half of it random
		wait := min(time.Duration(25<<attempt)*time.Millisecond, s.d.MaxBackoff)
		err = sleep(ctx, wait/2+rand.N(wait/2+1))
	}
	return a, s.fail(blob.OpPut, key, err)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) put(ctx context.Context, o *operation, name string, data []byte) (blob.Attrs, error) {
	// A buffer larger than the object makes the write one request.
	opts := &cloud.WriterOptions{
		ContentType: "application/octet-stream", IfNotExist: o.call.IfAbsent,
		BufferSize: len(data) + 1, DisableContentTypeDetection: true,
	}
	written := func() string { return s.d.ETag(o.header) }
	if s.d.Writing != nil {
		written = s.d.Writing(opts)
	}
	if err := s.d.Bucket.Upload(ctx, name, newBody(data), opts); err != nil {
		return blob.Attrs{}, o.explainWrite(ctx, err)
	}
	t, err := http.ParseTime(o.header.Get("Last-Modified"))
	if err != nil {
		t = time.Time{} // the store did not say
	}
	return blob.Attrs{Size: int64(len(data)), ETag: written(), ModTime: t}, nil
}
