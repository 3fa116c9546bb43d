package refs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/format"
)

// InUseError: a branch that cannot go, because another one lives on its files
// or might.
type InUseError struct {
	Where  string // dataset
	Branch string
	By     string // the other branch
	Why    string
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("branch %q of %s cannot be removed: branch %q %s. Nothing was removed; delete that branch first", e.Branch, e.Where, e.By, e.Why)
}

// BranchObjects lists what goes with a branch, in the order of RemovalOrder: its
// ref when there is one, and the objects of its own dataset below tree/. Those of
// a branch whose name lies below its own (`a/b` below `a`) are not among them,
// whether that branch has a ref or not; neither are objects that are part of no
// dataset (Leftovers shows them). Nothing of it there is an empty list. What a
// halted removal left is listed again, so that going on with it ends it.
//
// A branch that another one was forked from is an InUseError, as in Lance; so is
// one where that cannot be told. LIST of the refs and of the tree, GET of each
// ref.
func BranchObjects(ctx context.Context, store blob.Store, root, name string) ([]string, error) {
	if err := CheckBranchName(name); err != nil {
		return nil, fmt.Errorf("listing the objects of a branch of %s: %w", root, err)
	}
	keys, err := inUse(ctx, store, root, name)
	if err != nil {
		return nil, fmt.Errorf("listing the objects of branch %q of %s: %w", name, root, err)
	}
	tree := format.Join(root, format.TreeDir) + "/"
	for e, err := range store.List(ctx, blob.ListOptions{Prefix: tree + name + "/", Recursive: true}) {
		if err != nil {
			return nil, fmt.Errorf("listing the objects of branch %q of %s: %w", name, root, err)
		}
		if ownerOf(strings.TrimPrefix(e.Key, tree)) == name {
			keys = append(keys, e.Key)
		}
	}
	RemovalOrder(keys)
	return keys, nil
}

// ownerOf is the branch that an object below tree/ belongs to: the longest name
// behind which one of the folders of a dataset follows. "" = none. A branch may
// be called like such a folder (`a/data`), but within these folders Lance makes
// none of the same names.
func ownerOf(path string) string {
	parts := strings.Split(path, "/")
	for i := len(parts) - 2; i > 0; i-- {
		if datasetFolders[parts[i]] {
			return strings.Join(parts[:i], "/")
		}
	}
	return ""
}

// inUse refuses a branch that others need, and returns its ref if it has one.
func inUse(ctx context.Context, store blob.Store, root, name string) (keys []string, err error) {
	l, err := List(ctx, store, root)
	if err != nil {
		return nil, err
	}
	all, err := ReadBranches(ctx, store, l.Branches, 0)
	if err != nil {
		return nil, err
	}
	live := map[string]bool{}
	var own *Branch
	for _, r := range all {
		if r.Err != nil && !errors.Is(r.Err, blob.ErrNotExist) && !errors.Is(r.Err, format.ErrCorrupt) {
			return nil, r.Err
		}
		if live[r.Name] = true; r.Name == name {
			keys, own = append(keys, r.Key), r.Value
		}
	}
	for _, r := range all {
		if r.Name == name || errors.Is(r.Err, blob.ErrNotExist) { // deleted since it was listed
			continue
		}
		if r.Err != nil {
			return nil, &InUseError{root, name, r.Name, fmt.Sprintf("may live on its files, which cannot be told: %v", r.Err)}
		}
		if why := needs(r.Value, name, own, live); why != "" {
			return nil, &InUseError{root, name, r.Name, why}
		}
	}
	return keys, nil
}

// needs says why b needs the files of a branch, or may: "" = it does not. own is
// the branch's ref, nil when it has none that can be read.
func needs(b *Branch, name string, own *Branch, live map[string]bool) string {
	if b.Parent == name {
		return "was forked from it"
	}
	if own != nil && own.Identifier != nil && b.Identifier != nil {
		if _, ok := ForkedFrom(b.Identifier, own.Identifier); ok {
			return "descends from it"
		}
		return ""
	}
	if b.Parent != "" && !live[b.Parent] {
		return fmt.Sprintf("may live on its files: it was forked from %q, which has no ref any more, and what that was forked from cannot be told", b.Parent)
	}
	return ""
}
