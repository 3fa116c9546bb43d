package localfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/omnideck/omnideck/blob"
)

// Put writes a file, replacing any other of that name.
func (s *Store) Put(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	return s.put(ctx, key, data, false)
}

// PutIfAbsent writes a file unless the name is taken.
func (s *Store) PutIfAbsent(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	return s.put(ctx, key, data, true)
}

func (s *Store) put(ctx context.Context, key string, data []byte, ifAbsent bool) (blob.Attrs, error) {
	path, err := s.path(key)
	if err == nil && IsTemporary(key) {
		err = fmt.Errorf("%w %q: names ending in # and digits are those of unfinished files", blob.ErrKey, key)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return blob.Attrs{}, s.fail(blob.OpPut, key, err)
	}
	f := blob.Begin(ctx, blob.Call{Op: blob.OpPut, Key: key, Written: int64(len(data)), IfAbsent: ifAbsent})
	a, err := s.write(path, data, ifAbsent)
	err = bare(err)
	f.End(0, 0, err)
	return a, s.fail(blob.OpPut, key, err)
}

func (s *Store) write(path string, data []byte, ifAbsent bool) (blob.Attrs, error) {
	if ifAbsent {
		if _, err := os.Lstat(path); err == nil {
			return blob.Attrs{}, blob.ErrExists
		}
	}
	folder := filepath.Dir(path)
	if err := makeFolder(folder); err != nil {
		return blob.Attrs{}, err
	}
	temp, a, err := stage(path, data)
	if err != nil {
		return blob.Attrs{}, err
	}
	if ifAbsent {
		err = publish(temp, path)
	} else {
		err = replace(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return blob.Attrs{}, err
	}
	if err := syncFolder(folder); err != nil {
		return blob.Attrs{}, fmt.Errorf("the file stands under its name but may not survive a crash: %w: %w", blob.ErrAmbiguous, err)
	}
	return a, nil
}

// stage writes and syncs a temporary file beside the target.
func stage(path string, data []byte) (temp string, a blob.Attrs, err error) {
	var f *os.File
	for range 8 {
		temp = path + "#" + strconv.FormatUint(rand.Uint64(), 10)
		f, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", a, err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	var fi info
	if err == nil {
		fi, err = statOf(f)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(temp)
		return "", a, err
	}
	return temp, fi.attrs(), nil
}

// makeFolder makes a folder and those above it, and makes their names durable.
func makeFolder(path string) error {
	err := makeOne(path)
	if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path {
		return err
	}
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	return makeOne(path) // once: below a link to nowhere, and in /proc, nothing can be made
}

// makeOne makes a folder below one that is there.
func makeOne(path string) error {
	err := os.Mkdir(path, 0o777)
	switch {
	case err == nil:
		return syncFolder(filepath.Dir(path))
	case errors.Is(err, fs.ErrExist):
		return nil // or a file: then creating in it fails and says so
	}
	return err
}

// Delete removes a file. Its folder stays.
func (s *Store) Delete(ctx context.Context, key string) error {
	path, err := s.path(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return s.fail(blob.OpDelete, key, err)
	}
	f := blob.Begin(ctx, blob.Call{Op: blob.OpDelete, Key: key})
	err = remove(path)
	f.End(0, 0, err)
	return s.fail(blob.OpDelete, key, err)
}

func remove(path string) error {
	err := unlink(path)
	if err == nil {
		return syncFolder(filepath.Dir(path))
	}
	if isNotExist(err) {
		return nil
	}
	if fi, e := os.Lstat(path); e == nil && fi.IsDir() {
		return nil // a folder is no object
	}
	return bare(err)
}
