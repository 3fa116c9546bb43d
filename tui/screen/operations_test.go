package screen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/workspace"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// fixed is a meter that stands still.
type fixed struct {
	r workspace.Reading
	t cost.Trace
}

func (f fixed) Sample() workspace.Reading { return f.r }
func (f fixed) Trace() cost.Trace         { return f.t }

// someRecords are operations of every kind: plain, over budget, failed,
// cancelled, with a write, answered from memory, running.
func someRecords(ws *fake.Workspace) *Records {
	rs := &Records{}
	at := fake.Epoch.Add(-10 * time.Minute)
	add := func(name, table string, r workspace.Reading, err error) *Record {
		at = at.Add(37 * time.Second)
		x := Record{URI: ws.Address, From: "tables", Names: strings.Split(name, "+"), Table: table, Began: at, Meter: fixed{r: r, t: traceFor(r, at)}}
		op := rs.Begin(x, len(x.Names))
		for range x.Names {
			rs.Answer(op, err, at.Add(230*time.Millisecond))
		}
		return op
	}
	add("info+branch names+snapshot", "", workspace.Reading{Get: 140, List: 9, BytesRead: 1 << 20, Hops: 7}, nil)
	add("snapshot", "", workspace.Reading{Get: 150, List: 2, BytesRead: 3 << 20, Hops: 9}, nil)
	add("fragments", "node:Port", workspace.Reading{Get: 3, List: 1, Hops: 2, Retries: 1, Failed: 1}, errStore)
	add("rows 1 to 200", "node:検査\x1b[31m", workspace.Reading{Get: 3, Put: 1, BytesWritten: 12, Hops: 2}, nil)
	add("commits", "", workspace.Reading{Get: 2, Hops: 1}, context.Canceled)
	add("snapshot", "", workspace.Reading{}, nil)
	rs.Begin(Record{URI: ws.Address, Names: []string{"branches"}, Began: fake.Epoch.Add(-1300 * time.Millisecond), Meter: fixed{r: workspace.Reading{Get: 8, InFlight: 3, Hops: 2}}}, 1)
	return rs
}

func traceFor(r workspace.Reading, at time.Time) cost.Trace {
	tr := cost.Trace{Classes: []cost.ClassCount{{Class: cost.ManifestScan, Ops: cost.Ops{Get: r.Get, List: r.List, Put: r.Put}}}}
	for i := range min(6, r.Get) {
		c := cost.Call{Op: "get", Class: cost.ManifestScan, Key: fmt.Sprintf("__manifest/data/%04d\x07.lance", i), Attempt: 1, Hop: int(i/3) + 1}
		c.Start = at.Add(time.Duration(i/3) * 40 * time.Millisecond)
		c.End = c.Start.Add(time.Duration(20+i) * time.Millisecond)
		if r.Failed > 0 && i == 1 {
			c.Err, c.Failed, c.Attempt = errStore.Error(), true, 2
		}
		tr.Calls = append(tr.Calls, c)
	}
	return tr
}

func onOps(t *testing.T, s Screen, prepare func(*stage)) *stage {
	t.Helper()
	ws := fake.Harbor()
	st := onStage(t, ws, NewOverview())
	st.e.Ops = someRecords(ws)
	if prepare != nil {
		prepare(st)
	}
	st.s = s
	st.answer(s.Start(st.e))
	return st
}

