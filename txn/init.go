package txn

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
)

// claimKey is the object that says that a graph is being made.
const claimKey = "__init_claim.json"

// InitOptions say what a new graph begins with.
type InitOptions struct {
	Source []byte // .pg
	// Force replaces objects of a schema that no graph belongs to. A graph is
	// never replaced.
	Force bool
	Open  lance.OpenOptions
	Now   func() time.Time // nil = time.Now
	IDs   *IDs             // nil = those of the process
}

// Initialized is what Init made.
type Initialized struct {
	Commit   manifest.Commit // the genesis
	Contract *schema.IR
	Warm     *Warm // for the first write
	// Warning is why the claim could not be removed: the graph stands, and can be
	// written to. nil = it is gone.
	Warning error
}

// AlreadyInitializedError: there is a graph, or what is left of making one.
type AlreadyInitializedError struct {
	URL string
	Key string // that stands in the way
}

func (e *AlreadyInitializedError) Error() string {
	if strings.HasPrefix(e.Key, manifest.Folder) {
		return fmt.Sprintf("making a graph at %s: graph already initialized: %s is there; name another place", e.URL, e.Key)
	}
	return fmt.Sprintf("making a graph at %s: graph already initialized or initialization metadata exists: %s is there; look at it, and when no graph belongs to it, --force replaces it", e.URL, e.Key)
}

// Is: the caller decides.
func (e *AlreadyInitializedError) Is(target error) bool { return target == ErrCaller }

// ClaimedError: somebody is making a graph there, or died while doing so.
type ClaimedError struct {
	URL   string
	Since time.Time // zero = not known
}

