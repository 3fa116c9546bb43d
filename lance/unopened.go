package lance

import (
	"context"
	"fmt"
	"slices"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/format"
)

// VerifyUnopened judges what can be judged of a dataset whose version cannot
// be opened: that version is the first problem, and with Refs the chain, the
// branches and the tags follow as in Verify. damaged is what Open said.
func VerifyUnopened(ctx context.Context, store blob.Store, root string, opts OpenOptions, damaged *DamagedManifestError, o VerifyOptions) (*Report, error) {
	e := newEnv(store, root, opts)
	m := &format.Manifest{Version: damaged.Version, Branch: e.opts.Branch}
	c := &checker{s: newSnapshot(e, e.dir(), m, Object{Key: damaged.Key, Size: damaged.Size}), o: o, broken: map[uint64]bool{}}
	expected := fmt.Sprintf("a manifest of version %d that can be read: without it no file of the version can be checked", damaged.Version)
	c.add(Problem{ID: "version-unreadable", Found: damaged.Error(), Expected: expected})
	if err := c.refs(ctx); err != nil {
		return nil, c.fail(err)
	}
	said := false
	c.out.Problems = slices.DeleteFunc(c.out.Problems, func(p Problem) bool {
		same := p.ID == "version-unreadable" && p.Key == damaged.Key // Deep finds it again
		again := same && said
		said = said || same
		return again
	})
	worstFirst(c.out.Problems)
	return &c.out, nil
}
