package refs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/format"
)

// Ref is a branch or tag by its object.
type Ref struct {
	Name string // decoded
	Key  string // in the store
	blob.Attrs
}

// Junk is an object under _refs that is no ref.
type Junk struct {
	Key string
	blob.Attrs
	Why string
}

// Listing is what a LIST of _refs shows. No content was read.
type Listing struct {
	Branches []Ref // in byte order of their names, without main
	Tags     []Ref // in byte order of their names
	Junk     []Junk
}

// List lists the refs of the dataset at root: one LIST request per hundred.
func List(ctx context.Context, store blob.Store, root string) (*Listing, error) {
	out := &Listing{}
	prefix := format.Join(root, format.RefsDir) + "/"
	for e, err := range store.List(ctx, blob.ListOptions{Prefix: prefix, Recursive: true}) {
		if err != nil {
			return nil, err
		}
		out.add(root, e)
	}
	byName := func(a, b Ref) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(out.Branches, byName)
	slices.SortFunc(out.Tags, byName)
	return out, nil
}

// add sorts one object into the listing.
func (l *Listing) add(root string, e blob.Entry) {
	rest := strings.TrimPrefix(e.Key, root)
	rest = strings.TrimPrefix(rest, "/")
	refs, check := &l.Branches, CheckBranchName
	name, ok := strings.CutPrefix(rest, branchesDir)
	if !ok {
		refs, check = &l.Tags, CheckTagName
		name, ok = strings.CutPrefix(rest, tagsDir)
	}
	junk := func(why string) { l.Junk = append(l.Junk, Junk{e.Key, e.Attrs, why}) }
	if !ok {
		junk("neither in branches nor in tags")
		return
	}
	name, ok = strings.CutSuffix(name, suffix)
	if !ok || strings.Contains(name, "/") {
		junk("not a name that Lance gives")
		return
	}
	decoded, err := decode(name)
	if err == nil {
		err = check(decoded)
	}
	if err != nil {
		junk(err.Error())
		return
	}
	*refs = append(*refs, Ref{decoded, e.Key, e.Attrs})
}

// Result is the content of one ref, or why it could not be read.
type Result[T any] struct {
	Ref
	Value *T
	Err   error
}

// ReadBranches reads the contents of branch refs, parallelism at once (0 = 16),
// in the order given. One that cannot be read does not hide the others.
func ReadBranches(ctx context.Context, store blob.Store, refs []Ref, parallelism int) ([]Result[Branch], error) {
	return readAll(ctx, store, refs, parallelism, func(r Ref, data []byte) (*Branch, error) {
		b, err := ParseBranch(data)
		if err == nil {
			b.Ref = r
		}
		return b, err
	})
}

// ReadTags is ReadBranches for tags.
func ReadTags(ctx context.Context, store blob.Store, refs []Ref, parallelism int) ([]Result[Tag], error) {
	return readAll(ctx, store, refs, parallelism, func(r Ref, data []byte) (*Tag, error) {
		t, err := ParseTag(data)
		if err == nil {
			t.Ref = r
		}
		return t, err
	})
}

// ReadBranch reads one branch's ref by name: one GET. An absent one is an
// error that wraps blob.ErrNotExist.
func ReadBranch(ctx context.Context, store blob.Store, root, name string) (*Branch, error) {
	if err := CheckBranchName(name); err != nil {
		return nil, fmt.Errorf("%w: %w", err, blob.ErrNotExist)
	}
	out, err := ReadBranches(ctx, store, []Ref{{Name: name, Key: format.Join(root, BranchKey(name))}}, 1)
	if err != nil {
		return nil, err
	}
	return out[0].Value, out[0].Err
}

func readAll[T any](ctx context.Context, store blob.Store, refs []Ref, parallelism int, parse func(Ref, []byte) (*T, error)) ([]Result[T], error) {
	if parallelism <= 0 {
		parallelism = 16
	}
	out := make([]Result[T], len(refs))
	var g errgroup.Group
	g.SetLimit(parallelism)
	for i, r := range refs {
		g.Go(func() error {
			out[i] = read(ctx, store, r, parse)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, ctx.Err()
}

func read[T any](ctx context.Context, store blob.Store, r Ref, parse func(Ref, []byte) (*T, error)) Result[T] {
	o, err := store.Get(ctx, r.Key, blob.All)
	if err != nil {
		return Result[T]{r, nil, fmt.Errorf("reading ref %q: %w", r.Name, err)}
	}
	r.Attrs = o.Attrs
	v, err := parse(r, o.Data)
	if err != nil {
		return Result[T]{r, nil, fmt.Errorf("ref %s: %w", r.Key, err)}
	}
	return Result[T]{r, v, nil}
}
