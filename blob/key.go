package blob

import (
	"errors"
	"fmt"
	"strings"
)

// ErrKey: a key that no store can hold under that name, such as one that would
// leave the root.
var ErrKey = errors.New("invalid key")

// CheckKey reports whether key can name an object: segments separated by '/',
// none of them empty, "." or "..", and no NUL. Every driver asks it first, so
// that a key found in a hostile file never leaves the root.
func CheckKey(key string) error {
	if key == "" {
		return fmt.Errorf("%w: empty", ErrKey)
	}
	if strings.IndexByte(key, 0) >= 0 {
		return fmt.Errorf("%w %q: NUL in a name", ErrKey, key)
	}
	for rest := key; ; {
		seg, tail, more := strings.Cut(rest, "/")
		switch seg {
		case "":
			return fmt.Errorf("%w %q: empty segment", ErrKey, key)
		case ".", "..":
			return fmt.Errorf("%w %q: segment %q would leave its folder", ErrKey, key, seg)
		}
		if !more {
			return nil
		}
		rest = tail
	}
}

// SplitPrefix checks the prefix of a listing and splits it into the folder
// that holds every match ("" for the root, else ending in '/') and the
// beginning of the names in it.
func SplitPrefix(prefix string) (folder, name string, err error) {
	i := strings.LastIndexByte(prefix, '/') + 1
	folder, name = prefix[:i], prefix[i:]
	if folder != "" {
		err = CheckKey(folder[:i-1])
	}
	if err == nil && strings.IndexByte(name, 0) >= 0 {
		err = fmt.Errorf("%w %q: NUL in a name", ErrKey, prefix)
	}
	return folder, name, err
}

// Slice gives the part of an object of size bytes that r selects, as offsets
// from and to, or an error wrapping ErrRange.
func (r Range) Slice(size int64) (from, to int64, err error) {
	switch {
	case r.Off < 0:
		return 0, 0, fmt.Errorf("%w: offset %d", ErrRange, r.Off)
	case r.Off == 0 && size == 0 && r.Len < 0:
		return 0, 0, nil // a whole empty object
	case r.Off >= size:
		return 0, 0, fmt.Errorf("%w: offset %d of an object of %d bytes", ErrRange, r.Off, size)
	case r.Len < 0 || r.Len > size-r.Off:
		return r.Off, size, nil
	}
	return r.Off, r.Off + r.Len, nil
}
