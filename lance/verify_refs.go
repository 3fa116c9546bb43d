package lance

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/refs"
)

// targets checks that what branches and tags point to is there: a LIST of one
// key for each branch, a HEAD for each tag.
func (c *checker) targets(ctx context.Context, branches []refs.Result[refs.Branch], tags []refs.Result[refs.Tag]) error {
	e := c.s.env
	live := map[string]bool{"": true}
	for _, b := range branches {
		live[b.Name] = true
	}
	g := beside.New(ctx, e.opts.Parallelism)
	for _, b := range branches {
		g.Go(func(ctx context.Context) error {
			opts := e.opts
			opts.Branch = b.Name
			_, err := newEnv(e.store, e.root, opts).newest(ctx)
			if errors.Is(err, blob.ErrNotExist) {
				c.add(Problem{ID: "ref-target", Key: b.Key, Found: fmt.Sprintf("branch %q has a ref, but no version", b.Name), Expected: "a version under " + format.BranchDir(b.Name)})
				return nil
			}
			var mixed *MixedNamingError
			if errors.As(err, &mixed) {
				c.add(Problem{ID: "mixed-naming", Key: b.Key, Found: err.Error()})
				return nil
			}
			return err
		})
	}
	for _, t := range tags {
		if t.Value == nil || !live[t.Value.Branch] {
			continue // said already
		}
		g.Go(func(ctx context.Context) error { return c.tag(ctx, t.Value) })
	}
	return g.Wait()
}

// tag checks that the version of a tag exists.
func (c *checker) tag(ctx context.Context, t *refs.Tag) error {
	e := c.s.env
	dir := format.Join(e.root, format.BranchDir(t.Branch), format.VersionsDir)
	var err error
	for _, name := range []string{format.ManifestName(t.Version), format.ManifestNameV1(t.Version)} {
		if _, err = e.store.Head(ctx, dir+"/"+name); !errors.Is(err, blob.ErrNotExist) {
			return err
		}
	}
	c.add(Problem{ID: "ref-target", Key: t.Key, Found: fmt.Sprintf("tag %q points to version %d of %s, which does not exist", t.Name, t.Version, orMain(t.Branch)), Expected: "a version that exists"})
	return nil
}
