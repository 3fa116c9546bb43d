package lance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/lance"
)

// change is a staged operation.
type change = func(ctx context.Context, s *lance.Snapshot, uuid string) (*lance.Staged, error)

// changes are the staged operations, as a program does them that opens a
// dataset, stages and commits.
func (w *walk) changes() map[string]change {
	ids := w.some(5)
	fresh := []*person{w.person("new-1"), w.person("new-2")}
	moved := w.people(ids[:2])
	for _, p := range moved {
		p.photo = w.rows[p.id].photo
	}
	o := func(uuid string) lance.StageOptions { return lance.StageOptions{UUID: uuid, Rand: seeded(len(uuid))} }
	return map[string]change{
		"insert": func(ctx context.Context, s *lance.Snapshot, uuid string) (*lance.Staged, error) {
			return s.StageInsert(ctx, w.given(fresh, true), o(uuid))
		},
		"upsert": func(ctx context.Context, s *lance.Snapshot, uuid string) (*lance.Staged, error) {
			return s.StageUpsert(ctx, w.given(append(moved, fresh...), false), lance.UpsertOptions{StageOptions: o(uuid), LookUp: w.how})
		},
		"delete": func(ctx context.Context, s *lance.Snapshot, uuid string) (*lance.Staged, error) {
			found, err := s.FindText(ctx, "id", ids, w.how)
			if err != nil {
				return nil, err
			}
			var addrs []uint64
			for _, id := range ids {
				addrs = append(addrs, found.Rows[id]...)
			}
			return s.StageDelete(ctx, addrs, "some", o(uuid))
		},
		"update": func(ctx context.Context, s *lance.Snapshot, uuid string) (*lance.Staged, error) {
			found, err := s.FindText(ctx, "id", ids, w.how)
			if err != nil {
				return nil, err
			}
			return s.StageUpdate(ctx, append(found.Rows[ids[0]], found.Rows[ids[1]]...), w.given(moved, true), o(uuid))
		},
		"overwrite": func(ctx context.Context, s *lance.Snapshot, uuid string) (*lance.Staged, error) {
			return s.StageOverwrite(ctx, nil, w.given(fresh, true), o(uuid))
		},
	}
}

// changed opens the dataset, stages a change and commits it. rows is how many there
// are then.
func (w *walk) changed(store blob.Store, stage change, uuid string) (rows uint64, err error) {
	ctx := context.Background()
	s, err := lance.Open(ctx, store, walkRoot, lance.OpenOptions{Allocator: w.mem})
	if err != nil {
		return 0, err
	}
	staged, err := stage(ctx, s, uuid)
	if err != nil {
		return 0, err
	}
	next, _, err := staged.Commit(ctx, lance.CommitOptions{Exact: true, Now: w.now})
	if err != nil {
		return 0, err
	}
	rows, _ = next.CountRows()
	return rows, nil
}

// TestStagedSweep: halted at every call, and with the answer of every write
// lost, the dataset is at the old or the new version, whole; a success is never
// reported of the old one; and the same change begun again ends well.
func TestStagedSweep(t *testing.T) {
	w := newWalk(t, memstore.New(memstore.Options{Name: "sweep"}), 77)
	for len(w.rows) < 25 || w.step < 15 {
		w.act()
	}
	base := w.snap.Version()
	before := len(w.rows)
	changes := w.changes()
	for _, name := range slices.Sorted(maps.Keys(changes)) { // w draws in this order
		stage := changes[name]
		want, err := w.changed(w.store.(*memstore.Store).Clone(), stage, "once")
		if err != nil || want == 0 {
			t.Fatal(name, err)
		}
		fates := map[string]fault.Rule{"halt": {Do: fault.Halt}, "lost answer": {Match: fault.Writes, Do: fault.LoseAnswer}}
		for _, fate := range slices.Sorted(maps.Keys(fates)) {
			rule, landed := fates[fate], 0
			places, err := fault.Sweep(100, func(at int) (bool, error) {
				inner := w.store.(*memstore.Store).Clone()
				rule.At = at
				s := fault.New(inner, rule)
				_, first := w.changed(s, stage, "swept")
				state, err := wholeTable(inner, base, uint64(before), want)
				switch {
				case err != nil:
					return false, fmt.Errorf("after %v: %w", first, err)
				case first == nil && state == base:
					return false, errors.New("success was reported, and nothing has changed")
				case fate == "lost answer" && first != nil:
					return false, fmt.Errorf("a lost answer was not settled: %w", first)
				case state > base:
					landed++
					return s.Fired() > 0, nil
				}
				if rows, err := w.changed(inner, stage, "again"); err != nil || rows != want {
					return false, fmt.Errorf("begun again after %v: %d rows, %w", first, rows, err)
				}
				_, err = wholeTable(inner, base+1, want, want)
				return s.Fired() > 0, err
			})
			t.Logf("%s, %s: %d places, the version was there after %d", name, fate, places, landed)
			if err != nil || places < 3 || landed == 0 {
				t.Errorf("%s, %s: %d places, %v", name, fate, places, err)
			}
		}
	}
}

