package txn_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
)

// dead is a graph on which a writer died after it armed its record, whose key is
// given.
func dead(t testing.TB) (s *memstore.Store, key string) {
	t.Helper()
	s = demo(t)
	port := ids(t, s, ports)[0]
	isRecord := func(c fault.Call) bool { return fault.Writes(c) && strings.Contains(c.Key, "/_versions/") }
	f := fault.New(s, fault.Rule{Match: isRecord, Do: fault.Halt})
	_, err := txn.Run(context.Background(), f, writing(1), plan(txn.Strict, set(ports, port, "name", "Dead")))
	left := recordsIn(t, s)
	if !errors.Is(err, txn.ErrRecovery) || len(left) != 1 {
		t.Fatal(err, left)
	}
	return s, left[0]
}

// A young record is waited for, and whose it is is told; what is old is refused
// at once (decisions 45).
func TestWaitsForAYoungRecord(t *testing.T) {
	s, key := dead(t)
	ctx := context.Background()
	o := writing(2)
	base := o.Now()
	var passed time.Duration
	var told []string
	o.Now = func() time.Time { return base.Add(passed) }
	o.Grace = 30 * time.Second
	naps := 0
	o.Sleep = func(_ context.Context, d time.Duration) error { passed += d; naps++; return nil }
	o.Events = func(e txn.Event) {
		if e.Step == txn.StepWaiting {
			told = append(told, e.Operation)
		}
	}
	before := look(t, s).head()
	_, err := txn.Run(ctx, s, o, plan(txn.Additive))
	e := wantErr[*txn.RecoveryRequiredError](t, err, txn.ErrRecovery)
	if passed < 25*time.Second || passed > 31*time.Second || naps > 200 || len(told) != naps || "__recovery/"+told[0]+".json" != key || e.OperationID != told[0] {
		t.Errorf("waited %v in %d naps for %v", passed, naps, e)
	}
	if naps = 0; look(t, s).head() != before {
		t.Error("something was written")
	}
	if _, err := txn.Run(ctx, s, o, plan(txn.Additive)); !errors.Is(err, txn.ErrRecovery) || naps != 0 {
		t.Errorf("an old record: %v after %d naps", err, naps)
	}
	passed = 0
	o.Sleep = func(context.Context, time.Duration) error {
		if naps++; naps == 3 {
			return s.Delete(ctx, key)
		}
		return nil
	}
	if r := run(t, s, o, txn.Additive); r.Attempts != 1 || naps != 3 {
		t.Errorf("%d attempts after %d naps", r.Attempts, naps)
	}
	gone := errors.New("gone")
	s, _ = dead(t)
	o.Sleep = func(context.Context, time.Duration) error { return gone }
	if _, err := txn.Run(ctx, s, o, plan(txn.Additive)); !errors.Is(err, gone) {
		t.Error(err)
	}
}