var opsScenes = []struct {
	name string
	make func(*testing.T) *stage
}{
	{"session", func(t *testing.T) *stage { return onOps(t, NewOperations(), nil).press(action.Bottom) }},
	{"session-detail", func(t *testing.T) *stage {
		return onOps(t, NewOperations(), nil).filter("outcome:failed").press(action.Open)
	}},
	{"session-masked", func(t *testing.T) *stage {
		st := onOps(t, NewOperations(), nil)
		st.e.Masked = true
		return st
	}},
	{"session-none", func(t *testing.T) *stage {
		return onOps(t, NewOperations(), func(st *stage) { st.e.Ops = &Records{} })
	}},
	{"ledger", func(t *testing.T) *stage { return onOps(t, NewOperations().Show("ledger"), nil) }},
	{"ledger-rising", func(t *testing.T) *stage {
		return onOps(t, NewOperations().Show("ledger"), nil).sort("change", true).press(action.Open)
	}},
	{"ledger-no-match", func(t *testing.T) *stage { return onOps(t, NewOperations().Show("ledger"), nil).filter("nothing") }},
	{"ledger-empty", func(t *testing.T) *stage {
		return onOps(t, NewOperations().Show("ledger"), func(st *stage) { st.ws.Ledger = nil })
	}},
	{"ledger-error", func(t *testing.T) *stage {
		return onOps(t, NewOperations().Show("ledger"), func(st *stage) {
			st.ws.Script = map[string]fake.Step{"Operations": {Err: errors.New("read the ledger: permission denied")}}
		})
	}},
}

func TestOperations(t *testing.T) {
	for _, sc := range opsScenes {
		for _, size := range [][2]int{{80, 21}, {120, 34}, {171, 46}} {
			t.Run(fmt.Sprintf("%s/%dx%d", sc.name, size[0], size[1]), func(t *testing.T) {
				golden.RequireEqual(t, []byte(sc.make(t).draw(size[0], size[1])))
			})
		}
	}
}

func TestOperationsAtEverySize(t *testing.T) {
	for _, sc := range opsScenes {
		st := sc.make(t)
		for w := 20; w <= 220; w += pace.Of(3, 42) {
			st.draw(w, 5+w*7%60)
		}
	}
}

// TestLedgerGroups: an operation on a table is not compared with the same on
// another one, a failed run says nothing about costs, and the newest operation
// comes first.
func TestLedgerGroups(t *testing.T) {
	at := fake.Epoch
	add := func(op, table string, n int64, outcome string) cost.Entry {
		at = at.Add(time.Minute)
		return cost.Entry{At: at, Operation: op, Table: table, Requests: n, Outcome: outcome}
	}
	l := NewLedger([]cost.Entry{
		add("rows", "node:Port", 31, "ok"), add("rows", "node:Vessel", 7, "ok"), add("rows", "node:Port", 30, "ok"), add("rows", "node:Port", 2, "no route"),
		add("rows", "node:Port", 36, "ok"), add("rows", "node:Port", 402, "ok"), add("info", "", 5, "no route"),
	})
	if len(l.groups) != 3 || l.groups[0].operation != "info" || l.groups[1].table != "node:Port" {
		t.Fatalf("groups %+v", l.groups)
	}
	p := l.groups[1]
	if len(p.at) != 5 || p.failed != 1 || p.median != 31 || p.lo != 30 || p.hi != 402 || p.delta() != 371 {
		t.Errorf("node:Port: %+v", p)
	}
	if i := l.groups[0]; i.median != -1 || len(i.costs) != 0 || i.failed != 1 {
		t.Errorf("info never ended well: %+v", i)
	}
	if v := l.groups[2]; v.median != -1 || v.delta() != 0 {
		t.Errorf("node:Vessel ran once: %+v", v)
	}
}

// TestSlope: a cost that grows with every run is told from one that is flat,
// falls, jitters, or was seen too seldom.
func TestSlope(t *testing.T) {
	for name, c := range map[string]struct {
		costs []int64
		rises bool
	}{
		"grows":     {[]int64{17, 34, 51, 68, 85}, true},
		"slowly":    {[]int64{30, 31, 32, 33, 34, 35, 36}, true},
		"flat":      {[]int64{30, 30, 30, 30, 30}, false},
		"by little": {[]int64{300, 301, 302, 303, 304}, false},
		"jitters":   {[]int64{30, 90, 20, 80, 10, 30}, false},
		"falls":     {[]int64{402, 300, 200, 100}, false},
		"compacted": {[]int64{17, 170, 340, 20, 21}, false},
		"seldom":    {[]int64{17, 34, 51}, false},
		"none":      {nil, false},
	} {
		if s := (&runs{costs: c.costs}).slope(); (s > 0) != c.rises {
			t.Errorf("%s: slope %v", name, s)
		}
	}
}

