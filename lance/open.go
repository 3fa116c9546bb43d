package lance

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/format"
)

// OpenOptions say which version of a dataset to open, and how. The zero value
// opens the latest version of main.
type OpenOptions struct {
	Branch  string // "" or "main" = main
	Version uint64 // 0 = latest

	Allocator   memory.Allocator // nil = memory.DefaultAllocator
	Parallelism int              // objects fetched side by side; 0 = 64
	Decoders    int              // goroutines that decode one large file; 0 = GOMAXPROCS
	Texts       *TextMemory      // of columns that FindText reads; nil = nothing is remembered

	// OpenBase opens a folder outside the dataset that a manifest records as a
	// base path, given the path as recorded. nil refuses, with a message that
	// says where the file was expected. The caller keeps the store open for as
	// long as the snapshot is used.
	OpenBase func(ctx context.Context, path string) (store blob.Store, root string, err error)

	// External reads n bytes from offset off of the object that an external
	// blob names (n < 0: to its end). nil refuses.
	External func(ctx context.Context, uri string, off, n int64) ([]byte, error)
}

// Limits of what is read at once.
const (
	defaultParallelism = 64
	smallRemote        = 1 << 20   // bytes of a data file that is fetched whole
	smallLocal         = 256 << 10 //
	coalesceRemote     = 128 << 10 // ranges closer than so many bytes are one request
	listPage           = blob.DefaultPageSize
	maxOlder           = 16 // manifests tried below a damaged one
	maxRelist          = 3  // times that a listing is repeated when it was overtaken
)

// env is what all snapshots of one call share.
type env struct {
	store blob.Store
	url   string // of the store
	root  string // prefix of the main root
	opts  OpenOptions
	small int64
	merge int64 // gap up to which ranges are one request; 0 = as package file thinks
}

func newEnv(store blob.Store, root string, opts OpenOptions) *env {
	p := store.Properties()
	e := &env{store: store, url: p.URL, root: root, opts: opts, small: smallRemote}
	if p.Scheme == "file" {
		e.small = smallLocal
	}
	if p.Remote {
		e.merge = coalesceRemote
	}
	if e.opts.Parallelism <= 0 {
		e.opts.Parallelism = defaultParallelism
	}
	if e.opts.Allocator == nil {
		e.opts.Allocator = memory.DefaultAllocator
	}
	if e.opts.Branch == "main" {
		e.opts.Branch = ""
	}
	return e
}

// dir is the folder of the branch.
func (e *env) dir() string { return format.Join(e.root, format.BranchDir(e.opts.Branch)) }

// versionsDir is the folder of its manifests, with the slash that a listing
// needs.
func (e *env) versionsDir() string { return format.Join(e.dir(), format.VersionsDir) + "/" }

// at says where, for messages.
func (e *env) at() string {
	if e.opts.Branch == "" {
		return format.Join(e.url, e.root)
	}
	return fmt.Sprintf("%s, branch %s", format.Join(e.url, e.root), e.opts.Branch)
}

// Open opens one version of the dataset whose objects begin with root in
// store. It does not ask whether a ref names the branch: a folder of a branch
// without a ref opens like any other (see package refs).
//
// Errors: NotFoundError when there is no such dataset, branch or version;
// DamagedManifestError when the manifest is there but cannot be understood;
// MixedNamingError when the listing does not say which version is the newest;
// one wrapping format.ErrUnsupported for a table that demands what this
// program does not know; those of the store.
func Open(ctx context.Context, store blob.Store, root string, opts OpenOptions) (*Snapshot, error) {
	e := newEnv(store, root, opts)
	if opts.Version == 0 {
		return e.latest(ctx)
	}
	return e.version(ctx, opts.Version)
}

// version opens one version by its number.
func (e *env) version(ctx context.Context, v uint64) (*Snapshot, error) {
	names := []string{format.ManifestName(v), format.ManifestNameV1(v)}
	if v>>63 != 0 {
		names = []string{format.DetachedName(v)}
	}
	for _, name := range names {
		s, err := e.read(ctx, ChainVersion{Version: v, Object: Object{Key: e.versionsDir() + name}})
		if !errors.Is(err, blob.ErrNotExist) {
			return s, err
		}
	}
	return nil, &NotFoundError{Where: e.at(), Version: v}
}