// Which records stand in the way of which branch.
func TestWhoseRecordStands(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		edit   func([]byte) []byte
		key    string
		stands bool
	}{
		"of this branch": {func(b []byte) []byte { return b }, "", true},
		"of another branch": {func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte(`"branch": null`), []byte(`"branch": "archive"`))
		}, "", false},
		"damaged":         {func(b []byte) []byte { return b[:len(b)/2] }, "", true},
		"of a newer kind": {func(b []byte) []byte { return bytes.Replace(b, []byte(`: 9`), []byte(`: 10`), 1) }, "", true},
		"no record":       {func(b []byte) []byte { return b }, "__recovery/x.json#123", false},
	} {
		s, key := dead(t)
		obj, err := s.Get(ctx, key, blob.All)
		if err != nil {
			t.Fatal(err)
		}
		if c.key != "" {
			if err := s.Delete(ctx, key); err != nil {
				t.Fatal(err)
			}
			key = c.key
		}
		if _, err := s.Put(ctx, key, c.edit(obj.Data)); err != nil {
			t.Fatal(err)
		}
		o := writing(2)
		o.Grace = -1
		company := ids(t, s, companies)[0]
		_, err = txn.Run(ctx, s, o, plan(txn.Strict, set(companies, company, "name", "Ours")))
		if stood := errors.As(err, new(*txn.RecoveryRequiredError)); stood != c.stands || !stood && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A record that appears between capture and gates is no movement: the write
// waits for it, and is made anew.
func TestRecordInTheWindow(t *testing.T) {
	from, key := dead(t)
	ctx := context.Background()
	obj, err := from.Get(ctx, key, blob.All)
	if err != nil {
		t.Fatal(err)
	}
	s := demo(t)
	port := ids(t, s, ports)[0]
	appears := once(func() {
		if _, err := s.Put(ctx, key, obj.Data); err != nil {
			t.Error(err)
		}
	})
	o := writing(2)
	o.Grace = time.Minute
	o.Sleep = func(context.Context, time.Duration) error { return s.Delete(ctx, key) }
	head := look(t, s).head()
	o.ExpectedHead = &head
	if r := run(t, s, o, txn.Conditional, appears, set(ports, port, "name", "Ours")); r.Attempts != 2 {
		t.Errorf("%d attempts", r.Attempts)
	}
}

// A first table that somebody moved after the gates: nothing of ours is there,
// and the record goes.
func TestEffectFree(t *testing.T) {
	start := demo(t)
	port, other, company := ids(t, start, ports)[0], ids(t, start, ports)[1], ids(t, start, companies)[0]
	for n, class := range []txn.Class{txn.Strict, txn.Additive} {
		s := start.Clone()
		var again []error
		o := writing(uint64(n))
		done := false
		o.Events = func(e txn.Event) {
			if e.Step == txn.StepArmed && !done {
				done = true
				drift(t, s, ports, other)
			}
			if e.Step == txn.StepAgain {
				again = append(again, e.Err)
			}
		}
		before := look(t, s).head()
		_, err := txn.Run(context.Background(), s, o, plan(class, set(ports, port, "name", "Ours")))
		wantErr[*txn.DriftError](t, err, txn.ErrCaller)
		if len(again) != 1 {
			t.Fatalf("%v", again)
		}
		if e := wantErr[*txn.ReadSetChangedError](t, again[0], txn.ErrCaller); e.Member != "key_fence:"+ports {
			t.Errorf("%+v", e)
		}
		if left := recordsIn(t, s); len(left) > 0 || look(t, s).head() != before {
			t.Errorf("%v are left", left)
		}
	}
	s := demo(t)
	// The second table: the first one has moved, so that recovery decides.
	o := writing(7)
	o.Events = func(e txn.Event) {
		if e.Step == txn.StepArmed {
			drift(t, s, ports, other)
		}
	}
	_, err := txn.Run(context.Background(), s, o, plan(txn.Additive, set(companies, company, "name", "Ours"), set(ports, port, "name", "Ours")))
	wantErr[*txn.RecoveryRequiredError](t, err, txn.ErrRecovery)
	if len(recordsIn(t, s)) != 1 {
		t.Error("its record is gone")
	}
}

// long_lived_handle_rejects_schema_*: lock, marker and contract, at capture and
// in the window.
func TestSchemaInTheWay(t *testing.T) {
	const lock = "__manifest/_refs/branches/__schema_apply_lock__.json"
	ctx := context.Background()
	put := func(s blob.Store, key string, data []byte) {
		if _, err := s.Put(ctx, key, data); err != nil {
			t.Error(err)
		}
	}
	pad := func(s blob.Store) {
		obj, err := s.Get(ctx, schema.StateKey, blob.All)
		if err != nil {
			t.Error(err)
		}
		put(s, schema.StateKey, append(obj.Data, '\n'))
	}
	for name, c := range map[string]struct {
		harm   func(s blob.Store)
		window bool
		want   error
	}{
		"lock":             {func(s blob.Store) { put(s, lock, []byte("{}")) }, false, &txn.LockedError{}},
		"lock, later":      {func(s blob.Store) { put(s, lock, []byte("{}")) }, true, &txn.LockedError{}},
		"marker, later":    {pad, true, nil},
		"no marker":        {func(s blob.Store) { _ = s.Delete(ctx, schema.StateKey) }, false, &txn.SchemaError{}},
		"no marker, later": {func(s blob.Store) { _ = s.Delete(ctx, schema.StateKey) }, true, &txn.SchemaError{}},
		"text":             {func(s blob.Store) { put(s, schema.SourceKey, []byte("node X {}")) }, false, &txn.SchemaError{}},
	} {
		s := demo(t)
		port := ids(t, s, ports)[0]
		before := look(t, s).head()
		var window step = func(context.Context, *txn.Txn) error { return nil }
		if c.window {
			window = once(func() { c.harm(s) })
		} else {
			c.harm(s)
		}
		r, err := txn.Run(ctx, s, writing(1), plan(txn.Additive, window, set(ports, port, "name", "Ours")))
		if c.want == nil {
			if err != nil || r.Attempts != 2 {
				t.Errorf("%s: %v, %+v", name, err, r)
			}
			continue
		}
		var locked *txn.LockedError
		var bad *txn.SchemaError
		if _, want := c.want.(*txn.LockedError); want != errors.As(err, &locked) || !want != errors.As(err, &bad) || !errors.Is(err, txn.ErrCaller) {
			t.Errorf("%s: %T: %v", name, err, err)
		}
		if look(t, s).head() != before || len(recordsIn(t, s)) > 0 {
			t.Errorf("%s: something was written", name)
		}
	}
}