func (e *ClaimedError) Error() string {
	since := ""
	if !e.Since.IsZero() {
		since = " since " + e.Since.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("making a graph at %s: %s is there%s: somebody is doing so, or died while doing so; when nobody is, remove that object and try again", e.URL, claimKey, since)
}

// Is: the caller decides.
func (e *ClaimedError) Is(target error) bool { return target == ErrCaller }

// LeftTableError: a table is there, or part of one, of which the graph would have to
// make an empty one. There is no graph, so that nothing names it; an attempt that died left it.
type LeftTableError struct {
	URL    string
	Folder string
}

func (e *LeftTableError) Error() string {
	return fmt.Sprintf("making a graph at %s: %s is there and no graph names it: an attempt to make one that died left it; nothing of it was changed: look at it, remove that folder, and try again", e.URL, e.Folder)
}

// Is: the caller decides.
func (e *LeftTableError) Is(target error) bool { return target == ErrCaller }

// InitUnknownError: it is not known whether the graph was made. The claim is
// left, so that nobody makes another one in its place.
type InitUnknownError struct {
	URL string
	Err error
}

func (e *InitUnknownError) Error() string {
	return fmt.Sprintf("making a graph at %s: it is not known whether it was made, and %s is left there: %v; look with `omnideck info`", e.URL, claimKey, e.Err)
}

// Is: something durable may have happened.
func (e *InitUnknownError) Is(target error) bool { return target == ErrRecovery }

func (e *InitUnknownError) Unwrap() error { return e.Err }

// making is one Init.
type making struct {
	store blob.Store
	o     InitOptions
	ir    *schema.IR
	url   string

	mu     sync.Mutex
	keys   []string // of the schema, that this attempt wrote or may have written
	made   []string // folders of tables that it began, and did not find
	tables map[Identity]*lance.Snapshot
}

// Init makes a graph (omnigraph-storage §1.1): the schema is compiled, a claim
// written, the three objects of the schema put where there are none, each table
// made empty, and `__manifest` with the genesis, which is when the graph is
// there. What an attempt made that failed before that is taken away again, but
// for an object whose removal failed: then the claim is left too.
//
// Errors: *schema.SourceError, *AlreadyInitializedError, *ClaimedError,
// *LeftTableError, *InitUnknownError, those of the store.
func Init(ctx context.Context, store blob.Store, o InitOptions) (*Initialized, error) {
	done := Options{Now: o.Now, IDs: o.IDs}.completed()
	o.Now, o.IDs = done.Now, done.IDs
	if !store.Properties().ConditionalPut {
		return nil, fmt.Errorf("making a graph at %s: it was not shown that this kind of store creates an object only where there is none: %w", store.Properties().URL, blob.ErrReadOnly)
	}
	if url := store.Properties().URL; strings.ContainsFunc(url, control) {
		return nil, fmt.Errorf("making a graph at %q: the address has a control character, with which the Rust engine opens no graph; nothing was written: name another place: %w", url, ErrCaller)
	}
	m := &making{store: store, o: o, url: store.Properties().URL, tables: map[Identity]*lance.Snapshot{}}
	if err := m.free(ctx); err != nil {
		return nil, err
	}
	shape, err := schema.Compile(o.Source)
	if err != nil {
		return nil, err
	}
	domain, err := o.IDs.Next()
	if err != nil {
		return nil, err
	}
	m.ir = shape.Resolve(domain)
	if err := m.claim(ctx); err != nil {
		return nil, err
	}
	tables, err := m.prepare(ctx)
	if err != nil {
		return nil, errors.Join(err, m.undo(context.WithoutCancel(ctx)))
	}
	return m.publish(context.WithoutCancel(ctx), tables)
}

// control: a character that no object's name has in the Rust engine.
func control(r rune) bool { return r < ' ' || r == 0x7f }

// free checks that nothing stands in the way, side by side.
func (m *making) free(ctx context.Context) error {
	looks := []func() error{func() error {
		first, err := m.first(ctx, manifest.Folder+"/")
		if err != nil || first == "" {
			return err
		}
		version, err := m.first(ctx, manifest.Folder+"/_versions/")
		if err == nil && version == "" {
			return &LeftTableError{m.url, manifest.Folder}
		}
		return cmp.Or(err, error(&AlreadyInitializedError{m.url, cmp.Or(version, first)}))
	}}
	if !m.o.Force {
		for _, k := range schema.Keys {
			looks = append(looks, func() error {
				_, err := m.store.Head(ctx, k)
				switch {
				case err == nil:
					return &AlreadyInitializedError{m.url, k}
				case errors.Is(err, blob.ErrNotExist):
					return nil
				}
				return err
			})
		}
	}
	var taken *AlreadyInitializedError
	if err := Beside(len(looks), func(i int) error { return looks[i]() }); errors.As(err, &taken) {
		return taken
	} else if errors.As(err, new(*LeftTableError)) {
		return err
	} else if err != nil {
		return fmt.Errorf("making a graph at %s: %w", m.url, err)
	}
	return nil
}

// first is the first key below a prefix; "" = there is none.
func (m *making) first(ctx context.Context, prefix string) (string, error) {
	for e, err := range m.store.List(ctx, blob.ListOptions{Prefix: prefix, PageSize: 1}) {
		return e.Key, err
	}
	return "", nil
}

// claim writes the claim where there is none.
func (m *making) claim(ctx context.Context) error {
	id, err := m.o.IDs.Next()
	if err != nil {
		return err
	}
	return m.create(ctx, claimKey, fmt.Appendf(nil, `{"version":1,"attempt_id":"%s"}`, id))
}

// create writes an object where there is none. A lost answer is settled by
// reading it back.
func (m *making) create(ctx context.Context, key string, data []byte) error {
	_, err := m.store.PutIfAbsent(ctx, key, data)
	if errors.Is(err, blob.ErrAmbiguous) || errors.Is(err, blob.ErrExists) {
		obj, readErr := m.store.Get(ctx, key, blob.All)
		switch {
		case readErr == nil && bytes.Equal(obj.Data, data):
			return nil
		case readErr == nil && key == claimKey:
			return &ClaimedError{m.url, obj.Attrs.ModTime}
		case readErr == nil:
			return &AlreadyInitializedError{m.url, key}
		}
	}
	if err != nil {
		return fmt.Errorf("making a graph at %s: %w", m.url, err)
	}
	return nil
}

// prepare writes all that a graph is made of but `__manifest`: the source of the
// schema, then everything else side by side. When it returns nothing is on its
// way to the store any more.
func (m *making) prepare(ctx context.Context) ([]manifest.Update, error) {
	if err := m.free(ctx); err != nil {
		return nil, err
	}
	var rest []func() error
	for i, obj := range schema.Objects(m.o.Source, m.ir) {
		if i > 0 {
			rest = append(rest, func() error { return m.put(ctx, obj.Key, obj.Data) })
		} else if err := m.put(ctx, obj.Key, obj.Data); err != nil {
			return nil, err
		}
	}
	types := slices.Concat(m.ir.Nodes, m.ir.Edges)
	out := make([]manifest.Update, len(types))
	for i := range types {
		d, err := m.o.IDs.draw()
		if err != nil {
			return nil, err
		}
		rest = append(rest, func() error {
			if err := m.table(ctx, &types[i], d, &out[i]); err != nil {
				return fmt.Errorf("making the table %s: %w", types[i].Alias(), err)
			}
			return nil
		})
	}
	return out, Beside(len(rest), func(i int) error { return rest[i]() })
}

// put writes an object of the schema, where there is none unless Force.
func (m *making) put(ctx context.Context, key string, data []byte) error {
	var err error
	if m.o.Force {
		if _, err = m.store.Put(ctx, key, data); err != nil {
			err = fmt.Errorf("making a graph at %s: %w", m.url, err)
		}
	} else {
		err = m.create(ctx, key, data)
	}
	if !errors.As(err, new(*AlreadyInitializedError)) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.keys = append(m.keys, key)
	}
	return err
}

