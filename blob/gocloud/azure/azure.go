// Package azure opens azblob://CONTAINER/PREFIX, a container of Azure Blob
// Storage.
//
// The account is AZURE_STORAGE_ACCOUNT. Credentials are, in this order,
// AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN, AZURE_STORAGE_CONNECTION_STRING
// (which brings its own account), else Azure's default chain. AZURE_STORAGE_ENDPOINT
// replaces the service's address.
//
// No emulator of Azure could be had as a Go module, so this store passed no
// conformance run: Properties do not call its create-only put proven and front
// ends open it read-only.
package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	cloud "gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"

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

// Open returns the store at a container and prefix ("" or without '/' at its
// ends).
func Open(ctx context.Context, name, prefix string, opts Options) (*gocloud.Store, error) {
	if opts.MaxBackoff <= 0 {
		opts.MaxBackoff = 5 * time.Second
	}
	fail := func(err error) (*gocloud.Store, error) {
		return nil, fmt.Errorf("open azblob://%s/%s: %w", name, prefix, err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	gocloud.Pool(transport, max(opts.Connections, 64))
	transport.ResponseHeaderTimeout = time.Minute
	client, facts, err := connect(name, &container.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: &http.Client{Transport: &gocloud.Transport{Next: transport, Op: op}},
		Retry: policy.RetryOptions{
			MaxRetries: 5, RetryDelay: min(50*time.Millisecond, opts.MaxBackoff), MaxRetryDelay: opts.MaxBackoff,
		},
	}})
	if err != nil {
		return fail(err)
	}
	b, err := azureblob.OpenBucket(ctx, client, nil)
	if err != nil {
		return fail(err)
	}
	d := gocloud.Driver{
		Bucket: b, URL: "azblob://" + name, Scheme: "azblob", Ordered: true,
		Delete: func(ctx context.Context, name string) error {
			_, err := client.NewBlobClient(name).Delete(ctx, nil)
			return err
		},
		Listed: listed,
		// Listings spell ETags without the quotes that headers have.
		ETag:       func(h http.Header) string { return strings.Trim(h.Get("ETag"), `"`) },
		Facts:      func() []blob.Fact { return facts },
		Close:      transport.CloseIdleConnections,
		Rewritten:  "\\\"#%?",
		MaxBackoff: opts.MaxBackoff,
	}
	if prefix != "" {
		d.URL += "/" + prefix
		d.Prefix = prefix + "/"
	}
	return gocloud.New(d), nil
}

func listed(o *cloud.ListObject) (name, etag string) {
	var item container.BlobItem
	if o.As(&item) && item.Name != nil {
		if item.Properties != nil && item.Properties.ETag != nil {
			etag = strings.Trim(string(*item.Properties.ETag), `"`)
		}
		return *item.Name, etag
	}
	var dir container.BlobPrefix
	if o.As(&dir) && dir.Name != nil {
		return *dir.Name, ""
	}
	return o.Key, ""
}

// connect makes the client from the environment.
func connect(name string, co *container.ClientOptions) (*container.Client, []blob.Fact, error) {
	account, key := os.Getenv("AZURE_STORAGE_ACCOUNT"), os.Getenv("AZURE_STORAGE_KEY")
	sas, text := os.Getenv("AZURE_STORAGE_SAS_TOKEN"), os.Getenv("AZURE_STORAGE_CONNECTION_STRING")
	endpoint := strings.TrimRight(os.Getenv("AZURE_STORAGE_ENDPOINT"), "/")
	facts := func(where string) []blob.Fact {
		f := []blob.Fact{{Name: "account", Value: account}, {Name: "credentials", Value: where}}
		if endpoint != "" {
			f = append(f, blob.Fact{Name: "endpoint", Value: redacted(endpoint) + " (AZURE_STORAGE_ENDPOINT)"})
		}
		return f
	}
	if account == "" || key == "" && sas == "" && text != "" {
		if text == "" {
			return nil, nil, errors.New("AZURE_STORAGE_ACCOUNT is not set, nor AZURE_STORAGE_CONNECTION_STRING")
		}
		c, err := container.NewClientFromConnectionString(text, name, co)
		return c, []blob.Fact{{Name: "credentials", Value: "AZURE_STORAGE_CONNECTION_STRING"}}, err
	}
	base := endpoint
	if base == "" {
		base = "https://" + account + ".blob.core.windows.net"
	}
	at := base + "/" + url.PathEscape(name)
	switch {
	case key != "":
		cred, err := service.NewSharedKeyCredential(account, key)
		if err != nil {
			return nil, nil, err
		}
		c, err := container.NewClientWithSharedKeyCredential(at, cred, co)
		return c, facts("AZURE_STORAGE_KEY"), err
	case sas != "":
		c, err := container.NewClientWithNoCredential(at+"?"+strings.TrimPrefix(sas, "?"), co)
		return c, facts("AZURE_STORAGE_SAS_TOKEN"), err
	}
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, nil, unproven(err)
	}
	c, err := container.NewClient(at, tokens{cred}, co)
	return c, facts("Azure's default chain"), err
}

// tokens marks the absence of usable credentials as what it is.
type tokens struct{ next azcore.TokenCredential }

// GetToken implements azcore.TokenCredential.
func (t tokens) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	tok, err := t.next.GetToken(ctx, o)
	if err != nil && ctx.Err() == nil {
		err = unproven(err)
	}
	return tok, err
}

func unproven(err error) error {
	return &blob.StoreError{
		Class: blob.ErrPermission, Message: "no usable Azure credentials were found", Err: err,
		Step: "set AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, or log in with az",
	}
}

func redacted(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "(not a URL)"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// op names a request of the Blob service.
func op(r *http.Request) blob.Op {
	comp := r.URL.Query().Get("comp")
	switch r.Method {
	case http.MethodGet:
		if comp == "list" {
			return blob.OpList
		}
		return blob.OpGet
	case http.MethodHead:
		return blob.OpHead
	case http.MethodDelete:
		return blob.OpDelete
	case http.MethodPut:
		if r.Header.Get("X-Ms-Copy-Source") != "" {
			return blob.OpCopy
		}
		return blob.OpPut
	}
	return ""
}
