package recovery_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// At each call of a recovery of a schema apply its record is settled by another
// program, and the next schema apply stages its files under the very names: they
// stay, and so do those in place. A change is lost, and asked for again.
func TestSchemaFilesStagedAnewBesideRecovery(t *testing.T) {
	for n, s := range []*stuck.State{stuck.One(t, "schema-apply", 12), stuck.One(t, "schema-apply", 17), stuck.One(t, "schema-apply", 20)} {
		staged := stuck.One(t, "schema-apply", 12).Files
		places, err := fault.Sweep(300, func(k int) (bool, error) {
			store, at := s.Store(t, stuck.Root), k*every(4)+n
			what := fmt.Sprintf("%s, staged anew at call %d", s, at)
			var fresh map[string][]byte
			f := fault.New(store, fault.Rule{At: at, Do: func(ctx context.Context, a *fault.Attempt) error {
				if a.Op == blob.OpPut && strings.HasPrefix(a.Key, sidecar.Folder) { // it was looked at a moment ago, and no store writes on a condition
					return a.Perform(ctx)
				}
				if err := recoverOver(store, recovery.Options{}); err != nil {
					return err
				}
				for _, key := range schema.StagedKeys {
					if _, err := store.Put(ctx, key, append(bytes.Clone(staged[key]), '\n')); err != nil {
						return err
					}
				}
				fresh = stuck.Objects(t, store)
				if a.Op == blob.OpDelete || a.Op == blob.OpPut && slices.Contains(schema.Keys, a.Key) {
					return blob.ErrAmbiguous
				}
				return a.Perform(ctx)
			}})
			p, err := recovery.Look(context.Background(), store, recovery.Options{})
			if err != nil {
				return true, err
			}
			r, err := recovery.Execute(context.Background(), f, p, recovery.Options{})
			if err != nil {
				return true, err
			}
			if f.Fired() == 0 {
				return false, nil
			}
			for _, x := range r.Settled {
				if x.Err != nil {
					t.Errorf("%s: %v", what, x.Err)
				}
			}
			after := stuck.Objects(t, store)
			for key, data := range fresh {
				if now, ok := after[key]; !ok && !strings.Contains(key, "/_transactions/") || slices.Contains(append(slices.Clone(schema.Keys), schema.StagedKeys...), key) && !bytes.Equal(now, data) {
					t.Errorf("%s: %s is gone, or another", what, key)
				}
			}
			return true, nil
		})
		if err != nil || places < 3 {
			t.Errorf("%s: %d places, %v", s, places, err)
		}
	}
}

// Staged files that no record owns are replaced at each call of their removal, by a
// schema apply that begins: its files stay.
func TestStagingReplacedBesideItsRemoval(t *testing.T) {
	st := stuck.One(t, "schema-apply", 10)
	n, err := fault.Sweep(100, func(at int) (bool, error) {
		store := st.Store(t, stuck.Root)
		if err := store.Delete(context.Background(), st.Pending[0]); err != nil {
			return true, err
		}
		p, err := recovery.Look(context.Background(), store, recovery.Options{})
		if err != nil || p.Left == nil {
			return true, fmt.Errorf("%+v, %w", p, err)
		}
		var fresh map[string][]byte
		f := fault.New(store, fault.Rule{At: at, Do: func(ctx context.Context, a *fault.Attempt) error {
			for _, key := range p.Left.Keys {
				if _, err := store.Put(ctx, key, append(bytes.Clone(st.Files[key]), '\n')); err != nil {
					return err
				}
			}
			fresh = stuck.Objects(t, store)
			if a.Op == blob.OpDelete {
				return blob.ErrAmbiguous
			}
			return a.Perform(ctx)
		}})
		r, err := recovery.Execute(context.Background(), f, p, atOnce)
		if err != nil || f.Fired() == 0 {
			return false, err
		}
		if d := stuck.Differ(fresh, stuck.Objects(t, store)); d != "" {
			t.Errorf("replaced at call %d (%v): %s", at, r.Staging, d)
		}
		return true, nil
	})
	if err != nil || n < 10 {
		t.Errorf("%d places, %v", n, err)
	}
}

// What another record claims is refused as long as that is there: one that goes at
// any call of the recovery is no reason any more.
func TestClaimThatGoesMeanwhile(t *testing.T) {
	st := stuck.One(t, "schema-apply", 12)
	other := strings.ReplaceAll(st.Pending[0], "QGNATG60ZJWJB6XQT", "QGNATG60ZJWJB6XQV")
	n, err := fault.Sweep(100, func(at int) (bool, error) {
		ctx, store := context.Background(), st.Store(t, stuck.Root)
		p, err := recovery.Look(ctx, store, atOnce)
		if err == nil {
			_, err = store.Put(ctx, other, bytes.ReplaceAll(st.Files[st.Pending[0]], []byte("QGNATG60ZJWJB6XQT"), []byte("QGNATG60ZJWJB6XQV")))
		}
		if err != nil {
			return true, err
		}
		f := fault.New(store, fault.Rule{At: at, Do: fault.Rival(func(ctx context.Context, inner blob.Store) error { return inner.Delete(ctx, other) })})
		r, err := recovery.Execute(ctx, f, p, atOnce)
		if err != nil || f.Fired() == 0 {
			return false, err
		}
		if e := (*recovery.RefusedError)(nil); errors.As(r.Settled[0].Err, &e) {
			return false, nil // it was refused before that
		}
		if r.Settled[0].Err != nil {
			t.Errorf("gone at call %d: %v", at, r.Settled[0].Err)
		}
		return true, nil
	})
	t.Logf("%d places", n)
	if err != nil || n < 20 {
		t.Errorf("%d places, %v", n, err)
	}
}
