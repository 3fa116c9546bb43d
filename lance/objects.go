package lance

import (
	"context"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/refs"
)

// DatasetObjects lists every object below root, branches and tags included, in
// the order of refs.RemovalOrder: the manifest of the newest version last, so
// that a dataset whose removal was halted is still seen to be one. root must not
// be empty. LIST requests only.
func DatasetObjects(ctx context.Context, store blob.Store, root string) ([]string, error) {
	if root == "" || strings.Trim(root, "/") != root {
		return nil, fmt.Errorf("listing the objects of a dataset: %q is no folder of one", root)
	}
	var keys []string
	for e, err := range store.List(ctx, blob.ListOptions{Prefix: root + "/", Recursive: true}) {
		if err != nil {
			return nil, fmt.Errorf("listing the objects of %s: %w", format.Join(store.Properties().URL, root), err)
		}
		keys = append(keys, e.Key)
	}
	refs.RemovalOrder(keys)
	return keys, nil
}