// table makes an empty table.
func (m *making) table(ctx context.Context, t *schema.Type, d *drawn, out *manifest.Update) error {
	id := manifest.Identity{Table: t.ID, Incarnation: t.Incarnation}
	folder, _ := manifest.Location(t.Alias(), id)
	m.mu.Lock()
	m.made = append(m.made, folder)
	m.mu.Unlock()
	var (
		snap *lance.Snapshot
		err  error
	)
	for range settlings {
		snap, _, err = lance.Create(ctx, m.store, folder, lance.CreateOptions{Schema: t.LanceSchema(), UUID: d.uuid, Now: m.o.Now, Rand: bytes.NewReader(d.names[:])})
		if !errors.Is(err, blob.ErrAmbiguous) {
			break
		}
	}
	if errors.As(err, new(*commit.ConflictError)) {
		m.found(folder)
		return &LeftTableError{m.url, folder}
	}
	if err != nil {
		return err
	}
	made, err := outputOf(m.store, t.Alias(), snap)
	if err != nil {
		return err
	}
	*out = manifest.Update{Identity: id, Alias: t.Alias(), Version: made.Version, Rows: made.Rows, Meta: manifest.TableMeta{
		ManifestPath: made.ManifestPath, ManifestSize: made.ManifestSize, ETag: made.ETag, NamingScheme: made.NamingScheme,
	}}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tables[Identity(id)] = snap
	return nil
}

// found: a table is there that this attempt did not make, and may not take away.
func (m *making) found(folder string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made = slices.DeleteFunc(m.made, func(f string) bool { return f == folder })
}

// undo takes away what this attempt wrote, the claim last, which stays when
// something else does.
func (m *making) undo(ctx context.Context) error {
	keys := slices.Clone(m.keys)
	for _, folder := range append(slices.Clone(m.made), manifest.Folder) {
		for e, err := range m.store.List(ctx, blob.ListOptions{Prefix: folder + "/", Recursive: true}) {
			if err != nil {
				return fmt.Errorf("taking away what was made of the graph: %w", err)
			}
			if strings.HasPrefix(e.Key, manifest.Folder+"/_versions/") {
				return &InitUnknownError{m.url, fmt.Errorf("%s is there, which this attempt did not write", e.Key)}
			}
			keys = append(keys, e.Key)
		}
	}
	for _, k := range append(keys, claimKey) {
		if err := m.store.Delete(ctx, k); err != nil {
			return fmt.Errorf("taking away what was made of the graph: %w", err)
		}
	}
	return nil
}

// publish makes `__manifest`, and with it the graph.
func (m *making) publish(ctx context.Context, tables []manifest.Update) (*Initialized, error) {
	id, err := m.o.IDs.Next()
	if err != nil {
		return nil, errors.Join(err, m.undo(ctx))
	}
	genesis := manifest.Intent{ID: id, CreatedAt: m.o.Now().UTC().UnixMicro()}
	var made *manifest.Published
	for range settlings {
		made, err = manifest.Create(ctx, m.store, manifest.CreateOptions{
			Tables: tables, Commit: genesis, Open: manifest.Options{Lance: m.o.Open}, Now: m.o.Now, Rand: m.o.IDs,
		})
		if !errors.Is(err, blob.ErrAmbiguous) {
			break
		}
	}
	var taken *manifest.AlreadyInitializedError
	switch {
	case errors.As(err, &taken): // a rival without a claim: what we wrote may be what it stands on
		return nil, err
	case errors.Is(err, blob.ErrAmbiguous):
		return nil, &InitUnknownError{m.url, err}
	case err != nil:
		return nil, errors.Join(err, m.undo(ctx))
	}
	out := &Initialized{Commit: manifest.Commit{ID: id, ManifestVersion: made.Version, CreatedAt: genesis.CreatedAt}, Contract: m.ir, Warm: &Warm{Store: m.store, View: made.View, Tables: m.tables}}
	if err := m.store.Delete(ctx, claimKey); err != nil {
		out.Warning = fmt.Errorf("the graph is made, and %s could not be removed: %w", claimKey, err)
	}
	return out, nil
}
