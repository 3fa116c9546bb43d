package lance

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
)

// uploads are objects on their way to the store: side by side, never more than
// 64 MiB of them besides one.
type uploads struct {
	env   *env
	out   *Staged
	ctx   context.Context
	stop  context.CancelFunc
	g     *errgroup.Group
	bytes *semaphore.Weighted
}

func newUploads(ctx context.Context, e *env, out *Staged) *uploads {
	u := &uploads{env: e, out: out, bytes: semaphore.NewWeighted(aheadBytes)}
	ctx, u.stop = context.WithCancel(ctx)
	u.g, u.ctx = errgroup.WithContext(ctx)
	u.g.SetLimit(e.opts.Parallelism)
	return u
}

// put writes an object of which nobody knows yet. Its name is random, so that
// it overwrites nothing.
func (u *uploads) put(key string, data []byte) error {
	if err := checkKey(key); err != nil {
		return err
	}
	weight := min(int64(len(data)), aheadBytes)
	if err := u.bytes.Acquire(u.ctx, weight); err != nil {
		return err // what failed is told by wait
	}
	u.out.Objects = append(u.out.Objects, Object{Key: key, Size: int64(len(data))})
	if u.out.dry {
		u.bytes.Release(weight)
		return nil
	}
	u.g.Go(func() error {
		defer u.bytes.Release(weight)
		if _, err := blob.PutImmutable(u.ctx, u.env.store, key, data); err != nil {
			return fmt.Errorf("staging a transaction on %s: writing %s: %w", u.env.at(), key, err)
		}
		return nil
	})
	return nil
}

// data writes a data file and its side-cars.
func (u *uploads) data(name string, w *file.Written) error {
	dir := format.Join(u.out.dir, format.DataDir)
	for _, car := range w.Sidecars {
		if err := u.put(format.Join(dir, file.SidecarPath(name, car.BlobID)), car.Data); err != nil {
			return err
		}
	}
	return u.put(format.Join(dir, name), w.Bytes())
}

// wait ends the uploads, at once when err says that they are of no use any
// more, and returns what went wrong first.
func (u *uploads) wait(err error) error {
	if err == nil {
		err = u.g.Wait()
		u.stop()
		return err
	}
	failed := u.ctx.Err() != nil // and err came of that
	u.stop()
	if upErr := u.g.Wait(); failed && upErr != nil {
		return upErr
	}
	return err
}
