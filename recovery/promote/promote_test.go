package promote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery/promote"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// stuck is a state that a killed schema apply left.
type stuck struct {
	k         int
	store     *memstore.Store
	target    string // of its record; "" = it has none any more
	files     map[string][]byte
	published []schema.Table
}

func shared(t *testing.T, name ...string) []byte {
	t.Helper()
	data, err := fixtures.Shared(append([]string{"graphs", "stuck"}, name...)...)
	if err != nil {
		t.Skipf("SKIPPED: the shared killed states are not here: %v", err)
	}
	return data
}

// states are all of them, with the tables that `__manifest` shows.
func states(t *testing.T) (out []stuck) {
	t.Helper()
	var doc struct {
		Cases []struct {
			K       int
			Removed []string
			Pending []string
		}
	}
	if err := json.Unmarshal(shared(t, "schema-apply", "cases.json"), &doc); err != nil {
		t.Fatal(err)
	}
	unpack := func(archive []byte) map[string][]byte {
		files, err := fixtures.Unpack(archive)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	base := unpack(shared(t, "schema-apply", "base.tar.gz"))
	for _, c := range doc.Cases {
		s := stuck{k: c.K, files: maps.Clone(base)}
		maps.Copy(s.files, unpack(shared(t, "schema-apply", fmt.Sprintf("%02d.tar.gz", c.K))))
		for _, k := range c.Removed {
			delete(s.files, k)
		}
		var err error
		if s.store, err = fixtures.Store(memstore.Options{Name: "harbor"}, s.files); err != nil {
			t.Fatal(err)
		}
		for _, key := range c.Pending {
			rec, problems, err := sidecar.Parse(key, s.files[key])
			if err != nil || len(problems) > 0 {
				t.Fatal(err, problems)
			}
			p, err := txn.FromRecord(rec)
			if err != nil {
				t.Fatal(err)
			}
			s.target = p.TargetIRHash
		}
		view, err := manifest.Open(t.Context(), s.store, manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range view.Tables {
			s.published = append(s.published, schema.Table{Alias: e.Alias, ID: e.Table, Incarnation: e.Incarnation})
		}
		out = append(out, s)
	}
	return out
}

// contract is what the files at the root are, with what is published.
func contract(t *testing.T, store blob.Store, published []schema.Table) (*schema.Contract, map[string]string) {
	t.Helper()
	files, bodies := map[string]schema.File{}, map[string]string{}
	for _, k := range slices.Concat(schema.Keys, schema.StagedKeys) {
		o, err := store.Get(context.Background(), k, blob.All)
		if err != nil {
			continue
		}
		files[k], bodies[k] = schema.File{Data: o.Data}, string(o.Data)
	}
	return schema.Load(files, schema.Published{Known: published != nil, Tables: published}), bodies
}

// TestStates: each killed state is what it is, and goes where it may.
func TestStates(t *testing.T) {
	all := states(t)
	final := all[len(all)-1]
	want := map[int]txn.Staging{10: txn.StagedOther, 11: txn.StagedOther, 23: txn.Promoted}
	for k := 12; k <= 22; k++ {
		want[k] = txn.StagedTarget
	}
	promoted, unstaged := 0, 0
	for _, s := range all {
		if s.target == "" {
			continue
		}
		staging, keys, err := promote.State(t.Context(), s.store, s.target)
		if err != nil || staging != want[s.k] {
			t.Errorf("state %d: %d, want %d, %v", s.k, staging, want[s.k], err)
		}
		for _, k := range schema.StagedKeys {
			if _, there := s.files[k]; there != slices.Contains(keys, k) {
				t.Errorf("state %d: staged are %v", s.k, keys)
			}
		}
		up := s.store.Clone()
		err = promote.Promote(t.Context(), up, s.target)
		_, bodies := contract(t, up, nil)
		if ok := staging == txn.StagedTarget || staging == txn.Promoted; ok != (err == nil) {
			t.Errorf("state %d: %v", s.k, err)
		} else if ok {
			if promoted++; len(bodies) != 3 || bodies[schema.SourceKey] != string(final.files[schema.SourceKey]) {
				t.Errorf("state %d: promoted are %v", s.k, slices.Sorted(maps.Keys(bodies)))
			}
			if staging, keys, err := promote.State(t.Context(), up, s.target); staging != txn.Promoted || len(keys) > 0 || err != nil {
				t.Errorf("state %d: after the promotion %d, %v, %v", s.k, staging, keys, err)
			}
		} else if refused := (*promote.RefusedError)(nil); !errors.As(err, &refused) || !errors.Is(err, txn.ErrRecovery) {
			t.Errorf("state %d: %v", s.k, err)
		}
		down := s.store.Clone()
		err = promote.Unstage(t.Context(), down, keys)
		torn := s.k >= 18 && s.k <= 21 // the live files are of both schemas
		c, bodies := contract(t, down, nil)
		if torn != (err != nil) || !torn && (len(bodies) != 3 || c.IR == nil || c.Unconfirmed != "") || torn && len(bodies) == 3 {
			t.Errorf("state %d: removing %v: %v, left are %v", s.k, keys, err, slices.Sorted(maps.Keys(bodies)))
		} else if !torn {
			unstaged++
		}
	}
	if promoted != 12 || unstaged != 16 {
		t.Errorf("%d promoted, %d removed", promoted, unstaged)
	}
}

// TestPromoteSweep: halted anywhere, failing anywhere, with any answer lost: what
// is staged or live makes the target at every moment, no staged object is gone
// whose bytes are not live, and a second call ends it. A third one writes
// nothing.
func TestPromoteSweep(t *testing.T) {
	for _, s := range states(t) {
		if !slices.Contains([]int{12, 18, 19, 20, 22}, s.k) {
			continue
		}
		twin := func(_ context.Context, inner blob.Store) error {
			return promote.Promote(context.Background(), inner, s.target)
		}
		for name, rule := range map[string]fault.Rule{
			"halt": {Do: fault.Halt}, "fail": {Do: fault.Fail}, "lost": {Match: fault.Writes, Do: fault.LoseAnswer}, "twin": {Do: fault.Rival(twin)},
		} {
			places, err := fault.Sweep(60, func(at int) (bool, error) {
				inner := s.store.Clone()
				rule.At = at
				f := fault.New(inner, rule)
				first := promote.Promote(context.Background(), f, s.target)
				if first != nil && (name == "lost" || name == "twin") || first == nil && (name == "halt" || name == "fail") && f.Fired() > 0 {
					return false, fmt.Errorf("%d faults: %w", f.Fired(), first)
				}
				if err := whole(inner, s); err != nil {
					return false, fmt.Errorf("after %v: %w", first, err)
				}
				if err := promote.Promote(context.Background(), inner, s.target); err != nil {
					return false, err
				}
				staging, keys, err := promote.State(context.Background(), inner, s.target)
				if staging != txn.Promoted || len(keys) > 0 || err != nil {
					return false, fmt.Errorf("after the second call: %d, %v, %w", staging, keys, err)
				}
				again := fault.New(inner, fault.Rule{Match: fault.Writes, Every: true, Do: fault.Fail})
				return f.Fired() > 0, promote.Promote(context.Background(), again, s.target)
			})
			if least := map[string]int{"lost": 1}[name]; err != nil || places < max(least, 1) || name == "halt" && places < 14 {
				t.Errorf("state %d, %s: %d places, %v", s.k, name, places, err)
			}
		}
	}
}

// whole: the target is there, and what is no longer staged is live.
func whole(store blob.Store, s stuck) error {
	staging, keys, err := promote.State(context.Background(), store, s.target)
	if err != nil || staging != txn.StagedTarget && staging != txn.Promoted {
		return fmt.Errorf("the target is not there: %d, %w", staging, err)
	}
	for _, k := range schema.StagedKeys {
		body, was := s.files[k]
		if !was || slices.Contains(keys, k) {
			continue
		}
		o, err := store.Get(context.Background(), strings.TrimSuffix(k, schema.Staging), blob.All)
		if err != nil || !bytes.Equal(o.Data, body) {
			return fmt.Errorf("%s is gone, and not live: %w", k, err)
		}
	}
	return nil
}

// TestAnotherApplyMeanwhile: before any call of a promotion another recoverer
// ends it and the next schema apply stages its own files: those stay as they are,
// staged and live.
func TestAnotherApplyMeanwhile(t *testing.T) {
	all := states(t)
	s := all[12]
	next := map[string][]byte{} // back to the schema before
	for _, k := range schema.Keys {
		next[k+schema.Staging] = all[0].files[k]
	}
	refused := 0
	places, err := fault.Sweep(60, func(at int) (bool, error) {
		inner := s.store.Clone()
		var met fault.Call
		f := fault.New(inner, fault.Rule{At: at, Do: func(ctx context.Context, a *fault.Attempt) error {
			met = a.Call
			return fault.Rival(func(_ context.Context, inner blob.Store) error {
				err := promote.Promote(context.Background(), inner, s.target)
				for k, body := range next {
					if err == nil {
						_, err = inner.Put(context.Background(), k, body)
					}
				}
				return err
			})(ctx, a)
		}})
		err := promote.Promote(context.Background(), f, s.target)
		if f.Fired() == 0 {
			return false, err
		}
		var changed *promote.ChangedError
		var other *promote.RefusedError
		if errors.As(err, &changed) && errors.Is(err, txn.ErrCaller) || errors.As(err, &other) {
			refused++
		} else if err != nil {
			return false, err
		}
		for k, body := range next {
			o, err := inner.Get(context.Background(), k, blob.All)
			live, liveErr := inner.Get(context.Background(), strings.TrimSuffix(k, schema.Staging), blob.All)
			if err == nil && bytes.Equal(o.Data, body) && liveErr == nil && bytes.Equal(live.Data, s.files[k]) {
				continue
			}
			if met.Op == blob.OpDelete && met.Key == k { // asked for a moment ago: no store deletes on a condition
				continue
			}
			return false, fmt.Errorf("%s: %w, %w", k, err, liveErr)
		}
		return true, nil
	})
	if err != nil || places < 18 || refused < 6 {
		t.Errorf("%d places, %d refused, %v", places, refused, err)
	}
}

// TestOnS3: in a real bucket, whose ETags are what promotion goes by.
func TestOnS3(t *testing.T) {
	all := states(t)
	l := lab.Test(t, lab.Options{})
	for _, k := range []int{12, 20} {
		s := all[k]
		store, err := opener.Open(t.Context(), l.URI(fmt.Sprint("promote", k)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		for _, key := range slices.Concat(schema.Keys, schema.StagedKeys) {
			if body, ok := s.files[key]; ok {
				if _, err := store.Put(t.Context(), key, body); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := promote.Promote(t.Context(), store, s.target); err != nil {
			t.Fatal(err)
		}
		if staging, keys, err := promote.State(t.Context(), store, s.target); staging != txn.Promoted || len(keys) > 0 || err != nil {
			t.Errorf("state %d: %d, %v, %v", k, staging, keys, err)
		}
	}
}

// TestUnstageRefuses: nothing but staged schema files goes.
func TestUnstageRefuses(t *testing.T) {
	s := states(t)[12]
	for _, bad := range []string{schema.SourceKey, "_schema.pg.staging/x", "nodes/x", ""} {
		if err := promote.Unstage(t.Context(), s.store, []string{schema.StagedKeys[0], bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if err := s.store.Delete(t.Context(), schema.IRKey); err != nil {
		t.Fatal(err)
	}
	if err := promote.Unstage(t.Context(), s.store, schema.StagedKeys); err == nil || !strings.Contains(err.Error(), schema.IRKey) {
		t.Errorf("without a live contract: %v", err)
	}
	if _, keys, err := promote.State(t.Context(), s.store, s.target); len(keys) != 3 || err != nil {
		t.Errorf("left are %v, %v", keys, err)
	}
}

// TestUnstageSweep: halted anywhere, the live contract is as it was, and a second
// call ends it.
func TestUnstageSweep(t *testing.T) {
	s := states(t)[12]
	for name, rule := range map[string]fault.Rule{"halt": {Do: fault.Halt}, "lost": {Match: fault.Writes, Do: fault.LoseAnswer}} {
		places, err := fault.Sweep(30, func(at int) (bool, error) {
			inner := s.store.Clone()
			rule.At = at
			f := fault.New(inner, rule)
			if err := promote.Unstage(context.Background(), f, schema.StagedKeys); err != nil && name == "lost" {
				return false, err
			}
			if err := promote.Unstage(context.Background(), inner, schema.StagedKeys); err != nil {
				return false, err
			}
			staging, keys, err := promote.State(context.Background(), inner, s.target)
			if staging != txn.NotStaged || len(keys) > 0 {
				return false, fmt.Errorf("%d, %v", staging, keys)
			}
			return f.Fired() > 0, err
		})
		if err != nil || places < 3 {
			t.Errorf("%s: %d places, %v", name, places, err)
		}
	}
}
