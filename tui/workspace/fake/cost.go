package fake

import (
	"fmt"
	"sync"
	"time"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/tui/workspace"
)

// meter counts what the steps say.
type meter struct {
	mu   sync.Mutex
	r    workspace.Reading
	t    cost.Trace // that it tells; the zero value: calls
	made cost.Trace // made up from the steps
}

// Sample implements workspace.Meter.
func (m *meter) Sample() workspace.Reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.r
}

// Trace implements workspace.Meter.
func (m *meter) Trace() cost.Trace {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.t
	if t.Calls == nil && t.Classes == nil {
		t = m.made
	}
	t.Calls, t.Classes = append([]cost.Call(nil), t.Calls...), append([]cost.ClassCount(nil), t.Classes...)
	return t
}

// take adds the requests of a step that began and ended at a time: its listing
// first, and then the gets, in as many rounds as it has hops.
func (m *meter) take(s Step, begin, end time.Time) {
	n := int(s.Get + s.List)
	rounds := max(1, s.Hops)
	each := end.Sub(begin) / time.Duration(rounds)
	base := 0
	for _, c := range m.made.Calls {
		if !c.End.After(begin) {
			base = max(base, c.Hop)
		}
	}
	for i := range n {
		round := min(i, rounds-1)
		c := cost.Call{Op: "get", Class: cost.ManifestScan, Key: fmt.Sprintf("__manifest/data/%04d.lance", i), Attempt: 1, Hop: base + 1 + round}
		if i < int(s.List) {
			c.Op, c.Class, c.Key = "list", cost.ManifestOpen, "__manifest/_versions/"
		}
		c.Start = begin.Add(time.Duration(round) * each)
		c.End = c.Start.Add(each)
		if s.Bytes > 0 && c.Op == "get" {
			c.Read = s.Bytes / max(1, s.Get)
		}
		if s.Err != nil && i == n-1 {
			c.Err, c.Failed = s.Err.Error(), true
		}
		m.made.Calls = append(m.made.Calls, c)
	}
	m.made.Classes = nil
	for _, k := range []struct {
		class string
		ops   cost.Ops
	}{{cost.ManifestOpen, cost.Ops{List: m.r.List}}, {cost.ManifestScan, cost.Ops{Get: m.r.Get}}} {
		if k.ops.Total() > 0 {
			m.made.Classes = append(m.made.Classes, cost.ClassCount{Class: k.class, Ops: k.ops})
		}
	}
}

// ledger is what this machine remembers of the sample graph: looks that cost
// more with every commit, and one that failed.
func ledger() []cost.Entry {
	var out []cost.Entry
	at := Epoch.Add(-9 * 24 * time.Hour)
	add := func(operation, table string, requests int64, outcome string) {
		at = at.Add(7 * time.Hour)
		out = append(out, cost.Entry{
			At: at, Operation: operation, Table: table, URI: "s3://acme-graphs/harbor.omni", Commit: id(len(out)),
			Requests: requests, Hops: 6, BytesRead: requests * 9 << 10, MS: float64(requests) * 2.5, Outcome: outcome,
		})
	}
	for i := range int64(8) {
		add("info", "", 26+i*17, "ok")
		add("snapshot", "", 17+i*17, "ok")
	}
	add("fragments", "node:Port", 140, "ok")
	add("fragments", "node:Port", 61, "the store could not be reached: dial tcp 10.0.0.7:443: connection refused")
	add("fragments", "edge:CallsAt", 140, "ok")
	add("branch names", "", 2, "ok")
	add("branch names", "", 2, "ok")
	return out
}
