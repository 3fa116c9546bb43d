package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/refs"
)

// dataset is the Lance dataset or the loose data file that a verb names.
type dataset struct {
	c     *call
	store blob.Store
	root  string // of the dataset in the store
	key   string // of the loose file in the store; "" = a dataset
	size  int64  // of the loose file

	outside engine.Outside
}

// onLance is the run of a verb on a dataset.
func onLance(f func(context.Context, *call, *dataset) error) func(context.Context, *call) error {
	return func(ctx context.Context, c *call) error {
		d := &dataset{c: c}
		if err := d.find(ctx); err != nil {
			return err
		}
		return errors.Join(f(ctx, c, d), d.outside.Close(), d.store.Close())
	}
}

// find opens the store. A path whose last part has a dot may be a file: one
// HEAD tells.
func (d *dataset) find(ctx context.Context) error {
	if root, ok := strings.CutPrefix(d.c.uri, demoURI); ok {
		store, err := demoStore()
		if err != nil {
			return err
		}
		d.store, d.root = store, strings.Trim(root, "/")
		return d.findFile(ctx, d.root)
	}
	parent, base := splitLast(opener.Spelled(d.c.uri))
	if strings.Contains(base, ".") && base != "." && base != ".." {
		store, err := opener.Open(ctx, parent)
		if err != nil {
			return fmt.Errorf("open %s: %w", parent, err)
		}
		d.store = store
		if err := d.findFile(ctx, nameIn(parent, base)); err != nil || d.key != "" {
			return err
		}
		if err := store.Close(); err != nil {
			return fmt.Errorf("close %s: %w", parent, err)
		}
	}
	store, err := opener.Open(ctx, d.c.uri)
	if err != nil {
		return fmt.Errorf("open %s: %w", d.c.uri, err)
	}
	d.store = store
	return nil
}

// nameIn is the name of an object in its folder: that of a file URL is escaped.
func nameIn(parent, base string) string {
	if !strings.HasPrefix(parent, "file://") {
		return base
	}
	if name, err := url.PathUnescape(base); err == nil {
		return name
	}
	return base
}

// findFile looks whether there is an object of that key.
func (d *dataset) findFile(ctx context.Context, key string) error {
	if !strings.Contains(key, ".") || key == "." || key == ".." {
		return nil
	}
	a, err := d.store.Head(ctx, key)
	switch {
	case errors.Is(err, blob.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look for the file %s: %w", d.c.uri, err)
	}
	d.key, d.size = key, a.Size
	return nil
}

// splitLast parts an address before its last segment.
func splitLast(uri string) (parent, base string) {
	uri = strings.TrimRight(uri, "/")
	i := strings.LastIndexByte(uri, '/')
	if scheme := strings.Index(uri, "://"); scheme >= 0 && i < scheme+3 {
		return uri, "" // a bucket alone
	}
	switch {
	case i < 0:
		return ".", uri
	case i == 0:
		return "/", uri[1:]
	}
	return uri[:i], uri[i+1:]
}

// snapshot opens the version of the dataset that the flags name.
func (d *dataset) snapshot(ctx context.Context) (*lance.Snapshot, error) {
	if d.key != "" {
		return nil, usagef("%s is one data file, and `omnideck %s` needs a dataset", d.c.uri, d.c.verb.name)
	}
	o := d.options()
	s, err := lance.Open(ctx, d.store, d.root, o)
	if err != nil {
		return nil, fmt.Errorf("open the dataset %s: %w", d.c.uri, err)
	}
	if s.Branch() == "" {
		return s, nil
	}
	if _, err := refs.ReadBranch(ctx, d.store, d.root, s.Branch()); errors.Is(err, blob.ErrNotExist) {
		return nil, fmt.Errorf("open the dataset %s: no ref names the branch %q: what lies in %s was left behind when it was deleted, or before it was made; `omnideck lance verify %s` lists such leftovers", d.c.uri, s.Branch(), format.BranchDir(s.Branch()), d.c.uri)
	} else if err != nil && !errors.Is(err, format.ErrCorrupt) {
		return nil, fmt.Errorf("open the dataset %s: %w", d.c.uri, err)
	}
	return s, nil
}

func (d *dataset) options() lance.OpenOptions {
	o := lance.OpenOptions{Parallelism: d.c.integer("concurrency")}
	if d.c.has("branch") {
		o.Branch = d.c.text("branch")
	}
	if d.c.has("at-version") {
		o.Version = d.c.number("at-version")
	}
	if d.c.has("external") && d.c.boolean("external") {
		d.outside.Allow(&o)
	}
	return o
}

// reader opens a data file of the store.
func (d *dataset) reader(ctx context.Context, key string, size int64) (*file.Reader, error) {
	r, err := file.Open(ctx, &objectSource{d.store, key, size}, file.Options{Name: key})
	if err != nil {
		return nil, fmt.Errorf("open the data file %s: %w", key, err)
	}
	return r, nil
}

// objectSource reads ranges of an object of the store.
type objectSource struct {
	store blob.Store
	key   string
	size  int64
}

func (s *objectSource) Size() int64 { return s.size }

func (s *objectSource) ReadRange(ctx context.Context, off, n int64) ([]byte, error) {
	o, err := s.store.Get(ctx, s.key, blob.Range{Off: off, Len: n})
	if err != nil {
		return nil, err
	}
	if int64(len(o.Data)) != n {
		return nil, fmt.Errorf("read %d bytes from byte %d of %s: found %d", n, off, s.key, len(o.Data))
	}
	return o.Data, nil
}

// fieldNames are the names of fields by id, as far as the schema knows them.
func fieldNames(s *format.Schema, ids []int32) []string {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		if f := s.ByID(id); f != nil {
			names = append(names, f.Name)
		} else {
			names = append(names, fmt.Sprintf("field %d", id))
		}
	}
	return names
}
