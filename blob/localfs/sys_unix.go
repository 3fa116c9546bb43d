//go:build !windows

package localfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/omnideck/omnideck/blob"
)

const (
	openFlags        = os.O_RDONLY | syscall.O_NONBLOCK // for folders, see scan
	createOnlyProven = true
	createOnlyFact   = "link(2) + fsync"
)

// checkName: every name that is a key is a name here.
func checkName(string) error { return nil }

// isNotExist also covers a path that leads through a file.
func isNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// publish gives the temporary file its final name unless that is taken.
func publish(temp, target string) error {
	err := os.Link(temp, target)
	if err == nil {
		_ = os.Remove(temp) // a second name that List hides; harmless if it stays
		return nil
	}
	// A network file system can lose the answer to a link that was made. The
	// inode tells whose file the target is.
	if ours, e := os.Lstat(temp); e == nil {
		if there, e := os.Lstat(target); e == nil && os.SameFile(ours, there) {
			_ = os.Remove(temp)
			return nil
		}
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return blob.ErrExists
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS),
		errors.Is(err, syscall.EXDEV), errors.Is(err, syscall.EMLINK):
		return fmt.Errorf("this file system refuses hard links (%w), which a create-only write needs; "+
			"nothing was written, reading works: %w", bare(err), errors.ErrUnsupported)
	}
	return err
}

func replace(temp, target string) error { return os.Rename(temp, target) }

// unlink removes a file and never a folder.
func unlink(path string) error { return syscall.Unlink(path) }

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	// Some file systems cannot sync a folder and say so; then names are as
	// durable as that file system makes them.
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
