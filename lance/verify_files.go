package lance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance/format"
)

// wanted is one object that the version names.
type wanted struct {
	base  format.BaseRef
	path  string // below the dataset folder of the base
	data  string // of a data file: below its data folder; else ""
	size  uint64 // recorded; 0 = not
	rows  uint64 // lost with it
	index bool   // belongs to an index segment
	found bool
}

// key is where the object lies in a place.
func (w *wanted) key(p place) string {
	if w.data != "" {
		return p.dataKey(w.data)
	}
	return format.Join(p.dir, w.path)
}

// listFrom is the number of files of one folder from which on a LIST is tried
// before asking for each by itself.
const listFrom = 8

// files checks that every object of the version is there and has the recorded
// length, and with Deep that it can be read.
func (c *checker) files(ctx context.Context) error {
	if c.o.Deep {
		if err := c.readFiles(ctx); err != nil {
			return err
		}
	}
	folders := map[string][]*wanted{}
	all := c.wanted()
	c.out.Files = len(all)
	for i := range all {
		w := &all[i]
		here, _, ok, err := c.s.bases.own(w.base)
		if err != nil {
			c.add(Problem{ID: "base-path", Key: w.path, Found: err.Error(), Expected: "a base path of the manifest", RowsAffected: w.rows})
			w.found = true
			continue
		}
		if ok {
			folder := here.dir
			folders[folder] = append(folders[folder], w)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		if ws := folders[folder]; len(ws) >= listFrom {
			if err := c.listed(ctx, folder, ws); err != nil {
				return err
			}
		}
	}
	g := beside.New(ctx, c.s.env.opts.Parallelism)
	for i := range all {
		if w := &all[i]; !w.found {
			g.Go(func(ctx context.Context) error { return c.ask(ctx, w) })
		}
	}
	return g.Wait()
}

// wanted lists the objects of the version. With Deep, data and deletion files
// were read already.
func (c *checker) wanted() []wanted {
	var out []wanted
	for i := range c.s.frags {
		f := c.s.frags[i].f
		rows, known := f.LiveRows()
		if !known {
			rows = f.PhysicalRows
		}
		for k := range f.Files {
			d := &f.Files[k]
			out = append(out, wanted{base: d.Base, path: d.DataPath(), data: d.Path, size: d.Size, rows: rows, found: c.o.Deep})
		}
		if d := f.Deletion; d != nil {
			out = append(out, wanted{base: d.Base, path: format.DeletionPath(f.ID, d), rows: rows, found: c.o.Deep})
		}
	}
	segments, err := c.s.manifest.Indexes()
	if err != nil {
		return out // said already
	}
	for _, x := range segments {
		for _, f := range x.Files {
			out = append(out, wanted{base: x.Base, path: format.IndexDir(x.UUID) + "/" + f.Path, size: f.Size, index: true})
		}
	}
	return out
}

// listed looks for the objects of one folder in listings of its parts, as long
// as that is cheaper than asking for each.
func (c *checker) listed(ctx context.Context, folder string, ws []*wanted) error {
	byKey := make(map[string]*wanted, len(ws))
	for _, w := range ws {
		byKey[format.Join(folder, w.path)] = w
	}
	budget := len(ws) / 2 * listPage // keys
	for _, part := range []string{format.DataDir, format.DeletionsDir, format.IndicesDir} {
		opts := blob.ListOptions{Prefix: format.Join(folder, part) + "/", Recursive: true, PageSize: listPage}
		for e, err := range c.s.env.store.List(ctx, opts) {
			if err != nil {
				return err
			}
			if w := byKey[e.Key]; w != nil {
				w.found = true
				c.size(e.Key, w, e.Size)
			}
			if budget--; budget <= 0 {
				return nil
			}
		}
	}
	return nil
}

// ask asks for one object, wherever it may lie.
func (c *checker) ask(ctx context.Context, w *wanted) error {
	key := w.path
	err := c.s.bases.try(ctx, w.base, func(p place) error {
		key = w.key(p)
		if err := checkKey(key); err != nil {
			return err
		}
		a, err := p.store.Head(ctx, key)
		if err == nil {
			c.size(key, w, a.Size)
		}
		return err
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && errors.Is(err, blob.ErrNotExist) && w.index && c.elsewhere(ctx, w):
		c.add(Problem{ID: "index", Severity: "warn", Key: key, Found: "the file lies under another base than the manifest says, as Lance records it on branches of branches",
			Expected: "the file here; Lance's own indexed reads fail on this branch"})
		return nil
	case ctx.Err() == nil && (errors.Is(err, blob.ErrNotExist) || errors.Is(err, format.ErrCorrupt)):
		c.add(Problem{ID: "file-missing", Key: key, Found: err.Error(), Expected: "the file", RowsAffected: w.rows})
		return nil
	}
	return err
}

// elsewhere looks for a file of an index under the other bases of this root.
func (c *checker) elsewhere(ctx context.Context, w *wanted) bool {
	dirs := []string{c.s.dir, c.s.env.root}
	for i := range c.s.bases.list {
		dirs = append(dirs, c.s.bases.list[i].here)
	}
	for _, dir := range dirs {
		if _, err := c.s.env.store.Head(ctx, format.Join(dir, w.path)); err == nil {
			return true
		}
	}
	return false
}

func (c *checker) size(key string, w *wanted, got int64) {
	if got == 0 && w.size == 0 && !w.index {
		c.add(Problem{ID: "file-size", Key: key, Found: "0 bytes", Expected: "a file: no length is recorded, and none of its kind is empty", RowsAffected: w.rows})
	}
	if w.size != 0 && uint64(got) != w.size {
		c.add(Problem{ID: "file-size", Key: key, Found: fmt.Sprintf("%d bytes", got), Expected: fmt.Sprintf("%d bytes", w.size), RowsAffected: w.rows})
	}
}

// readFiles opens every data file and reads every deletion file.
func (c *checker) readFiles(ctx context.Context) error {
	g := beside.New(ctx, c.s.env.opts.Parallelism)
	for i := range c.s.frags {
		st := &c.s.frags[i]
		for k := range st.f.Files {
			d := &st.f.Files[k]
			g.Go(func(ctx context.Context) error {
				r, key, err := c.s.openData(ctx, d, 1, false)
				if err == nil && st.f.PhysicalRows != 0 {
					err = (&loaded{rows: st.f.PhysicalRows}).count(r)
				}
				return c.read(ctx, st.f, "rows", key, err)
			})
		}
		if st.f.Deletion != nil {
			g.Go(func(ctx context.Context) error {
				_, key, err := c.s.readDeletions(ctx, st.f)
				return c.read(ctx, st.f, "deletions", key, err)
			})
		}
	}
	return g.Wait()
}

// read turns what is wrong with a file into a problem.
func (c *checker) read(ctx context.Context, f *format.Fragment, id, key string, err error) error {
	rows, known := f.LiveRows()
	if !known {
		rows = f.PhysicalRows
	}
	p := Problem{Key: key, RowsAffected: rows, Expected: fmt.Sprintf("what the manifest says of fragment %d", f.ID)}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err
	case errors.Is(err, blob.ErrNotExist):
		p.ID, p.Expected = "file-missing", "the file"
	case errors.Is(err, format.ErrCorrupt), errors.Is(err, format.ErrUnsupported):
		p.ID = id
	default:
		return err
	}
	p.Found = err.Error()
	c.add(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken[f.ID] = true
	return nil
}
