package recovery_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// A spot is the kind of a call, and which of its kind.
type spot struct {
	what string
	nth  int
}

// kindOf names what a call is about; "" = nothing that a row of the tables names.
func kindOf(c fault.Call) string {
	put := c.Op == blob.OpPut
	version := put && strings.Contains(c.Key, "/_versions/") && strings.HasSuffix(c.Key, ".manifest")
	switch {
	case c.Op == blob.OpList && c.Key == sidecar.Folder:
		return "look for records"
	case put && strings.HasPrefix(c.Key, sidecar.Folder):
		return "put record"
	case c.Op == blob.OpGet && strings.HasPrefix(c.Key, sidecar.Folder):
		return "read record"
	case c.Op == blob.OpDelete && strings.HasPrefix(c.Key, sidecar.Folder):
		return "delete record"
	case version && strings.HasPrefix(c.Key, "__manifest/"):
		return "publish"
	case version && strings.HasPrefix(c.Key, stuck.AuditTable):
		return "audit"
	case version && (strings.HasPrefix(c.Key, "nodes/") || strings.HasPrefix(c.Key, "edges/")):
		return "commit table"
	}
	return ""
}

func (s spot) matches(c fault.Call) bool { return kindOf(c) == s.what }

// rule is the action at the spot.
func (s spot) rule(do fault.Action) fault.Rule {
	return fault.Rule{Match: s.matches, At: s.nth, Do: do}
}

// The ways in which a call goes wrong.
const (
	fails  = "error" // it is not carried out, once
	down   = "down"  // it is not carried out, nor any later one of its kind
	kills  = "kill"  // it is not carried out, nor any later one
	loses  = "lose"  // it is carried out, and the answer lost
	killed = "after" // it is carried out, and no later one
	goes   = "rival" // it is carried out; somebody else was there first
)

func action(mode string) fault.Action {
	return map[string]fault.Action{fails: fault.Fail, down: fault.Fail, kills: fault.Halt, loses: fault.LoseAnswer, killed: haltAfter, goes: perform}[mode]
}

// haltAfter carries the call out, and the process dies before it hears of it.
func haltAfter(ctx context.Context, a *fault.Attempt) error {
	if err := a.Perform(ctx); err != nil {
		return err
	}
	return fault.Halt(ctx, a)
}

// before lets somebody else act first.
func before(f func(), then fault.Action) fault.Action {
	return func(ctx context.Context, a *fault.Attempt) error {
		f()
		return then(ctx, a)
	}
}

// perform carries the call out.
func perform(ctx context.Context, a *fault.Attempt) error { return a.Perform(ctx) }

// tick is a clock that can be set forward; every look moves it by a millisecond.
type tick struct {
	mu sync.Mutex
	t  time.Time
}

func newTick() *tick { return &tick{t: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)} }

func (c *tick) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(time.Millisecond)
	return c.t
}

func (c *tick) pass(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.t = c.t.Add(d) }

// tablesLoad is the write of the tables: entities of two types.
const tablesLoad = `{"type":"Company","data":{"slug":"newco","name":"New","listed":true}}
{"type":"Port","data":{"code":"XNEW","name":"New","country":"NL"}}
`

