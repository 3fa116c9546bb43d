package localfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/omnideck/omnideck/blob"
)

// List yields the files below a prefix. One page is one call; the folders are
// read as the listing reaches them, the attributes of files page by page.
func (s *Store) List(ctx context.Context, opts blob.ListOptions) iter.Seq2[blob.Entry, error] {
	if opts.PageSize <= 0 {
		opts.PageSize = blob.DefaultPageSize
	}
	return func(yield func(blob.Entry, error) bool) {
		folder, name, err := blob.SplitPrefix(opts.Prefix)
		if err == nil && folder != "" {
			err = checkName(strings.TrimSuffix(folder, "/"))
		}
		if err != nil {
			yield(blob.Entry{}, s.fail(blob.OpList, opts.Prefix, err))
			return
		}
		w := &walk{store: s, recursive: opts.Recursive, start: folder, name: name}
		for more := true; more; {
			var page []blob.Entry
			page, more, err = s.page(ctx, w, opts)
			if err != nil {
				yield(blob.Entry{}, s.fail(blob.OpList, opts.Prefix, err))
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

func (s *Store) page(ctx context.Context, w *walk, opts blob.ListOptions) (page []blob.Entry, more bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	f := blob.Begin(ctx, blob.Call{Op: blob.OpList, Key: opts.Prefix})
	page, more, err = w.page(ctx, opts.PageSize)
	err = answer(err)
	f.End(0, len(page), err)
	return page, more, err
}

// walk goes through a folder in byte order of keys, a folder being placed as
// if its name ended in '/'.
type walk struct {
	store       *Store
	recursive   bool
	start, name string // folder and beginning of name
	begun       bool
	stack       []level
	peeked      *blob.Entry
}

type level struct {
	folder string // key, "" or ending in '/'
	names  []name
}

type name struct {
	text   string // of a folder with the '/'
	folder bool
}

// page collects entries with their attributes and says whether any follow.
func (w *walk) page(ctx context.Context, size int) ([]blob.Entry, bool, error) {
	var page []blob.Entry
	for {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		e, ok, err := w.next()
		if err != nil || !ok {
			return page, false, err
		}
		if len(page) == size {
			w.peeked = &e
			return page, true, nil
		}
		if !e.IsPrefix {
			fi, err := stat(w.store.join(e.Key))
			if isNotExist(err) || err == nil && !fi.mode.IsRegular() {
				continue // gone since the folder was read, or no object
			}
			if err != nil {
				return nil, false, fmt.Errorf("%s: %w", e.Key, bare(err))
			}
			e.Attrs = fi.attrs()
		}
		page = append(page, e)
	}
}

// next gives the next key, without attributes.
func (w *walk) next() (blob.Entry, bool, error) {
	if e := w.peeked; e != nil {
		w.peeked = nil
		return *e, true, nil
	}
	if !w.begun {
		w.begun = true
		if err := w.push(w.start, w.name); err != nil {
			return blob.Entry{}, false, err
		}
	}
	for len(w.stack) > 0 {
		top := &w.stack[len(w.stack)-1]
		if len(top.names) == 0 {
			w.stack = w.stack[:len(w.stack)-1]
			continue
		}
		n := top.names[0]
		top.names = top.names[1:]
		key := top.folder + n.text
		switch {
		case !n.folder:
			return blob.Entry{Key: key}, true, nil
		case w.recursive:
			if err := w.push(key, ""); err != nil {
				return blob.Entry{}, false, err
			}
		default:
			any, err := w.store.anyFile(key)
			if errors.Is(err, fs.ErrPermission) {
				any, err = true, nil // there is something; who asks for it is told
			}
			if err != nil {
				return blob.Entry{}, false, err
			}
			if any {
				return blob.Entry{Key: strings.TrimSuffix(key, "/"), IsPrefix: true}, true, nil
			}
		}
	}
	return blob.Entry{}, false, nil
}

// push reads a folder once, whole, and sorts its names.
func (w *walk) push(folder, beginning string) error {
	var names []name
	err := w.store.scan(folder, func(n name) bool {
		if strings.HasPrefix(n.text, beginning) {
			names = append(names, n)
		}
		return true
	})
	slices.SortFunc(names, func(a, b name) int { return strings.Compare(a.text, b.text) })
	w.stack = append(w.stack, level{folder, names})
	return err
}

// anyFile reports whether a folder holds an object at any depth.
func (s *Store) anyFile(folder string) (found bool, err error) {
	var below []string
	err = s.scan(folder, func(n name) bool {
		if n.folder {
			below = append(below, folder+n.text)
			return true
		}
		found = true
		return false
	})
	for _, f := range below {
		if found || err != nil {
			break
		}
		found, err = s.anyFile(f)
	}
	return found, err
}

// scan hands the objects and folders of one folder to f, in the order of the
// file system, until f says stop. A folder that is not there is empty.
func (s *Store) scan(folder string, f func(name) bool) error {
	path := strings.TrimSuffix(s.join(folder), string(filepath.Separator))
	if folder == "" {
		path = s.root
	}
	d, err := os.OpenFile(path, openFlags, 0)
	if isNotExist(err) {
		return nil
	}
	if err != nil {
		return at(folder, err)
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(1024)
		for _, e := range entries {
			n, ok, err := s.classify(folder, path, e)
			if err != nil {
				return err
			}
			if ok && !f(n) {
				return nil
			}
		}
		switch {
		case errors.Is(err, io.EOF) || isNotExist(err): // end; or this is a file
			return nil
		case err != nil:
			return at(folder, err)
		}
	}
}

// classify decides what a name in a folder is; false hides it.
func (s *Store) classify(folder, path string, e fs.DirEntry) (name, bool, error) {
	n := name{text: e.Name()}
	mode := e.Type()
	if mode&fs.ModeSymlink != 0 {
		target, err := os.Stat(filepath.Join(path, n.text))
		if isNotExist(err) || errors.Is(err, syscall.ELOOP) {
			return n, false, nil // a link to nothing, or to itself
		}
		if err != nil {
			return n, false, at(folder+n.text, err)
		}
		mode = target.Mode().Type()
		if mode.IsDir() {
			if err := noLoop(folder+n.text, path, target); err != nil {
				return n, false, err
			}
		}
	}
	switch {
	case mode.IsDir():
		return name{n.text + "/", true}, true, nil
	case !mode.IsRegular() || IsTemporary(n.text):
		return n, false, nil
	}
	return n, true, nil
}

// noLoop refuses a linked folder that is one of the folders it stands in.
func noLoop(key, path string, target fs.FileInfo) error {
	for {
		if fi, err := os.Stat(path); err == nil && os.SameFile(fi, target) {
			return fmt.Errorf("%s: this link leads back to %s, a folder that it stands in", key, path)
		}
		up := filepath.Dir(path)
		if up == path {
			return nil
		}
		path = up
	}
}

func at(key string, err error) error { return fmt.Errorf("%s: %w", key, bare(err)) }

// IsTemporary reports whether a file's name is of the shape NAME#DIGITS, which
// this store and the Rust engine's give to files that are not yet objects.
func IsTemporary(name string) bool {
	i := strings.LastIndexByte(name, '#')
	return i >= 0 && i+1 < len(name) && strings.Trim(name[i+1:], "0123456789") == ""
}
