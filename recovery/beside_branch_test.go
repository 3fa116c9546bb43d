package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// madeAnew deletes a branch with all that its tables have of it, as the Rust engine
// does, and makes it again from main.
func madeAnew(t testing.TB, s blob.Store, name string) {
	t.Helper()
	ctx := context.Background()
	for _, k := range stuck.Keys(t, s, "") {
		if strings.Contains(k, "/_refs/branches/"+name+".json") || strings.Contains(k, "/tree/"+name+"/") {
			if err := s.Delete(ctx, k); err != nil {
				t.Fatal(err)
			}
		}
	}
	v := stuck.View(t, s, "").Version
	m, err := format.ParseManifest(object(t, s, "__manifest/_versions/"+format.ManifestName(v)))
	if err != nil {
		t.Fatal(err)
	}
	clone := &tablepb.Clone{IsShallow: true, RefVersion: v, RefPath: stuck.Root + "/" + manifest.Folder, BranchName: proto.String(name)}
	tx := &tablepb.Transaction{ReadVersion: v, Uuid: "clone anew", Operation: &tablepb.Transaction_Clone{Clone: clone}}
	if _, err := commit.Commit(ctx, s, manifest.Folder, name, m, tx, commit.Options{}); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"parentBranch":null,"identifier":{"version_mapping":[[%d,"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]]},"parentVersion":%[1]d,"createAt":1795965305,"manifestSize":1,"metadata":{}}`, v)
	if _, err := s.Put(ctx, manifest.Folder+"/_refs/branches/"+name+".json", []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// At each call of a recovery its record is settled by another program, and the next
// writer makes the very branch of the table that recovery is about to remove, and
// publishes on it: nothing of that goes. A removal is lost, and asked for again.
func TestForkMadeAnewBesideItsRemoval(t *testing.T) {
	for _, row := range touchRows()[1:3] {
		n, err := fault.Sweep(300, func(n int) (bool, error) {
			store, _ := row.scene(t)
			at := n * every(2)
			what := fmt.Sprintf("%s %s, made anew at call %d", row.row, row.what, at)
			var fresh map[string][]byte
			s := fault.New(store, fault.Rule{At: at, Do: func(ctx context.Context, a *fault.Attempt) error {
				err := recoverOver(store, recovery.Options{})
				next := newTouch(t, store, sidecar.Load, "", 1)
				for _, step := range touchRows()[4].steps {
					step(next, t)
				}
				if err = errors.Join(err, recoverOver(store, recovery.Options{})); err != nil {
					return err
				}
				fresh = stuck.Objects(t, store)
				if a.Op == blob.OpDelete { // the others came while it was on its way, which it did not survive
					return blob.ErrAmbiguous
				}
				return a.Perform(ctx)
			}})
			p, err := recovery.Look(context.Background(), store, recovery.Options{})
			if err == nil {
				_, err = recovery.Execute(context.Background(), s, p, recovery.Options{})
			}
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if s.Fired() > 0 {
				if d := stuck.Differ(fresh, stuck.Objects(t, store)); d != "" {
					t.Errorf("%s: %s", what, d)
				}
			}
			return s.Fired() > 0, nil
		})
		if err != nil || n < 2 {
			t.Errorf("%s %s: %d places, %v", row.row, row.what, n, err)
		}
	}
}

// At each call of a recovery on a branch its record is settled by another program,
// and the branch deleted and made anew: nothing of the old branch comes to the new
// one.
func TestBranchMadeAnewBesideItsRecovery(t *testing.T) {
	place := 0
	for _, row := range touchRows() {
		if !stuck.Full() && row.kind == sidecar.BranchMerge {
			continue
		}
		for _, settled := range []bool{true, false} {
			place++
			n, err := fault.Sweep(300, func(n int) (bool, error) {
				store, _ := row.scene(t)
				at := n*every(6) + place%every(6)
				what := fmt.Sprintf("%s %s, settled %v, made anew at call %d", row.row, row.what, settled, at)
				o := recovery.Options{}
				var fresh map[string]stuck.Rows
				s := fault.New(store, fault.Rule{At: at, Do: fault.Rival(func(_ context.Context, inner blob.Store) error {
					if settled {
						if err := recoverOver(inner, o); err != nil {
							t.Errorf("%s: the other: %v", what, err)
						}
					}
					madeAnew(t, inner, touchBranch)
					fresh = stuck.RowsOf(t, stuck.Graph(t, inner))
					return nil
				})})
				err := recoverOver(s, o)
				if s.Fired() == 0 {
					return false, nil
				}
				if settled && !fine(err) {
					t.Errorf("%s: %v", what, err)
				}
				if rows := stuck.RowsOf(t, stuck.Graph(t, store)); rows[touchBranch] != fresh[touchBranch] || rows["main"] != fresh["main"] {
					t.Errorf("%s: rows are %v, were %v", what, rows, fresh)
				}
				stuck.AtRest(t, store, touchBranch)
				if settled { // else what it did stays, and recovery refuses
					if err := recoverOver(store, o); err != nil {
						t.Errorf("%s, afterwards: %v", what, err)
					}
					stuck.Clean(t, what, stuck.Graph(t, store))
				}
				return true, nil
			})
			if err != nil || n < 1 {
				t.Errorf("%s %s, settled %v: %d places, %v", row.row, row.what, settled, n, err)
			}
		}
	}
}

// At each call of a writer its branch is deleted and made anew: what it does comes
// to the new branch whole or not at all.
func TestBranchMadeAnewBesideAWriter(t *testing.T) {
	start := stuck.StoreOf(t, stuck.Root, stuck.One(t, "merge", 0).Base)
	const branch = "review"
	places, err := fault.Sweep(300, func(n int) (bool, error) {
		store, at := stuck.Clone(start), n*every(2)
		what := fmt.Sprintf("made anew at call %d of the writer", at)
		var fresh map[string]stuck.Rows
		s := fault.New(store, fault.Rule{At: at, Do: fault.Rival(func(_ context.Context, inner blob.Store) error {
			madeAnew(t, inner, branch)
			fresh = stuck.RowsOf(t, stuck.Graph(t, inner))
			return nil
		})})
		_, _, err := stuck.Writable(t, s).Mutate(context.Background(), engine.MutateOptions{
			WriteOptions: engine.WriteOptions{Branch: branch},
			Source:       `query q() { insert CallsAt { from: "9000017", to: "NLRTM", arrived: datetime("2026-05-01T00:00:00Z"), cargo_t: 7 } }`,
		})
		if s.Fired() == 0 {
			return false, err
		}
		if err := recoverOver(store, atOnce); err != nil {
			t.Errorf("%s: recovery: %v", what, err)
		}
		rows := stuck.RowsOf(t, stuck.Graph(t, store))
		if more := rows[branch].Rows - fresh[branch].Rows; rows["main"] != fresh["main"] || more != 0 && more != 1 || more == 0 && rows[branch] != fresh[branch] {
			t.Errorf("%s: rows are %v, were %v; the writer was told %v", what, rows, fresh, err)
		}
		stuck.AtRest(t, store, branch)
		stuck.Clean(t, what, stuck.Graph(t, store))
		return true, nil
	})
	if err != nil || places < 3 {
		t.Errorf("%d places, %v", places, err)
	}
}
