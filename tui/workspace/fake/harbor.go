package fake

import (
	"fmt"
	"time"

	"github.com/omnideck/omnideck/engine"
)

// Epoch is the moment at which the sample graph is looked at.
var Epoch = time.Date(2026, 11, 29, 14, 5, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// id makes a commit id that looks like one: the time in front, the difference
// at the end.
func id(n int) string { return fmt.Sprintf("01KD8W3Q4Y8ZT5V6M2B%07d", n*7919%9999991) }

// Harbor is a graph in the middle of its life.
func Harbor() *Workspace {
	w := &Workspace{
		Address: "s3://acme-graphs/harbor.omni", IsRemote: true,
		BranchList: branches(), Tables: tables(), Log: History(60),
		Chains:  map[string]*engine.Versions{"__manifest": manifestChain(), "node:Port": portChain()},
		Layouts: harborLayouts(),
		Page:    harborPage(48210, 3908, 912004),
		Bytes:   manifestBytes(),
		Ledger:  ledger(),
		Around:  harborAround, Hits: harborHits, Compared: harborDiff(), ComparedV: harborVersions(),
		Script: map[string]Step{"": {Delay: 20 * time.Millisecond, Get: 3, List: 1, Bytes: 8 << 10, Hops: 2}},
	}
	w.InfoAnswer = info()
	if w.Contract == nil {
		w.Contract = harborSchema()
	}
	return w
}

// Empty is a graph of which there is nothing to show yet.
func Empty() *Workspace {
	return &Workspace{
		Address:    "/srv/graphs/new.omni",
		InfoAnswer: &engine.Info{URI: "/srv/graphs/new.omni", Kind: "omnigraph", InternalSchemaVersion: 6, Branch: "main", GraphManifestVersion: 1, Branches: 1, PendingRecovery: []engine.Pending{}, Findings: []engine.Finding{}},
		BranchList: []engine.Branch{{Name: "main", ManifestVersion: 1, NeededBy: []string{}}},
		Tables:     &engine.Snapshot{GraphBranch: "main", GraphManifestVersion: 1, InternalSchemaVersion: 6, Datasets: []engine.Dataset{}},
		Contract:   &engine.Schema{},
		Log:        []engine.LogEntry{},
		Chains:     map[string]*engine.Versions{"__manifest": {Table: "__manifest", Branch: "main", Versions: []engine.Version{}}, "node:Port": {Table: "node:Port", Branch: "main", Versions: []engine.Version{}}},
		Layouts:    map[string]*engine.Fragments{"node:Port": {Table: "node:Port", Branch: "main", Version: 1, TargetRows: 1 << 20}},
		Page: func(table string, _ engine.RowsOptions) *engine.RowPage {
			return &engine.RowPage{Table: table, Columns: []string{"id", "name"}, Types: []string{"String", "String?"}}
		},
		Script: map[string]Step{"": {Delay: 20 * time.Millisecond, Get: 1, Bytes: 900, Hops: 1}},
	}
}

func info() *engine.Info {
	return &engine.Info{
		URI: "s3://acme-graphs/harbor.omni", Kind: "omnigraph", InternalSchemaVersion: 6, Branch: "main", GraphManifestVersion: 137,
		HeadCommit: id(59), Branches: 4, Types: 5, Rows: 964433,
		Manifest: engine.ManifestInfo{Fragments: 138, Versions: 768, Exact: true, Bytes: 1<<20 + 200<<10},
		PendingRecovery: []engine.Pending{{
			Key: "__recovery/01KD8W3Q4Y8ZT5V6M2B0000AB.json", OperationID: "01KD8W3Q4Y8ZT5V6M2B0000AB", Kind: "Load", Branch: "main", Phase: "Armed",
			StartedAt: Epoch.Add(-5 * time.Hour), SchemaVersion: 9, Actor: "ana",
			Tables: []engine.PendingTable{{Table: "node:Port", Path: "nodes/1f/Port.lance", Expected: 42, Planned: 43}},
		}},
		Findings: []engine.Finding{
			{ID: "G2", Severity: engine.SeverityError, Title: "an interrupted load owns node:Port v43", Trust: "Everything that was published: version 137 of the graph and all before it.",
				Evidence: []engine.Evidence{{Key: "__recovery/01KD8W3Q4Y8ZT5V6M2B0000AB.json", Fact: "phase Armed, 5 h old, 1 table"}},
				Action:   &engine.Action{Verb: "versions", Args: []string{"node:Port"}, Danger: "low"}},
			{ID: "G30", Severity: engine.SeverityWarn, Title: "__manifest has 138 fragments; every read of the graph reads each of them", Evidence: []engine.Evidence{{Key: "__manifest", Fact: "138 fragments since the last optimize"}}},
		},
		Store: []engine.Fact{{Name: "store", Value: "s3, eu-central-1"}, {Name: "credentials", Value: "profile acme"}},
	}
}

func branches() []engine.Branch {
	return []engine.Branch{
		{Name: "main", ManifestVersion: 137, Head: id(59), OwnHead: true, OwnedTables: 5, NeededBy: []string{"review/ports", "sandbox", "night"}},
		{Name: "review/ports", Parent: "main", ForkVersion: 120, Created: Epoch.Add(-26 * time.Hour), ManifestVersion: 6, Head: id(57), OwnHead: true, OwnedTables: 2, NeededBy: []string{"review/ports-2"}, Ahead: 3},
		{Name: "review/ports-2", Parent: "review/ports", ForkVersion: 4, Created: Epoch.Add(-2 * time.Hour), ManifestVersion: 2, Head: id(55), OwnHead: true, OwnedTables: 1, NeededBy: []string{}, Ahead: 1},
		{Name: "sandbox", Parent: "main", ForkVersion: 90, Created: Epoch.Add(-400 * time.Hour), ManifestVersion: 1, Head: id(20), NeededBy: []string{}},
	}
}

func tables() *engine.Snapshot {
	d := func(kind, name string, rows, version, stable uint64, owner *string) engine.Dataset {
		dir := "nodes"
		if kind == "edge" {
			dir = "edges"
		}
		return engine.Dataset{EntityKind: kind, TypeName: name, Path: fmt.Sprintf("%s/%016x.lance", dir, stable*0x9e3779b97f4a7c15), Version: version, NativeBranch: owner, EntityCount: rows, StableID: stable, IncarnationID: 1}
	}
	return &engine.Snapshot{GraphBranch: "main", GraphManifestVersion: 137, InternalSchemaVersion: 6, Datasets: []engine.Dataset{
		d("edge", "CallsAt", 912004, 89, 4, nil), d("edge", "Registered", 0, 1, 5, nil),
		d("node", "Carrier", 311, 6, 3, nil), d("node", "Port", 48210, 42, 1, ptr("review/ports")), d("node", "Vessel", 3908, 18, 2, nil),
	}}
}

// History makes n commits with a branch that is merged now and then.
func History(n int) []engine.LogEntry {
	out := make([]engine.LogEntry, 0, n)
	branch := ptr("review/ports")
	ana, bot, system := ptr("ana"), ptr("bot"), ptr("omnigraph:recovery")
	for i := n - 1; i >= 0; i-- {
		e := engine.LogEntry{Commit: engine.Commit{ID: id(i), ManifestVersion: uint64(i + 78), CreatedAt: Epoch.Add(-time.Duration(n-i) * 37 * time.Minute).UnixMicro(), Actor: ana}}
		if i > 0 {
			e.Parent = ptr(id(i - 1))
		}
		e.Changed = []engine.TableChange{{Table: "node:Port", FromVersion: uint64(i), ToVersion: uint64(i + 1), RowsDelta: int64(i % 7 * 3), FragmentsDelta: ptr(1)}}
		switch i % 10 {
		case 2: // first of the side line
			e.Branch, e.Parent, e.Actor = branch, ptr(id(i-1)), bot
		case 4: // second of the side line
			e.Branch, e.Parent, e.Actor = branch, ptr(id(i-2)), bot
			e.Changed = append(e.Changed, engine.TableChange{Table: "edge:CallsAt", FromVersion: 8, ToVersion: 9, RowsDelta: -412})
		case 3, 5: // main goes on beside it
			e.Parent = ptr(id(i - 2))
			if i%10 == 5 {
				e.Parent, e.Actor = ptr(id(i-2)), nil
			}
		case 6: // merged
			e.MergedParent = ptr(id(i - 2))
			for t := range 4 {
				e.Changed = append(e.Changed, engine.TableChange{Table: fmt.Sprintf("node:T%d", t), FromVersion: 1, ToVersion: 2, RowsDelta: 35})
			}
		case 8:
			e.Actor, e.Changed = system, []engine.TableChange{}
		}
		out = append(out, e)
	}
	return out
}

func manifestChain() *engine.Versions {
	v := &engine.Versions{Table: "__manifest", Branch: "main", Head: 137, Oldest: 60, Count: 78, ListPages: 1}
	for i := 137; i >= 60; i-- {
		x := engine.Version{Version: uint64(i), CreatedAt: Epoch.Add(-time.Duration(137-i) * 37 * time.Minute), Operation: "Update", Rows: ptr(uint64(900 + i*3)), Fragments: ptr(i + 1), ManifestBytes: int64(20000 + i*300), Transaction: fmt.Sprintf("%d-5f0e.txn", i-1), Writer: "lance 10.0.0", HeldBy: []engine.Holder{}, Key: fmt.Sprintf("__manifest/_versions/%020d.manifest", ^uint64(0)-uint64(i))}
		if i == 137 {
			x.HeldBy = []engine.Holder{{Kind: "head", Name: "main"}}
		}
		if i == 120 {
			x.HeldBy = []engine.Holder{{Kind: "branch", Name: "review/ports"}, {Kind: "merge_base", Name: "review/ports"}}
		}
		if i == 90 {
			x.HeldBy = []engine.Holder{{Kind: "lazy_branch", Name: "sandbox"}}
		}
		v.Bytes += x.ManifestBytes
		v.Versions = append(v.Versions, x)
	}
	return v
}

func portChain() *engine.Versions {
	v := &engine.Versions{Table: "node:Port", Branch: "main", Head: 44, Published: 42, Oldest: 30, Count: 15, ListPages: 1, Findings: []engine.Finding{
		{ID: "G21", Severity: engine.SeverityWarn, Title: "node:Port HEAD 44 is newer than the published 42: verified maintenance"},
	}}
	ops := []string{"Rewrite", "ReserveFragments", "Append", "Update", "Delete"}
	for i := 44; i >= 30; i-- {
		x := engine.Version{Version: uint64(i), CreatedAt: Epoch.Add(-time.Duration(44-i) * 3 * time.Hour), Operation: ops[(44-i)%5], Rows: ptr(uint64(48210 - (44-i)*120)), Fragments: ptr(61 - (44-i)%3), ManifestBytes: 60000, Transaction: fmt.Sprintf("%d-77aa.txn", i-1), Writer: "lance 10.0.0", HeldBy: []engine.Holder{}, Key: fmt.Sprintf("nodes/1f/_versions/%020d.manifest", ^uint64(0)-uint64(i))}
		if i == 42 {
			x.HeldBy = []engine.Holder{{Kind: "published", Name: "main"}}
		}
		if i == 33 {
			x.Operation, x.Rows, x.Fragments, x.Problem = "", nil, nil, "the object is 12 bytes long, shorter than a manifest can be"
		}
		if x.Rows != nil {
			x.DataBytes, x.AddedBytes = ptr(uint64(41<<20-(44-i)*100_000)), ptr(uint64(100_000))
		}
		v.Bytes += x.ManifestBytes
		v.Versions = append(v.Versions, x)
	}
	return v
}

func portLayout() *engine.Fragments {
	f := &engine.Fragments{Table: "node:Port", Branch: "main", Version: 42, Small: 59, DeletedShare: 0.031, TargetRows: 1 << 20, Rows: 48210, Bytes: 41<<20 + 200<<10,
		Histogram: []engine.Bucket{{From: 1, To: 15, Count: 38}, {From: 16, To: 255, Count: 16}, {From: 256, To: 4095, Count: 5}, {From: 4096, To: 65535, Count: 0}, {From: 65536, To: 1<<20 - 1, Count: 2}},
		Indexes: []engine.TableIndex{
			{Name: "id_btree", Kind: "btree", Fields: []string{"id"}, CoveredFragments: 43, UncoveredFragments: 18, CoveredRows: 34229, Segments: idSegments()},
			{Name: "embedding_ivf", Kind: "ivf_flat", Fields: []string{"embedding"}, CoveredFragments: 61, CoveredRows: 48210, Segments: ivfSegments()},
		}}
	for i := range 61 {
		fr := engine.Fragment{ID: uint64(i), Rows: uint64(7 + i*i%900), Files: []engine.FragmentFile{{Path: fmt.Sprintf("data/%08x-5f0e-4c1b.lance", i*2654435761), Bytes: uint64(4096 + i*911), Version: "2.1"}}}
		if i%9 == 4 {
			fr.Deleted, fr.DeletionFile = uint64(i%5+1), fmt.Sprintf("_deletions/%d-41-77.arrow", i)
		}
		if i < 3 {
			fr.Files[0].Base = "s3://acme-graphs/harbor.omni/nodes/1f/tree/review/ports"
		}
		f.Fragments = append(f.Fragments, fr)
	}
	return f
}

// Ports answers pages of n rows of node:Port.
func Ports(n uint64) func(string, engine.RowsOptions) *engine.RowPage {
	names := []string{"Rotterdam", "Hamburg", "Le Havre", "Yokohama", "Santos", "Singapore", "Long Beach"}
	return func(table string, o engine.RowsOptions) *engine.RowPage {
		p := &engine.RowPage{Table: table, Offset: o.Offset, Total: n,
			Columns: []string{"id", "cranes", "depth_m", "embedding", "name", "notes", "open", "photo", "tags", "updated"},
			Types:   []string{"String", "I32?", "F64?", "Vector(8)?", "String", "String?", "Bool", "Blob?", "[String]?", "DateTime?"}}
		for i := o.Offset; i < n && len(p.Rows) < o.Limit; i++ {
			r := engine.Row{ID: fmt.Sprintf("port-%05d", i)}
			notes := engine.Cell{}
			if i%3 == 1 {
				notes = engine.Cell{Kind: engine.CellText, Text: "deep water berth, pilotage compulsory above 120 m, two tugs in winter"}
			} else if i%3 == 2 {
				notes = engine.Cell{Kind: engine.CellText}
			}
			r.Values = []engine.Cell{
				{Kind: engine.CellText, Text: r.ID}, {Kind: engine.CellNumber, Text: fmt.Sprint(i % 40)}, {Kind: engine.CellNumber, Text: fmt.Sprintf("%d.5", i%25)},
				{Kind: engine.CellVector, Text: "8 dims, norm 1.000"}, {Kind: engine.CellText, Text: names[i%7]}, notes, {Kind: engine.CellBool, Text: fmt.Sprint(i%2 == 0)},
				{Kind: engine.CellBlob, Text: "12.4 KiB image/png"}, {Kind: engine.CellList, Text: "[\"container\",\"ro-ro\"]"}, {Kind: engine.CellTime, Text: "2026-11-29T14:02:11Z"},
			}
			p.Rows = append(p.Rows, r)
		}
		p.Truncated = o.Offset+uint64(len(p.Rows)) < n
		return p
	}
}
