package engine

import (
	"errors"
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
	what := fmt.Sprintf("%s %s on branch %s", p.Kind, p.OperationID, p.Branch)
	evidence := []Evidence{{p.Key, pinFacts(p)}}
	if p.Problem != "" {
		evidence = append(evidence, Evidence{p.Key, p.Problem})
	}
	if p.Moved {
		evidence = append(evidence, Evidence{p.Key, "names tables under another root: the graph was moved or copied since; the Rust engine refuses to open it for writing"})
	}
	trust := "everything that was published; nothing of this operation is visible"
	look := func(f Finding) Finding {
		if len(p.Tables) == 0 {
			return f.next("none", "verify")
		}
		return f.next("none", "versions", p.Tables[0].Table)
	}
	switch {
	case p.record == nil || p.err != nil:
		return sidecarUnread(p, evidence)
	case p.Published:
		return look(finding("G4", SeverityWarn, "everything: the operation is published and visible", evidence,
			"%s is published, only its recovery record was not removed", what))
	case names != nil && !slices.Contains(names, p.Branch):
		return look(finding("G8", SeverityWarn, trust, evidence,
			"%s has a recovery record, but there is no branch of that name any more: it will be discarded", what))
	}
	switch p.record.Kind {
	case sidecar.SchemaApply:
		return look(finding("G6", SeverityError, trust, evidence,
			"%s stopped part-way (%s): every write to the graph waits for its recovery", what, phaseOf(p)))
	case sidecar.EnsureIndices, sidecar.Optimize:
		return look(finding("G7", SeverityWarn, trust+"; it changes no rows", evidence,
			"%s stopped part-way: optimize, cleanup and repair refuse until it is recovered", what))
	case sidecar.BranchMerge:
		return look(finding("G5", SeverityWarn, trust, evidence,
			"%s stopped part-way (%s): writes to the branch wait for its recovery", what, phaseOf(p)))
	}
	if p.Phase == "EffectsConfirmed" {
		return look(finding("G1", SeverityWarn, trust, evidence,
			"%s is carried out but was not published: the next write to the branch publishes it, if the branch has not moved", what))
	}
	return look(finding("G2", SeverityWarn, trust, evidence,
		"%s was announced and neither confirmed nor published: recovery will undo what it may have done", what))
}

// sidecarUnread is about a record that cannot be read in full: nobody may act
// on it, and no writer passes it.
func sidecarUnread(p pendingSidecar, evidence []Evidence) Finding {
	why := "cannot be read"
	switch {
	case errors.Is(p.err, sidecar.ErrNewer):
		why = "is of a newer version than this program knows"
	case errors.Is(p.err, sidecar.ErrLegacy):
		why = "is of an older version, without the identities that recovery needs"
	case p.err == nil:
		return finding("G12", SeverityWarn, "everything that was published", evidence, "%s was not looked at: %s", p.Key, p.Problem).next("none", "verify")
	}
	return finding("G12", SeverityError, "everything that was published; what the operation did is not known", evidence,
		"the recovery record %s %s: every write to the graph is refused; keep it until somebody has looked at it", p.Key, why).
		next("none", "verify")
}

func phaseOf(p pendingSidecar) string {
	if p.Phase == "EffectsConfirmed" {
		return "carried out, not published"
	}
	return "announced, not confirmed"
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
		return "a recovery record"
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
	if applying(f) || len(staged) > 0 {
		evidence = append(evidence, keys("part of the same schema apply", staged...)...)
		return finding("G14", SeverityWarn, "everything that was published", evidence,
			"a schema apply holds its lock: it runs, or it died and its recovery comes first").next("none", "verify")
	}
	evidence = append(evidence, Evidence{sidecar.Folder, "no record of a schema apply"}, Evidence{"_schema.pg.staging", "not there"})
	return finding("G14", SeverityError, "everything; reading is not touched", evidence,
		"the lock of a schema apply is left (%s), without the apply that would hold it: the Rust engine refuses every write until the ref is removed, which is safe only while nothing else writes", branches.LockName).
		next("none", "branch list")
}
