package promote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
)

const tries = 3 // of a write whose answer is lost

// ChangedError: an object is not the one that was judged.
type ChangedError struct {
	Key string
	Why string
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("schema file %s %s: another program is at work on the schema. What was not in its place yet was left staged; look again", e.Key, e.Why)
}

// Is: whoever decided on what was there decides anew.
func (e *ChangedError) Is(target error) bool {
	return target == txn.ErrCaller || target == blob.ErrChanged
}

// RefusedError: the files are not those that the call is for. Nothing was
// changed.
type RefusedError struct {
	Doing string
	Why   string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s: %s. Nothing was changed", e.Doing, e.Why)
}

// Is: recovery cannot help.
func (e *RefusedError) Is(target error) bool { return target == txn.ErrRecovery }

// files are the objects that are there, by key.
type files map[string]blob.Object

// readAll reads the staged objects, and then the live ones: what another program
// puts in place meanwhile is then seen at least once.
func readAll(ctx context.Context, store blob.Store) (files, error) {
	out := files{}
	for _, keys := range [][]string{schema.StagedKeys, schema.Keys} {
		objects := make([]*blob.Object, len(keys))
		g := beside.New(ctx, 0)
		for i, key := range keys {
			g.Go(func(side context.Context) (err error) {
				objects[i], err = read(side, store, key)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		for i, o := range objects {
			if o != nil {
				out[keys[i]] = *o
			}
		}
	}
	return out, nil
}

// read reads one object, nil when it is not there.
func read(ctx context.Context, store blob.Store, key string) (*blob.Object, error) {
	o, err := store.Get(ctx, key, blob.All)
	if errors.Is(err, blob.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading schema file %s: %w", key, err)
	}
	return &o, nil
}

// staged are the staged objects that are there, in order.
func (f files) staged() (keys []string) {
	for _, k := range schema.StagedKeys {
		if _, ok := f[k]; ok {
			keys = append(keys, k)
		}
	}
	return keys
}

// contract is what a set of three objects makes in itself; "" names none that is
// proven.
func (f files) contract(pick func(key string) string) (c *schema.Contract, irHash string) {
	set := map[string]schema.File{}
	for _, k := range schema.Keys {
		set[k] = schema.File{Err: blob.ErrNotExist}
		if o, ok := f[pick(k)]; ok {
			set[k] = schema.File{Data: o.Data}
		}
	}
	c = schema.Load(set, schema.Published{})
	if c.IR != nil && c.Unconfirmed == "" {
		irHash = c.IRHash
	}
	return c, irHash
}

// live is the contract of the live objects.
func (f files) live() (*schema.Contract, string) {
	return f.contract(func(k string) string { return k })
}

// next is the contract of what is staged, and of what is live where nothing is.
func (f files) next() (*schema.Contract, string) {
	return f.contract(func(k string) string {
		if _, ok := f[k+schema.Staging]; ok {
			return k + schema.Staging
		}
		return k
	})
}

// state says what the files are to a schema apply.
func (f files) state(target string) txn.Staging {
	_, hash := f.next()
	made, staged := hash != "" && hash == target, len(f.staged()) > 0
	switch {
	case made && staged:
		return txn.StagedTarget
	case made:
		return txn.Promoted
	case staged:
		return txn.StagedOther
	}
	return txn.NotStaged
}

// problem is the first thing wrong with a contract.
func problem(c *schema.Contract) string {
	if len(c.Problems) > 0 {
		return c.Problems[0].Error()
	}
	return c.Unconfirmed
}

// State says what the schema files at the graph's root are to a schema apply with
// this IR hash as its target, and which staged ones are there. Three GETs side
// by side, and three more.
func State(ctx context.Context, store blob.Store, target string) (txn.Staging, []string, error) {
	f, err := readAll(ctx, store)
	if err != nil {
		return 0, nil, err
	}
	return f.state(target), f.staged(), nil
}

// Promote makes the staged files live whose target is this IR hash. It does
// nothing when they are live already. Errors: RefusedError when live and staged
// files do not make the target; ChangedError; those of the store, after which it
// may be called again.
func Promote(ctx context.Context, store blob.Store, target string) error {
	f, err := readAll(ctx, store)
	if err != nil {
		return fmt.Errorf("putting the staged schema files in place: %w", err)
	}
	switch f.state(target) {
	case txn.Promoted:
		return nil
	case txn.NotStaged, txn.StagedOther:
		c, hash := f.next()
		why := fmt.Sprintf("they make the schema %s", hash)
		if hash == "" {
			why = "they make no contract: " + problem(c)
		}
		return &RefusedError{"putting the staged schema files in place", fmt.Sprintf("the schema published is %s; of the staged files and, where none is staged, the live ones, %s", target, why)}
	}
	if err := f.promote(ctx, store); err != nil {
		return fmt.Errorf("putting the staged schema files in place: %w", err)
	}
	after, err := readAll(ctx, store)
	if err != nil {
		return fmt.Errorf("looking at the schema files that were put in place: %w", err)
	}
	if after.state(target) != txn.Promoted {
		return &ChangedError{schema.StateKey, "or another one is not what was put in place a moment ago"}
	}
	return nil
}

func (f files) promote(ctx context.Context, store blob.Store) error {
	keys := f.staged()
	for _, key := range keys {
		if err := f.put(ctx, store, key); err != nil {
			return err
		}
	}
	for _, key := range keys {
		if err := f.inPlace(ctx, store, key); err != nil {
			return err
		}
	}
	for _, key := range keys {
		if err := f.removeRead(ctx, store, key); err != nil {
			return err
		}
	}
	return nil
}

// put writes a staged object in its live place, unless it is there.
func (f files) put(ctx context.Context, store blob.Store, key string) error {
	live := key[:len(key)-len(schema.Staging)]
	if o, ok := f[live]; ok && bytes.Equal(o.Data, f[key].Data) {
		return nil
	}
	if there, err := f.same(ctx, store, key); err != nil || !there {
		return err // promoted by another, as inPlace will see, or not
	}
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := store.Put(ctx, live, f[key].Data)
		if !errors.Is(err, blob.ErrAmbiguous) || try == tries {
			return err
		}
		o, readErr := read(ctx, store, live)
		if readErr != nil {
			return errors.Join(err, readErr)
		}
		if o != nil && bytes.Equal(o.Data, f[key].Data) {
			return nil
		}
	}
}

// inPlace reads a live object, which must be what was staged.
func (f files) inPlace(ctx context.Context, store blob.Store, key string) error {
	live := key[:len(key)-len(schema.Staging)]
	o, err := read(ctx, store, live)
	switch {
	case err != nil:
		return err
	case o == nil || !bytes.Equal(o.Data, f[key].Data):
		return &ChangedError{live, "is not what was staged for it"}
	}
	return nil
}

// same asks whether a staged object is still the one that was judged: gone means
// that another program promoted or removed it.
func (f files) same(ctx context.Context, store blob.Store, key string) (there bool, err error) {
	a, err := store.Head(ctx, key)
	switch {
	case errors.Is(err, blob.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("asking for schema file %s: %w", key, err)
	}
	if err := blob.CheckKnown(a, f[key].Attrs); err != nil {
		return true, &ChangedError{key, "was replaced since it was read"}
	}
	return true, nil
}

// Unstage deletes these staged files, in reverse order. Those that are not there
// any more are no error. The live files must be a contract without them, or else
// it is a RefusedError: what is staged may then be all that there is.
func Unstage(ctx context.Context, store blob.Store, keys []string) error {
	for _, key := range keys {
		if !slices.Contains(schema.StagedKeys, key) {
			return &RefusedError{"removing staged schema files", fmt.Sprintf("%s is none", key)}
		}
	}
	f, err := readAll(ctx, store)
	if err != nil {
		return fmt.Errorf("removing staged schema files: %w", err)
	}
	return f.unstage(ctx, store, keys)
}

// unstage deletes staged objects as they were read.
func (f files) unstage(ctx context.Context, store blob.Store, keys []string) error {
	present := f.staged()
	gone := slices.DeleteFunc(slices.Clone(schema.StagedKeys), func(k string) bool { return !slices.Contains(keys, k) || !slices.Contains(present, k) })
	if len(gone) == 0 {
		return nil
	}
	if c, hash := f.live(); hash == "" {
		return &RefusedError{"removing staged schema files", "the live ones are no contract without them: " + problem(c)}
	}
	slices.Reverse(gone)
	for _, key := range gone {
		if err := f.removeRead(ctx, store, key); err != nil {
			return err
		}
	}
	return nil
}

// removeRead deletes a staged object as it was read. Asking and deleting once more
// settles a lost answer.
func (f files) removeRead(ctx context.Context, store blob.Store, key string) error {
	for try := 1; ; try++ {
		there, err := f.same(ctx, store, key)
		if err != nil || !there {
			return err
		}
		if err = store.Delete(ctx, key); err == nil {
			return nil
		}
		if !errors.Is(err, blob.ErrAmbiguous) || try == tries {
			return fmt.Errorf("removing staged schema file %s: %w", key, err)
		}
	}
}
