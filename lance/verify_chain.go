package lance

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/format"
)

// chains reads every manifest of main and of all branches: an old
// version that cannot be opened any more is lost to time travel, which no
// reader of the newest one notices. A version that a cleanup removes meanwhile
// is no loss.
func (c *checker) chains(ctx context.Context, names []string) error {
	if !c.o.Deep || !c.o.Chains {
		return nil
	}
	e := c.s.env
	for _, name := range append([]string{""}, names...) {
		opts := e.opts
		opts.Branch = name
		chain, err := Versions(ctx, e.store, e.root, ListOptions{Branch: name})
		if err != nil {
			return err
		}
		i := 0
		for s, err := range ReadVersions(ctx, e.store, e.root, chain.Versions, opts) {
			v := chain.Versions[i]
			i++
			if s != nil || errors.Is(err, blob.ErrNotExist) {
				continue
			}
			if ctx.Err() != nil || !errors.Is(err, format.ErrCorrupt) && !errors.Is(err, format.ErrUnsupported) {
				return err
			}
			c.add(Problem{ID: "version-unreadable", Version: v.Version, Key: v.Key, Found: err.Error(),
				Expected: fmt.Sprintf("a manifest of version %d that can be read; no other version needs it", v.Version)})
		}
	}
	return nil
}
