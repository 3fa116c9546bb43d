package engine

import (
	"context"
	"errors"
	"strconv"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/manifest"
)

// isGone reports an object that is not there.
func isGone(err error) bool { return errors.Is(err, blob.ErrNotExist) }

// isDamage reports bytes that cannot be understood, or objects that are named
// and not there.
func isDamage(err error) bool {
	return errors.Is(err, format.ErrCorrupt) || errors.Is(err, format.ErrUnsupported) || errors.Is(err, blob.ErrNotExist)
}

// explainDataset puts errors of package lance about one dataset into the words
// of this package; others it leaves alone.
func explainDataset(err error, object string) error {
	var (
		damaged *lance.DamagedManifestError
		absent  *lance.NotFoundError
	)
	switch {
	case errors.As(err, &damaged):
		out := &DamagedError{Object: damaged.Key, Size: damaged.Size, Readable: damaged.NewestReadable, Err: damaged.Err}
		if damaged.NewestReadable > 0 {
			out.Rows = &damaged.NewestReadableRows
		}
		return out
	case errors.As(err, &absent):
		return absent
	case errors.Is(err, format.ErrUnsupported):
		return &UnsupportedError{Object: object, What: "what it demands", Hint: err.Error(), Err: err}
	}
	return err
}

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// rowsError says which rows of a table cannot be read and what still can; nil
// stays nil.
func (o *operation) rowsError(ctx context.Context, err error, e manifest.Entry) error {
	var f *lance.FragmentError
	if ctx.Err() != nil || !errors.As(err, &f) || !isDamage(f) {
		return err
	}
	return &RowsLostError{Table: e.Alias, Branch: nameOf(e.Owner), Version: e.Version, Fragment: f.Fragment, Key: f.Key, Rows: f.Rows, Err: f.Err}
}
