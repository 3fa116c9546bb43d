// Package s3 opens s3://BUCKET/PREFIX, at AWS or at any endpoint that speaks
// S3.
//
// # Settings
//
// Everything comes from the usual AWS environment, files and profiles, loaded
// by the SDK; what the SDK leaves out and the Rust engine's store reads is
// added. In order of precedence:
//
//	endpoint     AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's; else AWS_ENDPOINT
//	region       AWS_REGION, AWS_DEFAULT_REGION, the profile's; else us-east-1
//	path style   AWS_VIRTUAL_HOSTED_STYLE_REQUEST (negated), AWS_S3_FORCE_PATH_STYLE,
//	             AWS_S3_USE_PATH_STYLE; else on exactly when an endpoint is set or the
//	             bucket's name has a dot
//	unsigned     AWS_SKIP_SIGNATURE=true asks without credentials
//	plain http   refused when AWS_ALLOW_HTTP=false
//	attempts     AWS_MAX_ATTEMPTS; else 6
//
// Properties().Facts says what was used, and where the credentials came from
// once a request has needed them. Opening loads settings and sends nothing.
package s3

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/logging"
	cloud "gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/gocloud"
)

// Options of Open.
type Options struct {
	// Getenv looks up the environment variables that the SDK does not read
	// itself; nil = os.LookupEnv.
	Getenv func(string) (string, bool)
	// Connections is the number of requests expected in flight.
	Connections int
	// MaxBackoff bounds the wait between attempts; 0 = 5 s.
	MaxBackoff time.Duration
}

// Open returns the store at bucket and prefix ("" or without '/' at its ends).
func Open(ctx context.Context, bucket, prefix string, opts Options) (*gocloud.Store, error) {
	if opts.MaxBackoff <= 0 {
		opts.MaxBackoff = 5 * time.Second
	}
	fail := func(err error) (*gocloud.Store, error) {
		return nil, fmt.Errorf("open s3://%s/%s: %w", bucket, prefix, err)
	}
	set, err := load(ctx, bucket, opts)
	if err != nil {
		return fail(err)
	}
	client, transport := set.client(opts)
	b, err := s3blob.OpenBucket(ctx, client, bucket, &s3blob.Options{
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
	})
	if err != nil {
		return fail(err)
	}
	d := gocloud.Driver{
		Bucket: b,
		URL:    "s3://" + bucket, Scheme: "s3",
		// Directory buckets list in no order.
		Ordered: !strings.HasSuffix(bucket, "--x-s3"), ConditionalPut: true,
		Delete: func(ctx context.Context, name string) error {
			_, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: &name})
			return err
		},
		Listed: listed,
		ETag:   func(h http.Header) string { return h.Get("ETag") },
		Facts:  set.facts,
		Close:  transport.CloseIdleConnections,

		MaxBackoff: opts.MaxBackoff,
	}
	if prefix != "" {
		d.URL += "/" + prefix
		d.Prefix = prefix + "/"
	}
	return gocloud.New(d), nil
}

func listed(o *cloud.ListObject) (name, etag string) {
	var obj types.Object
	if o.As(&obj) {
		return aws.ToString(obj.Key), aws.ToString(obj.ETag)
	}
	var dir types.CommonPrefix
	if o.As(&dir) {
		return aws.ToString(dir.Prefix), ""
	}
	return o.Key, ""
}

// client makes the S3 client. The configuration was loaded before its HTTP
// client is touched: one given to the loader breaks when AWS_CA_BUNDLE is set.
func (s *settings) client(opts Options) (*s3.Client, *http.Transport) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if b, ok := s.cfg.HTTPClient.(*awshttp.BuildableClient); ok {
		transport = b.GetTransport()
	}
	gocloud.Pool(transport, max(opts.Connections, 64))
	transport.ResponseHeaderTimeout = time.Minute
	dial := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	transport.DialContext = dial.DialContext
	s.cfg.HTTPClient = &http.Client{
		Transport: &gocloud.Transport{Next: transport, Op: op},
		// A redirect means the wrong region or endpoint: it is reported.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s3.NewFromConfig(s.cfg, func(o *s3.Options) {
		o.BaseEndpoint, o.UsePathStyle = s.base, s.pathStyle
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		o.DisableLogOutputChecksumValidationSkipped = true
		o.Logger = logging.Nop{}
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff, o.RateLimiter = s.attempts, opts.MaxBackoff, ratelimit.None
			// Gateways ask for patience with a number that the SDK does not know.
			o.Retryables = append(o.Retryables, retry.RetryableHTTPStatusCode{Codes: map[int]struct{}{http.StatusTooManyRequests: {}}})
		})
	}), transport
}

// op names an S3 request as a proxy in front of the store would.
func op(r *http.Request) blob.Op {
	q := r.URL.Query()
	switch r.Method {
	case http.MethodGet:
		if q.Has("list-type") {
			return blob.OpList
		}
		return blob.OpGet
	case http.MethodHead:
		return blob.OpHead
	case http.MethodDelete:
		return blob.OpDelete
	case http.MethodPut:
		if r.Header.Get("X-Amz-Copy-Source") != "" {
			return blob.OpCopy
		}
		return blob.OpPut
	case http.MethodPost:
		if q.Has("delete") {
			return blob.OpDelete
		}
		return blob.OpPut
	}
	return ""
}

// credentials remembers where credentials came from, and marks their absence
// as what it is.
type credentials struct {
	next   aws.CredentialsProvider
	source atomic.Value // string
}

func (c *credentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	got, err := c.next.Retrieve(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return got, err
		}
		return got, &blob.StoreError{
			Class: blob.ErrPermission, Message: "no usable AWS credentials were found in environment, profile or instance", Err: err,
			Step: "set AWS_PROFILE or keys; AWS_SKIP_SIGNATURE=true reads a public bucket without",
		}
	}
	c.source.Store(got.Source)
	return got, nil
}

func (c *credentials) where() string {
	if s, ok := c.source.Load().(string); ok && s != "" {
		return s
	}
	return "not asked for yet"
}