// TestBefore: what the same questions cost before is the session's newest run
// of them, else the sum of the ledger's newest good runs before that moment,
// and nothing where one of them is missing or cannot be compared.
func TestBefore(t *testing.T) {
	e := env(t)
	e.Ops = &Records{}
	e.Now = fake.Epoch
	old := e.Now.Add(-time.Hour)
	q := e.Data.AskLedger(e)
	q.Pane.Settle(q.Target, q.Gen, NewLedger([]cost.Entry{
		{At: old.Add(-time.Hour), Operation: "info", Requests: 9, Outcome: "ok"}, {At: old, Operation: "info", Requests: 26, Outcome: "ok"},
		{At: old, Operation: "snapshot", Requests: 17, Outcome: "ok"}, {At: old, Operation: "snapshot", Requests: 2, Outcome: "no route"},
		{At: old, Operation: "rows", Table: "node:Port", Requests: 4, Outcome: "ok"}, {At: e.Now.Add(time.Minute), Operation: "info", Requests: 77, Outcome: "ok"},
		{At: old, Operation: "fragments", Table: "node:Port", Requests: 5, Outcome: "ok"},
	}), nil, e.Now)
	begin := func(table string, names ...string) *Record {
		return e.Ops.Begin(Record{URI: e.URI, Names: names, Table: table, Began: e.Now, Meter: fixed{r: workspace.Reading{Get: 40}}}, 1)
	}
	for _, c := range []struct {
		table string
		names []string
		want  int64
	}{
		{"", []string{"info"}, 26}, {"", []string{"info", "snapshot"}, 43}, {"", []string{"info", "branch names"}, -1},
		{"node:Port", []string{"rows 1 to 200"}, -1}, {"node:Port", []string{"fragments"}, 5}, {"node:Vessel", []string{"fragments"}, -1},
		{"node:Port", []string{"snapshot"}, 17},
	} {
		was, ok := e.Before(begin(c.table, c.names...))
		if ok != (c.want >= 0) || ok && was.Requests != c.want {
			t.Errorf("%v of %q: %+v, %v, want %d", c.names, c.table, was, ok, c.want)
		}
	}
	first := begin("", "info")
	e.Ops.Answer(first, nil, e.Now)
	if was, ok := e.Before(begin("", "info")); !ok || was.Requests != 40 {
		t.Errorf("the session's own run: %+v, %v", was, ok)
	}
	if _, ok := e.Before(nil); ok {
		t.Error("nothing cost something")
	}
}

