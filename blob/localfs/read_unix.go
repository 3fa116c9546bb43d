//go:build !windows

package localfs

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// file is a descriptor open for reading. The calls below are the system's own:
// os.File asks the poller about every file it opens, which makes a read of one
// page three times as long.
type file int

func openFile(path string) (file, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if !errors.Is(err, unix.EINTR) {
			return file(fd), err
		}
	}
}

func (f file) close() { _ = unix.Close(int(f)) }

func (f file) stat() (info, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstat(int(f), &st)
		if !errors.Is(err, unix.EINTR) {
			return infoOf(&st), err
		}
	}
}

// readAt reads what there is; 0 bytes are the end.
func (f file) readAt(p []byte, off int64) (int, error) {
	for {
		n, err := unix.Pread(int(f), p, off)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// stat follows links.
func stat(path string) (info, error) {
	var st unix.Stat_t
	for {
		err := unix.Stat(path, &st)
		if !errors.Is(err, unix.EINTR) {
			return infoOf(&st), err
		}
	}
}

func statOf(f *os.File) (info, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return infoOf(&st), err
}

func infoOf(st *unix.Stat_t) info {
	i := info{size: st.Size, mtime: time.Unix(st.Mtim.Unix()), inode: uint64(st.Ino)}
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		i.mode = fs.ModeDir
	case unix.S_IFIFO:
		i.mode = fs.ModeNamedPipe
	case unix.S_IFSOCK:
		i.mode = fs.ModeSocket
	default:
		i.mode = fs.ModeDevice
	}
	return i
}
