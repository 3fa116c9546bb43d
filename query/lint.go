package query

import (
	"cmp"
	"maps"
	"slices"

	"github.com/omnideck/omnideck/schema"
)

// Severity of a finding.
type Severity uint8

// The severities.
const (
	SeverityError Severity = iota
	SeverityWarning
	SeverityInfo
)

func (s Severity) String() string { return [...]string{"error", "warning", "info"}[s%3] }

// Finding is something about a file as a whole.
//
//	Q000  error    the file does not parse
//	L201  warning  update queries of the file leave a property unset
//	R001  info     a query fits the schema and is not run all the same (ours)
type Finding struct {
	Severity Severity
	Code     string
	Message  string
	Type     string // "" = none
	Property string
	Queries  []string // sorted
}

// Result is the verdict on one query.
type Result struct {
	Query    *Query
	Checked  *Checked // nil when it does not fit
	Err      error    // why it does not fit
	Warnings []string
}

// Report is the verdict on a file.
type Report struct {
	Results  []Result // none when the file does not parse
	Findings []Finding
}

// Count of findings and warnings of a severity.
func (r *Report) Count(s Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	for _, res := range r.Results {
		switch {
		case s == SeverityError && res.Err != nil:
			n++
		case s == SeverityWarning:
			n += len(res.Warnings)
		}
	}
	return n
}

// Lint holds a whole file against a schema. Errors and warnings are counted as
// by the Rust CLI's lint.
func Lint(source string, ir *schema.IR) *Report {
	report := &Report{}
	file, err := Parse(source)
	if err != nil {
		report.Findings = []Finding{{Severity: SeverityError, Code: "Q000", Message: err.Error()}}
		return report
	}
	cat := newCatalog(ir)
	updates := map[*schema.Type]*coverage{}
	for _, q := range file.Queries {
		res := Result{Query: q}
		if !q.Reads() && len(q.Params) == 0 {
			res.Warnings = []string{"a mutation without parameters: what it writes is fixed in its text"}
		}
		if res.Checked, res.Err = check(q, cat); res.Err == nil {
			covered(res.Checked, updates)
			if refused := res.Checked.Refused; refused != nil {
				report.Findings = append(report.Findings, Finding{Severity: SeverityInfo, Code: "R001", Message: refused.Error(), Queries: []string{q.Name}})
			}
		}
		report.Results = append(report.Results, res)
	}
	report.Findings = append(report.Findings, unset(updates)...)
	slices.SortStableFunc(report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Property, b.Property))
	})
	return report
}

// coverage is what the update queries of a file do to a node type.
type coverage struct{ queries, set map[string]bool }

func covered(c *Checked, updates map[*schema.Type]*coverage) {
	for i, m := range c.Query.Mutations {
		if m.Verb != Update {
			continue
		}
		cov := updates[c.types[i]]
		if cov == nil {
			cov = &coverage{map[string]bool{}, map[string]bool{}}
			updates[c.types[i]] = cov
		}
		cov.queries[c.Query.Name] = true
		for _, a := range m.Set {
			cov.set[a.Name] = true
		}
	}
}

// unset finds the properties that could be updated and never are.
func unset(updates map[*schema.Type]*coverage) []Finding {
	var out []Finding
	for t, cov := range updates {
		key := t.Key()
		for _, p := range t.Properties {
			isKey := slices.ContainsFunc(key, func(k schema.PropRef) bool { return k.Name == p.Name })
			if !p.Type.Nullable || isKey || p.Embed != nil || cov.set[p.Name] {
				continue
			}
			out = append(out, Finding{
				Severity: SeverityWarning, Code: "L201", Type: t.Name, Property: p.Name,
				Message: t.Name + "." + p.Name + " exists in schema but no update query sets it",
				Queries: slices.Sorted(maps.Keys(cov.queries)),
			})
		}
	}
	return out
}
