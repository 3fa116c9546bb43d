// Package localfs is a blob.Store on a folder of this machine.
//
// # Names
//
// A key is the path below the root, literally: spaces, '#', '%41' and 'ü' are
// those bytes in the file's name. Keys that would leave the root are refused
// (blob.CheckKey); symbolic links are followed, also out of the root, because
// people put tables on other disks that way. A link to one of its own
// ancestors ends a listing with an error.
//
// # Reading
//
// Reading writes nothing and needs no right to write. Folders, sockets and
// pipes are no objects and never make a call hang. The ETag is inode, mtime in
// µs and size in hex, "%x-%x-%x", which is what object_store, and so Lance,
// records for the same file. A listing reads each folder once and asks for the
// attributes of files page by page. A folder that holds no file at any depth
// is not listed, as in a bucket.
//
// # Writing
//
// The bytes go to a temporary file beside the target, named NAME#DIGITS, and
// are synced. PutIfAbsent then link(2)s it to the target, which succeeds for
// exactly one of any number of processes, and unlinks the temporary name; Put
// renames it over the target. Then the folder is synced, and every folder
// that had to be made. The Rust engine's store makes and ignores names of the
// same shape; List hides them and writes to such names are refused. A file
// system without hard links fails PutIfAbsent before the target exists.
// Delete removes the file and leaves its folder.
//
// # Windows
//
// There PutIfAbsent is MoveFileEx without permission to replace, which fails
// when the target exists, and folders cannot be synced; both are written
// through instead. That was compiled but never run, so Properties say that the
// conditional put is not proven, and front ends open such a store read-only.
package localfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnideck/omnideck/blob"
)

// Store is a folder. Make one with Open.
type Store struct {
	root string // absolute
}

// Open returns the store at root, a path made absolute here. It touches
// nothing: a root that does not exist is an empty store, a root that is a file
// is an error.
func Open(root string) (*Store, error) {
	if root == "" {
		return nil, errors.New("open local store: the path is empty")
	}
	abs, err := absolute(root)
	if err != nil {
		return nil, fmt.Errorf("open local store %q: %w", root, err)
	}
	fi, err := os.Stat(abs)
	switch {
	case err == nil && !fi.IsDir():
		return nil, fmt.Errorf("open local store %q: this is a file, a folder was expected", abs)
	case err != nil && !isNotExist(err):
		return nil, fmt.Errorf("open local store %q: %w", abs, bare(err))
	}
	return &Store{root: abs}, nil
}

// absolute is filepath.Abs, except where dropping ".." behind a symbolic link
// would lead to another folder than the system itself goes to.
func absolute(root string) (string, error) {
	abs, err := filepath.Abs(root)
	if err != nil || !slices.Contains(strings.Split(filepath.ToSlash(root), "/"), "..") {
		return abs, err
	}
	real, err := os.Stat(root)
	if err != nil {
		return abs, nil
	}
	if lexical, err := os.Stat(abs); err == nil && os.SameFile(real, lexical) {
		return abs, nil
	}
	if abs, err = filepath.EvalSymlinks(root); err != nil {
		return "", err
	}
	return filepath.Abs(abs)
}

// Properties of the folder.
func (s *Store) Properties() blob.Properties {
	return blob.Properties{
		URL: s.root, Scheme: "file", Ordered: true, ConditionalPut: createOnlyProven,
		Facts: []blob.Fact{{Name: "create-only put", Value: createOnlyFact}},
	}
}

// Close does nothing: no file is held open between calls.
func (s *Store) Close() error { return nil }

// path turns a key into a path below the root.
func (s *Store) path(key string) (string, error) {
	if err := blob.CheckKey(key); err != nil {
		return "", err
	}
	if err := checkName(key); err != nil {
		return "", err
	}
	return s.join(key), nil
}

