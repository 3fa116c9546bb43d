package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/omnideck/omnideck/blob"
)

// DefaultDiskBytes bounds a Disk when OpenDisk is not told otherwise.
const DefaultDiskBytes = 512 << 20

// Disk keeps bytes of immutable objects between runs of the program. One file
// holds one range of one object:
//
//	offset  bytes
//	0       8      "omniblob"
//	8       32     SHA-256 of everything after it
//	40      8      length of the identity, little-endian
//	48      n      identity: store URL, key, size, ETag, range
//	48+n    …      the bytes
//
// and is named by the SHA-256 of its identity, below a folder of two hex
// digits. A file that fails any of this is removed and was never there. Files
// are made under another name and renamed. Several processes may share a Disk.
//
// The bound is kept roughly: after so many bytes written by this process the
// oldest files go, by time of last use, until nine tenths of the bound are
// left. No call fails because of the cache.
type Disk struct {
	dir string
	max int64

	mu      sync.Mutex
	written int64 // since the last sweep
	swept   bool
}

const magic = "omniblob"

// DefaultDir is omnideck/objects in the user's cache folder.
func DefaultDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the cache: %w", err)
	}
	return filepath.Join(dir, "omnideck", "objects"), nil
}

// OpenDisk returns the cache in a folder, which is made when first needed.
// maxBytes <= 0 means DefaultDiskBytes.
func OpenDisk(dir string, maxBytes int64) *Disk {
	if maxBytes <= 0 {
		maxBytes = DefaultDiskBytes
	}
	return &Disk{dir: dir, max: maxBytes}
}

// identity names a range of an object of a store. The range is the part of the
// object that was read, so every spelling of it is one.
func identity(url, key string, known blob.Attrs, from, to int64) []byte {
	var b []byte
	for _, s := range []string{url, key, known.ETag} {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	for _, n := range []int64{known.Size, from, to} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}

func (d *Disk) path(id []byte) string {
	sum := sha256.Sum256(id)
	name := hex.EncodeToString(sum[:])
	return filepath.Join(d.dir, name[:2], name[2:])
}

func (d *Disk) get(url, key string, known blob.Attrs, r blob.Range) ([]byte, bool) {
	from, to, err := r.Slice(known.Size)
	if err != nil {
		return nil, false
	}
	id := identity(url, key, known, from, to)
	path := d.path(id)
	want := int64(len(magic)+sha256.Size+8+len(id)) + to - from
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() {
		return nil, false
	} else if fi.Size() != want {
		_ = os.Remove(path)
		return nil, false
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	data, ok := unpack(file, id)
	if !ok || int64(len(data)) != to-from {
		_ = os.Remove(path)
		return nil, false
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // last use, for the sweep
	return data, true
}

func pack(id, data []byte) []byte {
	b := make([]byte, 0, len(magic)+sha256.Size+8+len(id)+len(data))
	b = append(b, magic...)
	b = append(b, make([]byte, sha256.Size)...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(id)))
	b = append(append(b, id...), data...)
	sum := sha256.Sum256(b[len(magic)+sha256.Size:])
	copy(b[len(magic):], sum[:])
	return b
}

// unpack checks a file and returns its bytes.
func unpack(file, id []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(file, []byte(magic))
	if !ok || len(rest) < sha256.Size+8 {
		return nil, false
	}
	sum := sha256.Sum256(rest[sha256.Size:])
	if !bytes.Equal(sum[:], rest[:sha256.Size]) {
		return nil, false
	}
	rest = rest[sha256.Size:]
	if n := binary.LittleEndian.Uint64(rest); n != uint64(len(id)) {
		return nil, false
	}
	return bytes.CutPrefix(rest[8:], id)
}

func (d *Disk) put(url, key string, known blob.Attrs, r blob.Range, data []byte) {
	from, to, err := r.Slice(known.Size)
	if err != nil || to-from != int64(len(data)) || int64(len(data)) > d.max/8 {
		return
	}
	id := identity(url, key, known, from, to)
	path := d.path(id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new*")
	if err != nil {
		return
	}
	_, err = f.Write(pack(id, data))
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return
	}
	d.wrote(int64(len(data)))
}

// wrote sweeps once per process when it begins to write, then each time a
// tenth of the bound has been written.
func (d *Disk) wrote(n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written += n
	if d.swept && d.written < d.max/10 {
		return
	}
	d.swept, d.written = true, 0
	d.sweep()
}

type kept struct {
	path string
	size int64
	used time.Time
}

func (d *Disk) sweep() {
	var files []kept
	var total int64
	// What cannot be read is not counted and not removed.
	_ = filepath.WalkDir(d.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		fi, err := e.Info()
		if err != nil {
			return nil
		}
		if strings.HasPrefix(e.Name(), "new") && time.Since(fi.ModTime()) < time.Hour {
			return nil // being written by somebody
		}
		files = append(files, kept{path, fi.Size(), fi.ModTime()})
		total += fi.Size()
		return nil
	})
	if total <= d.max {
		return
	}
	slices.SortFunc(files, func(a, b kept) int { return a.used.Compare(b.used) })
	for _, f := range files {
		if total <= d.max/10*9 {
			return
		}
		if os.Remove(f.path) == nil {
			total -= f.size
		}
	}
}