// latest finds and opens the newest version.
func (e *env) latest(ctx context.Context) (*Snapshot, error) {
	for try := 0; ; try++ {
		v, err := e.newest(ctx)
		if err != nil {
			return nil, err
		}
		s, err := e.read(ctx, v)
		var damaged *DamagedManifestError
		switch {
		case errors.As(err, &damaged):
			damaged.Latest = true
			return nil, e.searchOlder(ctx, damaged)
		case try < maxRelist && (errors.Is(err, ErrChanged) || errors.Is(err, blob.ErrNotExist)):
			continue // a writer or a cleanup came between
		}
		return s, err
	}
}

// newest is the newest version by the names in _versions.
func (e *env) newest(ctx context.Context) (ChainVersion, error) {
	opts := blob.ListOptions{Prefix: e.versionsDir(), PageSize: 1}
	if e.store.Properties().Ordered {
		empty := true
		for entry, err := range e.store.List(ctx, opts) {
			if err != nil {
				return ChainVersion{}, fmt.Errorf("looking for the newest version of %s: %w", e.at(), err)
			}
			if v, kind := parseEntry(opts.Prefix, entry); kind == format.NameV2 {
				return v, nil
			}
			empty = false
			break
		}
		if empty {
			return ChainVersion{}, &NotFoundError{Where: e.at()}
		}
	}
	c, err := e.list(ctx, ListOptions{})
	if err != nil {
		return ChainVersion{}, fmt.Errorf("looking for the newest version of %s: %w", e.at(), err)
	}
	if len(c.Versions) == 0 {
		return ChainVersion{}, &NotFoundError{Where: e.at(), Leftovers: len(c.Leftovers) + len(c.Detached)}
	}
	return c.Versions[0], c.checkNaming(e.at())
}

// read fetches and parses one manifest. When v carries an ETag the object must
// still be that one.
func (e *env) read(ctx context.Context, v ChainVersion) (*Snapshot, error) {
	o, err := blob.GetImmutable(ctx, e.store, v.Key, blob.Attrs{Size: v.Size, ETag: v.ETag}, blob.All)
	switch {
	case errors.Is(err, blob.ErrChanged):
		return nil, fmt.Errorf("manifest %s: %w since it was listed: %w", v.Key, ErrChanged, err)
	case err != nil:
		return nil, fmt.Errorf("reading the manifest of version %d: %w", v.Version, err)
	}
	m, err := format.ParseManifest(o.Data)
	if err == nil {
		err = e.identity(m, v)
	}
	switch {
	case errors.Is(err, format.ErrCorrupt):
		return nil, &DamagedManifestError{Key: v.Key, Size: int64(len(o.Data)), Version: v.Version, Err: err}
	case err != nil:
		return nil, fmt.Errorf("version %d of %s (manifest %s): %w", v.Version, e.at(), v.Key, err)
	}
	return newSnapshot(e, e.dir(), m, objectOf(v.Key, o.Attrs)), nil
}

// identity checks that a manifest is the one that its name and folder promise.
func (e *env) identity(m *format.Manifest, v ChainVersion) error {
	switch {
	case m.Version != v.Version:
		return format.Corruptf("its name says version %d, its content %d", v.Version, m.Version)
	case m.Branch != e.opts.Branch:
		return format.Corruptf("it lies in the folder of branch %q and says that it belongs to %q", orMain(e.opts.Branch), orMain(m.Branch))
	}
	return nil
}

func orMain(branch string) string {
	if branch == "" {
		return "main"
	}
	return branch
}

// searchOlder completes the error about a damaged newest manifest with the
// newest version that can be read.
func (e *env) searchOlder(ctx context.Context, damaged *DamagedManifestError) error {
	c, err := e.list(ctx, ListOptions{Limit: maxOlder + 1})
	if err != nil {
		return errors.Join(damaged, fmt.Errorf("looking for an older version that can be read: %w", err))
	}
	for _, v := range c.Versions {
		if v.Version >= damaged.Version {
			continue
		}
		damaged.Tried++
		s, err := e.read(ctx, v)
		if err == nil {
			damaged.NewestReadable = v.Version
			damaged.NewestReadableRows, _ = s.CountRows()
			break
		}
		if !errors.Is(err, format.ErrCorrupt) && !errors.Is(err, blob.ErrNotExist) {
			return errors.Join(damaged, err)
		}
	}
	return damaged
}
