// Package gs opens gs://BUCKET/PREFIX, a bucket of Google Cloud Storage, over
// its JSON and XML interfaces.
//
// Credentials are Google's application default ones (GOOGLE_APPLICATION_CREDENTIALS,
// gcloud's, the machine's); GOOGLE_SKIP_SIGNATURE=true asks without. STORAGE_EMULATOR_HOST
// leads to an emulator. Looking for credentials may ask the machine's metadata
// service; opening sends the store nothing.
//
// An ETag here is the object's generation: the ETags that the two interfaces
// give differ, the generation does not, and it changes with every write.
//
// The create-only put (ifGenerationMatch=0) was run against an emulator only,
// so Properties do not call it proven and front ends open the store read-only.
//
// Building with -tags disable_grpc_modules leaves the gRPC half of Google's
// library out; this package never uses it.
package gs

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"
	cloud "gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/option"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/gocloud"
)

// Options of Open.
type Options struct {
	// Connections is the number of requests expected in flight.
	Connections int
	// MaxBackoff bounds the wait between attempts; 0 = 5 s.
	MaxBackoff time.Duration
}

// attempts is how often a request is sent.
const attempts = 6

// Open returns the store at bucket and prefix ("" or without '/' at its ends).
func Open(ctx context.Context, bucket, prefix string, opts Options) (*gocloud.Store, error) {
	if opts.MaxBackoff <= 0 {
		opts.MaxBackoff = 5 * time.Second
	}
	fail := func(err error) (*gocloud.Store, error) {
		return nil, fmt.Errorf("open gs://%s/%s: %w", bucket, prefix, err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	gocloud.Pool(transport, max(opts.Connections, 64))
	transport.ResponseHeaderTimeout = time.Minute
	var rt http.RoundTripper = &gocloud.Transport{Next: transport, Op: op}
	facts, source, err := credentials(ctx)
	if err != nil {
		return fail(err)
	}
	if source != nil {
		rt = &oauth2.Transport{Base: rt, Source: source}
	}
	client, err := storage.NewClient(ctx, option.WithoutAuthentication(), option.WithHTTPClient(&http.Client{Transport: rt}))
	if err != nil {
		return fail(err)
	}
	client.SetRetry(storage.WithMaxAttempts(attempts), storage.WithPolicy(storage.RetryAlways),
		storage.WithBackoff(gax.Backoff{Initial: min(50*time.Millisecond, opts.MaxBackoff), Max: opts.MaxBackoff, Multiplier: 2}))
	b, err := gcsblob.OpenBucket(ctx, nil, bucket, &gcsblob.Options{Client: client})
	if err != nil {
		return fail(err)
	}
	d := gocloud.Driver{
		Bucket: b, URL: "gs://" + bucket, Scheme: "gs", Ordered: true,
		Delete: func(ctx context.Context, name string) error { return client.Bucket(bucket).Object(name).Delete(ctx) },
		Listed: listed,
		ETag:   func(h http.Header) string { return h.Get("X-Goog-Generation") },
		Head: func(a *cloud.Attributes) string {
			var attrs storage.ObjectAttrs
			if !a.As(&attrs) {
				return ""
			}
			return generation(&attrs)
		},
		Writing:    writing,
		Facts:      func() []blob.Fact { return facts },
		Close:      func() { _ = client.Close(); transport.CloseIdleConnections() },
		MaxBackoff: opts.MaxBackoff,
	}
	if prefix != "" {
		d.URL += "/" + prefix
		d.Prefix = prefix + "/"
	}
	return gocloud.New(d), nil
}

func generation(a *storage.ObjectAttrs) string { return strconv.FormatInt(a.Generation, 10) }

func listed(o *cloud.ListObject) (name, etag string) {
	var a storage.ObjectAttrs
	switch {
	case !o.As(&a):
		return o.Key, ""
	case a.Prefix != "":
		return a.Prefix, ""
	}
	return a.Name, generation(&a)
}

func writing(opts *cloud.WriterOptions) func() string {
	var w *storage.Writer
	opts.BeforeWrite = func(as func(any) bool) error {
		as(&w)
		return nil
	}
	return func() string {
		if w == nil || w.Attrs() == nil {
			return ""
		}
		return generation(w.Attrs())
	}
}

// credentials finds the application default ones; nil without an error when
// none are wanted.
func credentials(ctx context.Context) ([]blob.Fact, oauth2.TokenSource, error) {
	if host := os.Getenv("STORAGE_EMULATOR_HOST"); host != "" {
		return []blob.Fact{{Name: "endpoint", Value: host + " (STORAGE_EMULATOR_HOST)"}, {Name: "credentials", Value: "none"}}, nil, nil
	}
	facts := []blob.Fact{{Name: "endpoint", Value: "Google"}}
	if skip, _ := strconv.ParseBool(os.Getenv("GOOGLE_SKIP_SIGNATURE")); skip {
		return append(facts, blob.Fact{Name: "credentials", Value: "none (GOOGLE_SKIP_SIGNATURE)"}), nil, nil
	}
	// Tokens outlive the call that opens the store.
	creds, err := google.FindDefaultCredentials(context.WithoutCancel(ctx), storage.ScopeReadWrite)
	if err != nil {
		return nil, nil, unproven(err)
	}
	where := "application default"
	if f := os.Getenv("GOOGLE_APPLICATION_CREDENTIALS"); f != "" {
		where = "GOOGLE_APPLICATION_CREDENTIALS"
	}
	return append(facts, blob.Fact{Name: "credentials", Value: where}), tokens{creds.TokenSource}, nil
}

// tokens marks the absence of usable credentials as what it is.
type tokens struct{ next oauth2.TokenSource }

// Token implements oauth2.TokenSource.
func (t tokens) Token() (*oauth2.Token, error) {
	tok, err := t.next.Token()
	if err != nil {
		return nil, unproven(err)
	}
	return tok, nil
}

func unproven(err error) error {
	return &blob.StoreError{
		Class: blob.ErrPermission, Message: "no usable Google credentials were found", Err: err,
		Step: "log in with gcloud; GOOGLE_SKIP_SIGNATURE=true reads a public bucket without",
	}
}

// op names a request of either interface.
func op(r *http.Request) blob.Op {
	path := r.URL.EscapedPath()
	_, inBucket, json := strings.Cut(path, "/storage/v1/b/")
	switch {
	case strings.Contains(path, "/upload/storage/"):
		return blob.OpPut
	case r.Method == http.MethodDelete:
		return blob.OpDelete
	case r.Method == http.MethodHead:
		return blob.OpHead
	case r.Method == http.MethodGet && !json:
		return blob.OpGet
	case r.Method == http.MethodGet && strings.HasSuffix(strings.TrimSuffix(inBucket, "/"), "/o"):
		return blob.OpList
	case r.Method == http.MethodGet && r.URL.Query().Get("alt") == "media":
		return blob.OpGet
	case r.Method == http.MethodGet:
		return blob.OpHead
	}
	return blob.OpPut
}
