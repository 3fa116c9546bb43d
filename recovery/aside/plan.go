package aside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/txn"
)

// Folder at the graph's root.
const Folder = "__omnideck_aside"

const noteName = "manifest.json"

// Object is an object to be moved.
type Object struct {
	Key    string `json:"key"`
	Size   int64  `json:"size"` // bytes
	ETag   string `json:"etag"`
	SHA256 string `json:"sha256,omitempty"` // hex; "" in a plan: it was not read yet
}

// Planned is what would be moved. It was looked at, not read.
type Planned struct {
	Why     string
	Objects []Object // in the order of their keys
	Bytes   int64    // of all
	// Folder is that of a move of these objects that was halted: Move goes on with
	// it. "" = a new one.
	Folder string
}

// note is manifest.json.
type note struct {
	Why     string    `json:"why"`
	When    time.Time `json:"when"`
	By      string    `json:"by"`
	Objects []Object  `json:"objects"`
}

// ChangedError: an object is not the one that was shown.
type ChangedError struct {
	Key        string
	Shown, Now string
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("setting %s aside: shown was an object of %s, there is now %s. It was left as it is; look again", e.Key, e.Shown, e.Now)
}

// Is: whoever decided on what was shown decides anew.
func (e *ChangedError) Is(target error) bool {
	return target == txn.ErrCaller || target == blob.ErrChanged
}

// RefusedError: this cannot be set aside. Nothing was changed.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("setting objects aside: %s. Nothing was changed", e.Why)
}

// Is: it is the caller who can ask for something else.
func (e *RefusedError) Is(target error) bool { return target == txn.ErrCaller }

// Plan looks at objects that are to be set aside, and says why. Keys that a
// move before has taken already, but did not end, are part of that one. A HEAD
// each; a LIST and GETs when one is not there.
func Plan(ctx context.Context, store blob.Store, keys []string, why string) (*Planned, error) {
	keys = slices.Clone(keys)
	slices.Sort(keys)
	if err := check(keys, why); err != nil {
		return nil, err
	}
	p := &Planned{Why: why}
	for _, key := range keys {
		a, err := store.Head(ctx, key)
		if errors.Is(err, blob.ErrNotExist) {
			return halted(ctx, store, keys, key)
		}
		if err != nil {
			return nil, fmt.Errorf("looking at %s, which is to be set aside: %w", key, err)
		}
		p.Objects = append(p.Objects, Object{Key: key, Size: a.Size, ETag: a.ETag})
		p.Bytes += a.Size
	}
	return p, nil
}

func check(keys []string, why string) error {
	if strings.TrimSpace(why) == "" {
		return &RefusedError{"nothing says why"}
	}
	if len(keys) == 0 {
		return &RefusedError{"no object was named"}
	}
	for i, key := range keys {
		if err := blob.CheckKey(key); err != nil {
			return &RefusedError{fmt.Sprintf("%q is no key: %v", key, err)}
		}
		if i > 0 && keys[i-1] == key {
			return &RefusedError{fmt.Sprintf("%s was named twice", key)}
		}
		if key == noteName {
			return &RefusedError{fmt.Sprintf("an object called %s has no place beside the note of that name", key)}
		}
		if key == Folder || strings.HasPrefix(key, Folder+"/") {
			return &RefusedError{fmt.Sprintf("%s was set aside already", key)}
		}
	}
	return nil
}

// halted is the plan of the newest move of exactly these keys, one of which is
// not in its place.
func halted(ctx context.Context, store blob.Store, keys []string, missing string) (*Planned, error) {
	all, err := notes(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, n := range slices.Backward(all) {
		var moved []string
		p := &Planned{Why: n.Why, Objects: n.Objects, Folder: n.folder}
		for _, o := range n.Objects {
			moved = append(moved, o.Key)
			p.Bytes += o.Size
		}
		if slices.Equal(moved, keys) {
			return p, nil
		}
	}
	return nil, fmt.Errorf("setting objects aside: %s is not there, and no move that was halted has it: %w", missing, blob.ErrNotExist)
}

// filed is a note in its folder.
type filed struct {
	note
	folder string
}

// notes reads what was set aside before, the oldest first. A folder whose note is
// not there or cannot be read is nothing that could be gone on with.
func notes(ctx context.Context, store blob.Store) (out []filed, err error) {
	for e, err := range store.List(ctx, blob.ListOptions{Prefix: Folder + "/"}) {
		if err != nil {
			return nil, fmt.Errorf("looking for what was set aside before: %w", err)
		}
		if !e.IsPrefix {
			continue
		}
		o, err := store.Get(ctx, e.Key+"/"+noteName, blob.All)
		if errors.Is(err, blob.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("looking at what was set aside before: %w", err)
		}
		n := filed{folder: e.Key}
		if json.Unmarshal(o.Data, &n.note) == nil && n.sound() {
			out = append(out, n)
		}
	}
	return out, nil
}

// sound: the note is one of ours.
func (n *note) sound() bool {
	keys := make([]string, len(n.Objects))
	for i, o := range n.Objects {
		if keys[i] = o.Key; len(o.SHA256) != 64 {
			return false
		}
	}
	return slices.IsSorted(keys) && check(keys, n.Why) == nil
}
