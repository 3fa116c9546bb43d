package recovery_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery/audit"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// At each call of a recovery another program takes the operation back in its own
// way, as the Rust engine does: under ids of its own for what it restores, and the
// commit that the record names; it dies before each of its writes, or ends.
func TestRecoveryBesideAnotherKindThatDies(t *testing.T) {
	x := newSmall(t)
	for dies, died := 0, true; died; dies++ {
		died = false
		_, err := fault.Sweep(400, func(n int) (bool, error) {
			call := n*every(7) + dies%every(7)
			what := fmt.Sprintf("before call %d another kind of recovery dies before write %d", call, dies)
			store, c := x.start.Clone(), x.clock()
			if _, err := x.writer(fault.New(store, stages[3].rule(fault.Halt)), c, 2).load(smallWrite); err == nil {
				t.Fatal("it did not die")
			}
			c.pass(31 * time.Second)
			s := fault.New(store, fault.Rule{At: call, Do: fault.Rival(func(_ context.Context, inner blob.Store) error {
				dying := fault.New(inner, fault.Rule{Match: fault.Writes, At: dies, Do: fault.Halt})
				err := takesBack(dying, c)
				died = died || dying.Halted()
				if dying.Halted() {
					return nil
				}
				return err
			})})
			if err := recoverOver(s, recoverer(c, false, 5)); !fine(err) {
				t.Errorf("%s: %v", what, err)
			}
			x.ends(what, store, c, told{}, told{})
			return s.Fired() > 0, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d runs, %d ends", x.runs, len(x.seen))
}

// takesBack restores what the one record that is there moved, publishes that, books
// it and removes the record. What it finds done it leaves.
func takesBack(s blob.Store, c *tick) error {
	ctx := context.Background()
	var key string
	for e, err := range s.List(ctx, blob.ListOptions{Prefix: sidecar.Folder}) {
		if err != nil {
			return err
		}
		key = e.Key
	}
	if key == "" {
		return nil
	}
	o, err := s.Get(ctx, key, blob.All)
	if err != nil {
		return err
	}
	rec, _, err := sidecar.Parse(key, o.Data)
	if err != nil {
		return err
	}
	v, err := manifest.Open(ctx, s, manifest.Options{})
	if err != nil {
		return err
	}
	actor := txn.Recoverer
	row := audit.Row{Commit: rec.Plan.Rollback, Kind: audit.RolledBack, Operation: rec.OperationID, Writer: rec.Kind, At: c.now()}
	publish := manifest.PublishOptions{Commit: &manifest.Intent{ID: rec.Plan.Rollback, Actor: &actor, CreatedAt: rec.StartedAt.UnixMicro()}}
	for _, pin := range rec.Pins {
		row.Outcomes = append(row.Outcomes, sidecar.Outcome{Alias: pin.Alias, From: pin.Expected + 1, To: pin.Expected})
		e, _ := v.Table(pin.Alias)
		snap, err := lance.Open(ctx, s, e.Location, lance.OpenOptions{})
		if err != nil {
			return err
		}
		if snap.Version() == pin.Expected+1 {
			st, err := snap.StageRestore(ctx, pin.Expected, lance.StageOptions{UUID: "of another kind " + pin.Alias})
			if err != nil {
				return err
			}
			if snap, _, err = st.Commit(ctx, lance.CommitOptions{Exact: true}); err != nil {
				return err
			}
		}
		rows, _ := snap.CountRows()
		publish.Expected = append(publish.Expected, manifest.Expected{Identity: e.Identity, Alias: e.Alias, Version: e.Version})
		if e.Version != snap.Version() {
			publish.Edits = append(publish.Edits, manifest.Update{Identity: e.Identity, Alias: e.Alias, Version: snap.Version(), Rows: rows})
		}
	}
	if _, back := v.Commit(rec.Plan.Rollback); !back {
		if _, err := manifest.Publish(ctx, s, publish); err != nil {
			return err
		}
	}
	if err := audit.Write(ctx, s, row, audit.Options{}); err != nil {
		return err
	}
	return s.Delete(ctx, key)
}

// A record of an Optimize that tells no ids is done with once it is removed: what
// the next one does to a table is not taken for what it did.
func TestOptimizeAfterTheRecordOfAnother(t *testing.T) {
	for _, k := range []int{40, 92} {
		s := stuck.One(t, "optimize", k)
		store, pin := s.Store(t, stuck.Root), s.Record(t).Pins[0]
		folder := strings.TrimPrefix(pin.Path, stuck.Root+"/")
		var made uint64
		f := fault.New(store, spot{"delete record", 0}.rule(func(ctx context.Context, a *fault.Attempt) error {
			err := a.Perform(ctx)
			made = reserves(t, store, folder)
			return err
		}))
		if err := recoverOver(f, atOnce); err != nil || f.Fired() == 0 {
			t.Errorf("%s: %v", s, err)
		}
		if left := stuck.Keys(t, store, sidecar.Folder); len(left) > 0 || stuck.Newest(t, store, folder, "") != made {
			t.Errorf("%s: records %v, newest is %d, made was %d", s, left, stuck.Newest(t, store, folder, ""), made)
		}
	}
}

// reserves makes a version of a table that keeps its content.
func reserves(t testing.TB, s blob.Store, folder string) uint64 {
	t.Helper()
	v := stuck.Newest(t, s, folder, "")
	m, err := format.ParseManifest(object(t, s, folder+"/_versions/"+format.ManifestName(v)))
	if err != nil {
		t.Fatal(err)
	}
	p := proto.CloneOf(m.Proto)
	p.Version, p.TransactionFile = v+1, ""
	tx := &tablepb.Transaction{ReadVersion: v, Uuid: "another optimize", Operation: &tablepb.Transaction_ReserveFragments{ReserveFragments: &tablepb.ReserveFragments{}}}
	data, err := format.EncodeManifest(p, nil, tx)
	if err == nil {
		_, err = s.PutIfAbsent(context.Background(), folder+"/_versions/"+format.ManifestName(v+1), data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v + 1
}