func (s *Store) join(key string) string {
	if strings.HasSuffix(s.root, string(filepath.Separator)) { // "/", "C:\"
		return s.root + filepath.FromSlash(key)
	}
	return s.root + string(filepath.Separator) + filepath.FromSlash(key)
}

func (s *Store) fail(op blob.Op, key string, err error) error {
	if err == nil {
		return nil
	}
	return &blob.OpError{Op: op, Key: key, URL: s.root, Err: err}
}

// Head returns the attributes of a file.
func (s *Store) Head(ctx context.Context, key string) (blob.Attrs, error) {
	path, err := s.path(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return blob.Attrs{}, s.fail(blob.OpHead, key, err)
	}
	f := blob.Begin(ctx, blob.Call{Op: blob.OpHead, Key: key})
	fi, err := stat(path)
	if err == nil {
		err = fi.regular()
	}
	err = answer(err)
	f.End(0, 0, err)
	if err != nil {
		return blob.Attrs{}, s.fail(blob.OpHead, key, err)
	}
	return fi.attrs(), nil
}

// Get reads a range of a file.
func (s *Store) Get(ctx context.Context, key string, r blob.Range) (blob.Object, error) {
	path, err := s.path(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return blob.Object{}, s.fail(blob.OpGet, key, err)
	}
	f := blob.Begin(ctx, blob.Call{Op: blob.OpGet, Key: key, Range: r})
	o, err := read(ctx, path, r)
	err = answer(err)
	f.End(int64(len(o.Data)), 0, err)
	if err != nil {
		return blob.Object{}, s.fail(blob.OpGet, key, err)
	}
	return o, nil
}

// portion is how much is read between two looks at the context.
const portion = 16 << 20

// read takes bytes and attributes from one handle. The file is opened without
// waiting: a pipe would block until somebody writes.
func read(ctx context.Context, path string, r blob.Range) (o blob.Object, err error) {
	f, err := openFile(path)
	if err != nil {
		return o, err
	}
	defer f.close()
	fi, err := f.stat()
	if err == nil {
		err = fi.regular()
	}
	if err != nil {
		return o, err
	}
	from, to, err := r.Slice(fi.size)
	if err != nil {
		return o, err
	}
	data := make([]byte, to-from)
	for done := 0; done < len(data); {
		n, err := f.readAt(data[done:min(done+portion, len(data))], from+int64(done))
		done += n
		if err != nil {
			return o, err
		}
		if n == 0 {
			return o, fmt.Errorf("the file shrank from %d bytes while it was read: %w", fi.size, io.ErrUnexpectedEOF)
		}
		if err := ctx.Err(); err != nil {
			return o, err
		}
	}
	return blob.Object{Data: data, Attrs: fi.attrs()}, nil
}

// info is what this store wants to know of a name.
type info struct {
	mode  fs.FileMode // type bits
	size  int64
	mtime time.Time
	inode uint64
}

// regular refuses what is no object: a folder, a pipe, a device.
func (i info) regular() error {
	if i.mode.IsRegular() {
		return nil
	}
	return fmt.Errorf("%w: this name is a %s, not a file", blob.ErrNotExist, kind(i.mode))
}

func (i info) attrs() blob.Attrs {
	var b []byte
	b = strconv.AppendUint(b, i.inode, 16)
	b = append(b, '-')
	b = strconv.AppendInt(b, max(i.mtime.UnixMicro(), 0), 16)
	b = append(b, '-')
	b = strconv.AppendInt(b, i.size, 16)
	return blob.Attrs{Size: i.size, ETag: string(b), ModTime: i.mtime}
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// answer turns an error of the system into one of the contract. The path goes:
// OpError names root and key already.
func answer(err error) error {
	switch {
	case err == nil:
		return nil
	case isNotExist(err) && !errors.Is(err, blob.ErrNotExist):
		return fmt.Errorf("%w (%w)", blob.ErrNotExist, bare(err))
	}
	return bare(err)
}

func bare(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	case *os.SyscallError:
		return e.Err
	}
	return err
}
