package refs

import (
	"context"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/format"
)

// Leftover is a part of tree/ that belongs to no branch.
type Leftover struct {
	Prefix string // folder in the store, without trailing slash
	Why    string
}

// datasetFolders are the folders that make a folder a dataset.
var datasetFolders = map[string]bool{
	format.VersionsDir: true, format.TransactionsDir: true, format.DataDir: true,
	format.DeletionsDir: true, format.IndicesDir: true,
}

// Leftovers finds what lies under tree/ although no branch of that name is
// among live, the names of all branches: one LIST per folder on the way to a
// branch, none inside branches or leftovers. A live branch is never part of
// one, also when it lies below the folder of a deleted one.
func Leftovers(ctx context.Context, store blob.Store, root string, live []string) ([]Leftover, error) {
	w := walk{store: store, root: format.Join(root, format.TreeDir), live: map[string]bool{}, above: map[string]bool{}}
	for _, name := range live {
		w.live[name] = true
		for i := range len(name) {
			if name[i] == '/' {
				w.above[name[:i]] = true
			}
		}
	}
	if err := w.folder(ctx, ""); err != nil {
		return nil, fmt.Errorf("looking for leftovers of branches under %s: %w", w.root, err)
	}
	return w.found, nil
}

type walk struct {
	store blob.Store
	root  string
	live  map[string]bool // names of branches
	above map[string]bool // folders on the way to one
	found []Leftover
}

// folder looks into the folder of name, which is "" or lies above a branch.
func (w *walk) folder(ctx context.Context, name string) error {
	prefix := format.Join(w.root, name) + "/"
	for e, err := range w.store.List(ctx, blob.ListOptions{Prefix: prefix}) {
		if err != nil {
			return err
		}
		last := strings.TrimPrefix(e.Key, prefix)
		child := format.Join(name, last)
		switch {
		case !e.IsPrefix:
			if !w.live[name] {
				w.found = append(w.found, Leftover{e.Key, "an object that belongs to no branch"})
			}
			continue
		case !w.live[child] && !w.above[child]:
			if !w.live[name] || !datasetFolders[last] {
				w.found = append(w.found, Leftover{e.Key, w.why(name, last)})
			}
			continue
		}
		if w.above[child] {
			if err := w.folder(ctx, child); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walk) why(name, last string) string {
	if datasetFolders[last] && name != "" {
		return fmt.Sprintf("part of branch %q, which has no ref any more; it stayed because a branch lies below it", name)
	}
	return fmt.Sprintf("no branch %q: what a killed create or delete left behind", format.Join(name, last))
}
