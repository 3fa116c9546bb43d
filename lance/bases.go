package lance

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/format"
)

// Base is a folder outside the branch's own in which files of the version may
// lie.
type Base struct {
	ID        uint32
	Name      string // branch; "" = main
	Recorded  string // as the manifest spells it
	Here      string // where it lies under this root; "" when it is no dataset root
	Moved     bool   // Recorded is not the place of Here: the dataset was moved or copied, or the files are another's
	Elsewhere bool   // some file was not found Here and was read at Recorded
}

// bases finds the files of one snapshot.
type bases struct {
	env  *env
	dir  string // folder of the branch
	list []baseState
}

type baseState struct {
	entry format.BasePath
	here  string // prefix under this root
	away  bool   // recorded is another place

	elsewhere atomic.Bool // the recorded place was right for some file

	mu     sync.Mutex // guards what follows
	store  blob.Store // of the recorded place, once opened
	root   string
	opened bool
	err    error
}

// place is one folder in which a file may be.
type place struct {
	store blob.Store
	dir   string // prefix of the dataset folder
	bare  bool   // dir holds data files directly
}

func newBases(e *env, dir string, m *format.Manifest) *bases {
	b := &bases{env: e, dir: dir, list: make([]baseState, len(m.BasePaths))}
	for i, entry := range m.BasePaths {
		st := &b.list[i]
		st.entry = entry
		st.here = format.Join(e.root, format.BranchDir(entry.Name))
		st.away = !samePlace(entry.Path, format.Join(e.url, st.here))
	}
	return b
}

// samePlace compares two spellings of a folder.
func samePlace(a, b string) bool { return spelling(a) == spelling(b) }

// spelling is a place without what two programs write differently.
func spelling(p string) string {
	p = strings.TrimPrefix(p, "file://")
	if i := strings.Index(p, "://"); i >= 0 {
		return p[:i+3] + strings.Trim(path.Clean("/"+p[i+3:]), "/")
	}
	return path.Clean(strings.ReplaceAll(p, `\`, "/"))
}

// Bases are the base paths of the version, and what became of them so far.
func (s *Snapshot) Bases() []Base {
	out := make([]Base, len(s.bases.list))
	for i := range s.bases.list {
		st := &s.bases.list[i]
		out[i] = Base{
			ID: st.entry.ID, Name: st.entry.Name, Recorded: st.entry.Path,
			Here: st.here, Moved: st.away && st.entry.IsDatasetRoot, Elsewhere: st.elsewhere.Load(),
		}
		if !st.entry.IsDatasetRoot {
			out[i].Here = ""
		}
	}
	return out
}

// find is the base of a reference, nil for the branch's own folder.
func (b *bases) find(ref format.BaseRef) (*baseState, error) {
	if !ref.Set {
		return nil, nil
	}
	for i := range b.list {
		if b.list[i].entry.ID == ref.ID {
			return &b.list[i], nil
		}
	}
	return nil, format.Corruptf("base path %d is not among the %d of the manifest", ref.ID, len(b.list))
}

// own is where a file of the reference lies under this root; ok is false when
// it can only lie elsewhere.
func (b *bases) own(ref format.BaseRef) (p place, st *baseState, ok bool, err error) {
	if st, err = b.find(ref); err != nil {
		return place{}, nil, false, err
	}
	switch {
	case st == nil:
		return place{b.env.store, b.dir, false}, nil, true, nil
	case !st.entry.IsDatasetRoot:
		return place{}, st, false, nil
	}
	return place{b.env.store, st.here, false}, st, true, nil
}

// try calls f with each place where a file of the reference may lie, until f
// says something other than "not there": first under this root, then where the
// manifest recorded it. The recorded place comes first once a file was found
// there.
func (b *bases) try(ctx context.Context, ref format.BaseRef, f func(place) error) error {
	here, st, ok, err := b.own(ref)
	if err != nil {
		return err
	}
	if st == nil || ok && !st.away {
		return f(here)
	}
	var missing error
	if ok && !st.elsewhere.Load() {
		if missing = f(here); !errors.Is(missing, blob.ErrNotExist) {
			return missing
		}
	}
	there, err := b.recorded(ctx, st)
	if err != nil {
		if missing != nil {
			return fmt.Errorf("%w; %w", missing, err)
		}
		return err
	}
	err = f(there)
	switch {
	case err == nil:
		st.elsewhere.Store(true)
	case ok && missing == nil && errors.Is(err, blob.ErrNotExist):
		return f(here)
	}
	return err
}

// recorded opens the place that the manifest names.
func (b *bases) recorded(ctx context.Context, st *baseState) (place, error) {
	if b.env.opts.OpenBase == nil {
		return place{}, fmt.Errorf("the manifest says that it lies at %s: %w", st.entry.Path, ErrExternal)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.opened {
		st.store, st.root, st.err = b.env.opts.OpenBase(ctx, st.entry.Path)
		st.opened = st.err == nil || ctx.Err() == nil
	}
	if st.err != nil {
		return place{}, fmt.Errorf("opening the recorded base path %s: %w", st.entry.Path, st.err)
	}
	return place{st.store, st.root, !st.entry.IsDatasetRoot}, nil
}

// dataKey is the key of a data file, or of a file beside one, in a place.
func (p place) dataKey(name string) string {
	if p.bare {
		return format.Join(p.dir, name)
	}
	return format.Join(p.dir, format.DataDir, name)
}