// askFresh asks the requests of one operation in a fresh process, and holds it to
// its budget.
func askFresh(t *testing.T, e *Env, store *memstore.Store, table string, reqs ...Request) {
	t.Helper()
	fresh, err := workspace.Open(t.Context(), "demo:", engine.Options{Store: store, NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, meter := fresh.Scope(t.Context())
	r := Record{URI: e.URI, Table: table, Began: e.Now, Meter: meter}
	for _, q := range reqs {
		r.Names = append(r.Names, q.Name)
	}
	op := e.Ops.Begin(r, len(reqs))
	for _, q := range reqs {
		v, err := q.Run(ctx, fresh)
		if err != nil {
			t.Fatal(err)
		}
		q.Pane.Settle(q.Target, q.Gen, v, err, e.Now)
		e.Ops.Answer(op, err, e.Now)
	}
	budget, ok := e.Budget(op)
	if n := op.Reading().Requests(); !ok || n > budget || n < budget/2 {
		t.Errorf("%s: %d requests, the budget is %d, %v", op.Name(), n, budget, ok)
	}
	if tr, ok := op.Trace(); !ok || len(tr.Calls) != int(op.Reading().Requests()) {
		t.Errorf("%s: %d calls are kept of %d", op.Name(), len(tr.Calls), op.Reading().Requests())
	}
}

// TestBudgetsHold asks the real engine what the screens ask, in a fresh
// process, and holds each question to the budget that is declared for it.
func TestBudgetsHold(t *testing.T) {
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	store, err := fixtures.Store(memstore.Options{Name: "demo"}, files)
	if err != nil {
		t.Fatal(err)
	}
	e := env(t)
	e.URI, e.Ops = "demo:", &Records{}
	askFresh(t, e, store, "", e.Data.AskInfo(e))
	askFresh(t, e, store, "", e.Data.AskNames(e))
	askFresh(t, e, store, "", e.Data.AskSnapshot(e))
	askFresh(t, e, store, "", e.Data.AskInfo(e), e.Data.AskNames(e))
	snap, _ := e.Data.Snapshot.Get()
	for _, d := range snap.Datasets {
		f := NewTable(d.Table())
		reqs := f.Start(e)
		if len(reqs) != 1 || reqs[0].Name != "fragments" {
			t.Fatalf("the first tab of %s asks for %d things", d.Table(), len(reqs))
		}
		askFresh(t, e, store, d.Table(), reqs...)
	}
	for name := range budgets {
		seen := false
		for i := range e.Ops.Len() {
			seen = seen || strings.Contains(e.Ops.Newest(i).Name(), name)
		}
		if !seen {
			t.Errorf("the budget of %s was not put to the test", name)
		}
	}
}

// TestOperationsCopyAndExport: a line as JSON, the command, and the list as
// NDJSON.
func TestOperationsCopyAndExport(t *testing.T) {
	st := onOps(t, NewOperations().Show("ledger"), nil).filter("operation:info")
	copies := st.s.(Copier).Copies(st.e)
	var line cost.Entry
	if len(copies) != 3 || json.Unmarshal([]byte(copies[1].Text), &line) != nil || line.Operation != "info" || line.Requests != 145 ||
		copies[2].Text != "omnideck ops s3://acme-graphs/harbor.omni" {
		t.Errorf("copies %+v", copies)
	}
	for place, n := range map[string]int{"operations": 7, "operations/ledger": 5} {
		s, err := At(place)
		if err != nil {
			t.Fatal(err)
		}
		st.s = s
		st.answer(s.Start(st.e))
		if s.Place() != place {
			t.Errorf("the place of %s is %s", place, s.Place())
		}
		x := s.(Exporter).Exports(st.e)
		if x == nil {
			t.Fatalf("%s exports nothing", place)
		}
		var out bytes.Buffer
		if got, err := x.Write(t.Context(), st.ws, &out); got != n || err != nil || strings.Count(out.String(), "\n") != n {
			t.Errorf("%s: %d lines, %v:\n%s", place, got, err, out.String())
		}
		for _, l := range strings.Split(strings.TrimSpace(out.String()), "\n") {
			if !json.Valid([]byte(l)) {
				t.Errorf("not JSON: %s", l)
			}
		}
	}
}

// TestTracesFallAway: the requests of operations that are no longer among the
// newest 20 are let go, those of one that is still running when it has ended.
func TestTracesFallAway(t *testing.T) {
	rs := &Records{}
	long := rs.Begin(Record{Names: []string{"a"}, Meter: fixed{}}, 1)
	for range 30 {
		rs.Answer(rs.Begin(Record{Names: []string{"b"}, Meter: fixed{r: workspace.Reading{Get: 2}}}, 1), nil, fake.Epoch)
	}
	if _, ok := long.Trace(); !ok {
		t.Error("the requests of a running operation were let go")
	}
	rs.Answer(long, nil, fake.Epoch)
	rs.Answer(rs.Begin(Record{Names: []string{"c"}, Meter: fixed{}}, 1), nil, fake.Epoch)
	if _, ok := long.Trace(); ok {
		t.Error("they are kept for ever")
	}
	if r := rs.Newest(25); r.Reading().Get != 2 {
		t.Errorf("its counts went with them: %+v", r.Reading())
	}
	if got := fmt.Sprint(rs.Costs(3)); got != "[2 2 0]" {
		t.Errorf("the newest cost %s", got)
	}
}
