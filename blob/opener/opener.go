// Package opener turns the address of a graph into a blob.Store.
//
//	PATH, file://PATH      a folder (blob/localfs); relative paths are made absolute
//	mem://NAME             a store registered with memstore.Register
//	s3://BUCKET/PREFIX     and gs://, azblob:// alike (blob/gocloud)
//
// Opening sends the store no request and writes nothing. A file URL is
// percent-decoded; a path and a bucket's prefix are taken literally; '#' and
// '?' are parts of the name in all of them.
package opener

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/gocloud"
	"github.com/omnideck/omnideck/blob/gocloud/azure"
	"github.com/omnideck/omnideck/blob/gocloud/gs"
	"github.com/omnideck/omnideck/blob/gocloud/s3"
	"github.com/omnideck/omnideck/blob/localfs"
	"github.com/omnideck/omnideck/blob/memstore"
)

// Option changes how a store is opened.
type Option func(*options)

type options struct {
	inFlight int
	readOnly bool
}

// InFlight bounds the requests in flight; blob.DefaultInFlight unless given.
func InFlight(n int) Option { return func(o *options) { o.inFlight = n } }

// ReadOnly refuses writes before they reach the store.
func ReadOnly() Option { return func(o *options) { o.readOnly = true } }

// Open returns the store at an address.
func Open(ctx context.Context, uri string, opts ...Option) (blob.Store, error) {
	o := options{inFlight: blob.DefaultInFlight}
	for _, f := range opts {
		f(&o)
	}
	s, err := open(ctx, uri, o.inFlight)
	if err != nil {
		return nil, err
	}
	s = blob.Limit(s, o.inFlight)
	if o.readOnly {
		s = blob.ReadOnly(s)
	}
	return s, nil
}

func open(ctx context.Context, uri string, inFlight int) (blob.Store, error) {
	uri = Spelled(uri)
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok || !isScheme(scheme) {
		return localfs.Open(uri)
	}
	switch scheme {
	case "file":
		path, err := filePath(rest)
		if err != nil {
			return nil, fmt.Errorf("open %q: %w", uri, err)
		}
		return localfs.Open(path)
	case "mem":
		s := memstore.Named(rest)
		if s == nil {
			return nil, fmt.Errorf("open %q: no store of that name lives in this process: %w", uri, blob.ErrNotExist)
		}
		return shared{s}, nil
	case "s3", "gs", "azblob":
		bucket, prefix, err := bucketAndPrefix(rest)
		if err != nil {
			return nil, fmt.Errorf("open %q: %w", uri, err)
		}
		return drivers[scheme](ctx, bucket, prefix, inFlight)
	}
	return nil, fmt.Errorf("open %q: unknown kind of store %q; known are a path, file, mem, s3, gs and azblob", uri, scheme)
}

// Spelled is an address in the spelling of this package: the scheme in small
// letters, and file:/PATH, which other programs write, as file:///PATH.
func Spelled(uri string) string {
	if len(uri) > 6 && strings.EqualFold(uri[:6], "file:/") && uri[6] != '/' {
		return "file://" + uri[5:]
	}
	if scheme, rest, ok := strings.Cut(uri, "://"); ok && isScheme(scheme) {
		return strings.ToLower(scheme) + "://" + rest
	}
	return uri
}

// Split parts the address of an object into that of its folder, or of its
// bucket, and its key there. Neither is empty when ok.
func Split(uri string) (folder, key string, ok bool) {
	uri = Spelled(uri)
	scheme, rest, isURL := strings.Cut(uri, "://")
	if isURL && isScheme(scheme) && scheme != "file" {
		bucket, key, _ := strings.Cut(rest, "/")
		return scheme + "://" + bucket, key, bucket != "" && key != ""
	}
	i := strings.LastIndexByte(uri, '/')
	if i < 0 || i == len(uri)-1 {
		return "", "", false
	}
	folder, key = uri[:i+1], uri[i+1:]
	if isURL && scheme == "file" {
		var err error
		if key, err = url.PathUnescape(key); err != nil {
			return "", "", false
		}
	}
	return folder, key, true
}

var drivers = map[string]func(ctx context.Context, bucket, prefix string, inFlight int) (blob.Store, error){
	"s3": func(ctx context.Context, bucket, prefix string, n int) (blob.Store, error) {
		return nonNil(s3.Open(ctx, bucket, prefix, s3.Options{Connections: n}))
	},
	"gs": func(ctx context.Context, bucket, prefix string, n int) (blob.Store, error) {
		return nonNil(gs.Open(ctx, bucket, prefix, gs.Options{Connections: n}))
	},
	"azblob": func(ctx context.Context, bucket, prefix string, n int) (blob.Store, error) {
		return nonNil(azure.Open(ctx, bucket, prefix, azure.Options{Connections: n}))
	},
}

// nonNil keeps a nil pointer from becoming a store.
func nonNil(s *gocloud.Store, err error) (blob.Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// bucketAndPrefix splits what follows the scheme of a bucket's address.
func bucketAndPrefix(rest string) (bucket, prefix string, err error) {
	bucket, prefix, _ = strings.Cut(rest, "/")
	prefix = strings.TrimRight(prefix, "/")
	if bucket == "" {
		return "", "", errors.New("the bucket's name is missing")
	}
	if prefix != "" {
		err = blob.CheckKey(prefix)
	}
	return bucket, prefix, err
}

func isScheme(s string) bool {
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", c)) {
			return false
		}
	}
	return s != ""
}

// filePath is the path that the part of a file URL after file:// names.
func filePath(rest string) (string, error) {
	host, path := "", rest
	if !strings.HasPrefix(rest, "/") {
		host, path, _ = strings.Cut(rest, "/")
		path = "/" + path
	}
	path, err := url.PathUnescape(path)
	if err != nil {
		return "", fmt.Errorf("%w (a literal %% is written %%25 in a file URL)", err)
	}
	return systemPath(runtime.GOOS, host, path)
}

func systemPath(goos, host, path string) (string, error) {
	switch {
	case goos != "windows":
		if host != "" && host != "localhost" {
			return "", fmt.Errorf("%q is taken for the name of another machine; write file:///PATH with an absolute path", host)
		}
		return path, nil
	case host != "" && host != "localhost":
		return `\\` + host + strings.ReplaceAll(path, "/", `\`), nil
	case len(path) > 2 && path[2] == ':':
		return strings.ReplaceAll(path[1:], "/", `\`), nil
	}
	return filepath.FromSlash(path), nil
}

// shared is one holder's view of a named store: closing it leaves the store to
// the others.
type shared struct{ blob.Store }

func (shared) Close() error { return nil }
