package engine

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/branches"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/refs"
	"github.com/omnideck/omnideck/manifest"
)

const branchRefs = manifest.Folder + "/_refs/branches/"

// Thresholds of `__manifest` (engine-semantics §8.7).
const (
	chainNotable  = 50
	chainDeep     = 100 // a full LIST page
	fragsNotable  = 50
	fragsMany     = 200
	autoCleanup   = "lance.auto_cleanup."
	manifestFloor = "__manifest/_omnideck/"
)

// chainFindings is about the names in `_versions/` of `__manifest`: the first
// page of them, which holds the newest.
func chainFindings(c *lance.Chain, branch string) []Finding {
	if c == nil {
		return nil
	}
	var out []Finding
	n := len(c.Versions)
	if n >= chainNotable {
		severity, many := SeverityInfo, fmt.Sprint(n)
		if n >= chainDeep {
			severity = SeverityWarn
		}
		if !c.Complete {
			many = fmt.Sprintf("at least %d", n)
		}
		out = append(out, finding("G37", severity, "everything; only listings get slower", keys("the newest of them", c.Versions[0].Key),
			"__manifest keeps %s versions on branch %s: programs that list them all take longer with each", many, branch).
			next("none", "versions", manifestTable))
	}
	old := 0
	for _, v := range c.Versions {
		if v.V1 {
			old++
		}
	}
	if old > 0 {
		out = append(out, finding("G45", SeverityInfo, "everything", keys("named by the old scheme", c.Versions[0].Key),
			"%s of __manifest by names of the old scheme: the newest is found only by listing all", count(old, "version goes", "versions go")).
			next("none", "versions", manifestTable))
	}
	for _, f := range c.Findings {
		out = append(out, datasetFinding(f, c))
	}
	return out
}

// datasetFinding turns what package lance noticed about a chain into a finding.
func datasetFinding(f lance.Finding, c *lance.Chain) Finding {
	id := idLeftovers
	evidence := []Evidence{{path.Dir(c.Versions[0].Key), "names of " + count(len(c.Versions), "version", "versions")}}
	switch {
	case strings.HasPrefix(f.ID, "hint"):
		id = idHint
		if c.Hint != nil {
			evidence = []Evidence{{"_versions/latest_version_hint.json", strings.TrimSpace(fmt.Sprintf("%s %s", c.Hint.State, c.Hint.Text))}}
		}
	case f.ID == "gap":
		id = idGap
	case f.ID == "detached":
		evidence = nil
		for _, d := range c.Detached[:min(len(c.Detached), 8)] {
			evidence = append(evidence, Evidence{d.Key, fmt.Sprintf("detached version %d", d.Version)})
		}
	case f.ID == "leftover":
		evidence = nil
		for _, l := range c.Leftovers {
			evidence = append(evidence, Evidence{l.Key, l.Why})
		}
		evidence = evidence[:min(len(evidence), 8)]
	}
	severity := SeverityInfo
	switch f.Severity {
	case "error":
		severity = SeverityError
	case "warn":
		severity = SeverityWarn
	}
	return finding(id, severity, "", evidence, "%s", f.Text).next("none", "versions", manifestTable)
}

// headFindings is about the newest version of `__manifest`, of which no row
// need be read.
func headFindings(h *manifest.Head) []Finding {
	if h == nil {
		return nil
	}
	var out []Finding
	key := h.Snapshot.Object().Key
	if !h.Stamp.OK() {
		severity := SeverityError
		trust := "what is shown was read from the bytes as they are; the stamp is never edited"
		out = append(out, finding("G20", severity, trust, []Evidence{{key, stampFact(h.Stamp)}}, "%s", h.Stamp.Finding()).next("none", "export"))
	}
	if h.Fragments >= fragsNotable {
		severity := SeverityInfo
		if h.Fragments >= fragsMany {
			severity = SeverityWarn
		}
		out = append(out, finding("G38", severity, "everything; reading costs one request for each fragment", []Evidence{{key, fmt.Sprintf("%d fragments", h.Fragments)}},
			"__manifest consists of %d fragments: about as many commits were made since it was last compacted by optimize", h.Fragments).
			next("none", "fragments", manifestTable))
	}
	config := h.Snapshot.Manifest().Config
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if strings.HasPrefix(name, autoCleanup) {
			out = append(out, finding("G44", SeverityWarn, "the versions that are there now", []Evidence{{key, name + " = " + config[name]}},
				"__manifest asks its writers to remove old versions by themselves (%s): time travel and branches without commits of their own would lose what they need", name).
				next("none", "versions", manifestTable))
		}
	}
	return out
}

func stampFact(s manifest.Stamp) string {
	if !s.Present {
		return "no stamp"
	}
	return "stamp " + s.Raw
}

// foldFindings is about rows of `__manifest` that break a rule or are lost.
func foldFindings(v *manifest.View) []Finding {
	if v == nil {
		return nil
	}
	var out []Finding
	for _, p := range v.Problems {
		severity, also := SeverityWarn, "the Rust engine reads on"
		if p.Refuses {
			severity, also = SeverityError, "the Rust engine refuses the graph"
		}
		key := p.Row.ObjectID
		if key == "" {
			key = fmt.Sprintf("%s, fragment %d", manifest.Folder, p.Row.Fragment)
		}
		title := fmt.Sprintf("a row of __manifest breaks the rule %q: %s; %s", p.Rule, p.Found, also)
		if p.Rule == manifest.RuleFragment {
			title = fmt.Sprintf("rows of __manifest cannot be read: %s; %s", p.Found, also)
		}
		f := finding(idFold, severity, trusted(v, p.Table), []Evidence{{key, "found " + p.Found}, {key, "expected " + p.Expected}}, "%s", title)
		out = append(out, f.next("none", "verify"))
	}
	return out
}

