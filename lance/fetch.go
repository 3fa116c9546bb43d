package lance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
)

// whole fetches a small immutable object, whose name carries a random id, with
// one GET without a range; a store with a cache may know it already. size is
// the recorded one, blob.AnySize when none is.
func whole(ctx context.Context, store blob.Store, key string, size int64) ([]byte, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	o, err := blob.GetImmutable(ctx, store, key, blob.Attrs{Size: size}, blob.All)
	if errors.Is(err, blob.ErrChanged) {
		return nil, format.Corruptf("it is not as long as the manifest records: %v", err)
	}
	return o.Data, err
}

func wrongSize(got int64, recorded uint64) error {
	return format.Corruptf("it has %d bytes, the manifest records %d", got, recorded)
}

// DataFile opens one data file of the version, to look into it (see
// file.Reader.Pages). The bytes that tell its layout are read, no rows.
func (s *Snapshot) DataFile(ctx context.Context, d *format.DataFile) (r *file.Reader, key string, err error) {
	if r, key, err = s.openData(ctx, d, s.env.opts.Decoders, false); err != nil {
		err = fmt.Errorf("data file %s: %w", key, err)
	}
	return r, key, err
}

// openData opens a data file and reads its head. key is what was tried last,
// for messages. keep says that a few rows are read again and again (see ranged).
func (s *Snapshot) openData(ctx context.Context, d *format.DataFile, decoders int, keep bool) (r *file.Reader, key string, err error) {
	err = s.bases.try(ctx, d.Base, func(p place) error {
		key = p.dataKey(d.Path)
		src, err := s.source(ctx, p.store, key, d.Size, keep)
		if err != nil {
			return err
		}
		r, err = file.Open(ctx, src, file.Options{Allocator: s.env.opts.Allocator, Parallelism: decoders, Name: key, Coalesce: s.env.merge})
		return err
	})
	if err != nil {
		return nil, key, err
	}
	return r, key, s.checkVersion(r, d)
}

// checkVersion compares the format that a file says it has with the one that
// the manifest recorded.
func (s *Snapshot) checkVersion(r *file.Reader, d *format.DataFile) error {
	major, minor := r.Version()
	if d.Major == 0 && d.Minor == 3 && major == 2 && minor == 0 {
		return nil
	}
	if int64(d.Major) != int64(major) || int64(d.Minor) != int64(minor) {
		return format.Corruptf("its footer says format %d.%d, the manifest %d.%d", major, minor, d.Major, d.Minor)
	}
	return nil
}

// source is a data file's bytes: at once when it is small, else in ranges.
func (s *Snapshot) source(ctx context.Context, store blob.Store, key string, size uint64, keep bool) (file.Source, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	if size != 0 && size <= uint64(s.env.small) {
		b, err := whole(ctx, store, key, int64(size))
		if err != nil {
			return nil, err
		}
		return file.Bytes(b), nil
	}
	if size == 0 {
		a, err := store.Head(ctx, key)
		if err != nil {
			return nil, err
		}
		size = uint64(a.Size)
	}
	if size > 1<<62 {
		return nil, format.Corruptf("a size of %d bytes is recorded", size)
	}
	return &ranged{store: store, key: key, size: int64(size), keep: keep}, nil
}

// ranged reads parts of one object. All parts must come from one state of it.
type ranged struct {
	store blob.Store
	key   string
	size  int64
	keep  bool                   // small parts are wanted again: a store with a cache may remember them
	etag  atomic.Pointer[string] // of the first answer
}

func (r *ranged) Size() int64 { return r.size }

func (r *ranged) ReadRange(ctx context.Context, off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > r.size-n {
		return nil, format.Corruptf("%d bytes at %d are asked for, it has %d", n, off, r.size)
	}
	if n == 0 {
		return nil, nil
	}
	o, err := r.get(ctx, blob.Range{Off: off, Len: n})
	if err != nil {
		return nil, err
	}
	if o.Size != r.size {
		return nil, wrongSize(o.Size, uint64(r.size))
	}
	if !r.etag.CompareAndSwap(nil, &o.ETag) && *r.etag.Load() != o.ETag {
		return nil, fmt.Errorf("%s: %w: its ETag went from %s to %s", r.key, ErrChanged, *r.etag.Load(), o.ETag)
	}
	if int64(len(o.Data)) != n {
		return nil, fmt.Errorf("%s: the store answered a range of %d bytes with %d", r.key, n, len(o.Data))
	}
	return o.Data, nil
}

// keptBytes is the most of a part that is remembered.
const keptBytes = 64 << 10

func (r *ranged) get(ctx context.Context, part blob.Range) (blob.Object, error) {
	if !r.keep || part.Len > keptBytes {
		return r.store.Get(ctx, r.key, part)
	}
	o, err := blob.GetImmutable(ctx, r.store, r.key, blob.Attrs{Size: r.size}, part)
	if errors.Is(err, blob.ErrChanged) {
		return o, format.Corruptf("it is not as long as the manifest records: %v", err)
	}
	return o, err
}

// readDeletions fetches the deletion file of a fragment and checks it against
// what the manifest says about it.
func (s *Snapshot) readDeletions(ctx context.Context, f *format.Fragment) (set *deletion.Set, key string, err error) {
	d := f.Deletion
	err = s.bases.try(ctx, d.Base, func(p place) error {
		key = format.Join(p.dir, format.DeletionPath(f.ID, d))
		if p.bare {
			return format.Corruptf("deletion file %s belongs to a base path that is no dataset", key)
		}
		b, err := whole(ctx, p.store, key, blob.AnySize)
		if err != nil {
			return err
		}
		if d.Kind == format.DeletionBitmap {
			set, err = deletion.DecodeBitmap(b, f.PhysicalRows)
		} else {
			set, err = deletion.DecodeArrow(b, f.PhysicalRows)
		}
		return err
	})
	if err == nil && d.Rows != 0 && d.Rows != set.Len() {
		err = format.Corruptf("it holds %d deleted rows, the manifest records %d", set.Len(), d.Rows)
	}
	return set, key, err
}

// readerCache keeps opened data files of one snapshot for repeated takes.
type readerCache struct {
	mu  sync.Mutex
	lru lru
}

// readerBudget bounds the bytes that opened files hold on to.
const readerBudget = 64 << 20

func newReaderCache() *readerCache { return &readerCache{lru: newLRU(readerBudget)} }

// open is openData, remembered.
func (c *readerCache) open(ctx context.Context, s *Snapshot, d *format.DataFile) (*file.Reader, string, error) {
	id := fmt.Sprintf("%v %d %s", d.Base.Set, d.Base.ID, d.Path)
	type opened struct {
		r   *file.Reader
		key string
	}
	c.mu.Lock()
	v, ok := c.lru.get(id)
	c.mu.Unlock()
	if ok {
		return v.(opened).r, v.(opened).key, nil
	}
	r, key, err := s.openData(ctx, d, s.env.opts.Decoders, true)
	if err != nil {
		return nil, key, err
	}
	weight := int64(min(d.Size, uint64(s.env.small))) + 64<<10
	c.mu.Lock()
	c.lru.put(id, opened{r, key}, weight)
	c.mu.Unlock()
	return r, key, nil
}
