package txn_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// besides is what a write asks for side by side when it begins.
var besides = map[string]func(fault.Call) bool{
	"records": func(c fault.Call) bool { return strings.HasPrefix(c.Key, sidecar.Folder) },
	"lock":    func(c fault.Call) bool { return c.Key == txn.LockKey },
	"view":    func(c fault.Call) bool { return strings.HasPrefix(c.Key, "__manifest/_versions") },
	"schema":  func(c fault.Call) bool { return c.Key == schema.SourceKey || c.Key == schema.StateKey },
}

// ordered is a store whose answers of one kind come late, and others fail the
// first time that they are asked for once it is on.
func ordered(s blob.Store, on *atomic.Bool, late string, failing map[string]error) *fault.Store {
	var rules []fault.Rule
	for name, err := range failing {
		match := func(c fault.Call) bool { return on.Load() && besides[name](c) }
		rules = append(rules, fault.Rule{Match: match, Do: func(ctx context.Context, a *fault.Attempt) error {
			if name == late {
				_ = fault.Delay(time.Second)(ctx, a)
			}
			return err
		}})
	}
	if match, ok := besides[late]; ok {
		rules = append(rules, fault.Rule{Match: match, Do: fault.Delay(time.Second), Every: true})
	}
	return fault.New(s, rules...)
}

// Several things may speak against a write that begins. Which of them it is told
// does not depend on whose answer comes first.
func TestWhicheverAnswerComesFirst(t *testing.T) {
	locked := func(t *testing.T, s *memstore.Store) {
		if _, err := s.Put(context.Background(), txn.LockKey, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	lost := map[string]error{"view": errors.New("the view"), "schema": errors.New("the schema")}
	for name, c := range map[string]struct {
		dead, lock bool
		recover    bool
		failing    map[string]error
		right      func(error) bool
	}{
		"what a dead writer left under the lock, and all else fails": {true, true, false, lost,
			func(err error) bool { return errors.As(err, new(*txn.RecoveryRequiredError)) }},
		"what is recovered first, and all else fails": {true, false, true, lost,
			func(err error) bool { return err == nil }},
		"the lock, and all else fails": {false, true, true, lost,
			func(err error) bool { return errors.As(err, new(*txn.LockedError)) }},
		"all else fails": {false, false, true, lost,
			func(err error) bool { return errors.Is(err, lost["view"]) }},
		"the records, and all else": {true, true, true, map[string]error{"records": errors.New("the records"), "view": lost["view"]},
			func(err error) bool { return err != nil && strings.HasSuffix(err.Error(), ": the records") }},
	} {
		for _, late := range []string{"records", "lock", "view", "schema", "none"} {
			t.Run(name+"; late: "+late, func(t *testing.T) {
				s := demo(t)
				if c.dead {
					s, _ = dead(t)
				}
				if c.lock {
					locked(t, s)
				}
				synctest.Test(t, func(t *testing.T) {
					o, _, _ := asking(s, func(key string) error { return s.Delete(context.Background(), key) })
					if !c.recover {
						o.Recover = nil
					}
					var on atomic.Bool
					on.Store(true)
					_, err := txn.Begin(t.Context(), ordered(s, &on, late, c.failing), o)
					if !c.right(err) {
						t.Errorf("%T: %v", err, err)
					}
				})
			})
		}
	}
}

// So it is at the gates, where a write that is prepared looks once more.
func TestWhicheverAnswerComesFirstAtTheGates(t *testing.T) {
	lost := map[string]error{"view": errors.New("the view"), "schema": errors.New("the schema")}
	for name, c := range map[string]struct {
		lock  bool
		right func(error) bool
	}{
		"the lock, and all else fails": {true, func(err error) bool { return errors.As(err, new(*txn.LockedError)) }},
		"all else fails":               {false, func(err error) bool { return errors.Is(err, lost["schema"]) }},
	} {
		for _, late := range []string{"records", "lock", "view", "schema", "none"} {
			t.Run(name+"; late: "+late, func(t *testing.T) {
				s := demo(t)
				port := ids(t, s, ports)[0]
				synctest.Test(t, func(t *testing.T) {
					var on atomic.Bool
					met := func(ctx context.Context, _ *txn.Txn) error {
						on.Store(true)
						if !c.lock {
							return nil
						}
						_, err := s.Put(ctx, txn.LockKey, []byte("{}"))
						return err
					}
					_, err := txn.Run(t.Context(), ordered(s, &on, late, lost), writing(1), plan(txn.Additive, set(ports, port, "name", "Ours"), met))
					if !c.right(err) {
						t.Errorf("%T: %v", err, err)
					}
				})
			})
		}
	}
}