// trusted names the tables that are not in doubt.
func trusted(v *manifest.View, table string) string {
	var sure, doubtful []string
	for _, t := range v.Tables {
		if t.Doubt == "" {
			sure = append(sure, t.Alias)
		} else {
			doubtful = append(doubtful, t.Alias)
		}
	}
	switch {
	case len(doubtful) == 0 && table == "":
		return "every table that is shown"
	case len(doubtful) == 0:
		return "every table that is shown, apart from " + table
	case len(sure) == 0:
		return "no table for certain: each may have been published anew in what is lost"
	}
	return "for certain only " + strings.Join(sure, ", ")
}

// refFindings is about the names of branches and tags of `__manifest`.
func refFindings(l *branches.Listing, legacy bool) []Finding {
	out := tagFindings(l.Refs)
	for _, p := range l.Problems {
		out = append(out, finding(idBranchRefs, SeverityError, "branches that are listed", []Evidence{{p.Key, p.Text}},
			"a branch's ref cannot be used: %s", p.Error()).next("none", "branch list"))
	}
	var runs []string
	for i, n := range l.Names {
		if strings.HasPrefix(n, "__run__") {
			runs = append(runs, n)
		}
		for _, m := range l.Names[:i] {
			if strings.HasPrefix(n, m+"/") {
				out = append(out, finding("G33", SeverityInfo, "", keys("branch", m, n),
					"the branch name %s is a folder above %s: the Rust engine refuses to delete the first while the second lives", m, n).next("none", "branch list"))
			}
		}
	}
	if len(runs) > 0 {
		title := "%s named like the staging branches of programs before 0.4; in this generation of graphs they are ordinary branches"
		severity := SeverityInfo
		if legacy {
			title, severity = "%s left by the run machinery of programs before 0.4: nothing needs them", SeverityWarn
		}
		out = append(out, finding("G32", severity, "everything", keys("branch", runs...), title, count(len(runs), "branch is", "branches are")).next("none", "branch list"))
	}
	return out
}

// tagFindings is about tags of `__manifest`, which no graph program makes, and
// about names that some disks cannot tell apart.
func tagFindings(all *refs.Listing) []Finding {
	var out []Finding
	var tags []string
	for _, t := range all.Tags {
		tags = append(tags, t.Key)
	}
	if len(tags) > 0 {
		out = append(out, finding("G35", SeverityInfo, "", keys("tag", tags...),
			"%s on __manifest, which no graph program makes: cleanup keeps what is tagged", count(len(tags), "tag lies", "tags lie")).
			next("none", "versions", manifestTable))
	}
	for _, names := range refs.Clashes(all.Branches) {
		out = append(out, finding("G33", SeverityInfo, "", keys("branch", names...),
			"branches %s differ in case only: on a disk that ignores case they are one folder", strings.Join(names, ", ")).next("none", "branch list"))
	}
	return out
}

// retired are names that older programs kept at the root.
var retired = []string{"_graph_commits.lance", "_graph_commit_actors.lance", "_graph_runs.lance", "_graph_run_actors.lance"}

// rootFindings is about what lies at the root and is no part of a graph.
func rootFindings(r *rootListing) []Finding {
	var out []Finding
	var residue, probes, temporary []string
	for _, f := range r.folders {
		for _, old := range retired {
			if f == old {
				residue = append(residue, f)
			}
		}
	}
	for name := range r.files {
		switch {
		case strings.HasPrefix(name, "__create_if_absent_probe_"):
			probes = append(probes, name)
		case isTemporary(name):
			temporary = append(temporary, name)
		}
	}
	add := func(names []string, fact, title string) {
		if len(names) > 0 {
			out = append(out, finding("G46", SeverityInfo, "everything", keys(fact, sorted(names)...), title, len(names)).next("none", "info"))
		}
	}
	add(residue, "not part of a graph of this generation", "%d folder(s) of older programs are left: nothing reads them")
	add(probes, "made and removed again by an opening for writing", "%d probe object(s) are left by an opening that was killed: nothing reads them")
	add(temporary, "a temporary name", "%d temporary object(s) are left by writes that were killed: nothing reads them")
	if _, ok := r.files[claimKey]; ok {
		out = append(out, finding("G18", SeverityWarn, "everything: the graph's first commit is there", keys("the claim of an init", claimKey),
			"an init was killed after its last step and before it removed its claim: only another init is kept away by it").next("none", "info"))
	}
	if r.cut {
		out = append(out, finding(idRootCut, SeverityInfo, "everything that belongs to the graph", nil,
			"more than %d objects lie at the root; those behind them were not looked at", maxPages*100).next("none", "info"))
	}
	return out
}

const claimKey = "__init_claim.json"

// isTemporary reports a name that a store gives to what it has not finished.
func isTemporary(name string) bool {
	base := path.Base(name)
	if strings.HasPrefix(base, ".tmp") {
		return true
	}
	i := strings.LastIndexByte(base, '#')
	return i > 0 && i+1 < len(base) && strings.Trim(base[i+1:], "0123456789") == ""
}
