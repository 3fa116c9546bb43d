package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
)

// aboveTable is a table whose newest version nothing explains.
type aboveTable struct {
	entry manifest.Entry
	view  *manifest.View
	head  lance.ChainVersion
}

// heads looks for tables whose newest version is above what is published, on
// the branch that owns the dataset: one LIST of one key for each.
func (v *verifier) heads(ctx context.Context, views []*manifest.View) error {
	type job struct {
		entry manifest.Entry
		view  *manifest.View
	}
	var jobs []job
	for _, view := range views {
		for _, e := range view.Tables {
			if e.Owner == view.Branch {
				jobs = append(jobs, job{e, view})
			}
		}
	}
	var mu sync.Mutex
	var above []aboveTable
	err := v.each(len(jobs), func(i int) error {
		e := jobs[i].entry
		chain, err := lance.Versions(ctx, v.store, e.Location, lance.ListOptions{Branch: e.Owner, Limit: 1, PageSize: 1})
		if err != nil || len(chain.Versions) == 0 {
			return err // an empty one is said where the table is opened
		}
		if head := chain.Versions[0]; txn.Judge(e.Version, head.Version, v.folder.recorded(e)) == txn.Drift {
			mu.Lock()
			defer mu.Unlock()
			above = append(above, aboveTable{e, jobs[i].view, head})
		}
		return nil
	})
	if err != nil || len(above) == 0 {
		return err
	}
	return v.unexplained(ctx, above)
}

// unexplained tells of tables above their published version, unless a writer
// is at work: it records what it does before it moves a table, and takes the
// record away after it published. So records are looked for again, then the
// branch.
func (v *verifier) unexplained(ctx context.Context, above []aboveTable) error {
	folder, err := v.sidecars(ctx, recovery.MaxRecords)
	if err != nil {
		return err
	}
	latest := map[string]uint64{} // of `__manifest`
	for _, a := range above {
		if folder.recorded(a.entry) {
			continue
		}
		branch := a.view.Branch
		if _, ok := latest[branch]; !ok {
			chain, err := lance.Versions(ctx, v.store, manifest.Folder, lance.ListOptions{Branch: branch, Limit: 1, PageSize: 1})
			if err != nil {
				return err
			}
			latest[branch] = 0
			if len(chain.Versions) > 0 {
				latest[branch] = chain.Versions[0].Version
			}
		}
		if latest[branch] > a.view.Version {
			continue // it was published meanwhile
		}
		v.add(Problem{ID: "head-not-explained", Severity: SeverityWarn, Table: a.entry.Alias, Branch: nameOf(branch), Version: a.head.Version, Key: a.head.Key,
			Found:    fmt.Sprintf("the newest version of the table is %d, and no recovery record is about it", a.head.Version),
			Expected: fmt.Sprintf("%d, which version %d of the branch publishes; what is above is not explained: an operation that stopped, a program that wrote past the graph, or a version of __manifest that is lost", a.entry.Version, a.view.Version)})
	}
	return nil
}

// pending tells every recovery record as info's finding reads it.
func (v *verifier) pending(views []*manifest.View) {
	for _, view := range views {
		settle(v.folder.sidecars, view)
	}
	for _, p := range v.folder.sidecars {
		q := Problem{ID: "recovery-pending", Severity: SeverityWarn, Branch: p.Branch, Key: p.Key,
			Found: sidecarFinding(p, v.names).Title, Expected: "no record: its operation has ended, or was recovered"}
		if facts := pinFacts(p); facts != "" {
			q.Found += " (" + facts + ")"
		}
		if p.Problem != "" {
			q.Found += "; " + p.Problem
		}
		if p.WaitUntil.After(v.clock()) {
			q.Severity, q.Expected = SeverityInfo, "a writer at work, which takes it away when it is done"
		}
		v.add(q)
	}
}

// lock tells the lock of a schema apply. Nothing that the graph names is wrong with
// it, so that the graph stays clean.
func (v *verifier) lock(staged []string) {
	if v.locked {
		f := lockFinding(v.folder, staged)
		v.add(Problem{ID: "schema-lock", Severity: SeverityInfo, Key: f.Evidence[0].Key, Found: f.Title,
			Expected: "no lock, once no schema apply is at work: `recover` tells what is safe"})
	}
}

// recorded reports a recovery record about a table. One that cannot be read
// may be about any.
func (f *recoveryFolder) recorded(e manifest.Entry) bool {
	return slices.ContainsFunc(f.sidecars, func(p pendingSidecar) bool {
		return p.untold() || slices.ContainsFunc(p.Tables, func(t PendingTable) bool {
			return t.Table == e.Alias || strings.HasSuffix(t.Path, "/"+e.Location)
		})
	})
}

// lostRef reports a leftover of a table's branch that some branch of the graph
// publishes: its ref is lost. Others are what the deletion of a branch leaves
// where it did not come to its end.
func (v *verifier) lostRef(key string) bool {
	for folder := range v.published {
		if folder == key || strings.HasPrefix(folder, key+"/") || strings.HasPrefix(key, folder+"/") {
			return true
		}
	}
	return false
}
