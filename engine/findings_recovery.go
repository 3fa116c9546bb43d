package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// recoveryFindings says what each sidecar means, as far as its body, the
// history looked at and the names of branches tell. Tables are not looked at,
// so whether an armed operation has moved any is not known here.
// names nil = not known.
func recoveryFindings(f *recoveryFolder, names []string) []Finding {
	var out []Finding
	for _, p := range f.sidecars {
		out = append(out, sidecarFinding(p, names))
	}
	if len(f.others) > 0 {
		out = append(out, finding("G46", SeverityInfo, "", keys("not a sidecar: its name does not end in .json", f.others...),
			"%s in __recovery/ that no program reads: what a killed write left behind", count(len(f.others), "object lies", "objects lie")).
			next("none", "verify"))
	}
	return out
}

func sidecarFinding(p pendingSidecar, names []string) Finding {
	k := p.meant(names)
	var evidence []Evidence
	if facts := pinFacts(p); facts != "" {
		evidence = append(evidence, Evidence{p.Key, facts})
	}
	if p.Problem != "" {
		evidence = append(evidence, Evidence{p.Key, p.Problem})
	}
	if p.Moved {
		evidence = append(evidence, Evidence{p.Key, "names tables under another root: the graph was moved or copied since; the Rust engine refuses to open it for writing"})
	}
	if k.unreadable() && p.err == nil {
		return finding("G12", SeverityWarn, "everything that was published", evidence, "%s was not looked at: %s", p.Key, p.Problem).next("none", "recover")
	}
	id, severity, trust := k.judged()
	return finding(id, severity, trust, evidence, "%s", k.means()).next("none", "recover")
}

// judged is the number of the finding about a record, how grave it is, and what
// can still be trusted.
func (k *meant) judged() (id string, s Severity, trust string) {
	trust = "everything that was published; nothing of this operation is visible"
	switch {
	case k.unreadable():
		return "G12", SeverityError, "everything that was published; what the operation did is not known"
	case k.published:
		return "G4", SeverityWarn, "everything: the operation is published and visible"
	case k.gone:
		return "G8", SeverityWarn, trust
	}
	switch k.kind {
	case sidecar.SchemaApply:
		return "G6", SeverityError, trust
	case sidecar.EnsureIndices, sidecar.Optimize:
		return "G7", SeverityWarn, trust + "; it changes no rows"
	case sidecar.BranchMerge:
		return "G5", SeverityWarn, trust
	}
	if k.phase == sidecar.EffectsConfirmed {
		return "G1", SeverityWarn, trust
	}
	return "G2", SeverityWarn, trust
}

// meant is what a glance tells of a record. names nil = not known.
func (p *pendingSidecar) meant(names []string) *meant {
	return &meant{
		key: p.Key, operation: p.OperationID, branch: p.Branch, kind: sidecar.Kind(p.Kind), phase: p.Phase, commit: p.CommitID,
		record: p.record, err: p.err, published: p.Published, gone: names != nil && !slices.Contains(names, p.Branch),
	}
}

// pinFacts is one line about what a sidecar says.
func pinFacts(p pendingSidecar) string {
	parts := []string{}
	if p.Phase != "" {
		parts = append(parts, "phase "+p.Phase)
	}
	if !p.StartedAt.IsZero() {
		parts = append(parts, "started "+p.StartedAt.UTC().Format(time.RFC3339))
	}
	for _, t := range p.Tables {
		s := fmt.Sprintf("%s v%d to v%d", t.Table, t.Expected, t.Planned)
		if t.Confirmed > 0 {
			s = fmt.Sprintf("%s v%d to v%d, confirmed", t.Table, t.Expected, t.Confirmed)
		}
		parts = append(parts, s)
	}
	if len(parts) == 0 {
		return "" // nothing of it could be read
	}
	return strings.Join(parts, "; ")
}

// applying reports a sidecar of a schema apply.
func applying(f *recoveryFolder) bool {
	return slices.ContainsFunc(f.sidecars, func(p pendingSidecar) bool { return p.record != nil && p.record.Kind == sidecar.SchemaApply })
}

// lockFinding is about the lock of a schema apply, which nothing clears by
// itself once its holder died.
func lockFinding(f *recoveryFolder, staged []string) Finding {
	evidence := keys("the lock's ref", branchRefs+branches.LockName+".json")
	stale := !applying(f) && len(staged) == 0
	means, _ := lockWords(stale, "")
	if !stale {
		evidence = append(evidence, keys("part of the same schema apply", staged...)...)
		return finding("G14", SeverityWarn, "everything that was published", evidence, "%s", means).next("none", "recover")
	}
	evidence = append(evidence, Evidence{sidecar.Folder, "no record of a schema apply"}, Evidence{"_schema.pg.staging", "not there"})
	return finding("G14", SeverityError, "everything; reading is not touched", evidence, "%s", means).next("none", "recover")
}
