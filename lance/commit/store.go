package commit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance/deletion"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// Limits of what is asked for at once.
const (
	listPage    = 16 // versions a page, where newer ones are read
	inFlight    = 16 // requests side by side
	settleTries = 3  // times that an unknown outcome is asked after
)

func keysOf(m map[uint64]bool) []uint64 { return slices.Sorted(maps.Keys(m)) }

func (c *committer) versionKey(version uint64) string {
	return format.Join(c.dir, format.VersionsDir, format.ManifestName(version))
}

// manifest reads one version of the folder.
func (c *committer) manifest(ctx context.Context, version uint64) (*format.Manifest, error) {
	l, err := c.read(ctx, version, blob.Attrs{})
	return l.manifest, err
}

// read reads a version and its transaction.
func (c *committer) read(ctx context.Context, version uint64, known blob.Attrs) (landed, error) {
	l := landed{version: version}
	o, err := blob.GetImmutable(ctx, c.store, c.versionKey(version), known, blob.All)
	if err != nil {
		return l, err
	}
	l.attrs = o.Attrs
	if l.manifest, err = format.ParseManifest(o.Data); err != nil {
		return l, fmt.Errorf("manifest %s: %w", c.versionKey(version), err)
	}
	if l.manifest.Version != version {
		return l, format.Corruptf("manifest %s says that it is version %d", c.versionKey(version), l.manifest.Version)
	}
	tx, err := l.manifest.Transaction()
	if tx == nil && err == nil && l.manifest.TransactionFile != "" && !strings.Contains(l.manifest.TransactionFile, "/") {
		var file blob.Object
		file, err = blob.GetImmutable(ctx, c.store, format.Join(c.dir, format.TransactionPath(l.manifest.TransactionFile)), blob.Attrs{Size: blob.AnySize}, blob.All)
		switch {
		case errors.Is(err, blob.ErrNotExist):
			return l, nil // cleaned up: nobody can tell what it did
		case err == nil:
			tx, err = format.ParseTransaction(file.Data)
		}
	}
	if err != nil {
		return l, fmt.Errorf("the transaction of version %d: %w", version, err)
	}
	if tx != nil {
		l.txn = tx.Proto
	}
	return l, nil
}

// listed is a name in _versions.
type listed struct {
	version uint64
	attrs   blob.Attrs
}

// newer lists the versions above floor, newest first, and the one at floor
// when there is one. Of an ordered store newest asks for the newest alone: one
// key, unless that is no version.
func (c *committer) newer(ctx context.Context, floor uint64, newest bool) ([]listed, error) {
	ordered := c.store.Properties().Ordered
	if newest && ordered {
		first, err := c.first(ctx)
		if err != nil || first == nil {
			return nil, err
		}
		if first.kind == format.NameV2 {
			return slices.DeleteFunc([]listed{first.listed}, func(l listed) bool { return l.version < floor }), nil
		}
	}
	var out []listed
	for e, err := range c.entries(ctx, listPage) {
		switch {
		case err != nil:
			return nil, err
		case e.kind == format.NameV1:
			return nil, format.Unsupportedf("%s has manifests under names of the old scheme (version %d): migrate the table with Lance first", c.where, e.version)
		case e.kind == format.NameV2 && e.version >= floor:
			out = append(out, e.listed)
		}
		if ordered && e.kind == format.NameV2 && (newest || e.version <= floor) {
			break
		}
	}
	slices.SortFunc(out, func(a, b listed) int { return cmp.Compare(b.version, a.version) })
	return out, nil
}

// entry is one key of _versions.
type entry struct {
	listed
	kind format.NameKind
}

// first is the first key of _versions, nil when there is none.
func (c *committer) first(ctx context.Context) (*entry, error) {
	for e, err := range c.entries(ctx, 1) {
		return &e, err
	}
	return nil, nil
}

// entries lists _versions.
func (c *committer) entries(ctx context.Context, page int) iter.Seq2[entry, error] {
	prefix := format.Join(c.dir, format.VersionsDir) + "/"
	return func(yield func(entry, error) bool) {
		for e, err := range c.store.List(ctx, blob.ListOptions{Prefix: prefix, PageSize: page}) {
			v, kind := format.ParseManifestName(strings.TrimPrefix(e.Key, prefix))
			if e.IsPrefix {
				kind = format.NotManifest
			}
			if err != nil {
				err = fmt.Errorf("listing the versions of %s: %w", c.where, err)
			}
			if !yield(entry{listed{v, e.Attrs}, kind}, err) {
				return
			}
		}
	}
}

