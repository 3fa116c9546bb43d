package branches

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/refs"
	"github.com/omnideck/omnideck/manifest"
)

// LockName is the native branch that a schema apply holds while it runs.
const LockName = "__schema_apply_lock__"

// Listing is the set of branches by name alone.
type Listing struct {
	Names    []string // decoded, byte order, main among them
	Locked   bool     // LockName is there
	Problems []Problem
	Refs     *refs.Listing // what was listed: tags and other objects too
}

// Problem is an object among the refs that names no branch but looks like one.
type Problem struct {
	Key  string
	Text string // found, expected
}

func (p Problem) Error() string { return p.Key + ": " + p.Text }

// Branch is a listed branch: main, or one with a ref.
type Branch struct {
	Name string
	Ref  *refs.Branch // nil for main, and when Err is set
	Err  error        // why the ref cannot be read
}

// parallel is how many refs are read at once.
const parallel = 64

// Names lists the branches: one LIST for every page of 100 refs. Where there is
// no graph at all there is still main: ask for its versions.
func Names(ctx context.Context, store blob.Store) (*Listing, error) {
	l, err := refs.List(ctx, store, manifest.Folder)
	if err != nil {
		return nil, fmt.Errorf("listing the branches: %w", err)
	}
	return fromRefs(l), nil
}

func fromRefs(l *refs.Listing) *Listing {
	out := &Listing{Names: []string{manifest.Main}, Refs: l}
	for _, r := range l.Branches {
		if r.Name == LockName {
			out.Locked = true
			continue
		}
		out.Names = append(out.Names, r.Name)
	}
	slices.Sort(out.Names)
	for _, j := range l.Junk {
		// Other names are what a killed put leaves; these the Rust engine would list.
		if strings.HasSuffix(j.Key, ".json") && strings.Contains(j.Key, "/branches/") {
			out.Problems = append(out.Problems, Problem{j.Key, fmt.Sprintf("%s: no branch can have that name", j.Why)})
		}
	}
	return out
}

// List is Names, and the content of every ref: one GET each, side by side. The
// order is that of Names; the lock, when it is there, stands last.
func List(ctx context.Context, store blob.Store) (*Listing, []Branch, error) {
	l, err := Names(ctx, store)
	if err != nil {
		return nil, nil, err
	}
	read, err := refs.ReadBranches(ctx, store, l.Refs.Branches, parallel)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the refs of %d branches: %w", len(l.Refs.Branches), err)
	}
	out := []Branch{{Name: manifest.Main}}
	for _, r := range read {
		out = append(out, Branch{r.Name, r.Value, r.Err})
	}
	slices.SortFunc(out, func(a, b Branch) int {
		return cmp.Or(compareBool(a.Name == LockName, b.Name == LockName), strings.Compare(a.Name, b.Name))
	})
	return l, out, nil
}

// compareBool sorts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