func lines(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// tablesWriter is a process that writes: its handle, and the store as it sees it.
type tablesWriter struct {
	g     *engine.Graph
	clock *tick
}

func newWriter(t testing.TB, store blob.Store) tablesWriter {
	t.Helper()
	c := newTick()
	g, err := engine.Open(context.Background(), store.Properties().URL, engine.Options{Store: store, Write: true, NoCache: true, Clock: c.now})
	if err != nil {
		t.Fatal(err)
	}
	return tablesWriter{g, c}
}

func (w tablesWriter) load(text string) (*engine.Receipt, error) {
	return w.g.Load(context.Background(), engine.LoadOptions{Mode: "append", Input: lines(text)})
}

// tablesStart is the graph before the write; tablesRows what it shows before and
// after.
func tablesStart(t testing.TB) (start blob.Store, old, whole map[string]stuck.Rows) {
	t.Helper()
	start = stuck.StoreOf(t, stuck.Root, stuck.One(t, "load-merge", 0).Base)
	done := stuck.Clone(start)
	if r, err := newWriter(t, done).load(tablesLoad); err != nil || r.Warning != nil {
		t.Fatal(r, err)
	}
	return start, stuck.RowsOf(t, stuck.Graph(t, start)), stuck.RowsOf(t, stuck.Graph(t, done))
}

// The ways in which a write ends for its caller.
const (
	done     = "success"
	warned   = "success, with a warning"
	plain    = "an ordinary error: nothing was written"
	required = "recovery is required"
)

// liveOf says how a write ended.
func liveOf(t testing.TB, what string, r *engine.Receipt, err error) string {
	t.Helper()
	var e *txn.RecoveryRequiredError
	switch {
	case err == nil && r.Warning == nil:
		return done
	case err == nil:
		return warned
	case errors.As(err, &e):
		if !errors.Is(err, txn.ErrRecovery) || e.OperationID == "" {
			t.Errorf("%s: %v is not of its class, or names no operation", what, err)
		}
		return required
	case errors.Is(err, txn.ErrRecovery):
		t.Errorf("%s: %T %v is of the class of recovery and names no operation", what, err, err)
	}
	return plain
}

// auditKinds are the kinds of the rows of the audit table, in order.
func auditKinds(t testing.TB, store blob.Store) (out []string) {
	t.Helper()
	for _, a := range stuck.Audits(t, store) {
		out = append(out, a.Kind)
	}
	return out
}

// later are options of a recovery when a record of the writer's clock is old.
func later(c *tick) recovery.Options {
	c.pass(time.Minute)
	return recovery.Options{Clock: c.now}
}

// commitsOf are the ids of the commits of main, newest first.
func commitsOf(t testing.TB, store blob.Store) (out []string) {
	t.Helper()
	for _, c := range stuck.View(t, store, "").Commits.All() {
		out = append(out, c.ID)
	}
	return out
}

// twice reports whether an id stands twice.
func twice(ids []string) bool {
	s := slices.Clone(ids)
	slices.Sort(s)
	return len(slices.Compact(s)) != len(ids)
}

// reads checks what a reader sees of a graph, and that it writes nothing.
func reads(t testing.TB, what string, store blob.Store, want ...map[string]stuck.Rows) {
	t.Helper()
	before := stuck.Objects(t, store)
	g := stuck.Graph(t, blob.ReadOnly(store))
	rows := stuck.RowsOf(t, g)
	if !slices.ContainsFunc(want, func(w map[string]stuck.Rows) bool { return maps.Equal(w, rows) }) {
		t.Errorf("%s: a reader sees\n%v, expected one of\n%v", what, rows, want)
	}
	info, err := g.Info(context.Background(), engine.At{})
	if err != nil {
		t.Errorf("%s: info: %v", what, err)
	} else if n := len(stuck.Keys(t, store, sidecar.Folder)); len(info.PendingRecovery) != n {
		t.Errorf("%s: %d records are there, info tells %d", what, n, len(info.PendingRecovery))
	}
	if d := stuck.Differ(before, stuck.Objects(t, store)); d != "" {
		t.Errorf("%s: looking changed %s", what, d)
	}
}

// object is an object's bytes.
func object(t testing.TB, store blob.Store, key string) []byte {
	t.Helper()
	o, err := store.Get(context.Background(), key, blob.All)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(o.Data)
}

// versionsOf are the published versions of tables.
func versionsOf(v *manifest.View) map[string]uint64 {
	out := map[string]uint64{}
	for _, e := range v.Tables {
		out[e.Alias] = e.Version
	}
	return out
}