// refresh learns what landed since the newest version that is known. It
// returns ours when it is among them. Where nothing may have landed, the least
// of what did is a lostError.
func (c *committer) refresh(ctx context.Context) (*Committed, error) {
	if c.exact() {
		return c.refreshExact(ctx)
	}
	found, err := c.newer(ctx, c.head.Version, false)
	if err != nil {
		return nil, err
	}
	if err := c.checkBase(found); err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(l listed) bool { return l.version <= c.head.Version })
	slices.Reverse(found)
	landed := make([]landed, len(found))
	g := beside.New(ctx, inFlight)
	for i, l := range found {
		g.Go(func(side context.Context) (err error) {
			landed[i], err = c.read(side, l.version, l.attrs)
			if errors.Is(err, blob.ErrNotExist) {
				return nil // removed by a cleanup
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("reading what landed at %s: %w", c.where, err)
	}
	for _, l := range landed {
		if l.txn.GetUuid() == c.tx.GetUuid() {
			return c.foundAt(l), nil
		}
	}
	if n := len(landed); n > 0 {
		if landed[n-1].manifest == nil {
			return nil, c.refused(landed[n-1].version, nil, retry("it went while it was read"))
		}
		c.landed, c.head = append(c.landed, landed...), landed[n-1].manifest
	}
	return nil, nil
}

// checkBase refuses to build on a version that is no longer there, or is
// another.
func (c *committer) checkBase(found []listed) error {
	at := slices.IndexFunc(found, func(l listed) bool { return l.version == c.base.Version })
	if at < 0 && len(found) == 0 {
		return c.refused(c.base.Version, nil, retry("neither it, which this was planned on, nor a newer one is there any more"))
	}
	if at >= 0 && c.o.BaseETag != "" && found[at].attrs.ETag != c.o.BaseETag {
		return c.refused(c.base.Version, nil, retry("it was planned on was replaced by another of that number (ETag %s, expected %s)", found[at].attrs.ETag, c.o.BaseETag))
	}
	return nil
}

// target is the version to be made from the newest that is known.
func (c *committer) target() uint64 {
	switch {
	case c.base == nil:
		return 1
	case c.cloning():
		return c.base.Version
	}
	return c.head.Version + 1
}

// refreshExact asks with one key whether anything landed.
func (c *committer) refreshExact(ctx context.Context) (*Committed, error) {
	floor := c.target() - 1
	if c.fromScratch() {
		floor = 0
	}
	found, err := c.newer(ctx, floor, true)
	if err != nil {
		return nil, err
	}
	if !c.fromScratch() {
		if err := c.checkBase(found); err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(l listed) bool { return l.version <= floor })
	}
	if len(found) == 0 {
		return nil, nil
	}
	l, err := c.read(ctx, c.target(), blob.Attrs{})
	switch {
	case errors.Is(err, blob.ErrNotExist):
		return nil, &lostError{version: found[0].version}
	case err != nil:
		return nil, err
	case l.txn.GetUuid() == c.tx.GetUuid():
		return c.foundAt(l), nil
	}
	return nil, &lostError{l.version, l.txn}
}

func (c *committer) foundAt(l landed) *Committed {
	return &Committed{Manifest: l.manifest, Version: l.version, Key: c.versionKey(l.version), Size: l.attrs.Size, ETag: l.attrs.ETag, UUID: c.tx.GetUuid(), Txn: l.txn, Found: true}
}

// deletions reads the current deletions of fragments.
func (c *committer) deletions(ctx context.Context, frags map[uint64]bool) (map[uint64]*deletion.Set, error) {
	out := map[uint64]*deletion.Set{}
	var mu sync.Mutex
	g := beside.New(ctx, inFlight)
	for i := range c.head.Fragments {
		f := &c.head.Fragments[i]
		if !frags[f.ID] || f.Deletion == nil {
			continue
		}
		g.Go(func(side context.Context) error {
			set, err := c.deletion(side, f)
			if err != nil {
				return fmt.Errorf("the deletions of fragment %d of %s: %w", f.ID, c.where, err)
			}
			mu.Lock()
			defer mu.Unlock()
			out[f.ID] = set
			return nil
		})
	}
	return out, g.Wait()
}

func (c *committer) deletion(ctx context.Context, f *format.Fragment) (*deletion.Set, error) {
	dir, err := c.baseDir(f.Deletion.Base)
	if err != nil {
		return nil, err
	}
	o, err := blob.GetImmutable(ctx, c.store, format.Join(dir, format.DeletionPath(f.ID, f.Deletion)), blob.Attrs{Size: blob.AnySize}, blob.All)
	if err != nil {
		return nil, err
	}
	if f.Deletion.Kind == format.DeletionBitmap {
		return deletion.DecodeBitmap(o.Data, f.PhysicalRows)
	}
	return deletion.DecodeArrow(o.Data, f.PhysicalRows)
}

// baseDir is the folder of a base: of this dataset's main, or of a branch.
func (c *committer) baseDir(r format.BaseRef) (string, error) {
	if !r.Set {
		return c.dir, nil
	}
	p, ok := c.head.Base(r.ID)
	if !ok || !p.IsDatasetRoot {
		return "", format.Corruptf("base %d is not recorded, or is no dataset", r.ID)
	}
	return format.Join(c.root, format.BranchDir(p.Name)), nil
}

// putFiles writes what the manifest refers to, and returns the keys that are
// this commit's alone, also with an error. The file of a Restore is not: several
// programs may undo one operation under one uuid, and what one of them gives up
// another may have committed.
func (c *committer) putFiles(ctx context.Context, tx *tablepb.Transaction, writes []DeletionWrite) (made []string, err error) {
	for _, w := range writes {
		body := w.Set.EncodeArrow()
		if w.File.Kind == format.DeletionBitmap {
			if body, err = w.Set.EncodeBitmap(); err != nil {
				return made, err
			}
		}
		key := format.Join(c.dir, format.DeletionPath(w.Fragment, &w.File))
		made = append(made, key)
		if _, err := blob.PutImmutable(ctx, c.store, key, body); err != nil {
			return made, fmt.Errorf("committing to %s: writing a deletion file: %w", c.where, err)
		}
	}
	body, err := format.EncodeTransaction(tx)
	if err != nil {
		return made, fmt.Errorf("committing to %s: %w", c.where, err)
	}
	key := format.Join(c.dir, format.TransactionPath(format.TransactionName(tx)))
	if KindOf(tx) != Restore {
		made = append(made, key)
	}
	if c.o.Stored {
		return made, nil
	}
	if _, err := blob.PutImmutable(ctx, c.store, key, body); err != nil {
		return made, fmt.Errorf("committing to %s: writing the transaction file: %w", c.where, err)
	}
	return made, nil
}

// discard deletes files of an attempt that is in no version. What it misses is
// garbage that a cleanup collects.
func (c *committer) discard(ctx context.Context, keys []string) {
	for _, key := range keys {
		_ = c.store.Delete(ctx, key)
	}
}

// publish creates the manifest: the commit.
func (c *committer) publish(ctx context.Context, n int, tx *tablepb.Transaction, m *format.Manifest, body []byte, made []string) (*Committed, error) {
	out := &Committed{Manifest: m, Version: m.Version, Key: c.versionKey(m.Version), Size: int64(len(body)), UUID: tx.GetUuid(), Txn: tx, Attempts: n + 1}
	unsure := false // a put may still take effect
	for try := 1; ; try++ {
		a, err := c.store.PutIfAbsent(ctx, out.Key, body)
		exists := errors.Is(err, blob.ErrExists)
		switch {
		case err == nil:
			out.ETag = a.ETag
			c.hint(ctx, m.Version)
			return out, nil
		case errors.Is(err, blob.ErrAmbiguous):
			unsure = true
		case !exists && !unsure:
			c.discard(ctx, made)
			return nil, fmt.Errorf("committing to %s: writing the manifest of version %d: %w", c.where, m.Version, err)
		}
		l, readErr := c.read(ctx, m.Version, blob.Attrs{})
		switch {
		case l.manifest != nil && l.txn.GetUuid() == out.UUID:
			out.ETag, out.Size, out.Manifest, out.Found = l.attrs.ETag, l.attrs.Size, l.manifest, true
			c.hint(ctx, m.Version)
			return out, nil
		case readErr == nil, errors.Is(readErr, format.ErrCorrupt): // ours can be read
			c.discard(ctx, made)
			return nil, &lostError{m.Version, l.txn}
		case exists && !unsure && errors.Is(readErr, blob.ErrNotExist):
			return nil, &lostError{m.Version, nil} // and it was removed again
		case try == settleTries || ctx.Err() != nil:
			return nil, &AmbiguousError{out.Key, m.Version, out.UUID, errors.Join(err, readErr)}
		}
	}
}

// hint says which version is the newest beside local manifests, as Lance does.
// Nobody trusts it, so nothing depends on its success.
func (c *committer) hint(ctx context.Context, version uint64) {
	if c.store.Properties().Scheme == "file" {
		_, _ = c.store.Put(ctx, format.Join(c.dir, format.VersionsDir, format.HintName), fmt.Appendf(nil, `{"version":%d}`, version))
	}
}
