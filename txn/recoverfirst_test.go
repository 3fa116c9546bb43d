package txn_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/txn"
)

// asking are the options of a writer that meets what a dead one left, and notes
// what it asks to have recovered.
func asking(s *memstore.Store, settle func(key string) error) (o txn.Options, asked, told *[]string) {
	o, asked, told = writing(2), new([]string), new([]string)
	o.Grace = -1
	o.Recover = func(_ context.Context, key string) error {
		*asked = append(*asked, key)
		return settle(key)
	}
	o.Events = func(e txn.Event) {
		if e.Step == txn.StepRecovered {
			*told = append(*told, "__recovery/"+e.Operation+".json")
		}
	}
	return o, asked, told
}

// A record that was left behind is recovered first, which is told, and the write
// goes on in the same attempt.
func TestWriteRecoversFirst(t *testing.T) {
	s, key := dead(t)
	o, asked, told := asking(s, func(key string) error { return s.Delete(context.Background(), key) })
	if r := run(t, s, o, txn.Additive); r.Attempts != 1 {
		t.Errorf("%d attempts", r.Attempts)
	}
	if want := []string{key}; !slices.Equal(*asked, want) || !slices.Equal(*told, want) {
		t.Errorf("asked for %v, told %v, want %v", *asked, *told, want)
	}
}

// A refusal ends the write with its reason, and so does a record that stays: each
// is asked for once.
func TestWriteEndsWhenRecoveryDoes(t *testing.T) {
	refused := errors.New("two outcomes are visible")
	for name, answer := range map[string]error{"refused": refused, "left": nil} {
		s, key := dead(t)
		before := look(t, s).head()
		o, asked, _ := asking(s, func(string) error { return answer })
		_, err := txn.Run(context.Background(), s, o, plan(txn.Additive))
		e := wantErr[*txn.RecoveryRequiredError](t, err, txn.ErrRecovery)
		if !e.Other || answer != nil && (!errors.Is(err, refused) || !strings.Contains(err.Error(), refused.Error())) {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(*asked, []string{key}) || look(t, s).head() != before || !slices.Equal(recordsIn(t, s), []string{key}) {
			t.Errorf("%s: asked for %v", name, *asked)
		}
	}
}

// Under the lock of a schema apply its record is recovered too; the lock stays in
// the way. A record of another branch is let be, and a dry run asks for nothing
// that its caller does not give it.
func TestWriteRecoversUnderTheLock(t *testing.T) {
	ctx := context.Background()
	const lock = "__manifest/_refs/branches/__schema_apply_lock__.json"
	s, key := dead(t)
	if _, err := s.Put(ctx, lock, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	o, asked, _ := asking(s, func(key string) error { return s.Delete(ctx, key) })
	_, err := txn.Run(ctx, s, o, plan(txn.Additive))
	if !errors.As(err, new(*txn.LockedError)) || !slices.Equal(*asked, []string{key}) {
		t.Errorf("asked for %v: %v", *asked, err)
	}
	s, _ = dead(t)
	o, asked, _ = asking(s, func(key string) error { return s.Delete(ctx, key) })
	o.Branch = "archive"
	if run(t, s, o, txn.Additive); len(*asked) > 0 {
		t.Errorf("on another branch: asked for %v", *asked)
	}
	o.Branch, o.Recover, o.Dry = "", nil, true
	if _, err := txn.Begin(ctx, s, o); !errors.Is(err, txn.ErrRecovery) {
		t.Errorf("dry: %v", err)
	}
}
