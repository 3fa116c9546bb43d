package engine

import (
	"github.com/omnideck/omnideck/schema"
)

// schemaFindings turns the problems of a contract into findings, worst first.
// applying says that a recovery record of a schema apply is there, which then
// owns staged files.
func schemaFindings(c *schema.Contract, applying bool) []Finding {
	var out []Finding
	trust := "tables, history and counts: they do not depend on the schema files"
	if c.IR != nil {
		trust = "tables, history and counts; types are shown as _schema.ir.json has them"
	}
	for _, p := range c.Problems {
		evidence := []Evidence{{p.Key, p.Text}}
		severity := SeverityWarn
		if p.Refuses {
			severity = SeverityError
		}
		switch p.Rule {
		case schema.RuleMissing:
			out = append(out, finding("G17", severity, trust, evidence,
				"the schema file %s is missing: %s", p.Key, refusal(p.Refuses)).next("none", "schema show"))
		case schema.RuleStaging:
			if applying && !c.Staged {
				continue
			}
			out = append(out, finding("G15", severity, trust, evidence,
				"%s", p.Text).next("none", "schema show"))
		default:
			out = append(out, finding("G16", severity, trust, evidence,
				"the schema contract does not hold together: %s: %s", p.Key, p.Text).next("none", "schema show"))
		}
	}
	if c.Unconfirmed != "" {
		out = append(out, finding("G16", SeverityWarn, trust, []Evidence{{schema.IRKey, c.Unconfirmed}},
			"the types shown are probable but not proven: %s", c.Unconfirmed).next("none", "schema show"))
	}
	return worstFirst(out)
}

func refusal(refuses bool) string {
	if refuses {
		return "the Rust engine refuses to open the graph"
	}
	return "the Rust engine opens the graph nonetheless"
}