// wholeTable checks that the newest version is base with so many rows, or the
// next with others, and sound.
func wholeTable(store blob.Store, base, rows, next uint64) (version uint64, err error) {
	s, err := lance.Open(context.Background(), store, walkRoot, lance.OpenOptions{})
	if err != nil {
		return 0, err
	}
	if s.Version() == base+1 {
		rows = next
	} else if s.Version() != base {
		return 0, fmt.Errorf("the table is at version %d", s.Version())
	}
	if n, _ := s.CountRows(); n != rows {
		return 0, fmt.Errorf("version %d has %d rows, want %d", s.Version(), n, rows)
	}
	rep, err := lance.Verify(context.Background(), s, lance.VerifyOptions{Deep: true})
	if err == nil && len(rep.Problems) > 0 {
		err = fmt.Errorf("%+v", rep.Problems)
	}
	return s.Version(), err
}

// TestStageOnFlippedManifests: on a version of which a byte is wrong, a change
// does not panic, and where the version itself is without a finding, so is what
// follows it.
func TestStageOnFlippedManifests(t *testing.T) {
	w := newWalk(t, memstore.New(memstore.Options{Name: "flip"}), 78)
	for deletes := 0; len(w.rows) < 12 || w.step < 8 || w.kinds["delete"] == deletes; { // whose manifest is small
		deletes = w.kinds["delete"]
		w.act()
	}
	key := w.snap.Object().Key
	good, err := w.store.Get(t.Context(), key, blob.All)
	if err != nil {
		t.Fatal(err)
	}
	changes := w.changes()
	step := pace.Of(5, 97)
	begun, made := 0, 0
	for i := 0; i < len(good.Data); i += step {
		store := w.store.(*memstore.Store).Clone()
		bad := bytes.Clone(good.Data)
		bad[i] ^= []byte{0x01, 0x80, 0x40, 0xff}[i%4]
		if _, err := store.Put(t.Context(), key, bad); err != nil {
			t.Fatal(err)
		}
		s, err := lance.Open(t.Context(), store, walkRoot, lance.OpenOptions{Allocator: w.mem})
		if err != nil {
			continue
		}
		name := []string{"insert", "upsert", "delete", "update"}[i%4]
		begun++
		staged, err := changes[name](t.Context(), s, "flipped")
		if err != nil {
			continue
		}
		next, _, err := staged.Commit(t.Context(), lance.CommitOptions{Exact: true, Now: w.now})
		if err != nil {
			continue
		}
		made++
		before, err := lance.Verify(t.Context(), s, lance.VerifyOptions{Deep: true})
		if err != nil || len(before.Problems) > 0 {
			continue
		}
		after, err := lance.Verify(t.Context(), next, lance.VerifyOptions{Deep: true})
		if err != nil || len(after.Problems) > 0 {
			t.Errorf("byte %d flipped, %s: %+v, %v", i, name, after.Problems, err)
		}
	}
	t.Logf("%d bytes, %d times something was staged, %d times committed", len(good.Data), begun, made)
	if begun < 10 || made == 0 {
		t.Error("nothing was tried")
	}
}
