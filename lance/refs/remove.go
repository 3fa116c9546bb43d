package refs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance/format"
)

const (
	removeTries = 3  // deletions of one object whose answer is lost
	removing    = 16 // deletions side by side
)

// stage of a removal: refs first, so that from then on there is no branch and
// what is left of it is recognised as that; manifests last, so that of a dataset
// that is half gone its newest version is still seen.
type stage struct {
	step    int
	root    int // 1: a manifest of the main root, behind those of branches
	version uint64
}

func stageOf(key string) stage {
	dir, name := path.Split(key)
	within := "/" + key
	switch v, kind := format.ParseManifestName(name); {
	case strings.Contains(within, "/"+format.RefsDir+"/"):
		return stage{}
	case path.Base(dir) == format.VersionsDir && (kind == format.NameV1 || kind == format.NameV2):
		s := stage{step: 2, version: v}
		if !strings.Contains(within, "/"+format.TreeDir+"/") {
			s.root = 1
		}
		return s
	}
	return stage{step: 1}
}

// RemovalOrder sorts keys of one dataset as Remove deletes them: refs; what is
// neither ref nor manifest; manifests, the newest last.
func RemovalOrder(keys []string) {
	slices.SortFunc(keys, func(a, b string) int {
		x, y := stageOf(a), stageOf(b)
		return cmp.Or(cmp.Compare(x.step, y.step), cmp.Compare(x.root, y.root), cmp.Compare(x.version, y.version), cmp.Compare(a, b))
	})
}

// Remove deletes exactly these objects of one dataset: its refs, then everything
// else side by side, then the manifests one after another, the newest last.
// Keys that are not there any more are no error, so that a removal that was
// halted is ended by another one, of the same keys or of those that BranchObjects
// or lance.DatasetObjects still list.
//
// It is for recovery, which shows what goes before it does.
func Remove(ctx context.Context, store blob.Store, keys []string) error {
	keys = slices.Clone(keys)
	RemovalOrder(keys)
	for len(keys) > 0 {
		step := stageOf(keys[0]).step
		n := slices.IndexFunc(keys, func(k string) bool { return stageOf(k).step != step })
		if n < 0 {
			n = len(keys)
		}
		if step == 2 { // one after another
			n = 1
		}
		if err := removeAll(ctx, store, keys[:n]); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

func removeAll(ctx context.Context, store blob.Store, keys []string) error {
	g := beside.New(ctx, removing)
	for _, key := range keys {
		g.Go(func(side context.Context) error { return remove(side, store, key) })
	}
	return g.Wait()
}

// remove deletes one object. Deleting it once more settles a lost answer.
func remove(ctx context.Context, store blob.Store, key string) (err error) {
	for range removeTries {
		if err = ctx.Err(); err != nil {
			break
		}
		if err = store.Delete(ctx, key); !errors.Is(err, blob.ErrAmbiguous) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("removing %s: %w", key, err)
	}
	return nil
}
