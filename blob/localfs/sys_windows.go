package localfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/omnideck/omnideck/blob"
)

const (
	openFlags        = os.O_RDONLY
	createOnlyProven = false
	createOnlyFact   = "MoveFileEx without replace; never run, so not proven"
)

// checkName refuses names that Windows would read as another name: a stream
// (a:b), a device (NUL), a backslash, a trailing dot or space.
func checkName(key string) error {
	if _, err := filepath.Localize(key); err != nil || strings.ContainsAny(key, `<>"|?*`) {
		return fmt.Errorf("%w %q: Windows has no such name", blob.ErrKey, key)
	}
	for _, seg := range strings.Split(key, "/") {
		if strings.HasSuffix(seg, ".") || strings.HasSuffix(seg, " ") {
			return fmt.Errorf("%w %q: Windows drops the end of the name %q", blob.ErrKey, key, seg)
		}
	}
	return nil
}

func isNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func publish(temp, target string) error {
	err := move(temp, target, windows.MOVEFILE_WRITE_THROUGH)
	if errors.Is(err, windows.ERROR_ALREADY_EXISTS) || errors.Is(err, windows.ERROR_FILE_EXISTS) {
		return blob.ErrExists
	}
	return err
}

func replace(temp, target string) error {
	return move(temp, target, windows.MOVEFILE_WRITE_THROUGH|windows.MOVEFILE_REPLACE_EXISTING)
}

func move(from, to string, flags uint32) error {
	f, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	t, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	return windows.MoveFileEx(f, t, flags)
}

func unlink(path string) error {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	return windows.DeleteFile(p)
}

// syncFolder: Windows cannot; the moves above are written through.
func syncFolder(string) error { return nil }

// file is a file open for reading.
type file struct{ f *os.File }

func openFile(path string) (file, error) {
	f, err := os.Open(path)
	return file{f}, err
}

func (f file) close()              { _ = f.f.Close() }
func (f file) stat() (info, error) { return statOf(f.f) }

func (f file) readAt(p []byte, off int64) (int, error) {
	n, err := f.f.ReadAt(p, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func stat(path string) (info, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return info{}, err
	}
	return infoOf(fi), nil
}

func statOf(f *os.File) (info, error) {
	fi, err := f.Stat()
	if err != nil {
		return info{}, err
	}
	return infoOf(fi), nil
}

// infoOf: the inode is 0, as object_store records it here.
func infoOf(fi fs.FileInfo) info {
	return info{mode: fi.Mode().Type(), size: fi.Size(), mtime: fi.ModTime()}
}
